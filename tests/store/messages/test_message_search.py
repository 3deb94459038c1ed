"""Message search through an account's requests: finds the same as a full scan."""

from random import Random

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Period
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Fallback
from pabal.store.engine.base import Tx
from pabal.store.messages import campaign_requests, history, message_search, messages
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.message_search import NEWEST
from pabal.store.messages.messages import Message
from tests.fixtures.rows import ACCOUNT, ExplainingTx, message_id, sms, store_request
from tests.fixtures.virtual import NOON

EVERYTHING = 100_000

pytestmark = pytest.mark.slow


def add_requests(tx: Tx, requests: int = 60) -> None:
    """Store requests of two accounts and several kinds, some with fallbacks, some of them ended."""
    chance = Random(7)
    for number in range(requests):
        product = chance.choice([Product.SMS, Product.LMS, Product.FRIENDTALK_TEXT])
        phones = [f"010{chance.randrange(5):08}" for _ in range(chance.choice([1, 1, 3, 40]))]
        fallback = Fallback("0212345678", None) if not product.is_text else None
        sending = sms(phones, product=product, fallback=fallback)
        one = store_request(
            tx,
            number,
            sending,
            at=NOON + 1000 * (number // 2),
            scheduled_at=NOON + 1000 * (number // 2) + chance.choice([0, 90_000]),
            account=chance.choice([ACCOUNT, ACCOUNT, 2]),
        )
        for place in range(1, len(phones) + 1):
            end(tx, one, place, len(phones), product, chance)


def end(tx: Tx, request: bytes, place: int, total: int, product: Product, chance: Random) -> None:
    outcome = chance.choice([None, Outcome.DELIVERED, Outcome.NOT_A_USER])
    one = identifiers.make_message_id(request, place)
    if outcome is None:
        return
    messages.finish(tx, [(one, outcome)], NOON + chance.randrange(100_000))
    if outcome is Outcome.NOT_A_USER and not product.is_text:
        origin = messages.get(tx, [one])[one]
        stand_in = identifiers.make_message_id(request, place + total)
        messages.add_fallback(tx, origin, stand_in, Product.SMS, "text", None, NOON)


def search_all(tx: Tx, wanted: MessageFilter, page_size: int) -> list[Message]:
    """Return all results, read page by page."""
    found: list[Message] = []
    before: bytes | None = NEWEST
    while before:
        page = message_search.search(tx, wanted, before, page_size)
        assert len(page.found) <= page_size
        assert page.next_before is None or page.next_before < before
        found += [message for message, _ in page.found]
        before = page.next_before
    return found


ASKED: list[dict[str, object]] = [
    {},
    {"status": Status.FAIL},
    {"status": Status.CANCEL},
    {"product": Product.SMS},
    {"product": Product.FRIENDTALK_TEXT, "status": Status.COMPLETED},
    {"requested": Period(NOON + 5_000, NOON + 20_000)},
    {"requested": Period(None, NOON)},
    {"scheduled": Period(NOON + 90_000, None)},
    {"completed": Period(NOON + 10_000, NOON + 50_000)},
    {"receiver": "01000000003"},
    {"receiver": "01000000003", "status": Status.FAIL},
    {"outcome": Outcome.NOT_A_USER},
    {"channel_id": "@none"},
]


@pytest.mark.parametrize("page_size", [1, 7, 50, 1000])
def test_search_finds_the_same_as_a_full_scan(tx: Tx, page_size: int) -> None:
    add_requests(tx, 60 if page_size > 1 else 12)
    for asked in ASKED:
        wanted = MessageFilter(ACCOUNT, **asked)  # type: ignore[arg-type]

        expected = [message for message, _ in history.find(tx, wanted, 1, EVERYTHING).found]

        assert search_all(tx, wanted, page_size) == expected, asked
        assert message_search.count(tx, wanted, EVERYTHING) == len(expected), asked
        assert message_search.count(tx, wanted, 5) == min(5, len(expected)), asked
        assert expected or asked in (
            {"status": Status.CANCEL},
            {"requested": Period(None, NOON)},
            {"channel_id": "@none"},
        )


@pytest.mark.parametrize("asked", [{}, {"status": Status.FAIL}, {"receiver": "01000000001"}])
def test_search_in_a_campaign_finds_the_messages_of_its_requests(tx: Tx, asked: dict[str, object]) -> None:
    add_requests(tx)
    every = [row[0] for row in tx.fetch_all("select id from requests order by id")]
    theirs, campaign_id = set(every[::3]), b"c" * identifiers.REQUEST_ID_BYTES
    for number, one in enumerate(every[::3], 1):
        campaign_requests.add(tx, campaign_id, number, one, 1, NOON)
    wanted = MessageFilter(ACCOUNT, **asked)  # type: ignore[arg-type]
    expected = [
        message
        for message, _ in history.find(tx, wanted, 1, EVERYTHING).found
        if identifiers.request_id_of(message.id) in theirs
    ]

    assert search_all(tx, wanted._replace(campaign_id=campaign_id), 7) == expected
    assert expected


def test_search_without_results_stops_and_returns_its_position(tx: Tx) -> None:
    looked = message_search.MAX_SCAN_SIZE * message_search.MAX_SCANS  # and no more
    for number in range(40):
        store_request(tx, number, sms(["01000000000"] * 1000), at=NOON + number)

    page = message_search.search(tx, MessageFilter(ACCOUNT, status=Status.FAIL), NEWEST, 50)

    assert page.found == []
    assert page.next_before is not None
    assert message_id(39 - looked // 1000, 1000, NOON + 39 - looked // 1000) < page.next_before


@pytest.mark.parametrize("asked", [{"product": Product.LMS}, {"template_code": "T1"}, {"channel_id": "@shop"}])
def test_requests_that_do_not_match_count_as_examined(tx: Tx, asked: dict[str, object]) -> None:
    for number in range(message_search.FIRST_SCAN_SIZE + 100):
        store_request(tx, number, at=NOON + number)
    wanted = MessageFilter(ACCOUNT, **asked)  # type: ignore[arg-type]

    stretches, further = message_search._message_ranges(tx, wanted, NEWEST, message_search.FIRST_SCAN_SIZE)

    assert stretches == []
    assert further == message_id(100, 1, NOON + 100)
    assert message_search.search(tx, wanted, NEWEST, 50) == message_search.SearchPage([], None, [])


def test_search_reads_by_account_requests_and_never_scans_messages(tx: Tx) -> None:
    add_requests(tx)
    explaining = ExplainingTx(tx)

    message_search.search(explaining, MessageFilter(ACCOUNT, status=Status.FAIL), NEWEST, 50)
    message_search.search(explaining, MessageFilter(ACCOUNT), message_id(20, 1, NOON + 10_000), 50)
    message_search.count(explaining, MessageFilter(ACCOUNT, status=Status.FAIL), 10)
    message_search.count(explaining, MessageFilter(ACCOUNT, requested=Period(NOON, NOON + 20_000)), 10)

    assert explaining.uses("requests_by_account (account_id=?")
    assert explaining.scans == []

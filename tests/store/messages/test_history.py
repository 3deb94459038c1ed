"""Message history: filtered, newest first, paged, and without table scans."""

import re
from itertools import pairwise

import pytest

from pabal.domain.base.dates import DAY, HOUR, MINUTE, Period
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Receiver, Sending
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.messages import history, messages
from pabal.store.messages.history import DeliveryRecord, MessageFilter
from tests.fixtures.rows import (
    ACCOUNT,
    PHONE,
    ExplainingTx,
    message_id,
    request_id,
    sms,
    store_many_requests,
    store_request,
)
from tests.fixtures.virtual import NOON

OF_PHONE = MessageFilter(ACCOUNT, receiver=PHONE)


def found(tx: Tx, wanted: MessageFilter, page: int = 1, page_size: int = 100) -> list[bytes]:
    return [message.id for message, _ in history.find(tx, wanted, page, page_size).found]


def test_messages_of_a_phone_are_found_newest_first(tx: Tx) -> None:
    store_request(tx, 1, at=NOON)
    store_request(tx, 2, at=NOON - HOUR)
    store_request(tx, 3, at=NOON + HOUR)
    store_request(tx, 4, sms(["01099999999"]))

    page = history.find(tx, OF_PHONE, 1, 10)

    assert page.total == 3
    assert [message.id for message, _ in page.found] == [
        message_id(3, at=NOON + HOUR),
        message_id(1),
        message_id(2, at=NOON - HOUR),
    ]


def test_each_message_comes_with_its_request(tx: Tx) -> None:
    store_request(tx, 1, sms(content="하나"))
    store_request(tx, 2, sms([PHONE, PHONE], content="둘"))

    page = history.find(tx, OF_PHONE, 1, 10)

    assert [request.content for _, request in page.found] == ["둘", "둘", "하나"]


def test_pages_do_not_overlap_and_a_page_past_the_end_is_empty(tx: Tx) -> None:
    for number in range(7):
        store_request(tx, number)

    pages = [history.find(tx, OF_PHONE, page, 3) for page in (1, 2, 3, 4)]

    assert [page.total for page in pages] == [7] * 4
    assert [len(page.found) for page in pages] == [3, 3, 1, 0]
    assert len({message.id for page in pages for message, _ in page.found}) == 7


def test_messages_of_another_account_are_not_found(tx: Tx) -> None:
    store_request(tx, 1, account=ACCOUNT)
    store_request(tx, 2, account=ACCOUNT + 1)

    assert found(tx, OF_PHONE) == [message_id(1)]
    assert found(tx, MessageFilter(ACCOUNT, request_id=message_id(2)[:13])) == []
    assert found(tx, OF_PHONE._replace(message_id=message_id(2))) == []


def test_filters_combine(tx: Tx) -> None:
    store_request(tx, 1)
    store_request(tx, 2, sms(product=Product.LMS))
    store_request(tx, 3)
    messages.finish(tx, [(message_id(1), Outcome.DELIVERED), (message_id(2), Outcome.SPAM)], NOON + MINUTE)

    assert found(tx, OF_PHONE._replace(product=Product.LMS)) == [message_id(2)]
    assert found(tx, OF_PHONE._replace(status=Status.WAITING)) == [message_id(3)]
    assert found(tx, OF_PHONE._replace(status=Status.COMPLETED, product=Product.SMS)) == [message_id(1)]
    assert found(tx, OF_PHONE._replace(status=Status.COMPLETED, product=Product.LMS)) == []
    assert found(tx, OF_PHONE._replace(message_id=message_id(3))) == [message_id(3)]
    assert found(tx, OF_PHONE._replace(request_id=message_id(3)[:13])) == [message_id(3)]
    assert found(tx, OF_PHONE._replace(product=Product.EMAIL)) == []


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (Period(NOON, None), {2, 3}),
        (Period(None, NOON), {1}),
        (Period(NOON, NOON + HOUR), {2}),
        (Period(NOON, NOON + HOUR + 1), {2, 3}),
        (Period(None, None), {1, 2, 3}),
    ],
)
def test_period_includes_its_start_and_excludes_its_end(tx: Tx, period: Period, expected: set[int]) -> None:
    when = {1: NOON - HOUR, 2: NOON, 3: NOON + HOUR}
    for number, at in when.items():
        store_request(tx, number, at=at)
        messages.finish(tx, [(message_id(number, at=at), Outcome.DELIVERED)], at)
    ids = {message_id(number, at=when[number]) for number in expected}

    assert set(found(tx, OF_PHONE._replace(requested=period))) == ids
    assert set(found(tx, OF_PHONE._replace(scheduled=period))) == ids
    assert set(found(tx, OF_PHONE._replace(month=period))) == ids
    assert set(found(tx, OF_PHONE._replace(completed=period))) == ids


def test_period_uses_the_scheduled_time_not_the_request_time(tx: Tx) -> None:
    store_request(tx, 1, at=NOON, scheduled_at=NOON + 60 * DAY)

    assert found(tx, OF_PHONE._replace(scheduled=Period(NOON + 60 * DAY, NOON + 61 * DAY))) == [message_id(1)]
    assert found(tx, OF_PHONE._replace(scheduled=Period(NOON, NOON + 60 * DAY))) == []
    assert found(tx, OF_PHONE._replace(month=Period(NOON + 59 * DAY, None))) == [message_id(1)]


def test_unfinished_messages_are_in_no_completion_period(tx: Tx) -> None:
    store_request(tx, 1)

    assert found(tx, OF_PHONE._replace(completed=Period(0, None))) == []


def test_messages_are_found_by_channel_key_and_template_at_send_time(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    profile = profiles.add(tx, account, "@shop", "00100010001", PHONE, NOON)
    profiles.approve(tx, profile, "a" * 40, NOON)
    talk = Sending(Product.ALIMTALK, "주문", [Receiver(PHONE)], profile_id=profile, template_code="order")
    store_request(tx, 1, talk, account=account)
    store_request(tx, 2, account=account)
    profiles.delete(tx, profile, NOON)
    wanted = MessageFilter(account, receiver=PHONE)

    for fits in (
        wanted._replace(channel_id="@shop"),
        wanted._replace(sender_key="a" * 40),
        wanted._replace(template_code="order", channel_id="@shop"),
    ):
        assert found(tx, fits) == [message_id(1)]
    assert found(tx, wanted._replace(channel_id="@another")) == []
    assert found(tx, wanted._replace(template_code="order", product=Product.SMS)) == []


EVERY_FILTER = {
    "phone alone": OF_PHONE,
    "status and product": OF_PHONE._replace(status=Status.WAITING, product=Product.SMS),
    "requested": OF_PHONE._replace(requested=Period(NOON - DAY, NOON)),
    "scheduled": OF_PHONE._replace(scheduled=Period(NOON - DAY, NOON)),
    "month": OF_PHONE._replace(month=Period(NOON - DAY, NOON)),
    "completed": OF_PHONE._replace(completed=Period(NOON - DAY, NOON)),
    "channel": OF_PHONE._replace(channel_id="@shop"),
    "sender key": OF_PHONE._replace(sender_key="a"),
    "template": OF_PHONE._replace(template_code="t"),
}


@pytest.mark.parametrize("wanted", EVERY_FILTER.values(), ids=EVERY_FILTER.keys())
def test_messages_of_a_phone_are_read_in_receiver_index_order(tx: Tx, wanted: MessageFilter) -> None:
    store_many_requests(tx)
    phone = "01000000007"
    explaining = ExplainingTx(tx)

    history.find(explaining, wanted._replace(receiver=phone), 1, 10)

    assert explaining.scans == []
    assert explaining.uses("messages_by_receiver (account_id=? AND receiver=?")
    assert not any("TEMP B-TREE FOR ORDER BY" in step for step, _ in explaining.plans)


def test_counting_looks_requests_up_by_account_and_id_also_where_tables_seem_empty(tx: Tx) -> None:
    explaining = ExplainingTx(tx)
    store_many_requests(tx)
    period = Period(NOON - DAY, NOON + DAY)

    for wanted in (
        OF_PHONE._replace(receiver="01000000007", sender="0212345678"),
        MessageFilter(ACCOUNT, sender="0212345678", requested=period),
        MessageFilter(ACCOUNT, scheduled=period),
    ):
        assert history.count(explaining, wanted) > 0

    comparing = ("Join Filter", "Materialize", "SEARCH r USING PRIMARY KEY (id>")
    steps = [step for step, _ in explaining.plans]
    assert [step for step in steps if any(each in step for each in comparing)] == []
    by_account = [cond for step, cond in pairwise(steps) if re.search("Index .*requests.*_account_id_id_idx", step)]
    assert [cond for cond in by_account if "account_id = " not in cond] == [], "else it reads the whole index"


def test_messages_of_a_request_are_found_by_their_ids(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    page = history.find(explaining, MessageFilter(ACCOUNT, request_id=message_id(0)[:13]), 1, 2)
    messages.count_by_status(explaining, ACCOUNT, message_id(0, 1), message_id(0, 3))

    assert (page.total, len(page.found)) == (3, 2)
    assert explaining.scans == []
    assert all("PRIMARY KEY" in step for step, _ in explaining.plans if step.startswith("SEARCH"))


def test_single_message_of_a_phone_is_found_without_a_scan(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    history.find(explaining, MessageFilter(ACCOUNT, receiver="01000000000", message_id=message_id(0)), 1, 2)

    assert explaining.scans == []


def test_known_total_is_not_counted_again(tx: Tx) -> None:
    store_request(tx, 1)
    store_request(tx, 2)

    page = history.find(tx, OF_PHONE, 1, 1, known_total=20_000)

    assert (page.total, [message.id for message, _ in page.found]) == (20_000, [message_id(2)])


def test_deliveries_of_many_messages_are_those_of_each(tx: Tx) -> None:
    store_request(tx, 1, sms(["01012345678", "01087654321"]))
    ids = [message_id(1, 1), message_id(1, 2)]
    messages.mark_submitted(tx, ids, NOON + 1)
    tx.execute("update messages set carrier = 'post', carrier_code = 'X', cost = 950 where id = ?", ids[:1])

    found = history.get_deliveries(tx, [*ids, message_id(2)])

    assert found == {
        ids[0]: DeliveryRecord(950, NOON + 1, "post", "X"),
        ids[1]: DeliveryRecord(None, NOON + 1, None, None),
    }
    assert history.get_deliveries(tx, []) == {}


def test_keys_of_many_requests_leave_out_those_without_one(tx: Tx) -> None:
    for number in (1, 2):
        store_request(tx, number)
    tx.execute("update requests set key_id = 7 where id = ?", (request_id(1),))

    found = history.get_key_ids(tx, [request_id(1), request_id(2), request_id(3)])

    assert found == {request_id(1): 7}

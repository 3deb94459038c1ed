"""Send requests: their stored fields, and what remains after they are blanked."""

from pabal.domain.base.dates import HOUR
from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Fallback, Receiver, Sending
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.messages import images, messages, requests
from pabal.store.people import personal_data
from pabal.store.queue import attempts
from tests.fixtures.rows import (
    CARRIER,
    PHONE,
    ExplainingTx,
    add_request,
    message_id,
    request_id,
    sms,
    store_many_requests,
    store_request,
)
from tests.fixtures.virtual import NOON

PICTURE = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff")


def talk(profile_id: int) -> Sending:
    return Sending(
        Product.FRIENDTALK_IMAGE,
        "#{name}님",
        [Receiver(PHONE, ("길동", "1")), Receiver(PHONE, ("길순", "2"), "따로", "ref-2")],
        sender="",
        images=(PICTURE,),
        image_link="https://example.com",
        buttons=(Button("webLink", "보기", mobile_url="https://example.com/#{no}"),),
        is_ad=True,
        fallback=Fallback("0212345678", "대신"),
        profile_id=profile_id,
        variables=("name", "no"),
    )


def add_profile(tx: Tx) -> int:
    account = accounts.ensure_account(tx, "acme", NOON)
    profile = profiles.add(tx, account, "@shop", "00100010001", PHONE, NOON)
    profiles.approve(tx, profile, "a" * 40, NOON)
    return profile


def test_request_is_read_as_stored_with_channel_and_key(tx: Tx) -> None:
    profile = add_profile(tx)
    add_request(tx, request_id(1), 7, talk(profile), NOON + HOUR)

    kept = requests.get(tx, [request_id(1), request_id(2)])

    assert list(kept) == [request_id(1)]
    assert requests.get(tx, []) == {}
    request = kept[request_id(1)]
    given = talk(profile)
    assert (request.account_id, request.product, request.total) == (7, Product.FRIENDTALK_IMAGE, 2)
    assert request.scheduled_at == NOON + HOUR
    assert (request.content, request.variables, request.buttons) == (given.content, given.variables, given.buttons)
    assert (request.images, request.image_link, request.is_ad) == (1, "https://example.com", True)
    assert (request.fallback_sender, request.fallback_content) == ("0212345678", "대신")
    assert (request.profile_id, request.channel_id, request.sender_key) == (profile, "@shop", "a" * 40)
    assert images.get(tx, request_id(1)) == (PICTURE,)


def test_text_request_has_empty_optional_fields(tx: Tx) -> None:
    add_request(tx, request_id(1), 7, sms(), NOON)

    request = requests.get(tx, [request_id(1)])[request_id(1)]

    assert request.sender == "0212345678"
    assert (request.subject, request.fallback_sender, request.profile_id, request.channel_id) == (None,) * 4
    assert (request.variables, request.buttons, request.images, request.is_ad) == ((), (), 0, False)
    assert images.get(tx, request_id(1)) == ()


def test_requests_of_a_profile_are_read_in_order_without_gaps(tx: Tx) -> None:
    profile = add_profile(tx)
    for number in range(25):  # more than one batch with the same time
        add_request(tx, request_id(number), 1, talk(profile), NOON + HOUR)
    add_request(tx, request_id(90), 1, talk(profile), NOON - HOUR)
    add_request(tx, request_id(91), 1, sms(), NOON + HOUR)

    seen: list[bytes] = []
    after = (NOON, b"")
    while batch := requests.list_by_profile(tx, profile, after, 10):
        seen += [one for _, one, _ in batch]
        after = batch[-1][:2]

    assert seen == [request_id(number) for number in range(25)]


def test_requests_between_two_ids_exclude_both(tx: Tx) -> None:
    for number in range(5):
        store_request(tx, number)

    assert requests.ids_between(tx, request_id(0), request_id(4), 10) == [
        request_id(number) for number in (1, 2, 3)
    ]
    assert requests.ids_between(tx, request_id(0), request_id(4), 2) == [request_id(1), request_id(2)]


def test_blanked_request_keeps_outcomes_and_no_personal_data_and_others_stay(tx: Tx) -> None:
    profile = add_profile(tx)
    store_request(tx, 1, talk(profile))
    store_request(tx, 2)
    messages.finish(tx, [(message_id(1, 1), Outcome.DELIVERED), (message_id(1, 2), Outcome.SPAM)], NOON + 5)
    attempts.record(tx, CARRIER, [attempts.EndedAttempt(message_id(1, 1), 1, "busy")], NOON)

    personal_data.erase_request(tx, request_id(1))

    request = requests.get(tx, [request_id(1)])[request_id(1)]
    assert (request.content, request.sender, request.subject, request.image_link) == ("", "", None, None)
    assert (request.buttons, request.variables) == ((), ())
    assert (request.fallback_sender, request.fallback_content) == (None, None)
    assert images.get(tx, request_id(1)) == ()
    assert tx.fetch_all("select * from attempts") == []
    ended = messages.get(tx, [message_id(1, 1), message_id(1, 2)])
    assert [one.outcome for one in ended.values()] == [Outcome.DELIVERED, Outcome.SPAM]
    for one in ended.values():
        assert (one.receiver, one.values, one.content, one.reference) == ("", (), None, None)
        assert one.completed_at == NOON + 5
    counted = messages.count_by_status(tx, 1, message_id(1, 0), message_id(1, 9))
    assert counted == {Status.COMPLETED: 1, Status.FAIL: 1}
    assert messages.get(tx, [message_id(2)])[message_id(2)].receiver == PHONE
    assert requests.get(tx, [request_id(2)])[request_id(2)].content == "안녕하세요"


def test_request_queries_never_scan_the_table(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)

    add_request(explaining, request_id(1000), 1, sms(), NOON)
    requests.get(explaining, [request_id(1), request_id(2)])
    images.get(explaining, request_id(1))
    requests.list_by_profile(explaining, 1, (NOON, b""), 20)
    requests.ids_between(explaining, request_id(0), request_id(9), 20)
    personal_data.erase_request(explaining, request_id(1))

    assert explaining.scans == []
    assert explaining.uses("requests_by_profile (profile_id=? AND (scheduled_at,id)>(?,?))")

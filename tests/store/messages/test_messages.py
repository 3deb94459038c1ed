"""Stored messages: one row per receiver, which ends only once."""

from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Receiver
from pabal.store.engine.base import Tx
from pabal.store.messages import messages
from pabal.store.messages.messages import Message
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


def one(tx: Tx, which: bytes) -> Message:
    return messages.get(tx, [which])[which]


def test_message_is_read_as_stored(tx: Tx) -> None:
    receivers = [Receiver(PHONE), Receiver("01187654321", ("값", ""), "따로", "ref")]
    store_request(tx, 1, sms(receivers=receivers))

    assert one(tx, message_id(1, 1)) == Message(
        message_id(1, 1), ACCOUNT, PHONE, Product.SMS, Status.WAITING, None, None, (), None, None
    )
    waiting = (Product.SMS, Status.WAITING, None, None)
    assert one(tx, message_id(1, 2)) == Message(
        message_id(1, 2), ACCOUNT, "01187654321", *waiting, ("값", ""), "따로", "ref"
    )


def test_only_existing_messages_are_read(tx: Tx) -> None:
    store_request(tx, 1)

    assert set(messages.get(tx, [message_id(1), message_id(1, 2), message_id(2)])) == {message_id(1)}
    assert messages.get(tx, []) == {}


def test_only_waiting_messages_become_sending(tx: Tx) -> None:
    store_request(tx, 1, sms([PHONE] * 3))
    messages.cancel(tx, [message_id(1, 2)], NOON)
    messages.finish(tx, [(message_id(1, 3), Outcome.SPAM)], NOON)

    messages.mark_sending(tx, [message_id(1, number) for number in (1, 2, 3)])

    statuses = [one(tx, message_id(1, number)).status for number in (1, 2, 3)]
    assert statuses == [Status.SENDING, Status.CANCEL, Status.FAIL]


def test_message_ends_only_once(tx: Tx) -> None:
    store_request(tx, 1)
    store_request(tx, 2)
    which, cancelled = message_id(1), message_id(2)
    messages.mark_sending(tx, [which])

    assert messages.cancel(tx, [cancelled, message_id(3)], NOON + 1) == 1
    assert messages.cancel(tx, [cancelled], NOON + 2) == 0
    assert messages.finish(tx, [(cancelled, Outcome.DELIVERED)], NOON + 3) == []
    assert messages.finish(tx, [(which, Outcome.DELIVERED)], NOON + 1) == [(which, Product.SMS.number)]
    assert messages.finish(tx, [(which, Outcome.SPAM)], NOON + 2) == []
    assert messages.cancel(tx, [which], NOON + 3) == 0

    ended = one(tx, which)
    assert (ended.status, ended.outcome, ended.completed_at) == (Status.COMPLETED, Outcome.DELIVERED, NOON + 1)
    other = one(tx, cancelled)
    assert (other.status, other.outcome, other.completed_at) == (Status.CANCEL, None, NOON + 1)


def test_only_waiting_messages_are_listed_for_a_cancel(tx: Tx) -> None:
    store_request(tx, 1, sms([PHONE] * 3))
    store_request(tx, 2)
    messages.mark_sending(tx, [message_id(1, 2)])

    assert messages.find_waiting(tx, ACCOUNT, request_id(1), None) == [message_id(1, 1), message_id(1, 3)]
    assert messages.find_waiting(tx, ACCOUNT, request_id(1), message_id(1, 3)) == [message_id(1, 3)]
    assert messages.find_waiting(tx, ACCOUNT, request_id(1), message_id(1, 2)) == []
    assert messages.find_waiting(tx, ACCOUNT + 1, request_id(1), None) == []


def test_messages_are_counted_by_status_for_their_account_only(tx: Tx) -> None:
    store_request(tx, 1, sms([PHONE] * 4))
    messages.mark_sending(tx, [message_id(1, 1), message_id(1, 2)])
    messages.finish(tx, [(message_id(1, 1), Outcome.DELIVERED)], NOON)
    bounds = message_id(1, 0), message_id(1, 9)

    assert messages.count_by_status(tx, ACCOUNT, *bounds) == {
        Status.WAITING: 2,
        Status.SENDING: 1,
        Status.COMPLETED: 1,
    }
    assert messages.count_by_status(tx, ACCOUNT + 1, *bounds) == {}


def test_fallback_is_stored_once(tx: Tx) -> None:
    store_request(tx, 1)
    origin = one(tx, message_id(1))
    stand_in = message_id(1, 2)

    assert messages.add_fallback(tx, origin, stand_in, Product.LMS, "대신", None, NOON)
    assert not messages.add_fallback(tx, origin, stand_in, Product.SMS, "다시", None, NOON)

    kept = one(tx, stand_in)
    assert (kept.receiver, kept.product, kept.status, kept.content) == (PHONE, Product.LMS, Status.WAITING, "대신")
    assert kept.completed_at is None


def test_fallback_that_cannot_be_sent_ends_at_once(tx: Tx) -> None:
    store_request(tx, 1)
    origin = one(tx, message_id(1))

    messages.add_fallback(tx, origin, message_id(1, 2), Product.LMS, "🙂", Outcome.NOT_SENDABLE_AS_TEXT, NOON)

    kept = one(tx, message_id(1, 2))
    assert (kept.status, kept.outcome) == (Status.FAIL, Outcome.NOT_SENDABLE_AS_TEXT)
    assert kept.completed_at == NOON


def test_message_queries_never_scan_the_table(tx: Tx) -> None:
    store_many_requests(tx)
    explaining = ExplainingTx(tx)
    ids = [message_id(0, number) for number in (1, 2, 3)]

    messages.add_all(explaining, messages.build_rows(request_id(999), 1, Product.SMS, [Receiver(PHONE)]))
    messages.get(explaining, ids)
    messages.mark_sending(explaining, ids[:1])
    messages.finish(explaining, [(ids[0], Outcome.DELIVERED)], NOON)
    messages.cancel(explaining, ids[1:], NOON)
    messages.find_waiting(explaining, ACCOUNT, request_id(0), None)
    messages.find_waiting(explaining, ACCOUNT, request_id(0), ids[2])
    messages.count_by_status(explaining, ACCOUNT, ids[0], ids[2])
    messages.add_fallback(explaining, one(tx, ids[0]), message_id(0, 4), Product.SMS, "대신", None, NOON)

    assert explaining.scans == []
    assert not explaining.uses("messages_by_receiver")

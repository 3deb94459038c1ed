"""How long receipts are awaited: found in the queue, whatever its size and the products in it."""

import pytest

from pabal.domain.base.dates import HOUR, MINUTE, Instant
from pabal.domain.sends.message import Outcome, Product
from pabal.store.engine.base import Tx
from pabal.store.messages import messages
from pabal.store.queue import queue, receipts
from pabal.store.queue.queue import AcceptedJob
from pabal.store.queue.receipts import ReceiptTimeouts
from tests.fixtures.rows import CARRIER, ExplainingTx, message_id, sms, store_many_requests, store_request
from tests.fixtures.virtual import NOON

TIMEOUTS = ReceiptTimeouts(25 * HOUR, 80 * HOUR)


def submit(tx: Tx, number: int, product: Product, at: Instant) -> bytes:
    """Store a message that its carrier accepted at this time."""
    store_request(tx, number, sms()._replace(product=product))
    one = message_id(number)
    messages.mark_submitted(tx, [one], at)
    queue.claim(tx, [one], at, at + MINUTE)
    timeout = TIMEOUTS.sms_ms if product is Product.SMS else TIMEOUTS.other_ms
    queue.await_receipts(tx, [AcceptedJob(one, 1, f"r{number}", at + timeout)])
    return one


def oldest(tx: Tx, now: Instant) -> dict[str, Instant]:
    return receipts.oldest_submitted_at(tx, [0], [CARRIER, "another"], TIMEOUTS, now)


def test_nothing_is_awaited_of_messages_that_wait_or_have_ended(tx: Tx) -> None:
    store_request(tx, 1)

    assert oldest(tx, NOON) == {}


@pytest.mark.parametrize("older", [Product.SMS, Product.LMS])
@pytest.mark.parametrize("now", [NOON + HOUR, NOON + 24 * HOUR])
def test_the_oldest_awaited_message_is_found_whatever_its_product(tx: Tx, older: Product, now: Instant) -> None:
    submit(tx, 1, older, NOON)
    submit(tx, 2, Product.SMS, NOON + MINUTE)
    submit(tx, 3, Product.LMS, NOON + MINUTE)

    assert oldest(tx, now) == {CARRIER: NOON}

    queue.remove(tx, [message_id(1)])
    assert oldest(tx, now) == {CARRIER: NOON + MINUTE}


def test_late_messages_and_unmatched_receipts_are_counted(tx: Tx) -> None:
    for number, minutes in enumerate((0, 5, 30)):
        submit(tx, 2 * number, Product.SMS, NOON + minutes * MINUTE)
        submit(tx, 2 * number + 1, Product.LMS, NOON + minutes * MINUTE)
    receipts.record_receipts(tx, CARRIER, [("unknown", Outcome.DELIVERED)], NOON)
    now = NOON + 31 * MINUTE

    late = receipts.count_submitted_before(tx, [0], CARRIER, TIMEOUTS, now - 15 * MINUTE, now)

    assert late == 4
    assert receipts.count_unmatched(tx, CARRIER, now) == 1
    assert receipts.count_unmatched(tx, "another", now) == 0


def test_awaited_receipts_are_found_by_index(tx: Tx) -> None:
    store_many_requests(tx)
    for number in range(1000, 1100):
        submit(tx, number, Product.SMS, NOON)
    explaining = ExplainingTx(tx)

    receipts.oldest_submitted_at(explaining, [0], [CARRIER], TIMEOUTS, NOON + HOUR)
    receipts.count_submitted_before(explaining, [0], CARRIER, TIMEOUTS, NOON + MINUTE, NOON + HOUR)
    receipts.count_unmatched(explaining, CARRIER, NOON)

    bounded = ("SCAN first_jobs", "SCAN last")  # the rows that a limit has chosen
    assert [scan for scan in explaining.scans if scan[0] not in bounded] == []

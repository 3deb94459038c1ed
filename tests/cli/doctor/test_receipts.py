"""`pabal doctor` names the carriers that owe receipts, and since when."""

from pabal.domain.base.dates import HOUR, MINUTE, format_timestamp
from pabal.domain.sends.message import Outcome
from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.messages import messages
from pabal.store.queue import queue, receipts
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine
from tests.fixtures.rows import message_id, store_request

CARRIER = "simulator"


def submit(tx: Tx, number: int, at: int) -> None:
    """Store a message that its carrier accepted at this time."""
    store_request(tx, number, at=at, carrier=CARRIER)
    one = message_id(number, at=at)
    messages.mark_submitted(tx, [one], at)
    queue.claim(tx, [one], at, at + MINUTE)
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, f"r{number}", at + 25 * HOUR)])


def test_doctor_names_a_carrier_that_owes_receipts(command_line: CommandLine) -> None:
    now = RealWorld().now()

    def submit_all(tx: Tx) -> None:
        for number in range(3):
            submit(tx, number, now - 20 * MINUTE)
        submit(tx, 3, now - MINUTE)

    command_line.run_in_context(lambda context: context.store.write(submit_all))

    late = command_line("doctor")
    unknown = [(f"x{number}", Outcome.DELIVERED) for number in range(2)]
    command_line.run_in_context(
        lambda context: context.store.write(receipts.record_receipts, CARRIER, unknown, now)
    )
    unmatched = command_line("doctor")

    since = format_timestamp(now - 20 * MINUTE, load({}).zone)
    owed = f"3 messages have awaited their receipt from the carrier {CARRIER} for more than 15 minutes"
    assert f"note  {owed}, the oldest since {since}; 0 receipts match no message" in late.out
    assert "check the webhook address" in late.out
    assert "; 2 receipts match no message\n      They seem to come under other ids" in unmatched.out
    assert late.status == unmatched.status == 0


def test_doctor_is_content_with_receipts_that_may_still_come(command_line: CommandLine) -> None:
    now = RealWorld().now()
    command_line.run_in_context(lambda context: context.store.write(submit, 1, now - 10 * MINUTE))

    assert "receipt" not in command_line("doctor").out

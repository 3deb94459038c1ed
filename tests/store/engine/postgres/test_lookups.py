"""Statements about a batch read the rows of the batch, however many others wait, also by plans of quiet times."""

from collections.abc import Callable, Sequence

import pytest

from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Outcome
from pabal.store.engine.base import Tx
from pabal.store.messages import idempotency_keys
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from pabal.store.queue import queue, receipts
from pabal.store.queue.queue import Lane
from tests.fixtures.jobs import SLOT, add_job, claim_jobs
from tests.fixtures.rows import ACCOUNT, CARRIER, message_id
from tests.fixtures.virtual import NOON

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)

BATCH, WAITING = 20, 2000
"""Messages of a batch, and others that wait with them."""
QUIET_TURNS = 8
"""After these, the plan is kept."""
READS_A_ROW = 10
"""Of a message's row: that of the index, and those that older versions of the row have left there."""


def claim(tx: Tx, first: int) -> list[bytes]:
    """Store a batch as claimed."""
    ids = [add_job(tx, first + each) for each in range(BATCH)]
    claim_jobs(tx, *ids)
    return ids


def accept(tx: Tx, ids: Sequence[bytes]) -> None:
    """Have them wait for receipts."""
    queue.await_receipts(tx, [queue.AcceptedJob(one, 1, one.hex(), NOON + SECOND) for one in ids])


def expect(tx: Tx, ids: Sequence[bytes]) -> None:
    """Store the references of messages."""
    receipts.record_references(tx, CARRIER, [receipts.ExpectedReceipt(one.hex(), one, 1) for one in ids])


def record(tx: Tx, ids: Sequence[bytes]) -> None:
    """Store the receipts of messages."""
    found = receipts.record_receipts(tx, CARRIER, [(one.hex(), Outcome.DELIVERED) for one in ids], NOON)
    assert len(found.ended) == len(ids)


def retry(tx: Tx, ids: Sequence[bytes]) -> None:
    """Have them tried again later."""
    again = queue.retry_later(tx, [queue.RetriedJob(one, 1, NOON + SECOND, CARRIER, 1) for one in ids])
    assert len(again) == len(ids)


def name(tx: Tx, ids: Sequence[bytes]) -> None:
    """Store the Idempotency-Keys of requests."""
    idempotency_keys.save(
        tx, {IdempotencyKeyId(SLOT, ACCOUNT, one.hex()): KeyedRequest(one, one, NOON) for one in ids}
    )


def find_named(tx: Tx, ids: Sequence[bytes]) -> None:
    """Find requests by their Idempotency-Keys."""
    assert len(idempotency_keys.find(tx, [IdempotencyKeyId(SLOT, ACCOUNT, one.hex()) for one in ids])) == len(ids)


def end(tx: Tx, ids: Sequence[bytes]) -> None:
    """Delete the references of messages."""
    receipts.delete(tx, [receipts.EndedReference(CARRIER, one.hex(), one) for one in ids])


def wait_beside(tx: Tx, numbers: range) -> None:
    """Store other messages that wait for receipts."""
    others = [message_id(1_000_000 + each) for each in numbers]
    expect(tx, others)
    name(tx, others)
    queue.add_all(tx, [queue.NewJob(one, SLOT, CARRIER, Lane.AWAITING_RECEIPT, NOON + SECOND) for one in others])


def count_reads(tx: Tx) -> int:
    """Return how many entries of indexes this transaction has read."""
    row = tx.fetch_one(
        "select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index"
        " where indrelid in ('jobs'::regclass, 'receipts'::regclass, 'idempotency_keys'::regclass)"
    )
    assert row
    return int(row[0])


@pytest.mark.parametrize("is_analyzed", [True, False])
@pytest.mark.parametrize("quiet", [0, 100])
@pytest.mark.parametrize(
    ("work", "before"),
    [(accept, None), (retry, None), (expect, None), (record, expect), (end, expect), (find_named, name)],
)
def test_batch_reads_its_own_rows(
    tx: Tx,
    work: Callable[[Tx, Sequence[bytes]], None],
    before: Callable[[Tx, Sequence[bytes]], None] | None,
    quiet: int,
    is_analyzed: bool,
) -> None:
    wait_beside(tx, range(quiet))
    if is_analyzed:
        tx.execute("analyze jobs, receipts, idempotency_keys")
    for turn in range(QUIET_TURNS):
        ids = claim(tx, turn * BATCH)
        if before:
            before(tx, ids)
        work(tx, ids)
    wait_beside(tx, range(quiet, WAITING))
    ids = claim(tx, 500_000)
    if before:
        before(tx, ids)
    reads = count_reads(tx)

    work(tx, ids)

    assert count_reads(tx) - reads <= READS_A_ROW * BATCH

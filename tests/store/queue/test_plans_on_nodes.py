"""Plans of a server that analyzed its tables when they were empty, and sees the arguments, as on Citus."""

from collections.abc import Iterator

import pytest

from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from pabal.store.queue import queue, queue_admin, receipts
from pabal.store.queue.queue import Lane, NewJob
from pabal.store.queue.queue_admin import MovedJob
from pabal.store.queue.receipts import ExpectedReceipt
from tests.fixtures import postgres
from tests.fixtures.rows import CARRIER, message_id
from tests.fixtures.virtual import NOON

ASKED = 100
SLOT = 0


@pytest.fixture
def tx() -> Iterator[PostgresTx]:
    connection = connect(postgres.empty_database())
    connection.execute(b"set plan_cache_mode = force_custom_plan; analyze receipts, jobs; begin")
    yield PostgresTx(connection)
    connection.close()


def count_reads(tx: PostgresTx, table: str) -> int:
    """Return how many rows of a table the transaction has read."""
    (row,) = tx.fetch_all(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables"
        " where relname = ?",
        (table,),
    )
    return int(row[0])


@pytest.mark.parametrize("stored", [500, 2_000, 10_000])
def test_references_are_looked_up_one_by_one(tx: PostgresTx, stored: int) -> None:
    receipts.record_references(
        tx, CARRIER, [ExpectedReceipt(f"r{number}", message_id(number), 1) for number in range(stored)]
    )
    before = count_reads(tx, "receipts")

    found = receipts.find_by_reference(tx, CARRIER, [f"r{number}" for number in range(ASKED)])

    assert len(found) == ASKED
    assert count_reads(tx, "receipts") - before == ASKED


def test_search_for_the_next_job_reads_one_of_those_that_wait(tx: PostgresTx) -> None:
    queue.add_all(tx, [NewJob(message_id(number), SLOT, CARRIER, Lane.CAMPAIGN, NOON) for number in range(2_000)])
    before = count_reads(tx, "jobs")

    (found,) = queue.next_due_by_lane(tx, CARRIER, [(SLOT, Lane.SMALL, 0), (SLOT, Lane.CAMPAIGN, 0)])

    assert found == (SLOT, Lane.CAMPAIGN, NOON)
    assert count_reads(tx, "jobs") - before == 1


def test_jobs_of_a_campaign_are_moved_by_their_ids(tx: PostgresTx) -> None:
    ids = [message_id(number) for number in range(2_000)]
    queue.add_all(tx, [NewJob(one, SLOT, CARRIER, Lane.CAMPAIGN, NOON) for one in ids])
    before = count_reads(tx, "jobs")

    queue_admin.reschedule(tx, [MovedJob(one, NOON, NOON - 1) for one in ids[:ASKED]])

    assert count_reads(tx, "jobs") - before == ASKED

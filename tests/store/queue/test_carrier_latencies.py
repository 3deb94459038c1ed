"""Response times of carriers are stored by minute, and read from one on."""

from pabal.domain.base.dates import MINUTE
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers
from pabal.store.queue.carriers import MinuteLatency
from tests.fixtures.virtual import NOON


def test_rows_are_replaced_and_found_by_minute(tx: Tx) -> None:
    rows = [MinuteLatency("a", NOON + number * MINUTE, "w", (number, 0)) for number in range(3)]
    carriers.save_latencies(tx, rows)
    carriers.save_latencies(tx, [rows[2]._replace(counts=(5, 5))])

    assert carriers.list_latencies(tx, NOON + MINUTE) == [rows[1], rows[2]._replace(counts=(5, 5))]
    assert carriers.delete_old_latencies(tx, NOON + 2 * MINUTE, 100) == 2
    assert len(carriers.list_latencies(tx, 0)) == 1

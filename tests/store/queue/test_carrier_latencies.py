"""Response times of carriers are stored by minute, and read from one on."""

from pabal.domain.base.dates import MINUTE
from pabal.store.engine.base import Tx
from pabal.store.queue import carrier_latencies
from pabal.store.queue.carrier_latencies import MinuteLatency
from tests.fixtures.virtual import NOON


def test_rows_are_replaced_and_found_by_minute(tx: Tx) -> None:
    rows = [MinuteLatency("a", NOON + number * MINUTE, "w", (number, 0)) for number in range(3)]
    carrier_latencies.save(tx, rows)
    carrier_latencies.save(tx, [rows[2]._replace(counts=(5, 5))])

    assert carrier_latencies.list_since(tx, NOON + MINUTE) == [rows[1], rows[2]._replace(counts=(5, 5))]
    assert carrier_latencies.delete_old(tx, NOON + 2 * MINUTE, 100) == 2
    assert len(carrier_latencies.list_since(tx, 0)) == 1

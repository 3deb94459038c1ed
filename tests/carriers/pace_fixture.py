"""Shared parts of the tests of pacing."""

from bisect import bisect_left

from pabal.domain.base.dates import SECOND
from pabal.store.engine.base import Store, Tx
from tests.fixtures.virtual import NOON

Departures = list[tuple[float, int]]
"""Time and number of messages sent."""


def departure_times(departures: Departures) -> list[float]:
    return [at for at, count in departures for _ in range(count)]


def max_within(departures: Departures, seconds: float) -> int:
    """Return the maximum number of messages within any interval of this length."""
    each = sorted(departure_times(departures))
    return max(bisect_left(each, start + seconds) - index for index, start in enumerate(each))


async def accepted_messages(store: Store) -> list[tuple[float, bytes]]:
    """Return the time in seconds and the id of each message that the simulator accepted, in order."""

    def query(tx: Tx) -> list[tuple[int, bytes]]:
        sql = "select accepted_at, message_id from simulated_messages order by accepted_at, id"
        return [(row[0], row[1]) for row in tx.fetch_all(sql)]

    return [((at - NOON) / SECOND, message_id) for at, message_id in await store.read(query)]

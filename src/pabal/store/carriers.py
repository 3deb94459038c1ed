"""The last known state of each carrier, for operators."""

from typing import NamedTuple

from pabal.domain.when import Instant
from pabal.store.base import Tx


class CarrierState(NamedTuple):
    """How a carrier does, since when, and why."""

    name: str
    state: str
    since: Instant
    reason: str


def put(tx: Tx, state: CarrierState) -> None:
    """Keep the state of a carrier."""
    tx.run(
        "insert into carriers (name, state, since, reason) values (?, ?, ?, ?) on conflict (name) do update"
        " set state = excluded.state, since = excluded.since, reason = excluded.reason",
        state,
    )


def states(tx: Tx) -> list[CarrierState]:
    """Return the state of every carrier that was ever used, by name."""
    return [CarrierState(*row) for row in tx.rows("select name, state, since, reason from carriers order by name")]

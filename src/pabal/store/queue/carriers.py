"""What is known of carriers: their kinds, the last state of each, and how long they took to answer."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pabal.domain.base.dates import MINUTE, Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, select, upsert

THROUGHPUT_MAX_AGE = 1 * MINUTE
"""An older measurement does not count: its worker has exited."""


UP, PARTLY_UP = "up", "partly"
"""The stored state of a carrier that takes messages, and the shown one if it does not take all of them."""


class CarrierState(NamedTuple):
    """The state of a carrier as a worker sees it; `worker` is empty for the only process."""

    name: str
    state: str
    since: Instant
    reason: str
    worker: str = ""
    last_error: str | None = None
    """The last reason of a bad state, also after it is up again."""
    last_error_at: Instant | None = None
    messages_per_minute: int | None = None
    """How many messages per minute it accepted lately."""
    measured_at: Instant | None = None
    quotas: str | None = None
    """The quotas that are used up, and by how many holders, as JSON; None: none."""

    @property
    def shown_state(self) -> str:
        """The state as people see it: one that is up, and has a reason, is so only in part."""
        return PARTLY_UP if self.state == UP and self.reason else self.state

    def throughput_at(self, now: Instant) -> int:
        """Return how many messages per minute it accepts now."""
        is_fresh = self.measured_at is not None and now - THROUGHPUT_MAX_AGE < self.measured_at
        return (self.messages_per_minute or 0) if is_fresh else 0


class MinuteLatency(NamedTuple):
    """The answers of a carrier to one worker in one minute."""

    carrier: str
    minute: Instant
    worker: str
    """Empty: the only process."""
    counts: tuple[int, ...]
    """How many took so long, by class of duration."""


def get_kinds(tx: Tx) -> dict[str, str]:
    """Return the kind of every known carrier, by name."""
    return dict(tx.fetch_all("select name, kind from carriers order by name"))


def save_kinds(tx: Tx, kinds: Mapping[str, str]) -> None:
    for known in kinds.items():
        tx.execute(upsert("carriers", "name", "kind"), known)


def delete(tx: Tx, name: str) -> bool:
    """Forget a carrier; return whether it was known."""
    return tx.changes("delete from carriers where name = ?", (name,))


def save_state(tx: Tx, state: CarrierState) -> None:
    """Save the state of a carrier, and its reason, if any, as the last error."""
    trouble, at = (state.reason, state.since) if state.reason else (None, None)
    tx.execute(
        "insert into carrier_states (name, state, since, reason, worker, last_error, last_error_at, quotas)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (name, worker) do update"
        " set state = excluded.state, since = excluded.since, reason = excluded.reason, quotas = excluded.quotas,"
        " last_error = coalesce(excluded.last_error, carrier_states.last_error),"
        " last_error_at = coalesce(excluded.last_error_at, carrier_states.last_error_at)",
        (*state[:5], trouble, at, state.quotas),
    )


def save_throughput(tx: Tx, name: str, worker: str, messages_per_minute: int, now: Instant) -> None:
    """Save how many messages per minute a carrier accepted from a worker."""
    tx.execute(
        "update carrier_states set messages_per_minute = ?, measured_at = ? where name = ? and worker = ?",
        (messages_per_minute, now, name, worker),
    )


def list_states(tx: Tx) -> list[CarrierState]:
    """Return the state of every carrier that was ever used, by name."""
    return select(CarrierState, "carrier_states").fetch_all(tx, "order by name, worker")


def delete_states_of_gone_workers(tx: Tx) -> None:
    """Delete the states that exited workers have saved."""
    tx.execute("delete from carrier_states where worker <> '' and worker not in (select name from workers)")


def save_latencies(tx: Tx, rows: Iterable[MinuteLatency]) -> None:
    """Save the answers of a minute in place of what was saved for it before."""
    for each in rows:
        statement = upsert("carrier_latencies", "carrier, minute, worker", "counts")
        tx.execute(statement, (*each[:3], json.dumps(each.counts)))


def list_latencies(tx: Tx, since: Instant) -> list[MinuteLatency]:
    """Return the answers of the minutes from an instant on, oldest first."""
    latencies = select(MinuteLatency, "carrier_latencies", counts=lambda counts: tuple(json.loads(counts)))
    return latencies.fetch_all(tx, "where minute >= ? order by minute, carrier, worker", (since,))


delete_old_latencies = deletion("carrier_latencies", "minute", "minute")
"""Deletes the latencies of some minutes."""

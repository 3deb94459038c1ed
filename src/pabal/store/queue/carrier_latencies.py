"""How long carriers took to answer, by minute and worker, for a day."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx


class MinuteLatency(NamedTuple):
    """The answers of a carrier to one worker in one minute."""

    carrier: str
    minute: Instant
    worker: str
    """Empty: the only process."""
    counts: tuple[int, ...]
    """How many took so long, by class of duration."""


def save(tx: Tx, rows: Iterable[MinuteLatency]) -> None:
    """Save the answers of a minute in place of what was saved for it before."""
    for each in rows:
        tx.execute(
            "insert into carrier_latencies (carrier, minute, worker, counts) values (?, ?, ?, ?)"
            " on conflict (minute, carrier, worker) do update set counts = excluded.counts",
            (*each[:3], json.dumps(each.counts)),
        )


def list_since(tx: Tx, since: Instant) -> list[MinuteLatency]:
    """Return the answers of the minutes from an instant on, oldest first."""
    rows = tx.fetch_all(
        "select carrier, minute, worker, counts from carrier_latencies where minute >= ?"
        " order by minute, carrier, worker",
        (since,),
    )
    return [
        MinuteLatency(carrier, minute, worker, tuple(json.loads(counts)))
        for carrier, minute, worker, counts in rows
    ]


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some minutes before an instant; return how many rows."""
    return tx.execute(
        "delete from carrier_latencies where minute in"
        " (select minute from carrier_latencies where minute < ? order by minute limit ?)",
        (before, limit),
    )

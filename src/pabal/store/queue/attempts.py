"""Attempts that were not accepted: how each ended, and which left its message in doubt."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx

UNKNOWN = "unknown"
"""The verdict of an attempt whose result is not known."""


class EndedAttempt(NamedTuple):
    """An attempt that was not accepted."""

    id: bytes
    number: int
    verdict: str
    code: str | None = None
    """The carrier's own code."""


class DoubtCount(NamedTuple):
    """How many attempts at a message ended with an unknown result: at all carriers, and at one of them."""

    total: int
    here: int


NO_DOUBT = DoubtCount(0, 0)


def record(tx: Tx, carrier: str, attempts: Iterable[EndedAttempt], now: Instant) -> None:
    """Record attempts that were not accepted."""
    tx.execute_many(
        "insert into attempts (carrier, ended_at, message_id, slot, number, verdict, code)"
        " select ?, ?, v.* from (values {rows}) as v where true on conflict do nothing",
        [(one, identifiers.slot_of(one), number, verdict, code) for one, number, verdict, code in attempts],
        (carrier, now),
    )


def correct(tx: Tx, attempts: Iterable[EndedAttempt]) -> None:
    """Replace the unknown result of attempts: the carrier has answered after all."""
    for message_id, number, verdict, code in attempts:
        tx.execute(
            "update attempts set verdict = ?, code = ?"
            " where message_id = ? and number = ? and slot = ? and verdict = ?",
            (verdict, code, message_id, number, identifiers.slot_of(message_id), UNKNOWN),
        )


def find_carriers(tx: Tx, ids: Iterable[bytes]) -> set[tuple[bytes, str]]:
    """Return which carriers were given these messages and did not accept them."""
    rows = tx.execute_many(
        "select message_id, carrier from attempts"
        " where message_id in ({list}) and message_id {within} and slot {same_slot}",
        [(one,) for one in ids],
    )
    return {(row[0], row[1]) for row in rows}


def count_doubts(tx: Tx, carrier: str, ids: Iterable[bytes]) -> dict[bytes, DoubtCount]:
    """Return how many attempts at these messages ended with an unknown result, for those that had any."""
    rows = tx.execute_many(
        "select message_id, count(*), sum(case when carrier = ? then 1 else 0 end) from attempts where verdict = ?"
        " and message_id in ({list}) and message_id {within} and slot {same_slot} group by message_id",
        [(one,) for one in ids],
        (carrier, UNKNOWN),
    )
    return {one: DoubtCount(total, here) for one, total, here in rows}


def doubts_began_at(tx: Tx, ids: Iterable[bytes]) -> dict[bytes, Instant]:
    """Return when the first attempt of unknown result at each of these messages ended, for those that had any."""
    rows = tx.execute_many(
        "select message_id, min(ended_at) from attempts where verdict = ?"
        " and message_id in ({list}) and message_id {within} and slot {same_slot} group by message_id",
        [(one,) for one in ids],
        (UNKNOWN,),
    )
    return dict(rows)

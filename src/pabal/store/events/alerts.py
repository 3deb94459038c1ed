"""Alerts: conditions that are reported when they begin, and not again while they last."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.events.notice import NoticeKind
from pabal.store.engine.base import Tx


class Alert(NamedTuple):
    """Whether a reported condition holds, and when it was reported."""

    is_on: bool
    told_at: Instant


def list_of_kind(tx: Tx, kind: NoticeKind) -> dict[str, Alert]:
    """Return the alerts of a kind by what they are about."""
    rows = tx.fetch_all("select subject, is_on, told_at from alerts where kind = ?", (kind.code,))
    return {subject: Alert(bool(is_on), told_at) for subject, is_on, told_at in rows}


def get(tx: Tx, kind: NoticeKind, subject: str) -> Alert | None:
    """Return an alert, None if it was never on."""
    row = tx.fetch_one("select is_on, told_at from alerts where kind = ? and subject = ?", (kind.code, subject))
    return Alert(bool(row[0]), row[1]) if row else None


def put(tx: Tx, kind: NoticeKind, subject: str, alert: Alert) -> None:
    """Store an alert."""
    tx.execute(
        "insert into alerts (kind, subject, is_on, told_at) values (?, ?, ?, ?)"
        " on conflict (kind, subject) do update set is_on = excluded.is_on, told_at = excluded.told_at",
        (kind.code, subject, int(alert.is_on), alert.told_at),
    )


def delete_old(tx: Tx, before: Instant) -> None:
    """Delete conditions that do not hold and were reported before an instant."""
    tx.execute("delete from alerts where is_on = 0 and told_at < ?", (before,))

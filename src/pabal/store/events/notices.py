"""Notices: what users are to be told by mail, written in the transaction that causes it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from pabal.domain.base.codes import LANGUAGES
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.notice import NOTICE_KIND_BY_CODE, NoticeKind, usual_kinds
from pabal.domain.people.user import ROLE_BY_CODE, Role
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.rows import deletion, read_rows, select, upsert

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


CAUSED_BY = "causedBy"
"""What of a notice's data has the ids of the users who are not told, because they have done it."""


class Notice(NamedTuple):
    """Something that users are to be told."""

    id: bytes
    kind: NoticeKind
    account_id: int | None
    """None: it is about the whole service."""
    data: Mapping[str, Any]


def add(
    tx: Tx,
    event_id: bytes | None,
    kind: NoticeKind,
    account_id: int | None,
    data: Mapping[str, object],
    now: Instant,
) -> None:
    """Add a notice of an event; without an id it was recorded before. `data` has nothing of receivers."""
    if event_id is not None:
        tx.execute(
            "insert into notices (id, kind, account_id, created_at, data) values (?, ?, ?, ?, ?)"
            " on conflict do nothing",
            (event_id, kind.code, account_id, now, _encode(data).decode()),
        )


@transaction(reader=Reader.BACKGROUND)
def has_any(tx: Tx) -> bool:
    """Return whether notices wait."""
    return tx.fetch_one("select 1 from notices limit 1") is not None


def list_some(tx: Tx, limit: int) -> tuple[list[bytes], list[Notice]]:
    """Return the ids of some waiting notices, oldest first, and those of them that can be read."""
    rows = tx.fetch_all("select id, kind, account_id, data from notices order by created_at, id limit ?", (limit,))
    read = read_rows(rows, lambda row: Notice(row[0], NOTICE_KIND_BY_CODE[row[1]], row[2], _decode(row[3])))
    return [row[0] for row in rows], list(read.values())


def delete(tx: Tx, ids: Iterable[bytes]) -> None:
    """Delete notices: they are in the mails of those who want them."""
    tx.execute_list("delete from notices where id in ({list})", ids)


delete_old = deletion("notices", "id", "created_at")
"""Deletes some notices that were never mailed, since no mails are sent."""


class Alert(NamedTuple):
    """Whether a reported condition holds, and when it was reported."""

    is_on: bool
    told_at: Instant


def list_alerts(tx: Tx, kind: NoticeKind) -> dict[str, Alert]:
    """Return the alerts of a kind by what they are about."""
    rows = tx.fetch_all("select subject, is_on, told_at from alerts where kind = ?", (kind.code,))
    return {subject: Alert(bool(is_on), told_at) for subject, is_on, told_at in rows}


def get_alert(tx: Tx, kind: NoticeKind, subject: str) -> Alert | None:
    """Return an alert, None if it was never on."""
    row = tx.fetch_one("select is_on, told_at from alerts where kind = ? and subject = ?", (kind.code, subject))
    return Alert(bool(row[0]), row[1]) if row else None


def put_alert(tx: Tx, kind: NoticeKind, subject: str, alert: Alert) -> None:
    args = (kind.code, subject, int(alert.is_on), alert.told_at)
    tx.execute(upsert("alerts", "kind, subject", "is_on, told_at"), args)


delete_old_alerts = deletion("alerts", "kind, subject", "told_at", condition="is_on = 0")
"""Deletes some conditions that do not hold any more."""


ASK_PERIOD_MS = 1 * DAY
"""The period in which confirmation mails are counted."""


class NoticeSettings(NamedTuple):
    """The settings of one user."""

    kinds: frozenset[NoticeKind] | None = None
    """None: what is usual for the role."""
    language: str = LANGUAGES[0]
    address: str | None = None
    """Where mails go; None: no address is confirmed."""
    new_address: str | None = None
    """Waits to be confirmed."""
    hash: bytes | None = None
    expires_at: Instant | None = None
    asks: int = 0
    """Confirmations that were asked for since `asked_since`."""
    asked_since: Instant = 0
    asked_at: Instant = 0
    failed_at: Instant | None = None
    error: str = ""
    """Why a mail was given up; empty: none was."""

    def chosen(self, role: Role) -> frozenset[NoticeKind]:
        """Return what a user of this role is told."""
        return usual_kinds(role) if self.kinds is None else self.kinds

    def asks_lately(self, now: Instant) -> int:
        """Return how many confirmations were asked for in the current period."""
        return self.asks if 0 <= now - self.asked_since < ASK_PERIOD_MS else 0


class Recipient(NamedTuple):
    """A user who has a confirmed address."""

    user_id: int
    account_id: int | None
    """None: an operator."""
    kinds: frozenset[NoticeKind]


def get_settings(tx: Tx, user_id: int) -> NoticeSettings:
    settings = select(NoticeSettings, "notice_settings", kinds=_split)
    return settings.fetch_one(tx, "where user_id = ?", (user_id,)) or NoticeSettings()


def put_settings(tx: Tx, user_id: int, settings: NoticeSettings) -> None:
    kinds = None if settings.kinds is None else " ".join(sorted(each.code for each in settings.kinds))
    statement = upsert("notice_settings", "user_id", ", ".join(NoticeSettings._fields))
    tx.execute(statement, (user_id, kinds, *settings[1:]))


def record_failure(tx: Tx, user_id: int, error: str, now: Instant) -> None:
    """Record that a mail to a user was given up."""
    tx.execute("update notice_settings set failed_at = ?, error = ? where user_id = ?", (now, error, user_id))


def clear_failure(tx: Tx, user_id: int) -> None:
    """Record that a mail to a user was taken."""
    tx.execute(
        "update notice_settings set failed_at = null, error = '' where user_id = ? and error <> ''", (user_id,)
    )


@transaction(reader=Reader.BACKGROUND)
def list_recipients(tx: Tx) -> list[Recipient]:
    """Return every active user with a confirmed address."""
    rows = tx.fetch_all(
        "select u.id, u.account_id, u.role, n.kinds from notice_settings n join users u on u.id = n.user_id"
        " left join accounts a on a.id = u.account_id"
        " where n.address is not null and u.disabled_at is null and a.disabled_at is null order by u.id"
    )
    return [
        Recipient(id, account_id, NoticeSettings(_split(kinds)).chosen(ROLE_BY_CODE[role]))
        for id, account_id, role, kinds in rows
    ]


def _split(words: str | None) -> frozenset[NoticeKind] | None:
    if words is None:
        return None
    return frozenset(NOTICE_KIND_BY_CODE[word] for word in words.split() if word in NOTICE_KIND_BY_CODE)

"""What users are told by mail, at which address, and in which language."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.codes import LANGUAGES
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.notice import NOTICE_KIND_BY_CODE, NoticeKind, usual_kinds
from pabal.domain.users.user import ROLE_BY_CODE, Role
from pabal.store.engine.base import Reader, Row, Tx, transaction

ASK_PERIOD_MS = 1 * DAY
"""The period in which confirmation mails are counted."""
_COLUMNS = "kinds, language, address, new_address, hash, expires_at, asks, asked_since, asked_at, failed_at, error"


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


def get(tx: Tx, user_id: int) -> NoticeSettings:
    """Return the settings of a user."""
    row = tx.fetch_one(f"select {_COLUMNS} from notice_settings where user_id = ?", (user_id,))
    return _from_row(row) if row else NoticeSettings()


def put(tx: Tx, user_id: int, settings: NoticeSettings) -> None:
    """Store the settings of a user."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", "))
    tx.execute(
        f"insert into notice_settings (user_id, {_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        f" on conflict (user_id) do update set {changes}",
        (user_id, _join(settings.kinds), *settings[1:]),
    )


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
        Recipient(id, account_id, usual_kinds(ROLE_BY_CODE[role]) if kinds is None else _split(kinds))
        for id, account_id, role, kinds in rows
    ]


def delete(tx: Tx, user_id: int) -> None:
    """Delete the settings of a user."""
    tx.execute("delete from notice_settings where user_id = ?", (user_id,))


def _from_row(row: Row) -> NoticeSettings:
    kinds, *rest = row
    return NoticeSettings(None if kinds is None else _split(kinds), *rest)


def _join(kinds: Iterable[NoticeKind] | None) -> str | None:
    return None if kinds is None else " ".join(sorted(each.code for each in kinds))


def _split(words: str) -> frozenset[NoticeKind]:
    return frozenset(NOTICE_KIND_BY_CODE[word] for word in words.split() if word in NOTICE_KIND_BY_CODE)

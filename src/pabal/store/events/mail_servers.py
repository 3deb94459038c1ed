"""How handing mails to a mail server goes: the last success, the last failure, and when it is tried next."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx


class MailServer(NamedTuple):
    """The state of a mail server; `name` is its host and port."""

    name: str
    succeeded_at: Instant | None = None
    failing_since: Instant | None = None
    """None: the last try succeeded."""
    failures: int = 0
    """Since the last success."""
    next_try_at: Instant = 0
    failed_at: Instant | None = None
    error: str = ""
    """Of the last failure, also after a success."""


def get(tx: Tx, name: str) -> MailServer:
    """Return the state of a mail server."""
    row = tx.fetch_one(
        "select name, succeeded_at, failing_since, failures, next_try_at, failed_at, error from mail_servers"
        " where name = ?",
        (name,),
    )
    return MailServer(*row) if row else MailServer(name)


def record_success(tx: Tx, name: str, now: Instant) -> None:
    """Record that a mail server has answered as it should."""
    put(tx, get(tx, name)._replace(succeeded_at=now, failing_since=None, failures=0, next_try_at=0))


def put(tx: Tx, server: MailServer) -> None:
    """Store the state of a mail server."""
    tx.execute(
        "insert into mail_servers (name, succeeded_at, failing_since, failures, next_try_at, failed_at, error)"
        " values (?, ?, ?, ?, ?, ?, ?) on conflict (name) do update set succeeded_at = excluded.succeeded_at,"
        " failing_since = excluded.failing_since, failures = excluded.failures,"
        " next_try_at = excluded.next_try_at, failed_at = excluded.failed_at, error = excluded.error",
        server,
    )

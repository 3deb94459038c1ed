"""What Pabal requires of a PostgreSQL server and its settings."""

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx

REQUIRED_SETTINGS = {"fsync": ("on",), "full_page_writes": ("on",), "server_encoding": ("UTF8",)}
"""Required settings by name: otherwise acknowledged writes may be lost, or some texts cannot be stored."""


MIN_VERSION = 13


def server_version(tx: Tx) -> int:
    """Return the server's major version."""
    row = tx.fetch_one("select current_setting('server_version_num')")
    return int(row[0]) // 10_000 if row else 0


def current_settings(tx: Tx) -> dict[str, str]:
    """Return the current value of each required setting."""
    rows = tx.execute_many(
        "select name, setting from pg_settings where name in ({list})", [(name,) for name in REQUIRED_SETTINGS]
    )
    return dict(rows)


def server_time(tx: Tx) -> Instant:
    """Return the time of the server's clock."""
    row = tx.fetch_one("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
    return int(row[0]) if row else 0

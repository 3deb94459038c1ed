"""How the server of a database is set up, as far as it matters to what is promised."""

from pabal.store.engine.base import Tx

REQUIRED_SETTINGS = {"fsync": ("on",), "full_page_writes": ("on",), "server_encoding": ("UTF8",)}
"""What PostgreSQL must be set to, by name: else what was answered may be lost, or some texts cannot be kept."""


MIN_VERSION = 13


def server_version(tx: Tx) -> int:
    """Return the server's version, without what stands behind its dot."""
    row = tx.fetch_one("select current_setting('server_version_num')")
    return int(row[0]) // 10_000 if row else 0


def current_settings(tx: Tx) -> dict[str, str]:
    """Return the value of each that is needed."""
    rows = tx.execute_many(
        "select name, setting from pg_settings where name in ({list})", [(name,) for name in REQUIRED_SETTINGS]
    )
    return dict(rows)

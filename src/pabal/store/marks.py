"""How far housekeeping has come, by name."""

from pabal.store.base import Tx


def get(tx: Tx, name: str) -> bytes | None:
    """Return a mark, None where there is none yet."""
    row = tx.row("select value from marks where name = ?", (name,))
    return row[0] if row else None


def put(tx: Tx, name: str, value: bytes) -> None:
    """Move a mark."""
    tx.run(
        "insert into marks (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        (name, value),
    )

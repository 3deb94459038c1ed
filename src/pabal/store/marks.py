"""How far housekeeping has come, by name."""

from pabal.store.base import Tx, done_alone


def get(tx: Tx, name: str) -> bytes | None:
    """Return a mark, None where there is none yet."""
    row = tx.row("select value from marks where name = ?", (name,))
    return row[0] if row else None


@done_alone
def probe(tx: Tx) -> None:
    """Write something, to see whether that can be done; nobody else is to wait for it, or to fail with it."""
    put(tx, "probed", b"")


def put(tx: Tx, name: str, value: bytes) -> None:
    """Move a mark."""
    tx.run(
        "insert into marks (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        (name, value),
    )

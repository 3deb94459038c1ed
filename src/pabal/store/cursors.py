"""How far housekeeping has come, by name."""

from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx

PROBE_PREFIX = "probed "


def get(tx: Tx, name: str) -> bytes | None:
    """Return a mark, None where there is none yet."""
    row = tx.fetch_one("select value from cursors where name = ?", (name,))
    return row[0] if row else None


def write_probe(tx: Tx, process: str, now: Instant) -> None:
    """Write something, to see whether that can be done, each process in a row of its own.

    It is kept together with what else is written: alone, so little finds room on a disk that is full to others.
    """
    put(tx, f"{PROBE_PREFIX}{process}", now.to_bytes(8, "big"))


def delete_old_probes(tx: Tx, before: Instant) -> None:
    """Drop what processes that are no more have written so."""
    tx.execute(
        "delete from cursors where name >= ? and name < ? and value < ?",
        (PROBE_PREFIX, PROBE_PREFIX[:-1] + chr(ord(PROBE_PREFIX[-1]) + 1), before.to_bytes(8, "big")),
    )


def put(tx: Tx, name: str, value: bytes) -> None:
    """Move a mark."""
    tx.execute(
        "insert into cursors (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        (name, value),
    )

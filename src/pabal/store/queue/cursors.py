"""Cursors: how far each housekeeping task has come."""

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import upsert

PROBE_PREFIX = "probed "


def get(tx: Tx, name: str) -> bytes | None:
    """Return a cursor, or None."""
    return tx.fetch_value("select value from cursors where name = ?", (name,))


def write_probe(tx: Tx, process: str, now: Instant) -> None:
    """Write to a row of this process, to see whether the store accepts writes.

    It is committed with other writes: alone, it is so small that it would fit on a disk that is full for others.
    """
    put(tx, f"{PROBE_PREFIX}{process}", now.to_bytes(8, "big"))


def delete_old_probes(tx: Tx, before: Instant) -> None:
    """Delete the probes of exited processes."""
    tx.execute(
        "delete from cursors where name >= ? and name < ? and value < ?",
        (PROBE_PREFIX, PROBE_PREFIX[:-1] + chr(ord(PROBE_PREFIX[-1]) + 1), before.to_bytes(8, "big")),
    )


def put(tx: Tx, name: str, value: bytes) -> None:
    """Move a cursor."""
    tx.execute(upsert("cursors", "name", "value"), (name, value))

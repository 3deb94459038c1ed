"""Cursors: how far housekeeping has come, and test writes of processes."""

from pabal.domain.base.dates import DAY
from pabal.store.engine.base import Tx
from pabal.store.queue import cursors
from tests.fixtures.virtual import NOON


def test_only_cursors_of_gone_processes_are_deleted(tx: Tx) -> None:
    cursors.write_probe(tx, "gone:1", NOON)
    cursors.write_probe(tx, "here:2", NOON + DAY)
    cursors.put(tx, "probing", b"another")
    cursors.put(tx, "blanked", b"")

    cursors.delete_old_probes(tx, NOON + 1)

    found = {name: cursors.get(tx, name) for name in ("probed gone:1", "probed here:2", "probing", "blanked")}
    assert found["probed gone:1"] is None
    assert None not in (found["probed here:2"], found["probing"], found["blanked"])

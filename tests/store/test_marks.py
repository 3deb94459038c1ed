"""Marks: how far housekeeping has come, and what processes write to see whether they can."""

from pabal.domain.when import DAY
from pabal.store import marks
from pabal.store.base import Tx
from tests.virtual import NOON


def test_what_processes_that_are_no_more_wrote_is_forgotten_and_nothing_else(tx: Tx) -> None:
    marks.probe(tx, "gone:1", NOON)
    marks.probe(tx, "here:2", NOON + DAY)
    marks.put(tx, "probing", b"another")
    marks.put(tx, "blanked", b"")

    marks.forget_probes(tx, NOON + 1)

    found = {name: marks.get(tx, name) for name in ("probed gone:1", "probed here:2", "probing", "blanked")}
    assert found["probed gone:1"] is None
    assert None not in (found["probed here:2"], found["probing"], found["blanked"])

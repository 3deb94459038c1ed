"""A store or a carrier that fails on its n-th call, for every n and in every way."""

from pathlib import Path

import pytest

from tests.sim.one_fault import OneFault
from tests.sim.promises import check_promises
from tests.sim.simulation import FAULTS

READ_FAULTS = ("unavailable-before", "crash-before")
CARRIER_FAULTS = ("raise", "hang", "crash-before", "crash-after")
GROUPS = 20
"""The number of tests that the calls are divided into."""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many calls of each kind the first run makes when nothing fails."""
    simulation = OneFault(tmp_path_factory.mktemp("faultless"), carrier=(10**9, "never"))
    simulation.run()
    final_state = check_promises(simulation)
    assert len(final_state.requests) == 3
    assert len(final_state.messages) > 16, "some fell back"
    return {
        "write": simulation.writes[0],
        "read": simulation.reads[0],
        "carrier": 10**9 - simulation.carrier_fault_plan.calls_left,
    }


def test_run_without_a_fault_makes_enough_calls(calls: dict[str, int]) -> None:
    assert calls["write"] >= 20
    assert calls["read"] >= 10
    assert calls["carrier"] >= 4


FAULT_TARGETS = [
    *(("write", kind) for kind in FAULTS),
    *(("read", kind) for kind in READ_FAULTS),
    *(("carrier", kind) for kind in CARRIER_FAULTS),
]


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "kind", "group"),
    [
        # A carrier has few calls: each is tried.
        pytest.param(target, kind, group, marks=[pytest.mark.torture] if target != "carrier" and group else [])
        for target, kind in FAULT_TARGETS
        for group in range(GROUPS)
    ],
)
def test_every_promise_holds_whichever_call_fails(
    target: str, kind: str, group: int, calls: dict[str, int], tmp_path: Path
) -> None:
    for n in range(1 + group, calls[target] + 1, GROUPS):
        folder = tmp_path / str(n)
        folder.mkdir()
        simulation = OneFault(folder, **{target: (n, kind)})

        simulation.run()

        check_promises(simulation)
        fault_plans = {"read": simulation.read_fault_plan, "carrier": simulation.carrier_fault_plan}
        assert fault_plans[target].has_fired if target in fault_plans else simulation.has_write_fault_fired, (
            f"call {n} never failed"
        )

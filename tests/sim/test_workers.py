"""Three workers with deaths, pauses, outages and clocks that are set, by seed; and bugs that must be found."""

import os
from pathlib import Path

import pytest

from tests.sim.cluster_promises import check_cluster
from tests.sim.cluster_simulation import ClusterSimulation
from tests.sim.planted import PLANTED_BUGS, PlantedBug

SEEDS = 100 if os.environ.get("PABAL_TORTURE") else 4
SEEDS_TO_FIND_A_BUG = 50


def run_seed(seed: int, folder: Path, bug: PlantedBug | None = None) -> ClusterSimulation:
    folder.mkdir()
    simulation = ClusterSimulation(seed, folder, bug)
    simulation.run()
    return simulation


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_promise_holds_with_three_workers(seed: int, tmp_path: Path) -> None:
    simulation = run_seed(seed, tmp_path / "run")

    final_state = check_cluster(simulation)
    assert len(final_state.requests) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED_BUGS)
def test_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    for seed in range(SEEDS_TO_FIND_A_BUG):
        simulation = run_seed(seed, tmp_path / str(seed), PLANTED_BUGS[name])
        try:
            check_cluster(simulation)
        except AssertionError:
            return
    pytest.fail("not found")


@pytest.mark.slow
def test_a_seed_replays_identically(tmp_path: Path) -> None:
    first, second = (run_seed(7, tmp_path / name).trace.events for name in ("first", "second"))

    assert len(first) > 500
    assert first == second

"""The unmodified service through crashes and cruel carriers, by seed."""

import os
from pathlib import Path

import pytest

from tests.sim.simulation import Simulation, reckon

SEEDS = 1000 if os.environ.get("PABAL_TORTURE") else 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_promise_holds_through_crashes_and_a_cruel_carrier(seed: int, tmp_path: Path) -> None:
    simulation = Simulation(seed, tmp_path)

    simulation.play()

    books = reckon(simulation)
    assert len(books.requests) > 20

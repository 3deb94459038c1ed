"""The unmodified service with crashes and faulty carriers, by seed."""

import os
from pathlib import Path

import pytest

from tests.fixtures import postgres
from tests.sim.promises import check_promises
from tests.sim.simulation import Simulation

SEEDS = 120 if os.environ.get("PABAL_TORTURE") else 2
SEEDS_ON_POSTGRESQL = max(1, SEEDS // 16)


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_promise_holds_through_crashes_and_with_a_faulty_carrier(seed: int, tmp_path: Path) -> None:
    simulation = Simulation(seed, tmp_path)

    simulation.run()

    final_state = check_promises(simulation)
    assert len(final_state.requests) > 20


@pytest.mark.torture
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS_ON_POSTGRESQL))
def test_every_promise_holds_on_postgresql_too(seed: int, tmp_path: Path) -> None:
    name = f"sim_{os.getpid()}"
    (tmp_path / postgres.ADDRESS_FILE).write_text(postgres.create_database(name), encoding="utf-8")
    simulation = Simulation(seed, tmp_path)

    simulation.run()

    final_state = check_promises(simulation)
    postgres.drop_database(name)
    assert len(final_state.requests) > 20

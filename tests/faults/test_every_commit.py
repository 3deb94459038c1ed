"""A short scenario on PostgreSQL in which any one commit loses its connection, before or after it is done."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy, cutting_proxy
from tests.fixtures.virtual import Caller, Environment
from tests.sim.one_fault import OneFault
from tests.sim.promises import check_promises

STEP = 8 if os.environ.get("PABAL_TORTURE") else 200
"""One of every STEP commits is cut."""
MAX_COMMITS = 10_000


class OneCut(OneFault):
    """A scenario of three sends with one fallback and one cancellation, during which one commit is cut."""

    def __init__(self, folder: Path, cutter: CuttingProxy, *cuts: Cut) -> None:
        super().__init__(folder)
        self._cutter = cutter
        self._cuts = cuts

    async def client(self, call: Caller, env: Environment, is_calm: bool) -> None:
        if not self.client_log.requests:
            self._cutter.cuts[:] = self._cuts
        await super().client(call, env, is_calm)


@pytest.fixture
def cutter() -> Iterator[CuttingProxy]:
    folder = postgres.server().folder / f"cut_every_{os.getpid()}"
    folder.mkdir(exist_ok=True)
    with cutting_proxy(postgres.server().folder, folder) as found:
        yield found
    (folder / ".s.PGSQL.5432").unlink()


def run_and_check(folder: Path, cutter: CuttingProxy, *cuts: Cut) -> None:
    """Run the scenario in a new folder, and check every promise."""
    folder.mkdir()
    address = cutter.address(postgres.create_database(f"every_commit_{os.getpid()}"))
    (folder / postgres.ADDRESS_FILE).write_text(address, encoding="utf-8")
    simulation = OneCut(folder, cutter, *cuts)
    simulation.run()
    check_promises(simulation)


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_nothing_is_lost_or_duplicated_whichever_commit_is_cut(
    cut: Cut, cutter: CuttingProxy, tmp_path: Path
) -> None:
    run_and_check(tmp_path / "uncut", cutter, *[Cut.NOT] * MAX_COMMITS)
    commits = MAX_COMMITS - len(cutter.cuts)
    assert commits > 50
    for number in range(0, commits, STEP):
        run_and_check(tmp_path / str(number), cutter, *[Cut.NOT] * number, cut)
        assert cutter.cuts == [], f"commit {number} was never made"
    postgres.drop_database(f"every_commit_{os.getpid()}")

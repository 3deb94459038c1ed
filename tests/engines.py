"""The engines that a store may have, and the fixture that has every test of a floor run on each."""

from pathlib import Path

import pytest

from tests import citus, postgres

ENGINES = ("sqlite", "postgresql")
EVERY = (*ENGINES, "citus") if citus.is_there() else ENGINES
"""Those that there are here: a Citus must be given."""


def emptied(engine: str) -> str:
    """Return the address of a database on this engine, with every table and no row."""
    return citus.emptied() if engine == "citus" else postgres.emptied()


@pytest.fixture(autouse=True, params=EVERY)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test's store; where it is PostgreSQL, the test's folder says so."""
    name = str(request.param)
    if name != "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        (folder / postgres.ADDRESS_FILE).write_text(emptied(name), encoding="utf-8")
    return name


embedded = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
"""For a test of what only the embedded store does."""
with_months = pytest.mark.parametrize("engine", EVERY[1:], indirect=True)
"""For a test of what only a store does that has months."""

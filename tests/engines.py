"""The engines that a store may have, and the fixture that has every test of a floor run on each."""

from pathlib import Path

import pytest

from tests import postgres

ENGINES = ("sqlite", "postgresql")


@pytest.fixture(autouse=True, params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test's store; where it is PostgreSQL, the test's folder says so."""
    name = str(request.param)
    if name == "postgresql":
        folder: Path = request.getfixturevalue("tmp_path")
        (folder / postgres.ADDRESS_FILE).write_text(postgres.emptied(), encoding="utf-8")
    return name

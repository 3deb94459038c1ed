"""Every test of this floor runs on each engine."""

from pathlib import Path

import pytest

from tests import postgres
from tests.engines import ENGINES


@pytest.fixture(autouse=True, params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test's store; where it is PostgreSQL, the test's folder says so."""
    name = str(request.param)
    if name == "postgresql":
        folder: Path = request.getfixturevalue("tmp_path")
        (folder / postgres.ADDRESS_FILE).write_text(postgres.emptied(), encoding="utf-8")
    return name

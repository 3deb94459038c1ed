"""The fixtures of the package for callers' tests, and the service that answers by a script."""

from collections.abc import Iterator

import pytest

from pabal.testing.plugin import pabal, pabal_clock, pabal_service
from tests.fixtures.scripted_service import ScriptedService

__all__ = ["pabal", "pabal_clock", "pabal_service", "scripted"]


@pytest.fixture
def scripted() -> Iterator[ScriptedService]:
    """A service that answers as a test says."""
    with ScriptedService() as service:
        yield service

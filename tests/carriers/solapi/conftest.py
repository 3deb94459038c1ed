"""An environment that sends through the fake relay of this folder's tests."""

import pytest

from tests.fixtures.relay_delivery import behavior_of, call, env
from tests.fixtures.solapi import Solapi

__all__ = ["call", "env", "fixture"]


@pytest.fixture
def fixture(request: pytest.FixtureRequest) -> Solapi:
    """The relay, with the behavior of the test's marks."""
    return Solapi(**behavior_of(request))

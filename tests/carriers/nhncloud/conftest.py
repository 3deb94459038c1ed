"""An environment that sends through the fake relay of this folder's tests."""

import pytest

from tests.fixtures.nhncloud import NhnCloud
from tests.fixtures.relay_delivery import behavior_of, call, env

__all__ = ["call", "env", "fixture"]


@pytest.fixture
def fixture(request: pytest.FixtureRequest) -> NhnCloud:
    """The relay, with the behavior of the test's marks."""
    return NhnCloud(**behavior_of(request))

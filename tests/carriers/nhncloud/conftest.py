"""An environment that sends through the fake relay of this folder's tests."""

import pytest

from tests.fixtures.nhncloud import NhnCloudFixture
from tests.fixtures.relay_delivery import behavior_of, env

__all__ = ["env", "fixture"]


@pytest.fixture
def fixture(request: pytest.FixtureRequest) -> NhnCloudFixture:
    """The relay, with the behavior of the test's marks."""
    return NhnCloudFixture(**behavior_of(request))

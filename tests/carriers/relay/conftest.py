"""An environment that sends through a fake relay, of each kind."""

import pytest

from tests.fixtures.nhncloud import NhnCloud
from tests.fixtures.relay_delivery import RelayFixture, behavior_of, call, env
from tests.fixtures.solapi import Solapi

__all__ = ["call", "env", "fixture"]


@pytest.fixture(params=["nhncloud", "solapi"])
def fixture(request: pytest.FixtureRequest) -> RelayFixture:
    """A relay, with the behavior of the test's marks."""
    kind = NhnCloud if request.param == "nhncloud" else Solapi
    return kind(**behavior_of(request))

"""Fixtures of the tests of the service: parts of an environment, and several processes; all run on each engine."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.cluster import Cluster, open_cluster
from tests.fixtures.endpoints import FakeEndpoints
from tests.fixtures.engines import engine
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, open_environment, open_starter
from tests.fixtures.slot_sharing import fake_carriers
from tests.fixtures.virtual import Environment, settings_of

__all__ = ["engine"]


@pytest.fixture
def build(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What `env` is built with: the settings of the test's marks, and what other fixtures put here."""
    return settings_of(request)


@pytest.fixture
def carrier(request: pytest.FixtureRequest, build: dict[str, Any]) -> FakeCarrier:
    """The carrier of `env`, with the options of the test's mark `carrier`."""
    mark = request.node.get_closest_marker("carrier")
    found = FakeCarrier(**mark.kwargs) if mark else FakeCarrier()
    build["carriers"] = {DEFAULT_CARRIER: found}
    return found


@pytest.fixture
def endpoints(build: dict[str, Any]) -> FakeEndpoints:
    """The endpoints of `env`'s webhooks."""
    found = build["poster"] = FakeEndpoints()
    return found


@pytest.fixture
def env(
    request: pytest.FixtureRequest, tmp_path: Path, build: dict[str, Any]
) -> AbstractAsyncContextManager[Environment]:
    """An environment with the marked settings and the carrier, endpoints or relay that the test asks for."""
    if request.node.get_closest_marker("carrier"):
        request.getfixturevalue("carrier")
    return open_environment(tmp_path, build)


@pytest.fixture
def start(tmp_path: Path) -> AbstractAsyncContextManager[Start]:
    """A function that starts the service with some carriers, and stops the one that it started before."""
    return open_starter(tmp_path)


@pytest.fixture
def cluster(tmp_path: Path) -> AbstractAsyncContextManager[Cluster]:
    """A cluster whose processes have a carrier that accepts everything."""
    return open_cluster(tmp_path, carriers=fake_carriers())

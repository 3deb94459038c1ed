"""SMPP sessions and carriers with a scripted SMSC, for tests that are coroutines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from tests.carriers.smpp.session_fixture import SessionFixture
from tests.fakes.smsc.scripted import ScriptedSmsc
from tests.fixtures.smpp import CarrierRunner, running_carrier
from tests.fixtures.virtual import settings_of


@pytest.fixture
def fixture() -> AbstractAsyncContextManager[SessionFixture]:
    """A bound session."""
    return _checked_session(is_bound=True)


@pytest.fixture
def runner(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[CarrierRunner]:
    """A connected carrier with the settings of the test's marks, and its SMSC."""
    return running_carrier(ScriptedSmsc(), **settings_of(request))


@pytest.fixture
def unbound() -> AbstractAsyncContextManager[SessionFixture]:
    """A session that the test binds itself."""
    return _checked_session(is_bound=False)


@asynccontextmanager
async def _checked_session(*, is_bound: bool) -> AsyncIterator[SessionFixture]:
    """A session that must leave no error in the event loop."""
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    fixture = SessionFixture()
    if is_bound:
        await fixture.connect()
        await fixture.session.bound
    yield fixture
    assert errors == []

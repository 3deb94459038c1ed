"""Shared fixtures and the selection of tests by engine and by weight."""

import asyncio
import gc
import inspect
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.fixtures import citus, postgres, preloaded
from tests.fixtures.cases import Prepared, once
from tests.fixtures.engines import AVAILABLE_ENGINES
from tests.fixtures.service import open_environment
from tests.fixtures.virtual import Environment, VirtualWorld, run_in_virtual_time, settings_of

pytest_plugins = ["tests.fixtures.prepared"]

Scenario = Callable[[Environment], Awaitable[None]]

TESTS = Path(__file__).parent
GC_THRESHOLDS = 20_000, 20, 20
"""Each test makes a service and throws it away: with Python's own, a seventh of the time is collecting."""
STORE_FIXTURES = {"tmp_path", "tx"}
SLOW_FOLDERS = {"cli", "client", "clients", "compat", "console", "docs", "faults", "hostile"}
SLOW_SERVICE_FOLDERS = {
    *("carrier", "claiming", "notices", "outcome", "receiving", "relay", "upkeep", "webhooks", "workers"),
}
"""Folders whose tests are slow, except those that need no files; the latter of the service."""
SLOW_FILES = {
    "cli/test_languages.py",
    "console/history/test_workbook.py",
    "console/test_start.py",
    "docs/test_guide.py",
    "service/access/sign_in/test_sign_in_delays.py",
    "service/delivery/test_deliver_retries.py",
    "service/sending/test_cancel.py",
    "web/test_history_without_receivers.py",
    "webhooks/test_client.py",
}
"""Files elsewhere in which a test takes seconds."""
SINGLE_ENGINE_FOLDERS = {"compat", "console", "crash", "service", "web"}
"""Folders whose tests run on one engine with each change, except POSTGRESQL_FILES."""
POSTGRESQL_FILES = {
    "compat/nhncloud/talk/test_alimtalk_sending.py",
    "compat/nhncloud/test_nhncloud_lists.py",
    "compat/shared/test_foreign_webhooks.py",
    "compat/solapi/test_solapi_interrupted.py",
    "crash/test_service_killed.py",
    "service/delivery/test_deliver.py",
    "service/delivery/receiving/test_receipts.py",
    "service/delivery/outcome/test_settle.py",
    "service/delivery/workers/test_slot_sharing.py",
    "service/delivery/claiming/test_unconfirmed_claims.py",
    "service/events/test_numbering.py",
    "service/sending/test_accept.py",
    "service/sending/campaigns/test_campaigns.py",
    "service/sending/test_duplicates.py",
    "service/sending/test_replace.py",
    "service/test_account_limiter.py",
    "service/upkeep/test_erased_bytes.py",
    "service/upkeep/test_partitions.py",
    "service/upkeep/test_retention.py",
    "service/webhooks/test_delivery.py",
    "web/test_cancel.py",
    "web/test_live.py",
    "web/endpoints/test_results.py",
}
"""Files of these folders in which transactions meet, or statements read much: they run on every engine."""
GROWING_FOLDERS = {"crash", "faults", "hostile", "sim"}
GROWING_FILES = {"test_schemathesis.py"}
"""What `make torture` repeats although `make test` runs it: it tries more there."""


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; children inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        postgres.choose_server_folder()
    missing = [each for each in POSTGRESQL_FILES | SLOW_FILES if not (TESTS / each).is_file()]
    if missing:
        raise pytest.UsageError(f"tests/conftest.py names files that are not there: {missing}")


def pytest_unconfigure(config: pytest.Config) -> None:
    preloaded.end_original()
    postgres.disconnect()
    citus.drop_worker_database()
    if not hasattr(config, "workerinput"):
        postgres.stop_server()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line where the tests on Citus did not run."""
    if not citus.is_available():
        terminalreporter.write_line(citus.NOT_RUN)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run tests without a store once instead of once per engine, and mark slow and redundant tests.

    The quick tests run on SQLite alone.
    """
    on_others = [each for each in items if _engine_of(each) in AVAILABLE_ENGINES[1:]]
    for each in on_others:
        each.add_marker(pytest.mark.slow)
    for each in items:
        if _is_slow(each):
            each.add_marker(pytest.mark.slow)
        if _is_redundant(each) or (os.environ.get("PABAL_TORTURE") and _grows(each)):
            each.add_marker(pytest.mark.torture)
    _leave_first_cases([each for each in items if not each.get_closest_marker("torture")])
    repeated = {each for each in on_others if not _uses_store(each)}
    config.hook.pytest_deselected(items=list(repeated))
    items[:] = [each for each in items if each not in repeated]


def pytest_collection_finish() -> None:
    """Spare the garbage collector what all tests together are: it stays to the end; have it look less often."""
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _leave_first_cases(items: list[pytest.Item]) -> None:
    """Mark all but the first case of each test with `first_case`."""
    met = set()
    for each in items:
        if each.get_closest_marker("first_case"):
            test = (each.path, each.name.partition("[")[0])
            if test in met:
                each.add_marker(pytest.mark.torture)
            met.add(test)


def _engine_of(item: pytest.Item) -> str:
    spec = getattr(item, "callspec", None)
    return str(spec.params.get("engine", "")) if spec else ""


def _is_redundant(item: pytest.Item) -> bool:
    """Tell whether similar tests cover nearly the same.

    These are pages in all but one language and screen, in Korean on a desktop or in English on a phone by turns;
    tests of whole folders on the other engine; and receipts of the other SMSC, apart from one.
    """
    if item.path.name == "test_peers.py":
        return "[python-says" in item.name and "[python-says0" not in item.name
    if "browser" in item.path.parts:
        name, _, way = item.name.removesuffix("]").partition("[")
        ways = ("ko-desktop", "en-phone")
        unused = {"en-desktop", "ko-phone", ways[len(name) % 2]}
        return way.removesuffix("-dark").removesuffix("-light") in unused
    return _has_single_engine(item.path) and _engine_of(item) in AVAILABLE_ENGINES[1:]


@cache
def _has_single_engine(path: Path) -> bool:
    """Tell whether the tests of a file run on one engine with each change."""
    place = _place_of(path)
    return place.parts[0] in SINGLE_ENGINE_FOLDERS and str(place) not in POSTGRESQL_FILES


@cache
def _place_of(path: Path) -> Path:
    """Return where a file is among the tests."""
    return path.relative_to(TESTS)


def _is_slow(item: pytest.Item) -> bool:
    place = _place_of(item.path)
    if str(place) in SLOW_FILES:
        return True
    if "tmp_path_factory" not in getattr(item, "fixturenames", ()):
        return False
    folders = place.parts[:-1]
    is_slow_service = folders[:1] == ("service",) and not SLOW_SERVICE_FOLDERS.isdisjoint(folders)
    return is_slow_service or not SLOW_FOLDERS.isdisjoint(folders)


def _grows(item: pytest.Item) -> bool:
    """Tell whether a test tries more in `make torture`."""
    return bool(GROWING_FOLDERS & set(item.path.parts)) or item.path.name in GROWING_FILES


def _uses_store(item: pytest.Item) -> bool:
    return bool(STORE_FIXTURES & set(getattr(item, "fixturenames", ())))


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test with as many seeds as `make seeds` asks for; make no redundant ones that are not to run."""
    is_chosen = any("engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    is_redundant = "not torture" in metafunc.config.option.markexpr and _has_single_engine(metafunc.definition.path)
    if "engine" in metafunc.fixturenames and is_redundant and not is_chosen:
        once = pytest.mark.parametrize("engine", AVAILABLE_ENGINES[:1], indirect=True)
        metafunc.definition.add_marker(once, append=False)
    if seeds := int(os.environ.get("PABAL_SEEDS", "0")):
        metafunc.fixturenames.append("world_seed")
        metafunc.parametrize("world_seed", range(seeds), indirect=True)


@pytest.fixture
def world_seed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have worlds begin with another seed unless their test names one."""
    VirtualWorld.default_seed = request.param
    yield
    VirtualWorld.default_seed = 0


@pytest.fixture
def env(tmp_path: Path, request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Environment]:
    """The environment of a test that is a coroutine, with the settings of its marks."""
    return open_environment(tmp_path, settings_of(request))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in virtual time, or with `real_time` on the clock of this machine."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    work = _enter_and_call(test, pyfuncitem.funcargs)
    if pyfuncitem.get_closest_marker("real_time"):
        factory: Any = pyfuncitem.funcargs.get("loop_factory")
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(work)
    else:
        run_in_virtual_time(work)
    return True


async def _enter_and_call(test: Callable[..., Awaitable[None]], found: Mapping[str, Any]) -> None:
    """Call a test; what it asks for, among `found`, is first entered or made where the clock runs."""
    wanted = list(inspect.signature(test).parameters)
    given = {name: found[name] for name in wanted}
    async with AsyncExitStack() as stack:
        if any(isinstance(each, Prepared) for each in given.values()):
            given = {"env": found["env"]} | given
        for name, value in given.items():
            if isinstance(value, AbstractAsyncContextManager):
                given[name] = await stack.enter_async_context(value)
            elif isinstance(value, Prepared):
                given[name] = await once(given["env"], value.make)
        await test(**{name: given[name] for name in wanted})


@pytest.fixture(params=["asyncio", "uvloop"])
def loop_factory(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    """The event loop of a test in real time, each of both."""
    return asyncio.new_event_loop if request.param == "asyncio" else uvloop.new_event_loop


@pytest.fixture
def run_scenario(tmp_path: Path) -> Callable[..., None]:
    """Return a function that runs a scenario in a fresh environment: `run_scenario(scenario, **settings)`.

    For tests that make something before the environment exists; others are coroutines that ask for `env`.
    """

    async def whole(scenario: Scenario, options: dict[str, Any]) -> None:
        async with open_environment(tmp_path, options) as env:
            await scenario(env)

    return lambda scenario, **options: run_in_virtual_time(whole(scenario, options))

"""Shared fixtures and the selection of tests by engine and by weight."""

import os
import signal
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import citus, postgres
from tests.fixtures.engines import AVAILABLE_ENGINES
from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time, settings_for

Scenario = Callable[[Environment], Awaitable[None]]

BUILD_OPTIONS = ("world", "store", "carriers", "poster", "mailer", "openid")
"""What a scenario may replace; its other options are settings."""
STORE_FIXTURES = {"tmp_path", "tx"}
SLOW_FOLDERS = {"cli", "console", "faults", "hostile", "relay"}
"""Folders whose tests are slow, except those that need no store."""
SINGLE_ENGINE_FOLDERS = {"console", "relay", "web"}
"""Folders whose tests use the store only through the service, which has its own tests on every engine."""
EVERY_ENGINE_FILES = {
    "test_cancel.py",
    "test_fallback.py",
    "test_idempotency.py",
    "test_live.py",
    "test_results.py",
}
"""Files of SINGLE_ENGINE_FOLDERS that run on every engine all the same."""
GROWING_FOLDERS = {"crash", "faults", "hostile", "sim"}
GROWING_FILES = {"test_schemathesis.py"}
"""What `make torture` repeats although `make test` runs it: it tries more there."""
SERVICE_SHARE = 6
"""Of so many tests of the service, one runs on every engine with each change."""
SINGLE_ENGINE_FILES = {
    "test_deliver_retries.py",
    "test_doubts_at_absent_carriers.py",
    "test_expiry.py",
    "test_failover_when_failing.py",
    "test_failures.py",
    "test_failover_when_offline.py",
    "test_finish.py",
    "test_late_answers.py",
    "test_lookup_of_doubts.py",
    "test_receiver_killed.py",
    "test_send_now.py",
    "test_settle_in_doubt.py",
    "test_throttle.py",
    "test_webhooks_killed.py",
}
"""Files about rules that take minutes or hours to apply, and not about concurrent transactions.

The transactions they use have tests of their own on every engine.
"""


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; children inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        postgres.choose_server_folder()


def pytest_unconfigure(config: pytest.Config) -> None:
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

    Of the quick tests, only those of the store run on every engine.
    """
    on_others = [each for each in items if _engine_of(each) in AVAILABLE_ENGINES[1:]]
    for each in on_others:
        if "store" not in each.path.parts:
            each.add_marker(pytest.mark.slow)
    for each in items:
        if SLOW_FOLDERS & set(each.path.parts) and _uses_store(each):
            each.add_marker(pytest.mark.slow)
        if _is_redundant(each) or (os.environ.get("PABAL_TORTURE") and _grows(each)):
            each.add_marker(pytest.mark.torture)
    repeated = [each for each in on_others if not _uses_store(each)]
    config.hook.pytest_deselected(items=repeated)
    items[:] = [each for each in items if each not in set(repeated)]


def _engine_of(item: pytest.Item) -> str:
    spec = getattr(item, "callspec", None)
    return str(spec.params.get("engine", "")) if spec else ""


def _is_redundant(item: pytest.Item) -> bool:
    """Tell whether similar tests cover nearly the same.

    These are pages in all but one language and screen, in Korean on a desktop or in English on a phone by turns;
    pages, API calls, slow rules and kills on the other engine; five of six tests of the service on it, chosen by
    their names; and receipts of the other SMSC, apart from one.
    """
    if item.path.name == "test_peers.py":
        return "[python-says" in item.name and "[python-says0" not in item.name
    if "browser" in item.path.parts:
        name, _, way = item.name.partition("[")
        ways = ("ko-desktop]", "en-phone]")
        return way in {"en-desktop]", "ko-phone]", ways[len(name) % 2]}
    folders, file = set(item.path.parts), item.path.name
    is_single_engine = bool(SINGLE_ENGINE_FOLDERS & folders) and file not in EVERY_ENGINE_FILES
    is_single_engine |= bool({"service", "crash"} & folders) and file in SINGLE_ENGINE_FILES
    is_single_engine |= "service" in folders and zlib.crc32(item.name.encode()) % SERVICE_SHARE != 0
    return is_single_engine and _engine_of(item) in AVAILABLE_ENGINES[1:]


def _grows(item: pytest.Item) -> bool:
    """Tell whether a test tries more in `make torture`."""
    return bool(GROWING_FOLDERS & set(item.path.parts)) or item.path.name in GROWING_FILES


def _uses_store(item: pytest.Item) -> bool:
    return bool(STORE_FIXTURES & set(getattr(item, "fixturenames", ())))


@pytest.fixture
def run_scenario(tmp_path: Path) -> Callable[..., None]:
    """Return a function that runs a scenario in a fresh environment: `run_scenario(scenario, **settings)`."""

    def run(scenario: Scenario, **options: Any) -> None:
        async def run_and_stop() -> None:
            build = {name: options.pop(name) for name in BUILD_OPTIONS if name in options}
            env = await build_environment(tmp_path, settings=settings_for(tmp_path, **options), **build)
            try:
                await scenario(env)
            finally:
                await env.service.stop()

        run_in_virtual_time(run_and_stop())

    return run

"""Fixtures of browser tests: a real Chromium and a live service."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.fixtures.browser import CHROMIUM_FLAGS, PATIENCE_MS, BrowserEnvironment, find_chromium
from tests.fixtures.live import serving


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless browser; while it runs, this thread cannot have an event loop of its own."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A new service with the simulator, and users of each role on demand."""
    with serving(tmp_path_factory.mktemp("console") / "data", key_rate=0) as live:
        yield BrowserEnvironment(live, browser)

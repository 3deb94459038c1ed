"""A real Chromium before a real service."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.fixtures.browser import CHROMIUM_FLAGS, BrowserEnvironment, find_chromium
from tests.fixtures.live import serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; while it is driven, this thread can have no event loop of its own."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def env(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserEnvironment]:
    """A fresh service with the simulator, and a user of each role."""
    with serving(tmp_path_factory.mktemp("console") / "data", key_rate=0) as live:
        yield BrowserEnvironment(live, browser)

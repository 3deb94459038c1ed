"""How fast console pages are among a million messages, compared with the API, and how large they are."""

import re
import time
from pathlib import Path

import httpx

from bench import bodies
from bench.figures import Figure, format_ms, median_of
from bench.fill import REQUEST_RECEIVERS, fill, regular_receiver
from bench.history import FEW, LATER, MANY, REGULARS, large_store
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress, run_command
from pabal.console.history.history import PAGE_SIZE

TIME_TARGET = 1.5
"""A page may take this many times as long as what it is compared with; the API has the same target."""
SIZE_TARGET_KB = 100.0
ROUNDS = 3
PAGES = 100
WARM_UP = 10
TIMEOUT_S = 60.0
HISTORY = "/console/history"
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_STATIC_FILE = re.compile(r'(?:href|src)="(/console/static/[^"]+)"')


class PageClient:
    """A signed-in browser, and an API client with a key."""

    def __init__(self, env: BenchEnvironment, server: Server, password: str) -> None:
        base = f"http://127.0.0.1:{server.port}"
        headers = {"apiKey": env.key, "content-type": "application/json"}
        self._program = httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT_S)
        self._browser = httpx.Client(base_url=base, timeout=TIMEOUT_S)
        found = _CSRF.search(self._browser.get("/console/login").text)
        fields = {"csrf": found[1] if found else "", "name": "viewer", "password": password}
        if self._browser.post("/console/login", data=fields).status_code != 303:
            raise BenchmarkFailed("sign-in failed")

    def close(self) -> None:
        """Close both clients."""
        self._program.close()
        self._browser.close()

    def time_api(self, count: int) -> list[float]:
        """Return how long each API search for a receiver took, with the page size of the console."""
        wanted = bodies.lookups(REGULARS, PAGE_SIZE)
        return [
            _timed(self._program.build_request("POST", bodies.LIST, content=wanted[n % REGULARS]), self._program)[0]
            for n in range(count)
        ]

    def time_pages(self, count: int) -> list[float]:
        """Return how long the console pages with the same messages took."""
        return [
            self._time_page(f"{HISTORY}?receiver={regular_receiver(n % REGULARS)}", regular_receiver(n % REGULARS))
            for n in range(count)
        ]

    def time_newest(self, count: int) -> list[float]:
        """Return how long the newest page took, without a filter."""
        return [self._time_page(HISTORY, "010") for _ in range(count)]

    def downloaded_bytes(self, path: str) -> int:
        """Return the size of a page with all its static files."""
        page = self._browser.get(path)
        static_files = [self._browser.get(each) for each in set(_STATIC_FILE.findall(page.text))]
        return sum(each.num_bytes_downloaded for each in (page, *static_files))

    def _time_page(self, path: str, shows: str) -> float:
        took_s, page = _timed(self._browser.build_request("GET", path), self._browser)
        if shows.replace("-", "") not in page.text.replace("-", ""):
            raise BenchmarkFailed(f"a page does not show the expected text: {path}")
        return took_s


def measure(env: BenchEnvironment) -> list[Figure]:
    """Search for the same receivers by the API and by pages, in a large and in a small store in turn."""
    many, few = large_store(env), env.copy_store()
    fill(few, FEW // REQUEST_RECEIVERS, scheduled_after=LATER, regulars=REGULARS)
    passwords = [_create_user(each) for each in (many, few)]
    by_api, in_many, in_few, newest_in_many, newest_in_few = (list[float]() for _ in range(5))
    with env.run_pabal(many, "pages") as among_many, env.run_pabal(few, "pages") as among_few:
        large_one, small_one = (
            PageClient(env, among_many, passwords[0]),
            PageClient(env, among_few, passwords[1]),
        )
        try:
            for each in (large_one, small_one):
                for look in (each.time_api, each.time_pages, each.time_newest):
                    look(WARM_UP)
            for _ in range(ROUNDS):
                by_api += large_one.time_api(PAGES)
                in_many += large_one.time_pages(PAGES)
                in_few += small_one.time_pages(PAGES)
                newest_in_many += large_one.time_newest(PAGES)
                newest_in_few += small_one.time_newest(PAGES)
            weight_kb = large_one.downloaded_bytes(HISTORY) / 1000
        finally:
            large_one.close()
            small_one.close()
    report_progress(f"  among {MANY:,}: API {format_ms(by_api)}, page {format_ms(in_many)}")
    report_progress(
        f"  newest among {MANY:,}: {format_ms(newest_in_many)}; among {FEW:,}: {format_ms(newest_in_few)}"
    )
    return [
        Figure(
            "pages",
            "time of a receiver's history page / of the API's response, among 1,000,000",
            median_of(in_many) / median_of(by_api),
            target=TIME_TARGET,
            bound="at most",
            details=f"{format_ms(in_many)} and {format_ms(by_api)}",
        ),
        Figure(
            "pages",
            "time of a receiver's history page among 1,000,000 / among 10,000",
            median_of(in_many) / median_of(in_few),
            target=TIME_TARGET,
            bound="at most",
            details=f"{format_ms(in_many)} and {format_ms(in_few)}",
        ),
        Figure(
            "pages",
            "time of the newest page of the history among 1,000,000 / among 10,000",
            median_of(newest_in_many) / median_of(newest_in_few),
            target=TIME_TARGET,
            bound="at most",
            details=f"{format_ms(newest_in_many)} and {format_ms(newest_in_few)}",
        ),
        Figure(
            "pages", "size of the first page with all static files", weight_kb, " KB", SIZE_TARGET_KB, "at most"
        ),
    ]


def _create_user(data: Path) -> str:
    return run_command(data, "user", "create", "viewer", "--account", "bench", "--role", "owner")


def _timed(request: httpx.Request, client: httpx.Client) -> tuple[float, httpx.Response]:
    began = time.perf_counter()
    answer = client.send(request)
    took_s = time.perf_counter() - began
    if answer.status_code != 200:
        raise BenchmarkFailed(f"{answer.url}: {answer.status_code}")
    return took_s, answer

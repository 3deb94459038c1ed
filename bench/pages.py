"""Whether pages of the console are as quick as the interface among a million messages, and how light one is."""

import re
import time
from pathlib import Path

import httpx

from bench import bodies
from bench.figures import Figure, middle, milliseconds
from bench.fill import REQUEST_RECEIVERS, fill, regular
from bench.history import FEW, LATER, MANY, REGULARS, large
from bench.server import DoesNotWork, Place, Server, command, say
from pabal.console.history.history import PAGE_SIZE

QUICK_AIM = 1.5
"""What is as quick as something else takes at most so many times as long; the same as for the interface itself."""
WEIGHT_AIM_KB = 100.0
ROUNDS = 3
LOOKS = 100
WARM_UP = 10
GIVE_UP_S = 60.0
HISTORY = "/console/history"
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_BROUGHT = re.compile(r'(?:href|src)="(/console/static/[^"]+)"')


class Looker:
    """Someone who is signed in, beside a program that has a key."""

    def __init__(self, place: Place, server: Server, password: str) -> None:
        base = f"http://127.0.0.1:{server.port}"
        headers = {"apiKey": place.key, "content-type": "application/json"}
        self._program = httpx.Client(base_url=base, headers=headers, timeout=GIVE_UP_S)
        self._browser = httpx.Client(base_url=base, timeout=GIVE_UP_S)
        found = _CSRF.search(self._browser.get("/console/login").text)
        fields = {"csrf": found[1] if found else "", "name": "looker", "password": password}
        if self._browser.post("/console/login", data=fields).status_code != 303:
            raise DoesNotWork("nobody can sign in")

    def close(self) -> None:
        """Let go of the server."""
        self._program.close()
        self._browser.close()

    def by_interface(self, count: int) -> list[float]:
        """Return how long the interface took for each search for a receiver, for as many messages as a page has."""
        wanted = bodies.lookups(REGULARS, PAGE_SIZE)
        return [
            _timed(self._program.build_request("POST", bodies.LIST, content=wanted[n % REGULARS]), self._program)[0]
            for n in range(count)
        ]

    def by_page(self, count: int) -> list[float]:
        """Return how long pages took that show the same."""
        return [
            self._page(f"{HISTORY}?receiver={regular(n % REGULARS)}", regular(n % REGULARS)) for n in range(count)
        ]

    def newest(self, count: int) -> list[float]:
        """Return how long the first page took, which asks for no receiver."""
        return [self._page(HISTORY, "010") for _ in range(count)]

    def weight_bytes(self, path: str) -> int:
        """Return what a browser that has nothing yet fetches for a page."""
        page = self._browser.get(path)
        brought = [self._browser.get(each) for each in set(_BROUGHT.findall(page.text))]
        return sum(each.num_bytes_downloaded for each in (page, *brought))

    def _page(self, path: str, shows: str) -> float:
        took_s, page = _timed(self._browser.build_request("GET", path), self._browser)
        if shows.replace("-", "") not in page.text.replace("-", ""):
            raise DoesNotWork(f"a page does not show what it is asked for: {path}")
        return took_s


def measure(place: Place) -> list[Figure]:
    """Look up the same receivers by the interface and by pages, in a large and in a small store in turn."""
    many, few = large(place), place.fresh()
    fill(few, FEW // REQUEST_RECEIVERS, scheduled_after=LATER, regulars=REGULARS)
    passwords = [_user(each) for each in (many, few)]
    by_interface: list[float] = []
    in_many: list[float] = []
    in_few: list[float] = []
    newest_in_many: list[float] = []
    newest_in_few: list[float] = []
    with place.pabal(many, "pages") as among_many, place.pabal(few, "pages") as among_few:
        large_one, small_one = Looker(place, among_many, passwords[0]), Looker(place, among_few, passwords[1])
        try:
            for each in (large_one, small_one):
                for look in (each.by_interface, each.by_page, each.newest):
                    look(WARM_UP)
            for _ in range(ROUNDS):
                by_interface += large_one.by_interface(LOOKS)
                in_many += large_one.by_page(LOOKS)
                in_few += small_one.by_page(LOOKS)
                newest_in_many += large_one.newest(LOOKS)
                newest_in_few += small_one.newest(LOOKS)
            weight_kb = large_one.weight_bytes(HISTORY) / 1000
        finally:
            large_one.close()
            small_one.close()
    say(f"  among {MANY:,}: interface {milliseconds(by_interface)}, page {milliseconds(in_many)}")
    say(f"  newest among {MANY:,}: {milliseconds(newest_in_many)}; among {FEW:,}: {milliseconds(newest_in_few)}")
    return [
        Figure(
            "pages",
            "time of a receiver's history page / of the interface's answer, among 1,000,000",
            middle(in_many) / middle(by_interface),
            aim=QUICK_AIM,
            side="at most",
            made_of=f"{milliseconds(in_many)} and {milliseconds(by_interface)}",
        ),
        Figure(
            "pages",
            "time of a receiver's history page among 1,000,000 / among 10,000",
            middle(in_many) / middle(in_few),
            aim=QUICK_AIM,
            side="at most",
            made_of=f"{milliseconds(in_many)} and {milliseconds(in_few)}",
        ),
        Figure(
            "pages",
            "time of the newest page of the history among 1,000,000 / among 10,000",
            middle(newest_in_many) / middle(newest_in_few),
            aim=QUICK_AIM,
            side="at most",
            made_of=f"{milliseconds(newest_in_many)} and {milliseconds(newest_in_few)}",
        ),
        Figure("pages", "weight of the first page, all in all", weight_kb, " KB", WEIGHT_AIM_KB, "at most"),
    ]


def _user(data: Path) -> str:
    return command(data, "user", "create", "looker", "--account", "bench", "--role", "owner")


def _timed(request: httpx.Request, client: httpx.Client) -> tuple[float, httpx.Response]:
    began = time.perf_counter()
    answer = client.send(request)
    took_s = time.perf_counter() - began
    if answer.status_code != 200:
        raise DoesNotWork(f"{answer.url}: {answer.status_code}")
    return took_s, answer

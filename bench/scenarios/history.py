"""How much slower are sends, campaigns, searches and pages among a million messages than among ten thousand?

With `--scale 10`, among ten million.
"""

from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench import bodies, load
from bench.browser import Browser, create_user
from bench.environment import Environment
from bench.figures import Figure, count_processes
from bench.fill import REGULARS, fill
from bench.scenarios.deliver import campaign_plan, single_plan
from bench.server import Server, report_progress
from bench.smsc import Smsc, running_smsc
from bench.through import Running, measure_through

ROUNDS = 2
MANY, FEW = 1_000_000, 10_000
LATER_DAYS = 30
SINGLES, CAMPAIGN_MESSAGES = 20_000, 40_000
LOOKUPS, WARM_UP_LOOKUPS = 300, 20
PAGES, WARM_UP_PAGES = 100, 10
TARGET = 1.3
PAGE_TARGET = 1.5


class HistoryRun(NamedTuple):
    """What one run has measured."""

    singles: float
    """Messages a second from request to receipt, one a request."""
    p99_ms: float
    """Of accepting at that load."""
    campaigns: float
    """Messages a second from request to receipt, a thousand a request."""
    search_ms: float
    """A receiver's messages by the API, at the median."""
    page_ms: float
    """The same as a page of the console."""
    newest_ms: float
    """The newest messages as a page of the console."""


def measure(env: Environment) -> list[Figure]:
    """Send and search in both stores in turn; their other messages wait for a time that does not come."""
    many = env.scaled(MANY)
    figures = []
    with running_smsc() as smsc:
        stores = [make_history(env, count) for count in (FEW, many)]
        for processes in env.processes:
            few_run, many_run = (_measure_run(env, smsc, store, processes) for store in stores)
            name = f"{count_processes(processes)}, times worse among {many:,}"
            ratios = {
                "single sends to the receipt": (few_run.singles / many_run.singles, TARGET),
                "p99 of accepting": (many_run.p99_ms / few_run.p99_ms, TARGET),
                "campaigns to the receipt": (few_run.campaigns / many_run.campaigns, TARGET),
                "a receiver's messages by the API": (many_run.search_ms / few_run.search_ms, TARGET),
                "a receiver's page": (many_run.page_ms / few_run.page_ms, PAGE_TARGET),
                "the newest page": (many_run.newest_ms / few_run.newest_ms, PAGE_TARGET),
            }
            figures += [
                Figure(f"{what}, {name}", ratio, "", "less", target) for what, (ratio, target) in ratios.items()
            ]
    return figures


def make_history(env: Environment, messages: int) -> Path:
    """Return a store with so many scheduled messages, and a user."""

    def make(data: Path) -> None:
        fill(env, data, messages, bodies.later(days=LATER_DAYS))
        (data / "password").write_text(create_user(env, data))

    return env.stored(f"history of {messages}", make)


def _measure_run(env: Environment, smsc: Smsc, store: Path, processes: int) -> HistoryRun:
    """Measure a copy of a store, so that it does not grow from run to run."""
    data = env.copy_store(store)
    env.configure(data, smsc.settings())
    smsc.reset()
    with env.run(data, "history", processes=processes) as server:
        running = Running([server], env.store_cpu_s)
        single = measure_through(smsc, running, single_plan(env, server, SINGLES), SINGLES)
        smsc.reset()
        many = measure_through(smsc, running, campaign_plan(env, server, CAMPAIGN_MESSAGES), CAMPAIGN_MESSAGES)
        search_ms = _search_ms(env, server)
        page_ms, newest_ms = _page_ms(server, (store / "password").read_text())
    env.remove(data)
    run = HistoryRun(single.rate, single.p99_ms, many.rate, search_ms, page_ms, newest_ms)
    report_progress(f"  {store.name}, {processes} processes: {run}")
    return run


def _search_ms(env: Environment, server: Server) -> float:
    """Return how long a search for a receiver's messages takes at the median."""

    def search(count: int) -> load.LoadResult:
        requests = bodies.lookups(list(REGULARS))
        return load.run(env.plan(server, requests, path=bodies.LIST, count=count))

    search(WARM_UP_LOOKUPS)
    return median(search(LOOKUPS).latencies_s) * 1000


def _page_ms(server: Server, password: str) -> tuple[float, float]:
    """Return how long a receiver's page and the newest page of the history take at the median."""
    with Browser(server, password) as browser:

        def time_pages(count: int) -> tuple[float, float]:
            paths = [f"/console/history?receiver={REGULARS[number % len(REGULARS)]}" for number in range(count)]
            own = median(browser.time(path) for path in paths)
            return own * 1000, median(browser.time("/console/history") for _ in paths) * 1000

        time_pages(WARM_UP_PAGES)
        return time_pages(PAGES)

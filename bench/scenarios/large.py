"""Do searches, statistics and pages keep their limits among three million messages of 31 days?

It fails if one is refused, or takes longer than `search_timeout_seconds`. Those that have to count what is rare in
all of them may be refused for that limit, as documented, but not later. With `--scale 0.1`, among 300,000.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench import bodies, load
from bench.browser import Browser, create_user
from bench.environment import Environment
from bench.figures import Figure, count_processes
from bench.fill import REGULARS
from bench.past import repeat_on_earlier_days
from bench.server import BenchmarkFailed, Server, report_progress
from pabal.settings.settings import Settings

ROUNDS = 1
MESSAGES, DAYS = 3_000_000, 30
LIMIT_S = float(Settings.search_timeout_seconds)
REFUSAL_LIMIT_S = LIMIT_S + 0.5
"""A search that is stopped at its limit is answered by then."""
TIMEOUT_S = 60.0
TRIES = 3
"""How often each search is made; the slowest counts, and the first one finds nothing in memory."""
PAGES = 20
REJECTED = "01000000001"
"""A number that the simulator rejects: one of a thousand messages fails."""
CONNECTIONS = 4
DELIVERY_TIMEOUT_S = COUNT_TIMEOUT_S = 600.0
POLL_INTERVAL_S = 1.0


class Search(NamedTuple):
    """Something that is looked for, and what does it once."""

    name: str
    run: Callable[[], object]
    limit_s: float | None = LIMIT_S
    """None: it consists of several, and keeps the limit of each itself."""


def measure(env: Environment) -> list[Figure]:
    """Search a store of each number of processes in every way; what exceeds the limit fails all."""
    requests = max(1, env.scaled(MESSAGES) // DAYS // bodies.CAMPAIGN_RECEIVERS)
    messages = requests * bodies.CAMPAIGN_RECEIVERS * DAYS
    store = env.stored(f"large of {messages}", lambda data: _make(env, data, requests))
    figures: list[Figure] = []
    for processes in env.processes:
        with env.run(store, "large", processes=processes) as server:
            _await_statistics(env, server, messages)
            name = f"{count_processes(processes)}, among {messages:,}"
            with _client(env, server) as client, Browser(server, (store / "password").read_text()) as browser:
                searches = [*_api_searches(client), *_pages(browser)]
                figures += [
                    Figure(
                        f"{each.name}, {name}",
                        _slowest_ms(each),
                        " ms",
                        "less",
                        each.limit_s and each.limit_s * 1000,
                    )
                    for each in searches
                ]
    exceeding = [each for each in figures if each.target is not None and each.value > each.target]
    if exceeding:
        raise BenchmarkFailed("; ".join(f"{each.what}: {each.value:,.0f} ms" for each in exceeding))
    return figures


def _make(env: Environment, data: Path, requests: int) -> None:
    """Deliver the messages of a day, and repeat them on the days before."""
    report_progress(f"  delivering {requests * bodies.CAMPAIGN_RECEIVERS:,} messages")
    env.configure(data, "simulator_messages = 1000\n")
    sends = bodies.sends(min(requests, 50), bodies.CAMPAIGN_RECEIVERS, own=(*REGULARS[:10], REJECTED))
    with env.run(data, "large fill") as server:
        load.run(env.plan(server, sends, connections=min(CONNECTIONS, requests), count=requests))
        deadline = time.perf_counter() + DELIVERY_TIMEOUT_S
        while server.metric("pabal_queue_jobs") or not server.metric("pabal_messages_ended_total"):
            if time.perf_counter() > deadline:
                raise BenchmarkFailed("the messages did not end in time")
            time.sleep(POLL_INTERVAL_S)
    repeat_on_earlier_days(env, data, DAYS - 1)
    (data / "password").write_text(create_user(env, data))


def _client(env: Environment, server: Server) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers={"apiKey": env.key}, timeout=TIMEOUT_S)


def _day(days_ago: int) -> str:
    return (datetime.now(bodies.SEOUL) - timedelta(days=days_ago)).strftime("%Y-%m-%d")


def _await_statistics(env: Environment, server: Server, messages: int) -> None:
    """Wait until the statistics have every message."""
    began = time.perf_counter()
    with _client(env, server) as client:
        while time.perf_counter() < began + COUNT_TIMEOUT_S:
            found = client.get("/api/statistics/list.v1.0", params={"from": _day(DAYS), "interval": "month"}).json()
            counted = sum(sum(each["counts"].values()) for each in found["items"])
            if counted == messages:
                return
            time.sleep(POLL_INTERVAL_S)
    raise BenchmarkFailed(f"only {counted:,} of {messages:,} messages were counted in time")


def _slowest_ms(search: Search) -> float:
    """Return how long a search takes at most, in milliseconds."""
    slowest_s = 0.0
    for _ in range(TRIES):
        began = time.perf_counter()
        search.run()
        slowest_s = max(slowest_s, time.perf_counter() - began)
    report_progress(f"    {search.name}: {slowest_s * 1000:,.0f} ms")
    return slowest_s * 1000


def _api_searches(client: httpx.Client) -> list[Search]:
    """Return the searches of endpoint 11, and the statistics."""

    def listed(**body: Any) -> Any:
        return _checked(client.post(bodies.LIST, json={"pageSize": 100, **body}))

    def counted_if_in_time(**body: Any) -> None:
        answer = client.post(bodies.LIST, json={"pageSize": 100, **body})
        if answer.status_code == 503:
            report_progress("    refused for its limit:")
        else:
            _checked(answer)

    def counted(**query: str) -> Callable[[], object]:
        given = {"from": _day(DAYS), **query}
        return lambda: _checked(client.get("/api/statistics/list.v1.0", params=given))

    def follow(**body: Any) -> None:
        cursor: dict[str, str] = {}
        for _ in range(PAGES):
            began = time.perf_counter()
            found = listed(**body, **cursor)
            if time.perf_counter() - began > LIMIT_S:
                raise BenchmarkFailed(f"a page of {body} took longer than {LIMIT_S:.0f} s")
            if "nextCursor" not in found:
                return
            cursor = {"cursor": found["nextCursor"]}

    period = f"{_day(DAYS)}~{_day(0)}"
    regular = REGULARS[0]
    failed = {"requestDate": period, "sendingStatus": "fail"}
    first = listed(requestDate=period)["items"][0]
    return [
        Search("a receiver with thousands", lambda: listed(receivers=regular)),
        Search("page 20 of this receiver", lambda: listed(receivers=regular, page=20)),
        Search("this receiver's failures", lambda: listed(receivers=regular, sendingStatus="fail")),
        Search("a receiver with none", lambda: listed(receivers="010-9876-5432")),
        Search("31 days", lambda: listed(requestDate=period)),
        Search("a day", lambda: listed(requestDate=_day(15))),
        Search("31 days, 1,000 a page", lambda: listed(requestDate=period, pageSize=1000)),
        Search("31 days, one of a thousand", partial(counted_if_in_time, **failed), REFUSAL_LIMIT_S),
        Search(
            "31 days, none", partial(counted_if_in_time, **failed | {"sendingStatus": "cancel"}), REFUSAL_LIMIT_S
        ),
        Search("31 days, another product", lambda: listed(requestDate=period, messageProductType="lms")),
        Search("31 days, an unknown template", lambda: listed(requestDate=period, templateCode="NONE")),
        Search("31 days, another month", lambda: listed(requestDate=period, yyyyMM="202001")),
        Search("a request", lambda: listed(requestId=first["requestId"])),
        Search("a message", lambda: listed(messageId=first["messageId"])),
        Search(f"{PAGES} pages of 31 days", lambda: follow(requestDate=period), None),
        Search(
            f"{PAGES} pages of failures of a day", lambda: follow(requestDate=_day(1), sendingStatus="fail"), None
        ),
        Search("statistics by hour", counted(interval="hour", to=_day(0))),
        Search("statistics by day and three groups", counted(interval="day", groupBy="product,sender,resultCode")),
        Search("statistics by month", counted(interval="month", groupBy="key,carrier,status")),
    ]


def _pages(browser: Browser) -> list[Search]:
    """Return the pages that search and count."""
    since, until = _day(DAYS), _day(0)
    period = f"requested_from={since}T00:00&requested_to={until}T23:59"
    paths = (
        "/console",
        "/console?days=28",
        "/console/statistics.csv",
        f"/console/statistics?from={since}&to={until}&interval=day&by.sender=1&by.status=1",
        f"/console/statistics/table.csv?from={since}&to={until}&interval=day&by.sender=1&by.resultCode=1",
        "/console/history",
        f"/console/history?receiver={REGULARS[0]}",
        f"/console/history?receiver={REGULARS[0]}&status=fail",
        f"/console/history?{period}",
        f"/console/history?{period}&status=fail",
        f"/console/history?{period}&status=cancel",
        f"/console/history?{period}&template=NONE",
        f"/console/history.csv?receiver={REGULARS[0]}",
        "/console/requests",
    )
    return [Search(path, partial(browser.get, path)) for path in paths]


def _checked(answer: httpx.Response) -> Any:
    """Return an answer, which must be a success."""
    if answer.status_code != 200:
        raise BenchmarkFailed(answer.text)
    return answer.json()

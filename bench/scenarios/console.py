"""How long does the console take to send to a file of 100,000 receivers, and how does that slow down API calls?"""

import re
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import httpx

from bench import bodies
from bench.browser import BAD_EVERY, TIMEOUT_S, Browser, create_user, receivers_csv, receivers_xlsx
from bench.environment import Environment
from bench.figures import Figure, p99_ms
from bench.server import BenchmarkFailed, Server

ROUNDS = 1
ROWS = 100_000
CALL_INTERVAL_S = 0.02
POLL_INTERVAL_S = 0.1
ACCEPTED_TARGET_S = 60.0
MEMORY_TARGET_MB = 300
SIZE_TARGET_KB = 100.0
_SEEN = re.compile(r'name="seen" value="([0-9]+)"')
_STATIC_FILE = re.compile(r'(?:href|src)="(/console/static/[^"]+)"')


class UploadRun(NamedTuple):
    """What an uploaded file took."""

    validated_s: float
    accepted_s: float
    calls_s: list[float]
    """Latencies of API calls meanwhile."""
    cpu_us: float
    """CPU time a row."""
    peak_mb: float
    page_kb: float
    """The size of a page with all its files."""


def measure(env: Environment) -> list[Figure]:
    """Send to the same list as CSV and as Excel."""
    figures = []
    for name, make_file in (("CSV", receivers_csv), ("Excel", receivers_xlsx)):
        run = _measure_upload(env, make_file)
        what = f"{ROWS:,} rows of {name}:"
        figures += [
            Figure(f"{what} validated", run.validated_s, " s", "less"),
            Figure(f"{what} accepted", run.accepted_s, " s", "less", ACCEPTED_TARGET_S),
            Figure(f"{what} CPU a row", run.cpu_us, " µs", "less"),
            Figure(f"{what} p99 of API calls meanwhile", p99_ms(run.calls_s), " ms", "less"),
            Figure(f"{what} peak memory", run.peak_mb, " MB", "less", MEMORY_TARGET_MB),
        ]
    return [*figures, Figure("a page with all its files", run.page_kb, " KB", "less", SIZE_TARGET_KB)]


def _measure_upload(env: Environment, make_file: Callable[[int], bytes]) -> UploadRun:
    data = env.copy_store()
    password = create_user(env, data)
    file = make_file(ROWS)
    calls_s: list[float] = []
    is_over = threading.Event()
    with env.run(data, "console") as server, Browser(server, password) as browser:
        address = browser.start_upload()
        caller = threading.Thread(target=_call_repeatedly, args=(server.port, env.key, is_over, calls_s))
        caller.start()
        try:
            before_s, began = server.cpu_s() + env.store_cpu_s(), time.perf_counter()
            browser.submit(f"{address}/file", {"once": "1"}, file)
            validated_s = time.perf_counter() - began
            seen = _SEEN.findall(browser.get(address).text)[0]
            browser.submit(f"{address}/send", {"name": "bench", "seen": seen})
            _wait_until_accepted(server, ROWS - ROWS // BAD_EVERY)
            accepted_s = time.perf_counter() - began
            cpu_us = (server.cpu_s() + env.store_cpu_s() - before_s) / ROWS * 1e6
        finally:
            is_over.set()
            caller.join()
        peak_mb, page_kb = server.peak_bytes() / 1e6, _page_kb(browser)
    return UploadRun(validated_s, accepted_s, calls_s, cpu_us, peak_mb, page_kb)


def _wait_until_accepted(server: Server, rows: int) -> None:
    """Wait until as many LMS are accepted; the API calls meanwhile are SMS."""
    deadline = time.perf_counter() + TIMEOUT_S
    while (
        sum(value for labels, value in server.samples("pabal_messages_accepted_total") if '"lms"' in labels) < rows
    ):
        if time.perf_counter() > deadline:
            raise BenchmarkFailed("the campaign was not accepted in time")
        time.sleep(POLL_INTERVAL_S)


def _page_kb(browser: Browser) -> float:
    page = browser.get("/console/history")
    files = [browser.get(each) for each in set(_STATIC_FILE.findall(page.text))]
    return sum(each.num_bytes_downloaded for each in (page, *files)) / 1000


def _call_repeatedly(port: int, key: str, is_over: threading.Event, calls_s: list[float]) -> None:
    """Send messages at intervals, and record the latencies."""
    body = bodies.singles(1)[0]
    headers = {"apiKey": key, "content-type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=TIMEOUT_S) as client:
        while not is_over.wait(CALL_INTERVAL_S):
            began = time.perf_counter()
            client.post(bodies.SEND_SMS, content=body).raise_for_status()
            calls_s.append(time.perf_counter() - began)

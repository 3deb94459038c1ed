"""How long the console takes to accept a file of 100,000 receivers, and how that slows down API calls."""

import io
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import httpx
from openpyxl import Workbook

from bench import bodies
from bench.figures import Figure, percentile
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress, run_command
from bench.store_reader import StoreReader, open_reader

ROWS = 100_000
BAD_EVERY = 100
"""One of every BAD_EVERY rows has an invalid number."""
ACCEPTED_TARGET_S = 60.0
MEMORY_TARGET_MB = 300
CALL_INTERVAL_S = 0.02
POLL_INTERVAL_S = 0.1
BASELINE_S = 3.0
TIMEOUT_S = 300.0
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_SEEN = re.compile(r'name="seen" value="([0-9]+)"')
_MB = 1024 * 1024
_COLUMNS = ("휴대폰번호", "이름", "금액", "지점")


class UploadTimes(NamedTuple):
    """Time until an uploaded file was validated and accepted, and the latency of API calls."""

    validated_s: float
    accepted_s: float
    calls_s: list[float]
    baseline_s: list[float]
    """Latency of API calls before the upload."""
    peak_bytes: int
    lag_ms: float


def measure(env: BenchEnvironment) -> list[Figure]:
    """Upload the same list as CSV and as Excel."""
    return [
        figure
        for name, written in (("CSV", as_csv), ("Excel", _as_excel))
        for figure in _figures(name, _measure_upload(env, name, written))
    ]


def _figures(name: str, took: UploadTimes) -> list[Figure]:
    slow_ms, baseline_ms = (percentile(each, 0.99) * 1000 for each in (took.calls_s, took.baseline_s))
    report_progress(
        f"  {name}: validated after {took.validated_s:.1f} s, accepted after {took.accepted_s:.1f} s,"
        f" {took.peak_bytes // _MB} MB; {len(took.calls_s)} calls in that time,"
        f" p99 {slow_ms:.1f} ms (before {baseline_ms:.1f}), slowest {max(took.calls_s) * 1000:.1f} ms"
    )
    what = f"{ROWS:,} rows of {name}"
    details = f"validated after {took.validated_s:.1f} s"
    return [
        Figure("console", f"{what} accepted", took.accepted_s, " s", ACCEPTED_TARGET_S, "at most", details),
        Figure("console", f"{what}, peak resident", took.peak_bytes / _MB, " MB", MEMORY_TARGET_MB, "at most"),
        Figure(
            "console",
            f"{what}, p99 of API calls during the upload",
            slow_ms,
            " ms",
            details=f"{baseline_ms:.1f} ms before; event loop late by p99 at most {took.lag_ms:g} ms",
        ),
    ]


def _measure_upload(env: BenchEnvironment, name: str, written: Callable[[], bytes]) -> UploadTimes:
    data = env.copy_store()
    password = create_uploader(data)
    file = written()
    with env.run_pabal(data, f"console, {name}") as server:
        reader = open_reader(data)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=TIMEOUT_S) as browser:
                address, csrf = start_upload(browser, password)
                return _time_upload(env, server, browser, reader, address, csrf, file)
        finally:
            reader.close()


def _time_upload(
    env: BenchEnvironment,
    server: Server,
    browser: httpx.Client,
    reader: StoreReader,
    address: str,
    csrf: str,
    file: bytes,
) -> UploadTimes:
    is_over = threading.Event()
    calls_s: list[float] = []
    caller = threading.Thread(target=_call_repeatedly, args=(server.port, env.key, is_over, calls_s))
    caller.start()
    try:
        time.sleep(BASELINE_S)
        baseline_calls = len(calls_s)
        began = time.perf_counter()
        uploaded = browser.post(f"{address}/file", data={"csrf": csrf, "once": "1"}, files={"file": ("list", file)})
        validated_s = time.perf_counter() - began
        good = ROWS - ROWS // BAD_EVERY
        found = reader.fetch_all("select state, receivers, invalid_rows from campaigns")
        if uploaded.status_code != 303 or found != [("checked", good, ROWS // BAD_EVERY)]:
            raise BenchmarkFailed(f"the file was not accepted: {uploaded.status_code}, {found}")
        seen = _SEEN.findall(browser.get(address).text)[0]
        sent = browser.post(f"{address}/send", data={"csrf": csrf, "name": "bench", "seen": seen})
        if sent.status_code != 303:
            raise BenchmarkFailed(f"the campaign was not sent: {sent.status_code}")
        while reader.fetch_value("select requested from campaigns") < good:
            if time.perf_counter() - began > TIMEOUT_S:
                raise BenchmarkFailed("the campaign was not accepted in time")
            time.sleep(POLL_INTERVAL_S)
        accepted_s = time.perf_counter() - began
    finally:
        is_over.set()
        caller.join()
    return UploadTimes(
        validated_s,
        accepted_s,
        calls_s[baseline_calls:],
        calls_s[:baseline_calls],
        server.peak_bytes(),
        server.loop_lag_p99_ms(),
    )


def create_uploader(data: Path) -> str:
    """Create the user who uploads, and return the password."""
    return run_command(data, "user", "create", "uploader", "--account", "bench", "--role", "owner")


def start_upload(browser: httpx.Client, password: str) -> tuple[str, str]:
    """Sign in, compose a message, and return the address of the campaign and the CSRF token."""
    csrf = _csrf_of(browser.get("/console/login"))
    signed = browser.post("/console/login", data={"csrf": csrf, "name": "uploader", "password": password})
    csrf = _csrf_of(browser.get("/console/history"))
    message = {
        "csrf": csrf,
        "kind": "lms",
        "sender": "02-1234-5678",
        "content": "#{이름}님, #{지점}에서 #{금액}원을 쓰셨습니다.",
    }
    begun = browser.post("/console/send/upload", data=message)
    if signed.status_code != 303 or begun.status_code != 303:
        raise BenchmarkFailed(f"the upload cannot start: {signed.status_code}, {begun.status_code}")
    return begun.headers["location"], csrf


def _csrf_of(page: httpx.Response) -> str:
    found = _CSRF.search(page.text)
    if not found:
        raise BenchmarkFailed(f"a page has no form: {page.status_code}")
    return found[1]


def _call_repeatedly(port: int, key: str, is_over: threading.Event, calls_s: list[float]) -> None:
    """Send messages at intervals, and record the latencies."""
    body = bodies.singles(1)[0]
    headers = {"apiKey": key, "content-type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=TIMEOUT_S) as client:
        while not is_over.wait(CALL_INTERVAL_S):
            began = time.perf_counter()
            client.post(bodies.SEND_SMS, content=body).raise_for_status()
            calls_s.append(time.perf_counter() - began)


def _rows() -> list[tuple[str, str, str, str]]:
    return [
        ("12345" if number % BAD_EVERY == 0 else f"010-2{number // 10_000:03}-{number % 10_000:04}",
         f"고객{number}", str(1000 + number), f"지점 {number % 50}")
        for number in range(ROWS)
    ]  # fmt: skip


def as_csv() -> bytes:
    """Return the list of receivers as a CSV file."""
    return "".join(f"{','.join(row)}\r\n" for row in (_COLUMNS, *_rows())).encode()


def _as_excel() -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (_COLUMNS, *_rows()):
        sheet.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()

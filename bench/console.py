"""How long the console takes to accept a file of 100,000 receivers, and what the interface feels of it."""

import io
import re
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import httpx
from openpyxl import Workbook

from bench import bodies
from bench.figures import Figure, percentile
from bench.looking import Looking, reading
from bench.server import DoesNotWork, Place, Server, command, say

ROWS = 100_000
BAD_EVERY = 100
"""One row in so many cannot be sent to."""
ACCEPTED_AIM_S = 60.0
MEMORY_AIM_MB = 300
CALL_EVERY_S = 0.02
LOOK_EVERY_S = 0.1
CALM_S = 3.0
GIVE_UP_S = 300.0
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_SEEN = re.compile(r'name="seen" value="([0-9]+)"')
_MB = 1024 * 1024
_COLUMNS = ("휴대폰번호", "이름", "금액", "지점")


class Took(NamedTuple):
    """What one upload took until the file was checked and all were accepted, and how calls fared meanwhile."""

    checked_s: float
    accepted_s: float
    calls_s: list[float]
    calm_s: list[float]
    """How long calls took before."""
    peak_bytes: int


def measure(place: Place) -> list[Figure]:
    """Upload the same list as CSV and as Excel."""
    return [
        figure
        for name, written in (("CSV", _as_csv), ("Excel", _as_excel))
        for figure in _figures(name, _uploaded(place, name, written))
    ]


def _figures(name: str, took: Took) -> list[Figure]:
    slow_ms, calm_ms = (percentile(each, 0.99) * 1000 for each in (took.calls_s, took.calm_s))
    say(
        f"  {name}: checked after {took.checked_s:.1f} s, accepted after {took.accepted_s:.1f} s,"
        f" {took.peak_bytes // _MB} MB; {len(took.calls_s)} calls meanwhile,"
        f" p99 {slow_ms:.1f} ms (before {calm_ms:.1f}), slowest {max(took.calls_s) * 1000:.1f} ms"
    )
    what = f"{ROWS:,} rows of {name}"
    made_of = f"checked after {took.checked_s:.1f} s"
    return [
        Figure("console", f"{what} accepted", took.accepted_s, " s", ACCEPTED_AIM_S, "at most", made_of),
        Figure("console", f"{what}, most resident", took.peak_bytes / _MB, " MB", MEMORY_AIM_MB, "at most"),
        Figure("console", f"{what}, p99 of calls meanwhile", slow_ms, " ms", made_of=f"{calm_ms:.1f} ms before"),
    ]


def _uploaded(place: Place, name: str, written: Callable[[], bytes]) -> Took:
    data = place.fresh()
    password = command(data, "user", "create", "uploader", "--account", "bench", "--role", "owner")
    file = written()
    with place.pabal(data, f"console, {name}") as server:
        looking = reading(data)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=GIVE_UP_S) as browser:
                address, csrf = _begun(browser, password)
                return _timed(place, server, browser, looking, address, csrf, file)
        finally:
            looking.close()


def _timed(
    place: Place, server: Server, browser: httpx.Client, looking: Looking, address: str, csrf: str, file: bytes
) -> Took:
    is_over = threading.Event()
    calls_s: list[float] = []
    caller = threading.Thread(target=_call, args=(server.port, place.key, is_over, calls_s))
    caller.start()
    try:
        time.sleep(CALM_S)
        calm = len(calls_s)
        began = time.perf_counter()
        taken = browser.post(
            f"{address}/file?name=list",
            content=file,
            headers={"x-csrf-token": csrf, "content-type": "application/octet-stream"},
        )
        checked_s = time.perf_counter() - began
        good = ROWS - ROWS // BAD_EVERY
        found = looking.rows("select state, receivers, invalid_rows from campaigns")
        if taken.status_code != 204 or found != [("checked", good, ROWS // BAD_EVERY)]:
            raise DoesNotWork(f"the file was not taken: {taken.status_code}, {found}")
        seen = _SEEN.findall(browser.get(address).text)[0]
        sent = browser.post(f"{address}/send", data={"csrf": csrf, "name": "bench", "seen": seen})
        if sent.status_code != 303:
            raise DoesNotWork(f"the campaign was not sent: {sent.status_code}")
        while looking.one("select requested from campaigns") < good:
            if time.perf_counter() - began > GIVE_UP_S:
                raise DoesNotWork("the campaign is not accepted")
            time.sleep(LOOK_EVERY_S)
        accepted_s = time.perf_counter() - began
    finally:
        is_over.set()
        caller.join()
    return Took(checked_s, accepted_s, calls_s[calm:], calls_s[:calm], server.peak_bytes())


def _begun(browser: httpx.Client, password: str) -> tuple[str, str]:
    """Sign in, write a message, and return where its file goes, and the secret of forms."""
    csrf = _secret(browser.get("/console/login"))
    signed = browser.post("/console/login", data={"csrf": csrf, "name": "uploader", "password": password})
    csrf = _secret(browser.get("/console/history"))
    message = {
        "csrf": csrf,
        "kind": "lms",
        "sender": "02-1234-5678",
        "content": "#{이름}님, #{지점}에서 #{금액}원을 쓰셨습니다.",
    }
    begun = browser.post("/console/send/upload", data=message)
    if signed.status_code != 303 or begun.status_code != 303:
        raise DoesNotWork(f"nobody can upload: {signed.status_code}, {begun.status_code}")
    return begun.headers["location"], csrf


def _secret(page: httpx.Response) -> str:
    found = _CSRF.search(page.text)
    if not found:
        raise DoesNotWork(f"a page has no form: {page.status_code}")
    return found[1]


def _call(port: int, key: str, is_over: threading.Event, calls_s: list[float]) -> None:
    """Send a message now and then, and note how long the answers take."""
    body = bodies.singles(1)[0]
    headers = {"apiKey": key, "content-type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=GIVE_UP_S) as client:
        while not is_over.wait(CALL_EVERY_S):
            began = time.perf_counter()
            client.post(bodies.SEND_SMS, content=body).raise_for_status()
            calls_s.append(time.perf_counter() - began)


def _rows() -> list[tuple[str, str, str, str]]:
    return [
        ("12345" if number % BAD_EVERY == 0 else f"010-2{number // 10_000:03}-{number % 10_000:04}",
         f"고객{number}", str(1000 + number), f"지점 {number % 50}")
        for number in range(ROWS)
    ]  # fmt: skip


def _as_csv() -> bytes:
    return "".join(f"{','.join(row)}\r\n" for row in (_COLUMNS, *_rows())).encode()


def _as_excel() -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (_COLUMNS, *_rows()):
        sheet.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()

"""How long a one-receiver send waits while campaigns are in the queue and a file is uploaded."""

import contextlib
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from bench import bodies, console, load
from bench.figures import Figure, percentile
from bench.fill import REQUEST_RECEIVERS, WORLD, fill
from bench.server import BenchEnvironment, BenchmarkFailed, Server, report_progress
from bench.store_reader import open_reader
from pabal.domain.base import identifiers

FAR_END_TARGET_S = 1.0
ACCEPT_TARGET_MS = 25.0
WAITING = 1_000_000
CONNECTIONS = 8
PAUSE_S = 0.04
SECONDS = 15.0
ACCEPT_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.05
_REQUEST_ID = re.compile(rb'"requestId":"([0-9a-f]{26})"')


def measure(env: BenchEnvironment) -> list[Figure]:
    """Send single messages while a full queue is delivered and a file is uploaded; read when each was accepted."""
    data = env.copy_store()
    password = console.create_uploader(data)
    fill(data, WAITING // REQUEST_RECEIVERS)
    options = ("--processes", str(env.processes)) if env.processes > 1 else ()
    with env.run_pabal(data, "small", "serve", *options) as server, _uploading(server, password):
        plan = load.LoadPlan(
            port=server.port,
            path=bodies.SEND_SMS,
            key=env.key,
            bodies=bodies.sends(100, 1),
            connections=CONNECTIONS,
            pause_s=PAUSE_S,
            seconds=SECONDS,
            keeps_answers=True,
        )
        with load.start(plan) as process:
            drained_at = _drained_at(data)
            seen = load.finish(process)
        sent = [bytes.fromhex(found[1].decode()) for each in seen.answers if (found := _REQUEST_ID.search(each))]
        during_campaigns = [each for each in sent if identifiers.requested_at(each) < drained_at]
        waits_s = _waits_s(data, during_campaigns)
        lag_ms = server.loop_lag_p99_ms() if not options else None  # several processes have several loops
    if not waits_s:
        raise BenchmarkFailed("the campaigns were delivered before the first small send")
    p50, p99 = percentile(waits_s, 0.5), percentile(waits_s, 0.99)
    accepted_ms = percentile(seen.latencies_s, 0.99) * 1000
    report_progress(
        f"  {len(waits_s)} small sends answered in p99 {accepted_ms:.0f} ms, at the simulator after"
        f" p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms"
    )
    what = f"a small send during {WAITING:,} of campaigns and an upload of {console.ROWS:,} rows,"
    return [
        Figure("small", f"{what} answered, p99", accepted_ms, " ms", ACCEPT_TARGET_MS, "at most"),
        Figure(
            "small",
            f"{what} until the simulator accepts it, p99",
            p99,
            " s",
            FAR_END_TARGET_S,
            "at most",
            f"p50 {p50 * 1000:.0f} ms of {len(waits_s)}",
        ),
        *([Figure("small", "lateness of the event loop meanwhile, p99 at most", lag_ms, " ms")] if lag_ms else []),
    ]


@contextlib.contextmanager
def _uploading(server: Server, password: str) -> Iterator[None]:
    """Upload a file through the console while the block runs; it has to be accepted."""
    answers: list[int] = []
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=console.TIMEOUT_S) as browser:
        address, csrf = console.start_upload(browser, password)
        file = console.as_csv()

        def upload() -> None:
            fields = {"csrf": csrf, "once": "1"}
            answers.append(browser.post(f"{address}/file", data=fields, files={"file": ("list", file)}).status_code)

        thread = threading.Thread(target=upload)
        thread.start()
        try:
            yield
        finally:
            thread.join()
    if answers != [303]:
        raise BenchmarkFailed(f"the file was not accepted: {answers}")


def _drained_at(data: Path) -> int:
    """Wait until the campaigns are delivered, and return that time in milliseconds."""
    reader = open_reader(data)
    deadline = time.perf_counter() + SECONDS
    while reader.fetch_value("select 1 from jobs where lane = 1 limit 1") and time.perf_counter() < deadline:
        time.sleep(POLL_INTERVAL_S)
    reader.close()
    return WORLD.now()


def _waits_s(data: Path, requests: list[bytes]) -> list[float]:
    """Return how long after its request the simulator accepted each message."""
    reader = open_reader(data)
    deadline = time.perf_counter() + ACCEPT_TIMEOUT_S
    waits_s: list[float] = []
    for each in requests:
        one = identifiers.make_message_id(each, 1)
        while (
            at := reader.fetch_value("select accepted_at from simulated_messages where message_id = ?", (one,))
        ) is None:
            if time.perf_counter() > deadline:
                raise BenchmarkFailed(f"the simulator did not accept a small send in {ACCEPT_TIMEOUT_S} s")
            time.sleep(POLL_INTERVAL_S)
        waits_s.append((at - identifiers.requested_at(each)) / 1000)
    reader.close()
    return waits_s

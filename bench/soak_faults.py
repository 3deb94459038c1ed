"""What `make soak ARGS="--faults"` adds: kills, a receiver of webhooks that is gone, a store that stands still.

Callers repeat each request with its Idempotency-Key until it is answered. At the end every message of every
answered request must have been told to the webhook, none later than LATE_S, and nothing may have grown.
"""

import contextlib
import http.client
import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import bodies
from bench.environment import Environment
from bench.postgres import PostgresEnvironment
from bench.server import BenchmarkFailed, Server, descendants_of, free_ports, report_progress
from bench.webhook_sink import WebhookSink, add_webhooks, running_webhook_sink, webhook_settings

KILL_EVERY_S = 120.0
GONE_EVERY_S, GONE_S = 600.0, 60.0
PAUSE_EVERY_S, PAUSE_S = 300.0, 5.0
LATE_S = 120.0
"""The longest that a result may take from the answer to its request: a minute without receiver, and one more."""
TOLD_TIMEOUT_S = 300.0
"""How long the last results are waited for at the end."""
SENDERS, SEND_PAUSE_S, RECEIVERS = 4, 0.4, 10
RETRY_PAUSE_S = 0.2
CALL_TIMEOUT_S = 40.0
TURN_S = 0.5
PROCESSES = 2
SEED = 20261118
TRACE = "Traceback"
REQUEST_ID_LENGTH = 26
"""The id of a message begins with that of its request."""

Measures = Callable[[Server, Path], dict[str, Callable[[], float]]]


class Callers:
    """Threads that send, each request until it is answered."""

    def __init__(self, port: int, key: str) -> None:
        self.answered: dict[str, float] = {}
        """When each request was answered, in seconds of the wall clock, by its id."""
        self.repeated = 0
        self.wrong: list[str] = []
        self._address, self._key = ("127.0.0.1", port), key
        self._is_ending = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(SENDERS)]

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Send until the end of the block; there the last requests are still answered."""
        for each in self._threads:
            each.start()
        try:
            yield
        finally:
            self._is_ending.set()
            for each in self._threads:
                each.join()

    def _run(self, number: int) -> None:
        count = 0
        while not self._is_ending.wait(SEND_PAUSE_S):
            count += 1
            phones = [f"010-2{number}{count % 100:02}-{each:04}" for each in range(RECEIVERS)]
            body = {
                "sender": bodies.SENDER,
                "content": f"{number}번 {count}번째",
                "receivers": [{"phoneNumber": each} for each in phones],
            }
            self._send(f"soak-{number}-{count}", json.dumps(body).encode())

    def _send(self, name: str, body: bytes) -> None:
        while True:
            status, answer = self._call(name, body)
            if status == http.client.OK:
                self.answered[json.loads(answer)["item"]["requestId"]] = time.time()
                return
            if status and status < 500:
                self.wrong.append(f"{status} {answer.decode(errors='replace')}")
                return
            self.repeated += 1
            time.sleep(RETRY_PAUSE_S)

    def _call(self, name: str, body: bytes) -> tuple[int, bytes]:
        """Return status and answer; 0 where there is none."""
        connection = http.client.HTTPConnection(*self._address, timeout=CALL_TIMEOUT_S)
        headers = {"apiKey": self._key, "Content-Type": "application/json", "Idempotency-Key": name}
        try:
            connection.request("POST", bodies.SEND_SMS, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()


class Faults:
    """What happens when, until the end."""

    def __init__(self, env: Environment, data: Path, sink: WebhookSink, seconds: float) -> None:
        self._env, self._data, self._sink = env, data, sink
        self._random = random.Random(SEED)
        self.counts = {"processes killed": 0, "receiver gone": 0, "store paused": 0}
        events: list[tuple[float, Callable[[], None]]] = []
        quiet = seconds - GONE_S
        events += [(at, self._take_receiver_away) for at in _times(GONE_EVERY_S, quiet)]
        events += [(at + GONE_S, sink.come_back) for at in _times(GONE_EVERY_S, quiet)]
        events += [(at, self._pause_store) for at in _times(PAUSE_EVERY_S, quiet)]
        self._events = sorted(events, key=lambda each: each[0])
        self._began = time.perf_counter()

    def happen(self) -> None:
        """Do what is due."""
        while self._events and self._events[0][0] <= time.perf_counter() - self._began:
            self._events.pop(0)[1]()

    def kill_child(self, server: Server) -> None:
        """Kill one of the processes of a service, which its first process starts again."""
        self.counts["processes killed"] += 1
        os.kill(self._random.choice(descendants_of(server.pid)), signal.SIGKILL)

    def kill_service(self, server: Server) -> None:
        """Kill the first process of a service, with which the others end."""
        self.counts["processes killed"] += 1
        os.kill(server.pid, signal.SIGKILL)

    def _take_receiver_away(self) -> None:
        self.counts["receiver gone"] += 1
        self._sink.go_away()

    def _pause_store(self) -> None:
        self.counts["store paused"] += 1
        if isinstance(self._env, PostgresEnvironment):
            pids = self._env.server_pids()
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(PAUSE_S)
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        else:
            with contextlib.closing(sqlite3.connect(self._data / "pabal.db", timeout=60)) as connection:
                connection.execute("begin immediate")
                time.sleep(PAUSE_S)


def _times(every_s: float, until_s: float) -> list[float]:
    return [number * every_s for number in range(1, int(until_s // every_s) + 1)]


def soak_with_faults(env: Environment, seconds: float, measures: Measures) -> dict[str, list[float]]:
    """Send through all faults; return what was measured at the end of each life of the service.

    Raises BenchmarkFailed for anything that was lost or told late.
    """
    data = env.copy_store()
    (port,) = free_ports(1)
    series: dict[str, list[float]] = {}
    told: dict[str, float] = {}
    with running_webhook_sink() as sink:
        env.configure(data, webhook_settings(sink.live) + "simulator_messages = 10000\n")
        with env.run(data, "soak", port=port, processes=PROCESSES) as server:
            add_webhooks(env, server, sink.live)
        callers, faults = Callers(port, env.key), Faults(env, data, sink, seconds)
        with callers.running():
            ends_at = time.perf_counter() + seconds
            while time.perf_counter() < ends_at:
                with env.run(data, "soak", port=port, processes=PROCESSES) as server:
                    _live(server, faults, ends_at, lambda: _collect(sink, told))
                    for name, measure in measures(server, data).items():
                        series.setdefault(name, []).append(measure())
                    faults.kill_service(server)
                report_progress(f"  {len(callers.answered):,} requests answered, {len(told):,} messages told")
        with env.run(data, "soak", port=port, processes=PROCESSES):
            _wait_until_told(sink, told, len(callers.answered) * RECEIVERS)
    _check(callers, told, faults.counts, data)
    return series


def _live(server: Server, faults: Faults, ends_at: float, collect: Callable[[], None]) -> None:
    """Let a service live until it is to be killed; one of its children is killed on the way."""
    began = time.perf_counter()
    has_killed = False
    while time.perf_counter() < min(ends_at, began + 2 * KILL_EVERY_S):
        time.sleep(TURN_S)
        faults.happen()
        collect()
        if not has_killed and time.perf_counter() >= began + KILL_EVERY_S:
            faults.kill_child(server)
            has_killed = True


def _collect(sink: WebhookSink, told: dict[str, float]) -> None:
    for arrived in sink.arrivals().values():
        for message_id, at in arrived.items():
            told.setdefault(message_id, at)


def _wait_until_told(sink: WebhookSink, told: dict[str, float], count: int) -> None:
    """Wait for the last results, as long as some may come."""
    sink.come_back()
    ends_at = time.perf_counter() + TOLD_TIMEOUT_S
    while len(told) < count and time.perf_counter() < ends_at:
        time.sleep(TURN_S)
        _collect(sink, told)


def _check(callers: Callers, told: dict[str, float], counts: dict[str, int], data: Path) -> None:
    """Report what happened. Raises BenchmarkFailed if a message was lost or told late, or for a stack trace."""
    report_progress("  " + ", ".join(f"{name} {count} times" for name, count in counts.items()))
    by_request = Counter(each[:REQUEST_ID_LENGTH] for each in told)
    untold = [each for each in callers.answered if by_request[each] < RECEIVERS]
    waits = sorted(
        at - callers.answered[each[:REQUEST_ID_LENGTH]]
        for each, at in told.items()
        if each[:REQUEST_ID_LENGTH] in callers.answered
    )
    late = sum(each > LATE_S for each in waits)
    traces = sum(log.read_text(errors="replace").count(TRACE) for log in data.glob("*.log"))
    report_progress(
        f"  {len(callers.answered):,} requests, {callers.repeated:,} tries of them repeated,"
        f" {len(told):,} messages told; waits {waits[len(waits) // 2]:.1f} s median,"
        f" {waits[len(waits) * 99 // 100]:.1f} p99, {waits[-1]:.1f} longest"
    )
    wrong = {
        "requests with messages never told": len(untold),
        f"messages told later than {LATE_S:.0f} s": late,
        "requests refused": len(callers.wrong),
        "stack traces in logs": traces,
    }
    if any(wrong.values()):
        raise BenchmarkFailed(f"{wrong} {untold[:3]} {callers.wrong[:3]}")

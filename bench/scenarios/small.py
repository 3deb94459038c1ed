"""How long does a single send wait while a million messages of campaigns are delivered and a file is uploaded?"""

import contextlib
import threading
from collections.abc import Iterator

from bench import bodies, load
from bench.browser import Browser, create_user, receivers_csv
from bench.environment import Environment
from bench.figures import Figure, count_processes, p99_ms
from bench.fill import fill
from bench.server import BenchmarkFailed, Server
from bench.smsc import Smsc, running_smsc

ROUNDS = 2
WAITING = 1_000_000
CONNECTIONS = 8
PAUSE_S = 0.04
SECONDS = 15.0
SINGLES = 5000
ANSWERED_TARGET_MS = 25.0
SENT_TARGET_MS = 1000.0


def measure(env: Environment) -> list[Figure]:
    """Send 200 single messages a second, by each number of processes."""
    figures = []
    with running_smsc() as smsc:
        for processes in env.processes:
            name = count_processes(processes)
            answered_s, sent_s = _measure_waits(env, smsc, processes)
            figures += [
                Figure(f"answered, p99, {name}", p99_ms(answered_s), " ms", "less", ANSWERED_TARGET_MS),
                Figure(f"at the SMSC, p99, {name}", p99_ms(sent_s), " ms", "less", SENT_TARGET_MS),
            ]
    return figures


def _measure_waits(env: Environment, smsc: Smsc, processes: int) -> tuple[list[float], list[float]]:
    """Return how long answers took, and how long after its request each message was at the SMSC."""
    waiting = env.scaled(WAITING)
    data = env.copy_store(env.stored("waiting", lambda data: fill(env, data, waiting)))
    env.configure(data, smsc.settings())
    password = create_user(env, data)
    smsc.reset(watched=bodies.SINGLES_BEGIN)
    with env.run(data, "small", processes=processes) as server, _uploading(server, password):
        smsc.wait_for("binds", 1)
        seen = load.run(
            env.plan(server, bodies.singles(SINGLES), connections=CONNECTIONS, pause_s=PAUSE_S, seconds=SECONDS)
        )
        figures = smsc.figures()
        if figures.submits >= waiting:
            raise BenchmarkFailed("the campaigns were delivered before the last single send")
        arrived = smsc.wait_for("watched", seen.all_requests).first_seen
    smsc.reset(watched="")
    env.remove(data)
    receivers = bodies.single_receivers(SINGLES)
    return seen.latencies_s, [arrived[receivers[number]] - at for number, at in enumerate(seen.sent_at)]


@contextlib.contextmanager
def _uploading(server: Server, password: str) -> Iterator[None]:
    """Upload a file of receivers through the console while the block runs; it has to be accepted."""
    errors: list[BaseException] = []
    with Browser(server, password) as browser:
        address = browser.start_upload()
        file = receivers_csv()

        def upload() -> None:
            try:
                browser.submit(f"{address}/file", {"once": "1"}, file)
            except BenchmarkFailed as error:
                errors.append(error)

        thread = threading.Thread(target=upload)
        thread.start()
        try:
            yield
        finally:
            thread.join()
    if errors:
        raise errors[0]

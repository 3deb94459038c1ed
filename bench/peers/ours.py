"""The service as one of the peers, on either engine, with registered sender numbers and limits."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from bench import bodies
from bench.load import LoadPlan
from bench.peers.callback_sink import CallbackSink
from bench.peers.peer import DIFFERENT_MESSAGES, Running
from bench.server import SETTINGS_FILE, BenchEnvironment, Server
from bench.sink import Sink
from bench.webhook_sink import WebhookSink
from bench.webhooks import add_webhooks
from tests.fixtures.processes import children_of


class Ours:
    """Pabal on one store, in one process or several."""

    def __init__(self, name: str, env: BenchEnvironment, posts: WebhookSink, processes: int) -> None:
        self.name = f"Pabal, {name}, {processes} process{'es' if processes > 1 else ''}"
        self._env = env
        self._posts = posts
        self._options = ("--processes", str(processes))

    @contextlib.contextmanager
    def start(
        self, folder: Path, smsc: Sink, callbacks: CallbackSink | None, *, has_receipts: bool
    ) -> Iterator[Running]:
        """Start it on a copy of the seed store, or on what an earlier start left; it always asks for receipts."""
        if not (folder / SETTINGS_FILE).exists():
            self._env.copy_seed(folder)
            if callbacks:
                add_webhooks(folder, self._posts.live)
            smsc.write_settings(folder)
        plan = LoadPlan(port=0, path=bodies.SEND_SMS, key=self._env.key, bodies=bodies.singles(DIFFERENT_MESSAGES))
        with self._env.run_pabal(folder, "peers", "serve", *self._options) as server:
            plan.port = server.port
            children = [Server(pid, server.port, 0.0) for pid in children_of(server.pid)]
            yield Running(plan, [server, *children], self._env.store_cpu_s)

    def count_callbacks(self, callbacks: CallbackSink) -> list[tuple[float, int]]:
        """Return when results arrived: one post has many."""
        arrived = self._posts.arrivals()
        return [(at / 1000, 1) for found in arrived.values() for at in found.values()]

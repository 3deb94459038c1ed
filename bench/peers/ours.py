"""The service as one of the peers: on SQLite in one process, with registered sender numbers and limits."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from bench import bodies
from bench.load import LoadPlan
from bench.peers.callback_sink import CallbackSink
from bench.peers.peer import DIFFERENT_MESSAGES, Running
from bench.server import BenchEnvironment
from bench.sink import Sink
from bench.webhook_sink import WebhookSink
from bench.webhooks import add_webhooks


class Ours:
    """Pabal on SQLite."""

    def __init__(self, env: BenchEnvironment, posts: WebhookSink) -> None:
        self.name = "Pabal, SQLite"
        self._env = env
        self._posts = posts

    @contextlib.contextmanager
    def start(
        self, folder: Path, smsc: Sink, callbacks: CallbackSink | None, *, has_receipts: bool
    ) -> Iterator[Running]:
        """Start it on a copy of the seed store, or on what an earlier start left; it always asks for receipts."""
        if not (folder / "pabal.db").exists():
            self._env.copy_seed(folder)
            if callbacks:
                add_webhooks(folder, self._posts.live)
            smsc.write_settings(folder)
        plan = LoadPlan(port=0, path=bodies.SEND_SMS, key=self._env.key, bodies=bodies.singles(DIFFERENT_MESSAGES))
        with self._env.run_pabal(folder, "peers") as server:
            plan.port = server.port
            yield Running(plan, [server])

    def count_callbacks(self, callbacks: CallbackSink) -> list[tuple[float, int]]:
        """Return when results arrived: one post has many."""
        arrived = self._posts.arrivals()
        return [(at / 1000, 1) for found in arrived.values() for at in found.values()]

"""Processes that share one store and can be killed, paused and restarted."""

import contextlib
import signal
from pathlib import Path
from random import Random
from typing import Any, Self

from tests.fixtures.live import STOP_TIMEOUT_S, LiveService, serving, working
from tests.fixtures.processes import free_ports

SETTINGS = {"simulator_messages": 10_000_000}
"""The simulated phones keep every message until the final check."""


class ClusterProcess:
    """One process of the cluster; it keeps its port when it restarts."""

    def __init__(self, data: Path, settings: dict[str, Any], *, is_web: bool, number: int) -> None:
        self._name = data.parent / f"{'web' if is_web else 'work'}-{number}"
        self._port = free_ports() if is_web else None
        self._running = contextlib.ExitStack()
        self._settings = SETTINGS | settings
        self.is_web = is_web
        self.start()

    def start(self) -> None:
        if self._port:
            words = ("--no-deliver", "--port", str(self._port))
            self.live: LiveService = self._running.enter_context(serving(self._name, *words, **self._settings))
        else:
            self.live = self._running.enter_context(working(self._name, **self._settings))

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.live.process.kill()
        self._running.close()

    def pause(self) -> None:
        self.live.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.live.process.send_signal(signal.SIGCONT)

    @property
    def log(self) -> Path:
        return self.live.log


class ProcessCluster:
    """Web processes and workers on one store."""

    def __init__(self, data: Path, webs: int, workers: int, **settings: Any) -> None:
        self.processes = [
            ClusterProcess(data, settings, is_web=is_web, number=number)
            for is_web, count in ((True, webs), (False, workers))
            for number in range(count)
        ]

    @property
    def base_urls(self) -> list[str]:
        return [each.live.base_url for each in self.processes if each.is_web]

    def pick_any(self, rng: Random) -> ClusterProcess:
        return rng.choice(self.processes)

    def pick_worker(self, rng: Random) -> ClusterProcess:
        return rng.choice([each for each in self.processes if not each.is_web])

    def stop(self) -> list[int]:
        """Ask all processes to stop; return their exit statuses."""
        for each in self.processes:
            each.live.process.send_signal(signal.SIGTERM)
        return [each.live.process.wait(STOP_TIMEOUT_S) for each in self.processes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.processes:
            each.kill()

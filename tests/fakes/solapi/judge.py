"""Solapi's own client for Node as a process, redirected to the fake server."""

import asyncio
import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.fakes.solapi.server import FakeSolapi, serving

HERE = Path(__file__).parent
TIMEOUT_S = 60.0


class ClientFailed(Exception):
    """The client threw an error; `facts` has its name, code and message, and the messages that were refused."""

    def __init__(self, facts: dict[str, Any]) -> None:
        super().__init__(f"{facts.get('name')} {facts.get('code')} {facts.get('message')}")
        self.facts = facts


class Judge:
    """Calls methods of the client's SolapiMessageService."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def call(self, method: str, *arguments: Any) -> Any:
        """Return what a method resolves to. Raises ClientFailed."""
        assert self._process.stdin
        assert self._process.stdout
        line = json.dumps({"method": method, "arguments": arguments})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise ClientFailed(answer["error"])
        return answer["value"]


@contextlib.contextmanager
def judging(relay: FakeSolapi, secret: str | None = None) -> Iterator[Judge]:
    """Run the client against a server until the end of the block."""
    packages = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("NODE_PATH"))))
    environment = {
        **os.environ,
        "NODE_PATH": packages,
        "SOLAPI_ADDRESS": relay.address,
        "SOLAPI_KEY": relay.api_key,
        "SOLAPI_SECRET": secret or relay.api_secret,
    }
    command = [str(NODE), "--import", str(HERE / "redirect.mjs"), str(HERE / "judge.mjs")]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Judge(process)  # leaving the block closes its input, which ends it


@contextlib.contextmanager
def serving_in_a_thread(**options: Any) -> Iterator[FakeSolapi]:
    """Run the fake server in a thread, so that a test can wait for another process."""
    started: list[FakeSolapi] = []
    is_ready = threading.Event()
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def main() -> None:
        async with serving(**options) as relay:
            started.append(relay)
            is_ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
    thread.start()
    try:
        assert is_ready.wait(TIMEOUT_S)
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(TIMEOUT_S)
        loop.close()

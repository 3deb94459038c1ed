"""Solapi's own client for Node as a process, redirected to another server."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from tests.fakes.smsc.peer import NODE, PACKAGES

HERE = Path(__file__).parent


class Relay(Protocol):
    """A server that the client is redirected to."""

    @property
    def address(self) -> str: ...

    @property
    def api_key(self) -> str: ...

    @property
    def api_secret(self) -> str: ...


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
def judging(relay: Relay, secret: str | None = None, client: str = "solapi") -> Iterator[Judge]:
    """Run a client of this name on npm against a server until the end of the block."""
    packages = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("NODE_PATH"))))
    environment = {
        **os.environ,
        "NODE_PATH": packages,
        "SOLAPI_ADDRESS": relay.address,
        "SOLAPI_CLIENT": client,
        "SOLAPI_KEY": relay.api_key,
        "SOLAPI_SECRET": secret or relay.api_secret,
    }
    command = [str(NODE), "--import", str(HERE / "redirect.mjs"), str(HERE / "judge.mjs")]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Judge(process)  # leaving the block closes its input, which ends it

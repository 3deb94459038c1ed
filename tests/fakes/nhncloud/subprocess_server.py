"""The fake server in its own process: it reads commands as lines of JSON and answers each with statistics.

It first prints its port, then reads commands from standard input, and ends when its input ends.
"""

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import uvloop

from tests.fakes.nhncloud import channel
from tests.fakes.nhncloud.server import serving
from tests.fakes.relay_server import GC_THRESHOLD

RELAY = "relay"
ROUTES = {
    "sms": ("sms", "lms", "mms"),
    "talk": ("alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage", "brandMessage"),
}
POLL_INTERVAL_S = 0.05
TIMEOUT_S = 60.0


class Command(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What to do before the statistics are returned; nothing by default."""

    faults: list[dict[str, Any]] = []
    """Faults to inject, as arguments of inject_fault."""
    behavior: dict[str, Any] = {}
    webhook: tuple[str, str] | None = None
    """Address and signature of the webhooks."""
    includes_keys: bool = False


class ServerStats(msgspec.Struct, kw_only=True):
    messages: int
    duplicates: dict[str, int]
    """Number of messages of each recipientGroupingKey that was accepted more than once."""
    calls: dict[str, int]
    """Number of calls by method and path."""
    recipients: dict[str, int]
    """Number of recipients of these calls."""
    fault_counts: list[int]
    """How many times each fault was applied."""
    posts: int
    """Number of accepted webhooks."""
    cpu_s: float
    keys: list[str] | None = None
    """Every accepted recipientGroupingKey, if requested."""


def format_settings(products: Sequence[str], carrier: Mapping[str, Any]) -> str:
    """Return the tables of a settings file that routes these products to the relay."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in carrier.items()]  # TOML has the same syntax
    routes = [f'{product} = ["{RELAY}"]' for product in products]
    return "\n".join(["[routes]", *routes, f"[carriers.{RELAY}]", *lines, ""])


class ServerProcess:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.port: int = msgspec.json.decode(self._read_line(), type=int)

    @property
    def pid(self) -> int:
        return self._process.pid

    def settings(self, **carrier: Any) -> str:
        """Return the tables of a settings file that routes everything to this server."""
        address = f"http://127.0.0.1:{self.port}"
        settings = {
            "kind": "nhncloud",
            "sms_app_key": "smsAppKey0123456",
            "sms_secret_key": "smsSecret",
            "friend_talk": "compatible",  # as a brand message it could not be sent at night
            "talk_app_key": "talkAppKey012345",
            "talk_secret_key": "talkSecret",
            "sms_address": address,
            "talk_address": address,
            **carrier,
        }
        return format_settings([product for some in ROUTES.values() for product in some], settings)

    def stats(self, **command: Any) -> ServerStats:
        """Execute a command, and return the statistics of the server."""
        assert self._process.stdin
        self._process.stdin.write(msgspec.json.encode(Command(**command)) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._read_line(), type=ServerStats)

    def inject_fault(self, kind: str, on: str = "", times: float = 1, **more: Any) -> None:
        """Inject a fault, as FakeNhnCloud.inject_fault does."""
        self.stats(faults=[{"kind": kind, "on": on, "times": times, **more}])

    def wait_until_accepted(self, count: int) -> ServerStats:
        """Return the statistics once so many messages are accepted."""
        give_up_at = time.perf_counter() + TIMEOUT_S
        while (seen := self.stats()).messages < count:
            assert time.perf_counter() < give_up_at, f"{seen.messages} messages are accepted, not {count}"
            time.sleep(POLL_INTERVAL_S)
        return seen

    def _read_line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        return line


@contextlib.contextmanager
def running(**behavior: Any) -> Iterator[ServerProcess]:
    """Run a server that has the channel of channel.py until the end of the block."""
    with running_server("nhncloud", behavior) as process:
        yield ServerProcess(process)


@contextlib.contextmanager
def running_server(name: str, behavior: Mapping[str, Any]) -> "Iterator[subprocess.Popen[bytes]]":
    """Run the server of a relay as a process until the end of the block."""
    command = [sys.executable, "-m", f"tests.fakes.{name}.subprocess_server", json.dumps(behavior)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process  # leaving the block closes its input, which ends it


def _execute(relay: Any, command: Command, keys: Sequence[str]) -> ServerStats:
    for each in command.faults:
        relay.inject_fault(**each)
    for name, value in command.behavior.items():
        assert hasattr(relay.behavior, name), f"unknown behavior {name!r}"
        setattr(relay.behavior, name, value)
    if command.webhook:
        relay.webhooks.set(*command.webhook)
    calls: Counter[str] = Counter()
    recipients: Counter[str] = Counter()
    for call in relay.calls:
        calls[f"{call.method} {call.path}"] += 1
        recipients[f"{call.method} {call.path}"] += call.recipient_count
    return ServerStats(
        messages=len(keys),
        duplicates=relay.duplicates(),
        calls=calls,
        recipients=recipients,
        fault_counts=[each.done for each in relay.faults.faults],
        posts=sum(each.is_accepted for each in relay.webhooks.posts),
        cpu_s=time.process_time(),
        keys=list(keys) if command.includes_keys else None,
    )


async def _run(behavior: Mapping[str, Any]) -> None:
    async with serving(**behavior) as relay:
        channel.add_to_relay(relay)
        await execute_commands(relay, lambda: [each.recipient_grouping_key or "" for each in relay.messages])


async def execute_commands(relay: Any, keys: Callable[[], Sequence[str]]) -> None:
    """Tell the port of a server, then execute the commands of its input until that ends."""
    _write_line(msgspec.json.encode(relay.listener.port))
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for line in commands:
        command = msgspec.json.decode(line, type=Command)
        _write_line(msgspec.json.encode(_execute(relay, command, keys())))


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def run_server(run: Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]) -> None:
    """Run a server with the behavior that its only argument names, until its input ends."""
    gc.set_threshold(GC_THRESHOLD, 20, 100)
    uvloop.run(run(json.loads(sys.argv[1])))


if __name__ == "__main__":
    run_server(_run)

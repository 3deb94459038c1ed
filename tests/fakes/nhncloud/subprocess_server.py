"""The server in a process of its own, which is told what to do by lines of JSON and answers each with its figures.

It tells its port on standard output first, then reads orders from standard input; it ends with its input.
"""

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import uvloop

from tests.fakes.nhncloud import channel
from tests.fakes.nhncloud.server import FakeNhnCloudServer, serving

RELAY = "relay"
ROUTES = {
    "sms": ("sms", "lms", "mms"),
    "talk": ("alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage"),
}
GC_THRESHOLD = 200_000
POLL_INTERVAL_S = 0.05
TIMEOUT_S = 60.0


class Command(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What to do before the figures are told; nothing: they are only told."""

    faults: list[dict[str, Any]] = []
    """What is to go wrong from now on, as Relay.meddle takes it."""
    clears_faults: bool = False
    behavior: dict[str, Any] = {}
    webhook: tuple[str, str] | None = None
    """Address and signature of its webhooks."""
    is_reset: bool = False
    """Whether calls and messages are counted anew once they are told."""
    includes_keys: bool = False


class ServerStats(msgspec.Struct, kw_only=True):
    """What the server has seen."""

    messages: int
    duplicates: dict[str, int]
    """How many times each recipientGroupingKey was taken that was taken more than once."""
    calls: dict[str, int]
    """How many calls of each kind there were, by method and path."""
    recipients: dict[str, int]
    """How many recipients they named."""
    fault_counts: list[int]
    """How many times each thing went wrong."""
    posts: int
    """How many webhooks were taken."""
    cpu_s: float
    keys: list[str] | None = None
    """Every recipientGroupingKey that was taken, where this was asked for."""

    def send_calls(self) -> int:
        """Return how many calls handed messages over."""
        return sum(count for kind, count in self.calls.items() if self.recipients[kind])


class ServerProcess:
    """A running server, as seen by who started it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.port: int = msgspec.json.decode(self._read_line(), type=int)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def settings(self, **carrier: Any) -> str:
        """Return the tables of a settings file by which everything goes to this server."""
        address = f"http://127.0.0.1:{self.port}"
        told = {
            "kind": "nhncloud",
            "sms_app_key": "smsAppKey0123456",
            "sms_secret_key": "smsSecret",
            "talk_app_key": "talkAppKey012345",
            "talk_secret_key": "talkSecret",
            "sms_address": address,
            "talk_address": address,
            **carrier,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in told.items()]  # written alike in TOML
        routes = [f'{product} = ["{RELAY}"]' for some in ROUTES.values() for product in some]
        return "\n".join(["[routes]", *routes, f"[carriers.{RELAY}]", *lines, ""])

    def stats(self, **order: Any) -> ServerStats:
        """Have an order carried out, if one is given, and return what the server has seen."""
        assert self._process.stdin
        self._process.stdin.write(msgspec.json.encode(Command(**order)) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._read_line(), type=ServerStats)

    def inject_fault(self, kind: str, on: str = "", times: float = 1, **more: Any) -> None:
        """Let something go wrong from now on, as Relay.meddle does."""
        self.stats(faults=[{"kind": kind, "on": on, "times": times, **more}])

    def wait_until_accepted(self, count: int) -> ServerStats:
        """Return what it has seen once it has taken so many messages."""
        give_up_at = time.perf_counter() + TIMEOUT_S
        while (seen := self.stats()).messages < count:
            assert time.perf_counter() < give_up_at, f"it has taken {seen.messages} messages only, not {count}"
            time.sleep(POLL_INTERVAL_S)
        return seen

    def _read_line(self) -> bytes:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        return line


@contextlib.contextmanager
def running(**manners: Any) -> Iterator[ServerProcess]:
    """Run a server that has the channel of channel.py until the end of the block."""
    command = [sys.executable, "-m", "tests.fakes.nhncloud.subprocess_server", json.dumps(manners)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield ServerProcess(process)  # its input is closed in the end, and with that it goes


def _execute(relay: FakeNhnCloudServer, command: Command) -> ServerStats:
    for each in command.faults:
        relay.inject_fault(**each)
    if command.clears_faults:
        for meddle in relay.faults.faults:
            meddle.times = meddle.done
    for name, value in command.behavior.items():
        assert hasattr(relay.behavior, name), f"there is no {name!r}"
        setattr(relay.behavior, name, value)
    if command.webhook:
        relay.webhooks.set(*command.webhook)
    seen = _collect_stats(relay, includes_keys=command.includes_keys)
    if command.is_reset:
        relay.calls.clear()
        relay.messages.clear()
        relay.webhooks.posts.clear()
    return seen


def _collect_stats(relay: FakeNhnCloudServer, *, includes_keys: bool) -> ServerStats:
    calls: Counter[str] = Counter()
    recipients: Counter[str] = Counter()
    for call in relay.calls:
        calls[f"{call.method} {call.path}"] += 1
        recipients[f"{call.method} {call.path}"] += call.recipient_count
    return ServerStats(
        messages=len(relay.messages),
        duplicates=relay.duplicates(),
        calls=calls,
        recipients=recipients,
        fault_counts=[each.done for each in relay.faults.faults],
        posts=sum(each.is_accepted for each in relay.webhooks.posts),
        cpu_s=time.process_time(),
        keys=[each.recipient_grouping_key or "" for each in relay.messages] if includes_keys else None,
    )


async def _run(manners: Mapping[str, Any]) -> None:
    async with serving(**manners) as relay:
        channel.add_to_relay(relay)
        _write_line(msgspec.json.encode(relay.listener.port))
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        async for line in orders:
            _write_line(msgspec.json.encode(_execute(relay, msgspec.json.decode(line, type=Command))))


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Run until the input ends."""
    gc.set_threshold(GC_THRESHOLD, 20, 100)  # it keeps all it is sent: little can be let go
    uvloop.run(_run(json.loads(sys.argv[1])))


if __name__ == "__main__":
    main()

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
MANY_OBJECTS = 200_000
LOOK_EVERY_S = 0.05
WITHIN_S = 60.0


class Order(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What to do before the figures are told; nothing: they are only told."""

    meddles: list[dict[str, Any]] = []
    """What is to go wrong from now on, as Relay.meddle takes it."""
    is_meddling_over: bool = False
    manners: dict[str, Any] = {}
    webhook: tuple[str, str] | None = None
    """Address and signature of its webhooks."""
    is_reset: bool = False
    """Whether calls and messages are counted anew once they are told."""
    tells_names: bool = False


class Figures(msgspec.Struct, kw_only=True):
    """What the server has seen."""

    messages: int
    doubles: dict[str, int]
    """How many times each recipientGroupingKey was taken that was taken more than once."""
    calls: dict[str, int]
    """How many calls of each kind there were, by method and path."""
    recipients: dict[str, int]
    """How many recipients they named."""
    meddled: list[int]
    """How many times each thing went wrong."""
    posts: int
    """How many webhooks were taken."""
    cpu_s: float
    names: list[str] | None = None
    """Every recipientGroupingKey that was taken, where this was asked for."""

    def sends(self) -> int:
        """Return how many calls handed messages over."""
        return sum(count for kind, count in self.calls.items() if self.recipients[kind])


class ServerProcess:
    """A running server, as seen by who started it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.port: int = msgspec.json.decode(self._line(), type=int)

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

    def figures(self, **order: Any) -> Figures:
        """Have an order carried out, if one is given, and return what the server has seen."""
        assert self._process.stdin
        self._process.stdin.write(msgspec.json.encode(Order(**order)) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=Figures)

    def inject_fault(self, kind: str, on: str = "", times: float = 1, **more: Any) -> None:
        """Let something go wrong from now on, as Relay.meddle does."""
        self.figures(meddles=[{"kind": kind, "on": on, "times": times, **more}])

    def wait_until_accepted(self, messages: int) -> Figures:
        """Return what it has seen once it has taken so many messages."""
        give_up_at = time.perf_counter() + WITHIN_S
        while (seen := self.figures()).messages < messages:
            assert time.perf_counter() < give_up_at, f"it has taken {seen.messages} messages only, not {messages}"
            time.sleep(LOOK_EVERY_S)
        return seen

    def _line(self) -> bytes:
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


def _obey(relay: FakeNhnCloudServer, order: Order) -> Figures:
    for each in order.meddles:
        relay.inject_fault(**each)
    if order.is_meddling_over:
        for meddle in relay.faults.faults:
            meddle.times = meddle.done
    for name, value in order.manners.items():
        assert hasattr(relay.behavior, name), f"there is no {name!r}"
        setattr(relay.behavior, name, value)
    if order.webhook:
        relay.webhooks.set(*order.webhook)
    seen = _seen(relay, tells_names=order.tells_names)
    if order.is_reset:
        relay.calls.clear()
        relay.messages.clear()
        relay.webhooks.posts.clear()
    return seen


def _seen(relay: FakeNhnCloudServer, *, tells_names: bool) -> Figures:
    calls: Counter[str] = Counter()
    recipients: Counter[str] = Counter()
    for call in relay.calls:
        calls[f"{call.method} {call.path}"] += 1
        recipients[f"{call.method} {call.path}"] += call.size
    return Figures(
        messages=len(relay.messages),
        doubles=relay.duplicates(),
        calls=calls,
        recipients=recipients,
        meddled=[each.done for each in relay.faults.faults],
        posts=sum(each.is_taken for each in relay.webhooks.posts),
        cpu_s=time.process_time(),
        names=[each.recipient_grouping_key or "" for each in relay.messages] if tells_names else None,
    )


async def _run(manners: Mapping[str, Any]) -> None:
    async with serving(**manners) as relay:
        channel.add_to(relay)
        _say(msgspec.json.encode(relay.listener.port))
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        async for line in orders:
            _say(msgspec.json.encode(_obey(relay, msgspec.json.decode(line, type=Order))))


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Run until the input ends."""
    gc.set_threshold(MANY_OBJECTS, 20, 100)  # it keeps all it is sent: little can be let go
    uvloop.run(_run(json.loads(sys.argv[1])))


if __name__ == "__main__":
    main()

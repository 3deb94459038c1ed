"""The fake Solapi in its own process, with the commands and statistics of the fake NHN Cloud's.

It first prints its port, then reads commands from standard input, and ends when its input ends.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.nhncloud.channel import CHANNEL, SENDER, SENDER_KEY, TEMPLATE, TEMPLATE_CODE
from tests.fakes.nhncloud.subprocess_server import (
    RELAY,
    Command,
    ServerProcess,
    ServerStats,
    execute_commands,
    run_server,
)
from tests.fakes.solapi.server import FakeSolapi, serving

PRODUCTS = ("sms", "lms", "mms", "alimTalk")


class SolapiProcess(ServerProcess):
    """A running server process."""

    def settings(self, **carrier: Any) -> str:
        """Return the tables of a settings file that routes everything to this server."""
        if "webhook_signature" in carrier:
            carrier["webhook_secret"] = carrier.pop("webhook_signature")
        settings = {
            "kind": "solapi",
            "api_key": "NCSAPIKEY0123456",
            "api_secret": "solapiSecret0123456789",
            "address": f"http://127.0.0.1:{self.port}",
            **carrier,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]  # TOML has the same syntax
        routes = [f'{product} = ["{RELAY}"]' for product in PRODUCTS]
        return "\n".join(["[routes]", *routes, f"[carriers.{RELAY}]", *lines, ""])


@contextlib.contextmanager
def running(**behavior: Any) -> Iterator[SolapiProcess]:
    """Run a server that has the channel of the fake NHN Cloud, with the same key, until the end of the block."""
    command = [sys.executable, "-m", "tests.fakes.solapi.subprocess_server", json.dumps(behavior)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield SolapiProcess(process)  # leaving the block closes its input, which ends it


def _execute(relay: FakeSolapi, command: Command) -> ServerStats:
    for each in command.faults:
        relay.inject_fault(**each)
    if command.clears_faults:
        for fault in relay.faults.faults:
            fault.times = fault.done
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
    accepted = [each for each in relay.messages if each.is_registered]
    return ServerStats(
        messages=len(accepted),
        duplicates=relay.duplicates(),
        calls=calls,
        recipients=recipients,
        fault_counts=[each.done for each in relay.faults.faults],
        posts=sum(each.is_accepted for each in relay.webhooks.posts),
        cpu_s=time.process_time(),
        keys=[each.custom_fields["pabal"] for each in accepted] if command.includes_keys else None,
    )


async def _run(behavior: Mapping[str, Any]) -> None:
    async with serving(**behavior) as relay:
        relay.numbers.add(SENDER)
        relay.add_channel(CHANNEL, SENDER_KEY)
        relay.add_template(SENDER_KEY, f"[{TEMPLATE_CODE}] 배송", TEMPLATE)
        await execute_commands(relay.listener.port, lambda command: _execute(relay, command))


if __name__ == "__main__":
    run_server(_run)

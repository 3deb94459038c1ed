"""The fake Solapi in its own process, with the commands and statistics of the fake NHN Cloud's.

It first prints its port, then reads commands from standard input, and ends when its input ends.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.nhncloud.channel import CHANNEL, SENDER, SENDER_KEY, TEMPLATE, TEMPLATE_CODE
from tests.fakes.nhncloud.subprocess_server import (
    ServerProcess,
    execute_commands,
    format_settings,
    run_server,
    running_server,
)
from tests.fakes.solapi.server import serving

PRODUCTS = ("sms", "lms", "mms", "alimTalk")


class SolapiProcess(ServerProcess):
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
        return format_settings(PRODUCTS, settings)


@contextlib.contextmanager
def running(**behavior: Any) -> Iterator[SolapiProcess]:
    """Run a server that has the channel of the fake NHN Cloud, with the same key, until the end of the block."""
    with running_server("solapi", behavior) as process:
        yield SolapiProcess(process)


async def _run(behavior: Mapping[str, Any]) -> None:
    async with serving(**behavior) as relay:
        relay.numbers.add(SENDER)
        relay.add_channel(CHANNEL, SENDER_KEY)
        relay.add_template(SENDER_KEY, f"[{TEMPLATE_CODE}] 배송", TEMPLATE)
        await execute_commands(
            relay, lambda: [each.custom_fields["pabal"] for each in relay.messages if each.is_registered]
        )


if __name__ == "__main__":
    run_server(_run)

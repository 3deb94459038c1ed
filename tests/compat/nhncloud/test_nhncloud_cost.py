"""What a call of NHN Cloud's endpoints costs, beside the same send by our own endpoint."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.engines import sqlite_only
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, nhn_caller
from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time, settings_for
from tests.fixtures.web import call_ok, sms_body
from tests.hostile.cost import Call, measure

RECIPIENTS = 1000
REPEATS, CONFIRMATIONS = 3, 5
MAX_FACTOR = 4.0
"""Each recipient has a row in the answer, which is read here too, and a name by which its message is found."""
NUMBERS = [f"010{number:08}" for number in range(20_000_000, 20_000_000 + RECIPIENTS)]
HOSTILE: dict[str, dict[str, Any]] = {
    "variables": {"body": "#{a}" * 22},
    "keys": {"body": "##a" * 20, "parameter": {"a": 1}},
    "long names": {"senderGroupingKey": "k" * 100, "name": "이" * 100},
    "bad numbers": {"number": "1"},
    "abroad": {"number": "01012345678", "country": "1"},
}
QUICK = ("variables",)
"""The shapes that are measured with every change."""


async def least_factor(work: Call, yardstick: Call) -> float:
    """Return how many times the yardstick a call costs, at least."""
    found = []
    for _ in range(CONFIRMATIONS):
        own = await measure(yardstick, REPEATS)
        found.append((await measure(work, REPEATS)).seconds / own.seconds)
    return min(found)


@sqlite_only
@pytest.mark.parametrize(
    "shape", [None, *(pytest.param(each, marks=() if each in QUICK else pytest.mark.torture) for each in HOSTILE)]
)
def test_thousand_recipients_cost_a_few_times_our_own_endpoint_at_most(tmp_path: Path, shape: str | None) -> None:
    given = HOSTILE[shape] if shape else {}
    recipient = {"templateParameter": given.get("parameter"), "countryCode": given.get("country")}
    recipients = [
        {**recipient, "recipientNo": given.get("number", each), "recipientGroupingKey": given.get("name", each)}
        for each in NUMBERS
    ]
    body = json.dumps(
        {
            "body": given.get("body", "안녕하세요"),
            "sendNo": SENDER,
            "senderGroupingKey": given.get("senderGroupingKey", "g"),
            "recipientList": recipients,
        }
    ).encode()
    ours = json.dumps(sms_body(*NUMBERS, sender=SENDER)).encode()

    async def scenario(env: Environment) -> None:
        caller, call = await nhn_caller(env), await env.caller()
        caller.compares = False
        factor = await least_factor(
            lambda: caller("POST", "sender/sms", body), lambda: call_ok(call, "message/sendSMS", ours)
        )
        print(f"{shape}: {factor:.2f}")
        assert factor <= MAX_FACTOR

    async def run() -> None:
        env = await build_environment(tmp_path, delivers=False, settings=settings_for(tmp_path, **SETTINGS))
        try:
            await scenario(env)
        finally:
            await env.service.stop()

    run_in_virtual_time(run())

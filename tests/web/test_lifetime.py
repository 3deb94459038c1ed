"""`expireMinutes` on every send: its limits, and what the record of an expired message says."""

from typing import Any

import pytest

from tests.fixtures.delivery import disconnected_carrier
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.service import DEFAULT_CARRIER
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    RunScenario,
    call_ok,
    describe_outcome,
    get_message,
    list_messages,
    sms_body,
    summarize_refusal,
)

SENDS = [operation for operation in FULL_BODIES if operation.startswith("message/send")]


@pytest.mark.parametrize("operation", SENDS)
async def test_lifetime_outside_its_limits_is_refused(call: Caller, alimtalk_key: str, operation: str) -> None:
    body = {name: alimtalk_key if each == "KEY" else each for name, each in FULL_BODIES[operation].items()}
    wrong: list[Any] = [0, -1, 4321, 10**30, "5", 1.5, True, [5]]

    for minutes in wrong:
        refused = await call(operation, {**body, "expireMinutes": minutes})
        assert summarize_refusal(refused).errors == {"expireMinutes": "INVALID_PARAMETER"}, minutes
    assert await list_messages(call) == []
    for right in (1, 4320, None):
        await call_ok(call, operation, {**body, "expireMinutes": right})


def test_record_of_an_expired_message_says_so_in_both_languages(run_scenario: RunScenario) -> None:
    carrier = disconnected_carrier()

    async def scenario(env: Environment) -> None:
        call, english = await env.caller(), await env.caller(language="en")
        await call_ok(call, "message/sendSMS", sms_body(expireMinutes=3))
        await env.wait(600)
        carrier.is_connected = True
        await env.wait(60)

        assert carrier.submitted == []
        message = await get_message(call)
        assert describe_outcome(message) == "fail 9004"
        assert message["resultCode"]["label"] == "발송 기한 지남"
        assert (await get_message(english))["resultCode"]["label"] == "Expired before it could be sent"
        assert message["completedDate"].startswith("2026-11-15 12:03")

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})

"""The operators' status page: carriers and the queue."""

import re

from pabal.store import carrier_states
from pabal.store.carrier_states import CarrierState
from tests.fixtures.console_operate import HOSTILE, operator_and_account
from tests.fixtures.service import FakeCarrier
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import RunScenario, call_ok, sms_body


def test_status_page_shows_carrier_state_last_error_and_queue(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        operator, _ = await operator_and_account(env)
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body("010-1111-2222", sendDate="2026-11-16 12:00"))
        for state in (
            CarrierState("simulator", "down", NOON, f"refused {HOSTILE}"),
            CarrierState("simulator", "up", NOON + 1000, ""),
            CarrierState("telco", "aside", NOON, "it takes nothing"),
        ):
            await env.store.write(carrier_states.save, state)

        page = await operator.get("/console/operate")
        part = await operator.get("/console/operate/state")

        for shown in (page, part):
            assert HOSTILE not in shown.text
            assert "refused &lt;script&gt;" in shown.text
            assert re.search(r'<span class="state up">정상</span>', shown.text)
            assert re.search(
                r'<span class="state gone">설정에 없음</span> <span class="reason">it takes', shown.text
            )
            assert '<td data-name="메시지 수" class="amount">1</td>' in shown.text
        assert "<html" not in part.text

    run_scenario(scenario)


def test_status_page_shows_longest_delay_in_queue(run_scenario: RunScenario) -> None:
    post = FakeCarrier()
    post.is_connected = False

    async def scenario(env: Environment) -> None:
        operator, _ = await operator_and_account(env)
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:01"))
        await env.wait(60 + 125)

        assert ">2분<" in (await operator.get("/console/operate")).text

    run_scenario(scenario, carriers={post.name: post})

"""The pages of inbound messages: an account's own, masked for viewers, and those of no account for operators."""

from pabal.carriers.base import InboundMessage
from pabal.console.contacts import inbound
from pabal.domain.user import Role
from pabal.service.delivery.inbound import store_messages
from pabal.store import numbers
from tests.fixtures.console import make_user, sign_in, signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import RunScenario, call_ok, sms_body

PATH = "/console/inbound"
NUMBER = "0212345678"


async def arrive(env: Environment, *contents: str, to: str = NUMBER) -> None:
    await store_messages(env.context, "simulator", [InboundMessage("01012345678", to, each) for each in contents])


def test_messages_are_shown_newest_first_in_pages(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, browser = await env.caller(), await signed_in_browser(env, Role.OWNER)
        await env.store.write(numbers.add, 1, NUMBER, env.world.now())
        await call_ok(call, "message/sendSMS", sms_body())
        await arrive(env, *(f"문의 {number:03}" for number in range(inbound.PAGE_SIZE)), "<i>수신거부</i>", "거부")

        first = await browser.get(PATH)
        older = await browser.get(f"{PATH}?before=3")
        viewer = await sign_in(env, await make_user(env, Role.VIEWER))
        masked = await viewer.get(PATH)

        assert first.text.index("거부") < first.text.index("문의 049")
        assert "수신거부 추가됨" in first.text
        assert "&lt;i&gt;수신거부" in first.text
        assert "문의 000" not in first.text
        assert "?before=" in first.text
        assert ("문의 000" in older.text, "문의 010" in older.text) == (True, False)
        assert "010-1234-5678" in first.text
        assert ("010-1234-5678" in masked.text, "010-****-5678" in masked.text) == (False, True)

    run_scenario(scenario)


def test_messages_to_unregistered_numbers_are_for_operators(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        owner, operator = await signed_in_browser(env, Role.OWNER), await signed_in_browser(env, Role.OPERATOR)
        await arrive(env, "누구세요", to="#1234")

        page = await operator.get("/console/operate/inbound")

        assert "누구세요" in page.text
        assert "#1234" in page.text
        assert (await owner.get("/console/operate/inbound")).status in (403, 404)
        assert "누구세요" not in (await owner.get(PATH)).text

    run_scenario(scenario)

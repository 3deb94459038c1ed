"""The pages of inbound messages: an account's own, masked for viewers, and those of no account for operators."""

import pytest

from pabal.carriers.base import InboundMessage
from pabal.console.contacts import inbound
from pabal.domain.people.user import Role
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import numbers
from tests.fixtures.audit import audited_actions
from tests.fixtures.console import Browser, make_user, sign_in, signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

PATH = "/console/inbound"
NUMBER = "0212345678"


async def arrive(env: Environment, *contents: str, to: str = NUMBER) -> None:
    await store_messages(env.context, "simulator", [InboundMessage("01012345678", to, each) for each in contents])


async def test_messages_are_shown_newest_first_in_pages(env: Environment, call: Caller, browser: Browser) -> None:
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


@pytest.mark.parametrize(
    ("sender", "shown", "masked"),
    [
        ("01012345678", "010-1234-5678", "010-****-5678"),
        ("0312345678", "031-234-5678", "031-****-5678"),
        ("15881234", "1588-1234", "1588-****"),
        ("819012345678", "819012345678", "****5678"),
        ("#1234", "#1234", "****"),
    ],
)
async def test_viewer_sees_no_whole_number_of_a_sender(
    env: Environment, owner: Browser, viewer: Browser, sender: str, shown: str, masked: str
) -> None:
    await env.store.write(numbers.add, 1, NUMBER, env.world.now())
    await store_messages(env.context, "simulator", [InboundMessage(sender, NUMBER, "첫 줄\n둘째 줄")])

    whole, hidden = await owner.get(PATH), await viewer.get(PATH)

    assert f">{shown}</td>" in whole.text
    assert f">{masked}</td>" in hidden.text
    assert f">{shown}</td>" not in hidden.text
    assert 'class="text">첫 줄\n둘째 줄' in whole.text


async def test_messages_of_one_number_are_searched_and_exported(env: Environment) -> None:
    await env.caller()
    owner, viewer = await signed_in_browser(env, Role.OWNER), await signed_in_browser(env, Role.VIEWER)
    await env.store.write(numbers.add, 1, NUMBER, env.world.now())
    arrived = [("01012345678", "=1+1"), ("01087654321", "둘째"), ("819012345678", "셋째")]
    await store_messages(
        env.context, "simulator", [InboundMessage(sender, NUMBER, content) for sender, content in arrived]
    )

    found = [await owner.get(f"{PATH}?number={number}") for number in ("010-8765-4321", "%2B819012345678")]
    none = await owner.get(f"{PATH}?number=010-0000-0000")
    every, one = await owner.get(f"{PATH}.csv"), await owner.get(f"{PATH}.csv?number=01087654321")
    masked = await viewer.get(f"{PATH}.csv")
    refused = [await viewer.get(f"{PATH}{ending}?number=010-8765-4321") for ending in ("", ".csv")]

    assert [[each in page.text for _, each in arrived] for page in found] == [
        [False, True, False],
        [False, False, True],
    ]
    assert "이 번호에서 받은 메시지가 없습니다" in none.text
    lines = every.text.removeprefix("\ufeff").splitlines()
    assert lines[0] == "받은 시각,보낸 번호,받은 번호,내용,수신거부 추가됨"
    assert lines[3] == "2026-11-15 12:00:00,010-1234-5678,02-1234-5678,'=1+1,"
    assert len(one.text.splitlines()) == 2
    assert "010-****-5678" in masked.text
    assert "1234-5678,02" not in masked.text
    assert [each.status for each in refused] == [400, 400]
    assert 'name="number"' not in (await viewer.get(PATH)).text
    assert await audited_actions(env, 1) == ["inbound.export"]


async def test_empty_page_says_when_messages_come(browser: Browser) -> None:
    first, beyond = await browser.get(PATH), await browser.get(f"{PATH}?before=1")

    assert "등록된 발신번호로 답장하면 여기에 표시됩니다" in first.text
    assert "더 오래된 메시지가 없습니다" in beyond.text


async def test_messages_to_unregistered_numbers_are_for_operators(
    env: Environment, owner: Browser, operator: Browser
) -> None:
    await arrive(env, "누구세요", to="#1234")

    page = await operator.get("/console/operate/inbound")

    assert "누구세요" in page.text
    assert ">simulator</td>" in page.text
    assert "#1234" in page.text
    assert (await owner.get("/console/operate/inbound")).status in (403, 404)
    assert "누구세요" not in (await owner.get(PATH)).text

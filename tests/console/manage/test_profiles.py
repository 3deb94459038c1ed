"""Sender profiles: registered, verified by token, deleted after confirmation."""

import re

import pytest

from pabal.console.manage.profiles import category_choices, split_levels
from pabal.domain.kakao.profile import MAX_WRONG_TOKENS, Category, Suspension
from pabal.domain.people.user import Role
from pabal.store.kakao import profiles
from tests.fixtures.audit import audited
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    CATEGORY,
    alimtalk_body,
    call_ok,
    describe_outcome,
    get_latest_token,
    get_message,
    register_channel,
)

CELLPHONE = "010-9999-0000"
CHANNEL = "@shop"
HOSTILE = '"><img/src=x>'


async def register(browser: Browser, **changes: str) -> PageResponse:
    fields = {"channelId": CHANNEL, "category": CATEGORY, "cellphone": CELLPHONE, **changes}
    return await browser.submit("/console/profiles/new", **fields)


async def enter(browser: Browser, token: str) -> PageResponse:
    return await browser.submit("/console/profiles/token", channel=CHANNEL, token=token)


async def audit_lines(env: Environment) -> list[tuple[str, str]]:
    return [each for each in await audited(env, 10) if each[0].startswith("profile.")]


async def test_channel_is_registered_verified_by_token_and_used_for_sending(
    env: Environment, browser: Browser, call: Caller
) -> None:
    asked = await register(browser, channelId=" shop ")
    page = await browser.get(asked.location)
    done = await enter(browser, await get_latest_token(call))
    listed = await browser.get(done.location)

    assert asked.location == "/console/profiles/token?channel=%40shop"
    assert 'data-left-s="1800"' in page.text
    assert CELLPHONE in page.text
    assert "@shop 채널이 승인되었습니다" in listed.text
    (profile,) = (await call("sender/list")).items
    assert profile["senderKey"] in listed.text
    assert "건강 › 병원 › 종합병원" in listed.text
    assert await audit_lines(env) == [("profile.approve", CHANNEL), ("profile.register", CHANNEL)]
    assert (await browser.get(asked.location)).location == "/console/profiles", "there is no token to enter"


async def test_invalid_registration_is_reported_at_its_field_and_keeps_input(
    env: Environment, browser: Browser
) -> None:
    shown = await register(browser, channelId=HOSTILE, category="", cellphone="119", major="건강", minor="병원")

    assert shown.status == 400
    for field in ("category", "cellphone"):
        assert f'aria-describedby="wrong-{field}"' in shown.text
    assert HOSTILE not in shown.text
    assert 'value="119"' in shown.text
    assert '<option value="병원" selected>' in shown.text
    assert await audit_lines(env) == []


async def test_category_is_chosen_level_by_level(browser: Browser) -> None:
    path = "/console/profiles/categories"

    first = await browser.get(path)
    second = await browser.get(f"{path}?major=건강&minor=&category=")
    third = await browser.get(f"{path}?major=건강&minor=병원&category={CATEGORY}")

    assert re.search(r'<select name="minor"[^>]* disabled', first.text)
    assert '<option value="병원"' in second.text
    assert f'<option value="{CATEGORY}" selected>종합병원</option>' in third.text
    assert "<html" not in third.text


def test_category_choice_outside_its_parent_is_dropped_and_single_choice_is_made() -> None:
    known = {
        code: Category(code, name)
        for code, name in [("1", "가,나,다"), ("2", "가,나,라"), ("3", "가,마,바"), ("4", "사,아,자"), ("5", "차")]
    }

    assert category_choices(known, "", "나", "1")[3:] == ("", "", "")
    assert category_choices(known, "가", "나", "3")[3:] == ("가", "나", "")
    assert category_choices(known, "사", "나", "1")[3:] == ("사", "아", "4")
    assert category_choices(known, "차", "", "")[3:] == ("차", "차", "5")
    assert category_choices(known, "가", "", "").minors == [("나", "나"), ("마", "마")]
    assert split_levels("가, 나, 다, 라") == ["가", "나", "다, 라"]


async def test_wrong_token_uses_an_attempt_until_locked(browser: Browser, call: Caller) -> None:
    await register(browser)
    token = await get_latest_token(call)
    wrong = f"{(int(token) + 1) % 10**6:06}"

    tries = [await enter(browser, wrong) for _ in range(MAX_WRONG_TOKENS)]
    locked = await enter(browser, token)
    again = await browser.submit("/console/profiles/resend", channel=CHANNEL)
    page = await browser.get(again.location)
    right = await enter(browser, await get_latest_token(call))

    assert {shown.status for shown in tries} == {422}
    assert f"앞으로 {MAX_WRONG_TOKENS - 1}번" in tries[0].text
    assert locked.status >= 400
    assert "여러 번 잘못 입력해 더 입력할 수 없습니다" in locked.text
    assert "토큰을 다시 발송했습니다" in page.text
    assert right.location.startswith("/console/profiles?approved=")


async def test_deleting_profile_asks_first_and_cancels_waiting_messages(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    later = alimtalk_body(alimtalk_key, sendDate="2026-11-16 12:00")
    await call_ok(call, "message/sendAlimtalk", later)
    browser = await signed_in_browser(env)

    question = await browser.get("/console/profiles/delete?channel=@shop")
    before = describe_outcome(await get_message(call))
    done = await browser.submit("/console/profiles/delete", channel=CHANNEL)
    again = await browser.submit("/console/profiles/delete", channel=CHANNEL)

    assert "@shop 채널을 삭제하시겠습니까?" in question.text
    assert (before, describe_outcome(await get_message(call))) == ("waiting", "cancel")
    assert (done.location, again.status) == ("/console/profiles", 404)
    assert await audit_lines(env) == [("profile.delete", CHANNEL)]
    assert "아직 등록한 채널이 없습니다" in (await browser.get("/console/profiles")).text


@pytest.mark.parametrize("role", [Role.SENDER, Role.VIEWER])
async def test_non_owner_sees_profile_list_only_and_viewer_sees_no_number_or_key(
    env: Environment, call: Caller, sender_key: str, role: Role
) -> None:
    browser = await signed_in_browser(env, role)

    shown = await browser.get("/console/profiles")

    assert "@shop" in shown.text
    assert "/console/profiles/" not in shown.text
    assert (CELLPHONE in shown.text, sender_key in shown.text) == (role is Role.SENDER, role is Role.SENDER)


async def test_profile_disabled_by_operator_or_relay_is_marked(env: Environment) -> None:
    await register_channel(await env.caller())
    ((_, profile),) = await env.store.read(profiles.list_all)
    await env.store.write(profiles.set_enabled, profile.id, False, env.world.now())

    browser = await signed_in_browser(env)

    shown = await browser.get("/console/profiles")

    assert "운영자가 사용을 중지했습니다" in shown.text
    await env.store.write(profiles.set_enabled, profile.id, True, env.world.now())
    await env.store.write(profiles.apply_remote, profile.id, profile.category, Suspension.BLOCKED, env.world.now())
    assert Suspension.BLOCKED.label.ko in (await browser.get("/console/profiles")).text

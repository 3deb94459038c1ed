"""Approval by a second user: who may approve, what is approved, and what asks again."""

import asyncio
import re
from collections.abc import Mapping

import pytest

from pabal.domain.people.user import Role
from pabal.domain.sends.campaign import CampaignState
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import PASSWORD, Browser, PageResponse, make_user, sign_in, signed_in_browser
from tests.fixtures.console_send import form, hidden_fields, review, send
from tests.fixtures.console_upload import get_campaign, page_text, send_campaign, shown_version, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

ROWS = "phone,이름\n010-1111-2222,가\n010-3333-4444,나\n010-5555-6666,다\n"
TYPED = "010-1111-2222\n010-3333-4444\n010-5555-6666"


async def two_users(env: Environment) -> tuple[Browser, Browser]:
    """Return the browsers of an owner and of a sender of one account, which wants approval above two receivers."""
    owner = await signed_in_browser(env)
    await owner.submit("/console/preferences", approval_receivers="2")
    sender = await sign_in(env, await make_user(env, Role.SENDER))
    return owner, sender


async def decide(browser: Browser, address: str, word: str, **fields: str) -> PageResponse:
    """Approve, refuse or withdraw what the page shows."""
    return await browser.submit(f"{address}/{word}", seen=await shown_version(browser, address), **fields)


async def submit_typed(browser: Browser, fields: Mapping[str, str]) -> str:
    """Submit a typed send for approval and return the path of its campaign."""
    reviewed = await review(browser, dict(fields))
    sent = await browser.submit("/console/send", **fields, **hidden_fields(reviewed))
    assert sent.location.startswith("/console/send/upload/"), sent
    return sent.location


async def actions(env: Environment, count: int) -> list[str]:
    return [each.action for each in await env.store.read(latest_entries, None, count)]


async def test_campaign_waits_until_another_user_approves_it(env: Environment) -> None:
    owner, sender = await two_users(env)
    address = await upload_file(sender, ROWS)
    page = await sender.get(address)
    submitted = await send_campaign(sender, address, name="봄 행사")
    await env.wait(20)
    waiting = await get_campaign(env, address)
    own = await decide(sender, address, "approve")
    listed = await owner.get("/console/requests/approvals")
    menus = [await each.get("/console") for each in (owner, sender)]
    shown = await owner.get(address)
    assert await count_rows(env, "messages") == 0

    approved = await decide(owner, address, "approve")
    await env.wait(20)

    badge = re.compile(r'href="/console/requests/approvals".*?<b class="badge">1</b>')
    assert [bool(badge.search(each.text)) for each in menus] == [True, False], "one's own waits for others"
    assert ["승인을 기다리는 발송이 1건" in each.text for each in menus] == [True, False]
    assert "badge" not in (await owner.get("/console")).text
    assert "3명 발송 승인 요청" in page_text(page)
    assert submitted.status == 303
    assert waiting.state is CampaignState.TO_APPROVE
    assert (own.status, "직접 작성하거나" in page_text(own)) == (403, True)
    assert "봄 행사" in page_text(listed)
    assert "승인 대기 (1)" in page_text(listed)
    assert "가님, 안녕하세요" in page_text(shown)
    assert "sender-of-acme" in page_text(shown)
    assert approved.location == address.replace("send/upload", "requests")
    assert await count_rows(env, "messages") == 3
    assert (await actions(env, 2)) == ["campaign.approve", "campaign.submit"]
    again = await decide(owner, address, "approve")
    assert again.status == 303
    assert await count_rows(env, "messages") == 3


async def test_typed_send_above_the_number_waits_and_others_do_not(env: Environment) -> None:
    owner, sender = await two_users(env)
    await send(sender, form(receivers="010-1111-2222\n010-3333-4444"))
    fields = form(content="큰 발송", receivers=f"{TYPED}\n12")
    reviewed = await review(sender, fields)
    first = await sender.submit("/console/send", **fields, **hidden_fields(reviewed))
    second = await sender.submit("/console/send", **fields, **hidden_fields(reviewed))
    address = first.location
    await env.wait(20)

    assert "3명에게 보내려면 다른 사용자의 승인이 필요합니다" in page_text(reviewed)
    assert first.location == second.location, "pressed twice, submitted once"
    assert await count_rows(env, "campaigns") == 1
    assert await count_rows(env, "messages") == 2
    kept = await sender.get(f"/console/send?rest={address.rpartition('/')[2]}")
    assert ">\n12</textarea>" in kept.text, "the line that cannot be sent is kept"
    await decide(owner, address, "approve")
    await env.wait(20)
    assert await count_rows(env, "messages") == 5


async def test_refused_campaign_goes_back_with_the_reason_and_asks_again(env: Environment) -> None:
    owner, sender = await two_users(env)
    address = await upload_file(sender, ROWS)
    await send_campaign(sender, address, name="봄")
    before = await shown_version(owner, address)

    await decide(owner, address, "refuse", comment="시각을 바꾸세요")
    page = await sender.get(address)
    late = await owner.submit(f"{address}/approve", seen=before)
    await send_campaign(sender, address, name="봄", later="1", sendDate="2026-11-20T10:00")
    stale = await owner.submit(f"{address}/approve", seen=before)
    await env.wait(20)

    assert "owner-of-acme 님이 승인하지 않았습니다: 시각을 바꾸세요" in page_text(page)
    assert (late.status, stale.status) == (409, 409)
    assert "2026-11-20 10:00" in page_text(stale), "what it is now is shown"
    assert await count_rows(env, "messages") == 0
    assert (await actions(env, 3)) == ["campaign.submit", "campaign.refuse", "campaign.submit"]
    await decide(owner, address, "approve")
    await env.wait(20)
    assert await count_rows(env, "messages") == 3
    sent = address.replace("send/upload", "requests")
    now = await sender.submit(f"{sent}/now")
    assert (now.status, "승인받은 시각에만" in page_text(now)) == (409, True)


async def test_file_of_a_waiting_campaign_cannot_be_replaced(env: Environment) -> None:
    owner, sender = await two_users(env)
    address = await upload_file(sender, ROWS)
    await send_campaign(sender, address, name="봄")
    refused = await sender.upload(f"{address}/file", b"phone,\xec\x9d\xb4\xeb\xa6\x84\n010-9999-0000,x\n")
    assert refused.status == 409
    assert (await get_campaign(env, address)).receivers == 3

    withdrawn = await decide(sender, address, "withdraw")
    await sender.upload(f"{address}/file", f"{ROWS}010-7777-8888,라\n".encode())

    assert withdrawn.location == address
    assert (await get_campaign(env, address)).state is CampaignState.CHECKED
    assert (await decide(owner, address, "approve")).status == 409, "it was not submitted again"
    assert (await actions(env, 2)) == ["campaign.file", "campaign.withdraw"]


async def test_only_active_owners_and_senders_of_the_account_approve(env: Environment) -> None:
    owner, sender = await two_users(env)
    address = await submit_typed(owner, form(receivers=TYPED))
    operator = await sign_in(env, await make_user(env, Role.OPERATOR))
    viewer = await sign_in(env, await make_user(env, Role.VIEWER))
    stranger = await signed_in_browser(env, account="other")

    assert (await decide(operator, address, "approve")).status == 403
    assert (await viewer.submit(f"{address}/approve", seen="1")).status == 403
    assert (await stranger.submit(f"{address}/approve", seen="1")).status == 404
    assert (await decide(owner, address, "refuse")).status == 403
    assert (await decide(sender, address, "approve")).status == 303


async def test_scheduled_time_that_has_passed_is_not_approved(env: Environment) -> None:
    owner, sender = await two_users(env)
    address = await submit_typed(sender, form(receivers=TYPED, later="1", sendDate="2026-11-15T12:30"))
    await env.jump(3600)

    shown = await decide(owner, address, "approve")

    assert (shown.status, "시각이 지났습니다" in page_text(shown)) == (409, True)
    assert await count_rows(env, "messages") == 0


async def test_edit_of_a_schedule_cannot_avoid_approval(env: Environment, call: Caller) -> None:
    _, sender = await two_users(env)
    body = sms_body("010-1111-2222", sendDate="2026-11-16 12:00")
    edited = (await call_ok(call, "message/sendSMS", body)).request_id

    fields = form(receivers=TYPED, edits=edited, later="1", sendDate="2026-11-16T13:00")
    shown = await review(sender, fields)

    assert (shown.status, "승인이 필요한 인원입니다" in page_text(shown)) == (409, True)


@pytest.mark.settings(approval_receivers=2)
async def test_the_operators_number_holds_if_it_is_lower(owner: Browser) -> None:
    await owner.submit("/console/preferences", approval_receivers="500")
    address = await submit_typed(owner, form(receivers=TYPED))
    page = await owner.get(address)
    assert "승인할 수 있는 다른 사용자" in page_text(page), "nobody else is in the account"
    settings = await owner.get("/console/preferences")
    assert "운영자가 정한 2명" in page_text(settings)


async def test_preferences_are_checked_stored_and_audited(env: Environment, owner: Browser) -> None:
    bad = await owner.submit("/console/preferences", approval_receivers="-1", fallback="1")
    wrong = await owner.submit("/console/preferences", fallback="1", fallback_number="12")
    done = await owner.submit(
        "/console/preferences",
        lms="1",
        fallback="1",
        fallback_number="02-1234-5678",
        approval_receivers="1,000",
    )
    page = await owner.get("/console/preferences")

    assert (bad.status, bad.text.count('aria-invalid="true"')) == (400, 2)
    assert (wrong.status, wrong.text.count('aria-invalid="true"')) == (400, 1)
    assert done.status == 303
    assert page.text.count(" checked") == 2
    assert 'value="02-1234-5678"' in page.text
    assert re.search(r'name="approval_receivers"[^>]*value="1000"', page.text)
    (entry,) = await env.store.read(latest_entries, None, 1)
    assert entry.action == "account.sending"
    assert "approval_receivers=1000" in entry.target
    assert "02-****-5678" in entry.target, "the audit log has no phone numbers"
    sender = await sign_in(env, await make_user(env, Role.SENDER))
    assert (await sender.get("/console/preferences")).status == 403


async def enter(env: Environment, name: str, password: str) -> Browser:
    browser = Browser(env.service)
    assert (await browser.submit("/console/login", name=name, password=password)).status == 303
    return browser


async def invite(env: Environment, browser: Browser, name: str) -> Browser:
    """Invite an owner, and return the browser of who has accepted."""
    shown = await browser.submit("/console/team/invite", role="owner")
    token = re.findall(r"/console/invite\?token=([0-9a-f]{64})", shown.text)[0]
    fields = {"token": token, "name": name, "password": PASSWORD, "repeated": PASSWORD}
    await Browser(env.service).submit("/console/invite", **fields)
    return await enter(env, name, PASSWORD)


async def become_second(env: Environment, owner: Browser, way: str) -> tuple[str, str]:
    """Let an owner get hold of another user in some way; return this user's name and password."""
    sender = "sender-of-acme"
    if way == "password":
        shown = await owner.submit("/console/team/password", user=sender)
        return sender, re.findall(r'id="secret"[^>]*>([^<]+)<', shown.text)[0]
    if way == "role":
        await owner.submit("/console/team/role", user=sender, role="owner")
        return sender, PASSWORD
    if way == "invitation":
        await invite(env, owner, "other")
    else:
        between = await invite(env, owner, "between")
        await invite(env, between, "other")
        await owner.submit("/console/team/remove", user="between")
    return "other", PASSWORD


@pytest.mark.settings(draft_days=30)
@pytest.mark.parametrize("way", ["invitation", "password", "role", "through another"])
async def test_who_was_invited_or_reset_by_the_submitter_does_not_approve_for_a_week(
    env: Environment, way: str
) -> None:
    owner, _ = await two_users(env)
    address = await upload_file(owner, ROWS)
    await send_campaign(owner, address)
    name, password = await become_second(env, owner, way)
    other = await enter(env, name, password)

    shown = await other.get(address)
    refused = await decide(other, address, "approve")
    env.world.move_clock(7 * 24 * 3600)
    approved = await decide(await enter(env, name, password), address, "approve")

    assert "최근 7일 안에" in page_text(shown)
    assert (refused.status, "최근 7일 안에" in page_text(refused)) == (403, True)
    assert approved.location == address.replace("send/upload", "requests")


async def test_pieces_of_one_text_within_a_day_need_approval_together(env: Environment) -> None:
    _, sender = await two_users(env)
    again = form(receivers="010-5555-6666", content="모임  2!")
    await send(sender, form(receivers="010-1111-2222\n010-3333-4444", content="모임 1"))

    await submit_typed(sender, again)
    await send(sender, form(receivers="010-5555-6666", content="다른 모임"))
    address = await upload_file(sender, "phone\n010-1111-2222\n", content="모임")
    await send_campaign(sender, address)
    campaign = await get_campaign(env, address)
    env.world.move_clock(24 * 3600)
    await send(await sign_in(env, "sender-of-acme"), again)

    assert campaign.state is CampaignState.TO_APPROVE
    assert await count_rows(env, "messages") == 4


async def test_sends_at_the_same_moment_do_not_pass_in_pieces(env: Environment) -> None:
    _, sender = await two_users(env)
    pieces = [form(receivers=f"010-1111-{number:04}", content="모임") for number in range(6)]
    reviewed = [hidden_fields(await review(sender, each)) for each in pieces]

    await asyncio.gather(
        *(sender.submit("/console/send", **each, **shown) for each, shown in zip(pieces, reviewed, strict=True))
    )

    assert await count_rows(env, "messages") == 2


async def test_new_time_of_a_scheduled_send_does_not_count_it_again(env: Environment) -> None:
    _, sender = await two_users(env)
    fields = form(receivers="010-1111-2222\n010-3333-4444", later="1", sendDate="2026-11-16T12:00")
    first = await send(sender, fields)

    await send(sender, fields | {"edits": first, "sendDate": "2026-11-16T13:00"})

    assert await count_rows(env, "unapproved_sends") == 1


@pytest.mark.settings(duplicate_minutes=10)
async def test_refused_send_does_not_count(env: Environment) -> None:
    _, sender = await two_users(env)
    await send(sender, form(receivers="010-1111-2222"))
    fields = form(receivers="010-1111-2222")
    reviewed = await review(sender, fields)

    refused = await sender.submit("/console/send", **fields, **hidden_fields(reviewed))
    await send(sender, form(receivers="010-3333-4444"))

    assert "이미 보냈습니다" in page_text(refused)
    assert await count_rows(env, "messages") == 2

"""Saved and recent texts, copies, resends to the failed, and changes of what is scheduled."""

import html
import re
from typing import Any

import pytest

from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Status
from pabal.service.sending import drafts
from tests.console.contacts.test_address_book import make_group
from tests.console.send.test_drafts import typed_text
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_send import IMAGE, errors, form, hidden_fields, review, send, talk
from tests.fixtures.console_upload import get_campaign, send_campaign, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    alimtalk_body,
    call_ok,
    list_phone_messages,
    receivers_of,
    sms_body,
)

SEND, TEXTS = "/console/send", "/console/texts"
NOBODY = "010-0000-0001"


def typed(shown: PageResponse, field: str) -> str:
    """Return what stands in a field of the form."""
    area = re.search(rf'<textarea[^>]* name="{field}"[^>]*>\n(.*?)</textarea>', shown.text, re.DOTALL)
    line = re.search(rf'<input[^>]* name="{field}"[^>]* value="([^"]*)"', shown.text)
    found = area or line
    return html.unescape(found[1]) if found else ""


def fields_of(shown: PageResponse) -> dict[str, str]:
    """Return the form as a browser would submit it, as far as these tests need it."""
    names = ("content", "subject", "receivers", "sender", "sendDate", "draft", "edits", "kind", "image_body")
    checked = dict.fromkeys(re.findall(r'type="checkbox" name="(\w+)" value="1" checked', shown.text), "1")
    found = {name: typed(shown, name) for name in (*names, "image_name", "image_type")}
    card = re.search(r'type="radio" name="later" value="([^"]+)" checked', shown.text)
    return {**found, **checked, **({"later": card[1]} if card else {})}


async def test_deleted_text_is_brought_back(sender: Browser) -> None:
    await sender.submit(f"{SEND}/save", **form("lms", subject="제목", content="다시 쓸 말"), text_name="되살릴 말")
    shown = await sender.get(TEXTS)
    (number,) = set(re.findall(r"/console/send\?text=([0-9]+)", shown.text))

    deleted = await sender.submit(f"{TEXTS}/{number}/delete")
    gone = await sender.get(TEXTS)
    back = await sender.undo(deleted)
    again = await sender.get(TEXTS)

    assert "되살릴 말" not in gone.text
    assert back.location == TEXTS
    (number,) = set(re.findall(r"/console/send\?text=([0-9]+)", again.text))
    used = await sender.get(f"{SEND}?text={number}")
    assert (typed_text(used), typed(used, "subject")) == ("다시 쓸 말", "제목")


async def test_text_is_saved_listed_used_and_deleted(env: Environment, sender: Browser) -> None:
    fields = form("lms", subject="제목", content="#{이름}님 안녕하세요", later="1", sendDate="2026-11-20T10:00")

    saved = await sender.submit(f"{SEND}/save", **fields, text_name="인사말")
    await sender.submit(f"{SEND}/discard", draft="send")
    shown = await sender.get(TEXTS)
    (number,) = set(re.findall(r"/console/send\?text=([0-9]+)", shown.text))
    used = await sender.get(f"{SEND}?text={number}")
    await sender.submit(f"{TEXTS}/{number}/delete")

    assert "보관함에 저장했습니다" in saved.text
    assert "인사말" in shown.text
    assert (typed_text(used), typed(used, "subject")) == ("#{이름}님 안녕하세요", "제목")
    assert (typed(used, "receivers"), typed(used, "sendDate")) == ("", "")
    assert 'id="to-lms" aria-current="true"' in used.text
    assert await count_rows(env, "saved_texts") == 0


@pytest.mark.parametrize("name", ["", " ", "가" * 61])
async def test_text_without_a_proper_name_is_not_saved(browser: Browser, name: str) -> None:
    refused = await browser.submit(f"{SEND}/save", **form(content="말"), text_name=name)

    assert (refused.status, list(errors(refused))) == (400, ["text_name"])
    assert typed_text(refused) == "말"


async def test_same_name_replaces_and_accounts_are_apart(env: Environment, browser: Browser) -> None:
    stranger = await signed_in_browser(env, account="other")
    for content in ("하나", "둘"):
        await browser.submit(f"{SEND}/save", **form(content=content), text_name="인사말")
    (listed,) = await drafts.list_saved(env.context, 1)

    foreign = await stranger.get(f"{SEND}?text={listed[0].id}")
    await stranger.submit(f"{TEXTS}/{listed[0].id}/delete")

    assert listed[1]["content"] == "둘"
    assert foreign.status == 404
    assert await count_rows(env, "saved_texts") == 1


async def test_recent_texts_are_listed_once_and_copied(env: Environment, call: Caller, browser: Browser) -> None:
    values = {"이름": '홍 "길동"', "금액": "1,000"}
    receivers = receivers_of("010-1111-2222", templateData=values)
    body = sms_body(content="#{이름}님 #{금액}원", receivers=receivers)
    for _ in range(2):
        sent = await call_ok(call, "message/sendLMS", {**body, "subject": "#{금액}"})
    await env.wait(5)

    recent = await browser.get(TEXTS)
    copy = await browser.get(f"{SEND}?copy={sent.request_id}")
    again = await send(browser, fields_of(copy))
    await env.wait(5)

    assert recent.text.count("/console/send?copy=") == 1
    assert typed_text(copy) == "#{이름}님 #{금액}원"
    assert again != sent.request_id
    contents = [one["content"] for one in await list_phone_messages(call, "010-1111-2222")]
    assert contents == ['홍 "길동"님 1,000원'] * 3


async def test_recent_campaign_is_listed_with_its_text(env: Environment, browser: Browser) -> None:
    address = await upload_file(browser, "phone,이름\n010-2000-0001,n\n", content="#{이름}님 쿠폰")
    await send_campaign(browser, address, name="봄 행사")
    await env.wait(10)

    recent = await browser.get(TEXTS)

    assert 'class="excerpt does">#{이름}님 쿠폰<br><small>봄 행사</small></td>' in recent.text


async def test_copy_has_picture_buttons_and_fallback(alimtalk_key: str, browser: Browser) -> None:
    button = {"buttonType": "webLink", "name": "열기", "mobileUrl": "https://a.kr"}
    fields = {f"buttons[0].{name}": value for name, value in button.items()}
    fallback = {"resend": "1", "resendPhoneNumber": "02-1234-5678", "resendContent": "문자로"}
    kind = {"messageType": "friendTalkImage", **IMAGE}
    sent = await send(browser, talk("friendtalk", alimtalk_key, adFlag="1", **kind, **fields, **fallback))

    copy = await browser.get(f"{SEND}?copy={sent}")

    assert typed(copy, "image_body") == IMAGE["image_body"]
    assert typed(copy, "resendContent") == "(광고)문자로"
    assert 'value="https://a.kr"' in copy.text
    assert re.search(r'name="adFlag" value="1" checked', copy.text)


async def test_only_receivers_that_were_not_reached_are_sent_to_again(
    env: Environment, call: Caller, alimtalk_key: str, browser: Browser
) -> None:
    body = alimtalk_body(alimtalk_key, PHONE, NO_USER, NOBODY, **FALLBACK)
    sent = (await call_ok(call, "message/sendAlimtalk", body)).request_id
    await env.wait(90)

    page = await browser.get(f"/console/requests/{sent}")
    again = await browser.get(f"{SEND}?resend={sent}")
    by_text = await browser.submit(f"{SEND}/form", **{**fields_of(again), "to": "lms", "content": "문자로"})

    assert f"/console/send?resend={sent}" in page.text
    assert typed(again, "receivers") == NOBODY, "one arrived, and one got its fallback"
    assert 'id="to-alimtalk" aria-current="true"' in again.text
    assert typed(again, "content") == "배송이 시작되었습니다.", "it is there when another kind is chosen"
    assert typed(by_text, "receivers") == NOBODY
    assert 'id="to-lms" aria-current="true"' in by_text.text


async def test_receiver_whose_fallback_is_on_its_way_is_not_sent_to_again(
    env: Environment, call: Caller, alimtalk_key: str, browser: Browser
) -> None:
    body = alimtalk_body(alimtalk_key, NO_USER, **FALLBACK)
    sent = (await call_ok(call, "message/sendAlimtalk", body)).request_id
    statuses: list[Status] = []
    while statuses not in ([Status.FAIL, Status.WAITING], [Status.FAIL, Status.SENDING]):
        await env.wait(0.05)
        statuses = [status for status, _ in await env.outcomes_of(bytes.fromhex(sent))]
        assert Status.COMPLETED not in statuses

    again = await browser.get(f"{SEND}?resend={sent}")

    assert typed(again, "receivers") == ""


@pytest.mark.settings(duplicate_minutes=60, duplicate_action="drop")
async def test_duplicate_is_not_sent_to_again(env: Environment, call: Caller, browser: Browser) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE))
    sent = (await call_ok(call, "message/sendSMS", sms_body(PHONE, NOBODY))).request_id
    await env.wait(30)

    again = await browser.get(f"{SEND}?resend={sent}")

    assert typed(again, "receivers") == NOBODY
    assert len(await list_phone_messages(call)) == 1


async def test_failed_receivers_of_a_campaign_are_sent_to_again(env: Environment, browser: Browser) -> None:
    file = f"phone,이름\n010-1111-2222,하나\n{NOBODY},둘\n010-3333-4444,셋\n"
    address = await upload_file(browser, file)
    await send_campaign(browser, address, name="봄")
    await env.wait(60)
    campaign = address.rpartition("/")[2]

    again = await browser.get(f"{SEND}?resend={campaign}")
    copy = await browser.get(f"{SEND}?copy={campaign}")

    assert typed(again, "receivers") == f"수신번호,이름\n{NOBODY},둘"
    assert typed_text(again) == typed_text(copy) == "#{이름}님, 안녕하세요"
    assert typed(copy, "receivers") == ""


async def test_many_failed_receivers_are_sent_to_as_a_campaign(env: Environment, browser: Browser) -> None:
    stranger = await signed_in_browser(env, account="other")
    failing = [f"010-0000-000{number}" for number in (1, 2)]
    file = "phone,이름\n010-1111-2222,하나\n" + "".join(f"{number},둘\n" for number in failing)
    address = await upload_file(browser, file)
    await send_campaign(browser, address, name="봄")
    await env.wait(60)
    fields = form(content="#{이름}님, 다시", receivers="", resends=address.rpartition("/")[2])

    begun = await browser.submit(f"{SEND}/check", **fields)
    foreign = await stranger.submit(f"{SEND}/check", **fields)
    await env.wait(5)
    campaign = await get_campaign(env, begun.location)

    assert (campaign.state, campaign.receivers, campaign.invalid_rows) == (CampaignState.CHECKED, 2, 0)
    assert "둘님, 다시" in (await browser.get(begun.location)).text
    assert foreign.status == 404


async def test_scheduled_message_is_changed_in_place(env: Environment, call: Caller, browser: Browser) -> None:
    old = await send(browser, form(content="옛말", later="1", sendDate="2026-11-15T12:10"))
    page = await browser.get(f"/console/requests/{old}")

    edit = await browser.get(f"{SEND}?edit={old}")
    fields = {**fields_of(edit), "content": "새말", "sendDate": "2026-11-15T12:20"}
    confirmed = await review(browser, fields)
    sent = await browser.submit(SEND, **fields, **hidden_fields(confirmed))
    again = await browser.submit(SEND, **fields, **hidden_fields(confirmed))
    await env.jump(1500)

    assert f"/console/send?edit={old}" in page.text
    assert typed(edit, "sendDate") == "2026-11-15T12:10"
    assert "원래 예약을 취소하고" in confirmed.text
    assert sent.location == again.location
    assert [one["content"] for one in await list_phone_messages(call)] == ["새말"]
    assert {status for status, _ in await env.outcomes_of(bytes.fromhex(old))} == {Status.CANCEL}


async def test_receiver_that_was_cancelled_stays_cancelled_after_a_change(
    env: Environment, call: Caller, browser: Browser
) -> None:
    body = sms_body(PHONE, "010-7777-8888", sendDate="2026-11-15 12:10")
    old = (await call_ok(call, "message/sendSMS", body)).request_id
    await call_ok(call, "message/cancel", {"requestId": old, "messageId": f"{old}000001"})
    edit = await browser.get(f"{SEND}?edit={old}")
    fields = {**fields_of(edit), "sendDate": "2026-11-15T12:20"}

    sent = await browser.submit(SEND, **fields, **hidden_fields(await review(browser, fields)))
    await call_ok(call, "message/cancel", {"requestId": sent.location.rpartition("/")[2]})
    gone = await browser.get(f"{SEND}?edit={sent.location.rpartition('/')[2]}")
    await env.jump(1500)

    assert typed(edit, "receivers") == "010-7777-8888"
    assert gone.status == 409, "nobody waits"
    assert await list_phone_messages(call) == []


@pytest.mark.parametrize("lost", [{"reference": "order-1"}, {"templateData": {"이름": "두\n줄"}}])
async def test_request_that_the_form_would_change_cannot_be_changed_here(
    call: Caller, browser: Browser, lost: dict[str, Any]
) -> None:
    receivers = [{"phoneNumber": PHONE, "templateData": {"이름": "값"}, **lost}]
    body = sms_body(content="#{이름}", receivers=receivers, sendDate="2026-11-15 12:10")
    sent = (await call_ok(call, "message/sendSMS", body)).request_id

    refused = await browser.get(f"{SEND}?edit={sent}")

    assert refused.status == 409


async def test_number_that_gets_two_messages_still_does_after_a_change(
    env: Environment, call: Caller, browser: Browser
) -> None:
    receivers = [{"phoneNumber": PHONE, "templateData": {"이름": value}} for value in ("하나", "둘")]
    body = sms_body(content="#{이름}", receivers=receivers, sendDate="2026-11-15 12:10")
    old = (await call_ok(call, "message/sendSMS", body)).request_id
    fields = {**fields_of(await browser.get(f"{SEND}?edit={old}")), "sendDate": "2026-11-15T12:20"}

    await browser.submit(SEND, **fields, **hidden_fields(await review(browser, fields)))
    await env.jump(1500)

    assert sorted(one["content"] for one in await list_phone_messages(call)) == ["둘", "하나"]


@pytest.mark.parametrize("way", ["upload", "check"])
async def test_changed_schedule_does_not_become_a_campaign_besides(
    env: Environment, browser: Browser, way: str
) -> None:
    group = await make_group(browser, "단골")
    old = await send(browser, form(content="옛말", later="1", sendDate="2026-11-15T12:10"))
    fields = fields_of(await browser.get(f"{SEND}?edit={old}"))

    refused = await browser.submit(f"{SEND}/{way}", **{**fields, f"g{group}": "1"})

    assert refused.status == 409
    assert "예약을 바꿀 때는 수신자를 직접 입력해야 합니다" in refused.text
    assert await count_rows(env, "campaigns") == 0
    assert {status for status, _ in await env.outcomes_of(bytes.fromhex(old))} == {Status.WAITING}

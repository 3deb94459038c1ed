"""The send page: every kind of message is sent as by the API, by those who may."""

import re
from typing import Any

import pytest

from pabal.domain.people.user import Role
from pabal.store.accounts import numbers
from pabal.store.messages import requests
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import (
    IMAGE,
    errors,
    form,
    hidden_fields,
    preview,
    preview_text,
    review,
    send,
    talk,
)
from tests.fixtures.console_upload import UPLOAD
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    NO_USER,
    PHONE,
    SENDER,
    get_message,
    list_messages,
    list_phone_messages,
    set_clock,
)

LINK = {
    "buttons[0].buttonType": "webLink",
    "buttons[0].name": "열기",
    "buttons[0].mobileUrl": "https://shop.example/",
}


AD_TEXT = "(광고)[봄상점] 안녕하세요\n무료거부 0801234567"
AD_FIELDS = {"adFlag": "1", "adSender": "봄상점", "optOutNumber": "080-123-4567"}
KINDS: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    ("sms", {}, {"kind": "sms", "content": "안녕하세요", "subject": None}),
    ("sms", {"subject": "없는 것"}, {"kind": "sms", "subject": None}),
    ("sms", {"content": "첫 줄\r\n둘째 줄"}, {"content": "첫 줄\n둘째 줄"}),
    ("lms", {"subject": "제목"}, {"kind": "lms", "subject": "제목"}),
    ("lms", AD_FIELDS, {"kind": "lms", "content": AD_TEXT}),
    ("sms", {"optOutNumber": "080-123-4567"}, {"kind": "sms", "content": "안녕하세요"}),
    ("mms", IMAGE, {"kind": "mms", "image": True}),
    ("alimtalk", {}, {"kind": "alimTalk", "content": "배송이 시작되었습니다."}),
    ("friendtalk", LINK, {"kind": "friendTalkText", "content": "안녕하세요"}),
    ("friendtalk", {"messageType": "friendTalkImage", **IMAGE}, {"kind": "friendTalkImage", "image": True}),
    ("friendtalk", {"messageType": "friendTalkWideImage", **IMAGE}, {"kind": "friendTalkWideImage"}),
    ("friendtalk", {"adFlag": "1"}, {"kind": "friendTalkText", "content": "(광고)안녕하세요"}),
    ("brand", LINK, {"kind": "brandMessage", "messageType": "text", "content": "안녕하세요", "targeting": "I"}),
    ("brand", {"messageType": "wide", **IMAGE}, {"messageType": "wide", "image": True}),
]


async def test_lifetime_can_be_given_and_a_bad_one_is_shown_at_its_field(
    env: Environment, browser: Browser
) -> None:
    page = await browser.get("/console/send")
    assert 'placeholder="기본 1,440분"' in page.text

    for typed in ("0", "4321", "5분", "99999999999"):
        bad = await review(browser, form(expireMinutes=typed))
        assert bad.status == 400
        assert "expireMinutes" in errors(bad), typed
    request_id = bytes.fromhex(await send(browser, form(expireMinutes=" 5 ")))

    stored = (await env.store.read(requests.get, [request_id]))[request_id]
    assert stored.expire_minutes == 5


async def test_each_kind_is_sent(env: Environment, call: Caller, alimtalk_key: str, sender: Browser) -> None:
    for number, (kind, fields, arrives) in enumerate(KINDS):
        receiver = f"010-5555-{number:04}"

        request_id = await send(sender, talk(kind, alimtalk_key, **{**fields, "receivers": receiver}))
        await env.wait(5)

        (message,) = await list_phone_messages(call, receiver)
        assert {name: message.get(name) for name in arrives} == arrives
        assert (await get_message(call, receiver))["requestId"] == request_id
        assert [one["name"] for one in message.get("buttons") or []] == (
            ["열기"] if kind == "alimtalk" or fields is LINK else []
        )


async def test_variables_are_filled_in_for_each_receiver(env: Environment, call: Caller, browser: Browser) -> None:
    receivers = '010-1111-2222, 홍길동, "1,000"\n010-3333-4444\t김\t2000'

    await send(browser, form(content="#{이름}님 #{금액}원", receivers=receivers))
    await env.wait(5)

    assert [one["content"] for one in await list_phone_messages(call, "010-1111-2222")] == ["홍길동님 1,000원"]
    assert [one["content"] for one in await list_phone_messages(call, "010-3333-4444")] == ["김님 2000원"]


async def test_duplicate_number_gets_message_twice_only_on_request(
    env: Environment, call: Caller, browser: Browser
) -> None:
    fields = form(receivers=f"{PHONE}\n{PHONE}", once="")

    await send(browser, fields)
    await env.wait(5)

    assert len(await list_phone_messages(call)) == 2


WRONG: list[tuple[str, dict[str, str], str]] = [
    ("sms", {"content": ""}, "content"),
    ("sms", {"content": "가" * 46}, "content"),
    ("sms", {"content": "😀"}, "content"),
    ("sms", {"sender": ""}, "sender"),
    ("sms", {"sender": "12"}, "sender"),
    ("lms", {"subject": "가" * 21}, "subject"),
    ("sms", {"receivers": ""}, "receivers"),
    ("sms", {"receivers": "010-12"}, "receivers"),
    ("sms", {"content": "#{이름}"}, "receivers"),
    ("sms", {"content": "#{이름}", "receivers": f"{PHONE}, 가, 나"}, "receivers"),
    ("sms", {"later": "1", "sendDate": ""}, "sendDate"),
    ("sms", {"later": "1", "sendDate": "2026-11-14T12:00"}, "sendDate"),
    ("sms", {"sendDate": "2026-11-16T12:00"}, "sendDate"),
    ("mms", {**IMAGE, "image_body": "AAAA"}, "image"),
    ("mms", {**IMAGE, "image_body": "!"}, "image"),
    ("mms", {**IMAGE, "image_type": "image/png"}, "image"),
    ("friendtalk", {"messageType": "friendTalkImage"}, "image"),
    ("friendtalk", {"messageType": "friendTalkImage", **IMAGE, "imageLink": "ftp://x"}, "imageLink"),
    ("friendtalk", {"buttons[0].buttonType": "webLink"}, "buttons-0-mobileUrl"),
    ("friendtalk", {"resend": "1"}, "resendPhoneNumber"),
    ("friendtalk", {"senderKey": "unknown"}, "senderKey"),
    ("alimtalk", {"templateCode": "unknown"}, "templateCode"),
    ("alimtalk", {"templateCode": ""}, "templateCode"),
]


async def test_errors_are_shown_at_their_fields(alimtalk_key: str, browser: Browser) -> None:
    for kind, fields, field in WRONG:
        shown = await review(browser, talk(kind, alimtalk_key, **fields))

        assert shown.status >= 400, fields
        assert field in errors(shown), fields
        assert 'id="send-it"' not in shown.text


@pytest.mark.settings(check_sender_numbers=True)
async def test_unregistered_sender_number_is_refused_if_the_operator_checks_it(
    env: Environment, browser: Browser
) -> None:
    refused = await review(browser, form())
    await env.store.write(numbers.add, 1, "0212345678", env.world.now())
    page = await browser.get("/console/send")

    accepted = await review(browser, form())

    assert (refused.status, accepted.status) == (422, 200)
    assert "sender" in errors(refused)
    assert "<option selected>02-1234-5678</option>" in page.text


@pytest.mark.settings(routes={"sms": ("simulator",)})
async def test_missing_carrier_is_shown_at_the_top(browser: Browser) -> None:
    shown = await review(browser, form("lms"))

    assert shown.status == 422
    assert "이 상품을 보낼 발송 경로가 설정되어 있지 않습니다." in shown.text


@pytest.mark.settings(opt_out_number="0801234567")
async def test_an_advertisement_is_not_sent_at_night(env: Environment, alimtalk_key: str) -> None:
    set_clock(env, "2026-11-15 23:00")
    browser = await signed_in_browser(env)

    for kind in ("sms", "friendtalk"):
        shown = await review(browser, talk(kind, alimtalk_key, adFlag="1", adSender="봄상점"))
        seen = await preview(browser, talk(kind, alimtalk_key, adFlag="1", adSender="봄상점"))

        assert shown.status == 422
        assert "sendDate" in errors(shown)
        assert "08:00부터 20:50 사이로 예약하세요" in seen.text


@pytest.mark.settings(opt_out_number="0801234567", night_ads="move")
async def test_night_advertisement_is_postponed_if_the_operator_allows_it(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    set_clock(env, "2026-11-15 23:00")
    browser = await signed_in_browser(env)

    for kind in ("sms", "friendtalk"):
        shown = await review(browser, talk(kind, alimtalk_key, adFlag="1", adSender="봄상점"))
        await send(browser, talk(kind, alimtalk_key, adFlag="1", adSender="봄상점"))

        assert "2026-11-16 08:00" in shown.text
    assert {one["scheduledDate"] for one in await list_messages(call)} == {"2026-11-16 08:00:00"}


async def test_advertisement_by_text_asks_for_the_number(env: Environment, call: Caller, browser: Browser) -> None:
    ad = form(adFlag="1", adSender="봄상점")

    page = await browser.get("/console/send?kind=sms")
    absent, wrong = await review(browser, ad), await review(browser, {**ad, "optOutNumber": "02-1234-5678"})
    typed = await preview(browser, {**ad, "optOutNumber": "080 123 4567"})
    await browser.submit("/console/numbers/opt-out", optOutNumber="080-999-8888")
    by_account = await preview(browser, ad)
    offered = await browser.get("/console/send?kind=lms")
    await send(browser, ad)
    await env.wait(3)

    assert 'name="optOutNumber"' in page.text
    assert (absent.status, list(errors(absent))) == (400, ["optOutNumber"])
    assert (wrong.status, list(errors(wrong))) == (400, ["optOutNumber"])
    assert preview_text(typed) == AD_TEXT
    assert preview_text(by_account) == AD_TEXT.replace("0801234567", "0809998888")
    assert 'placeholder="080-999-8888"' in offered.text
    (message,) = await list_phone_messages(call)
    assert message["content"] == AD_TEXT.replace("0801234567", "0809998888")


async def test_text_that_begins_like_an_advertisement_is_not_sent_at_night(env: Environment) -> None:
    set_clock(env, "2026-11-15 23:00")
    browser = await signed_in_browser(env)

    fields = {**form(content="[광고]봄"), **AD_FIELDS, "adFlag": ""}
    shown = await review(browser, fields)
    seen = await preview(browser, fields)

    assert (shown.status, list(errors(shown))) == (422, ["sendDate"])
    assert "08:00부터 20:50 사이로 예약하세요" in seen.text


async def test_a_message_is_sent_when_it_is_scheduled(env: Environment, call: Caller, browser: Browser) -> None:
    request_id = await send(browser, form(later="1", sendDate="2026-11-15T12:02"))
    await env.wait(60)
    before = await list_phone_messages(call)
    done = await browser.get(f"/console/send/done/{request_id}")
    await env.wait(120)

    assert before == []
    assert "2026-11-15 12:02" in done.text
    assert f'href="/console/requests/{request_id}"' in done.text
    assert len(await list_phone_messages(call)) == 1


async def test_fallback_is_sent_as_previewed(
    env: Environment, call: Caller, alimtalk_key: str, browser: Browser
) -> None:
    fallback = {"resend": "1", "resendPhoneNumber": SENDER, "resendContent": "#{이름}님, 문자로 알립니다"}
    fields = talk("alimtalk", alimtalk_key, receivers=f"{NO_USER}, 홍길동", **fallback)

    await send(browser, fields)
    await env.wait(60)

    (message,) = await list_phone_messages(call, NO_USER)
    assert (message["kind"], message["content"]) == ("sms", "홍길동님, 문자로 알립니다")


async def test_test_message_goes_to_own_phone_and_number_is_stored(
    env: Environment, call: Caller, browser: Browser
) -> None:
    fields = form(content="#{이름}님", receivers=f"{PHONE}, 홍길동", later="1", sendDate="2026-11-20T12:00")

    tested = await browser.submit("/console/send/test", **fields, own_number="010-7777-0000", test_key="ab")
    again = await browser.submit("/console/send/test", **fields, own_number="010-7777-0000", test_key="ab")
    anew = await browser.submit("/console/send/test", **fields, own_number="010-7777-0000", **hidden_fields(tested))
    await env.wait(5)
    followed = await browser.get(re.findall(r'href="(/console/requests/[^"]+)"', tested.text)[0])
    page = await browser.get("/console/send?kind=lms")
    other = await (await signed_in_browser(env, Role.SENDER)).get("/console/send")

    assert [shown.status for shown in (tested, again, anew)] == [200, 200, 200]
    assert [one["content"] for one in await list_phone_messages(call, "010-7777-0000")] == ["홍길동님"] * 2
    assert await list_phone_messages(call) == []
    assert (followed.status, "#{이름}님" in followed.text) == (200, True)
    assert 'value="010-7777-0000"' in page.text
    assert "7777" not in other.text


async def test_refused_test_message_shows_the_reason(env: Environment, call: Caller, browser: Browser) -> None:
    bad = await browser.submit("/console/send/test", **form(), own_number="12")
    long = await browser.submit("/console/send/test", **form(content="가" * 46), own_number=PHONE)
    await env.wait(5)

    assert "휴대폰 번호가 아닙니다" in bad.text
    assert "최대 90바이트인데 92바이트입니다" in long.text
    assert await list_phone_messages(call) == []


async def test_audit_log_records_sends_without_numbers_or_text(env: Environment, browser: Browser) -> None:
    request_id = await send(browser, form())
    await browser.submit("/console/send/test", **form(), own_number=PHONE, test_key="ab")

    tested, sent, *_ = await env.store.read(latest_entries, None, 100)
    assert (sent.action, sent.actor, sent.target) == ("message.send", "owner-of-acme", request_id)
    assert tested.action == "message.test"
    assert "1234" not in tested.target


COMPLETE = {**AD_FIELDS, "adFlag": ""}


@pytest.mark.parametrize("content", ["(광고)세일", "(광고) 세일", "[광고]세일", "  (광고)세일"])
async def test_typed_label_makes_an_advertisement(
    env: Environment, call: Caller, browser: Browser, content: str
) -> None:
    told = await preview(browser, form(content=content))
    bare = await review(browser, form(content=content))
    await send(browser, form(content=content, **COMPLETE))
    await env.wait(5)

    assert "광고로 발송합니다" in told.text
    assert (bare.status, set(errors(bare))) == (400, {"adSender"})
    (message,) = await list_phone_messages(call)
    assert message["content"] == "(광고)[봄상점] 세일\n무료거부 0801234567"


async def test_advertisement_by_text_asks_who_sends_it(browser: Browser) -> None:
    ad = form(content="세일", adFlag="1")

    no_name = await review(browser, {**ad, "optOutNumber": "080-123-4567"})
    uploaded = await browser.submit(UPLOAD, **{**ad, "optOutNumber": "080-123-4567"})

    assert list(errors(no_name)) == ["adSender"]
    assert "보내는 사람의 이름(상호)을 밝혀야 합니다." in errors(no_name)["adSender"]
    assert (uploaded.status, set(errors(uploaded))) == (400, {"adSender"})


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("세일", "(광고)[봄상점] 세일"),
        ("봄상점 세일", "(광고)봄상점 세일"),
        ("(광고)[봄상점] 세일", "(광고)[봄상점] 세일"),
        ("", ""),
    ],
)
async def test_name_is_added_unless_the_text_begins_with_it(browser: Browser, content: str, shown: str) -> None:
    seen = await preview(browser, form(content=content, **AD_FIELDS))

    assert preview_text(seen).partition("\n")[0] == shown

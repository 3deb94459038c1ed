"""Advertisements by SMS, LMS and MMS: their marks, their number for opting out, and the night."""

from typing import Any

import pytest

from pabal.service.access.accounts import sender_numbers
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    alimtalk_body,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    list_messages,
    list_phone_messages,
    receivers_of,
    set_clock,
    sms_body,
    summarize_refusal,
)

NUMBER = "080-123-4567"
LINE = "무료거부 0801234567"
NIGHT = "2026-11-15 21:00"
kinds = pytest.mark.parametrize("kind", ["SMS", "LMS", "MMS"])


async def set_account_number(env: Environment, number: str | None) -> None:
    audit_entry = AuditEntry(env.world.now(), None, "test", 1, "account.opt_out", "")
    await env.store.write(sender_numbers.set_opt_out_number, 1, number, audit_entry)


@kinds
async def test_marks_are_added_to_the_text_that_is_sent_and_recorded(
    env: Environment, call: Caller, kind: str
) -> None:
    await call_ok(call, f"message/send{kind}", sms_body(adFlag=True, optOutNumber=NUMBER))
    await env.wait(3)

    (arrived,) = await list_phone_messages(call)
    record = await get_message(call)
    assert arrived["content"] == record["content"] == f"(광고)안녕하세요\n{LINE}"
    assert describe_outcome(record) == "completed 1000"


@kinds
@pytest.mark.parametrize("flag", [{}, {"adFlag": False}, {"adFlag": None}])
async def test_other_text_is_unchanged_and_needs_no_number(call: Caller, kind: str, flag: dict[str, Any]) -> None:
    await call_ok(call, f"message/send{kind}", sms_body(**flag))
    await call_ok(call, f"message/send{kind}", sms_body("010-2222-2222", optOutNumber=NUMBER, **flag))

    assert (await get_message(call))["content"] == "안녕하세요"
    assert (await get_message(call, "010-2222-2222"))["content"] == "안녕하세요"


@pytest.mark.settings(opt_out_number="080-111-1111")
async def test_number_is_that_of_the_request_else_the_accounts_else_the_setting(
    env: Environment, call: Caller
) -> None:
    async def sent_line(**fields: Any) -> str:
        await call_ok(call, "message/sendSMS", sms_body(adFlag=True, **fields))
        content: str = (await list_messages(call))[0]["content"]
        await env.wait(1)
        return content.split("\n")[-1]

    by_setting = await sent_line()
    await set_account_number(env, "0802222222")
    await env.wait(1)
    by_account = await sent_line()
    by_request = await sent_line(optOutNumber="+82 80 333 3333")
    by_text = await sent_line(content="무료거부 080-444-4444")
    await set_account_number(env, None)
    await env.wait(1)
    again = await sent_line(optOutNumber="")

    assert by_setting == again == "무료거부 0801111111"
    assert by_account == "무료거부 0802222222"
    assert by_request == "무료거부 0803333333"
    assert by_text == "(광고)무료거부 080-444-4444"


@kinds
async def test_advertisement_without_a_number_is_refused(call: Caller, kind: str) -> None:
    refused = await call(f"message/send{kind}", sms_body(adFlag=True))
    with_own = await call(f"message/send{kind}", sms_body(adFlag=True, content="무료수신거부 080-123-4567"))

    assert summarize_refusal(refused) == ("MISSING_PARAMETER", {"optOutNumber": "MISSING_PARAMETER"})
    assert with_own.result == "SUCCESS"
    assert len(await list_messages(call)) == 1


@with_each(
    "number", ["02-1234-5678", "010-1234-5678", "1588-0000", "080-12-3456", "080-1234-56789", "무료", "080" * 20]
)
@with_each("flag", [True, False])
@pytest.mark.settings(opt_out_number=NUMBER)
async def test_number_that_is_not_free_is_refused(call: Caller, number: str, flag: bool) -> None:
    refused = await call("message/sendSMS", sms_body(adFlag=flag, optOutNumber=number))

    assert summarize_refusal(refused) == ("INVALID_PHONE_NUMBER", {"optOutNumber": "INVALID_PHONE_NUMBER"})
    assert await list_messages(call) == []


@with_each(
    ("kind", "content", "values", "result"),
    [
        ("SMS", "가" * 32, {}, "SUCCESS"),
        ("SMS", "가" * 32 + "a", {}, "CONTENT_TOO_LONG"),
        ("SMS", "(광고)" + "가" * 32, {}, "SUCCESS"),
        ("SMS", "#{말}", {"말": "가" * 32}, "SUCCESS"),
        ("SMS", "#{말}", {"말": "가" * 32 + "a"}, "CONTENT_TOO_LONG"),
        ("LMS", "가" * 988, {}, "CONTENT_TOO_LONG"),
    ],
)
async def test_marks_count_towards_the_length(
    call: Caller, kind: str, content: str, values: dict[str, str], result: str
) -> None:
    receivers = receivers_of(PHONE, templateData=values)
    body = sms_body(content=content, receivers=receivers, adFlag=True, optOutNumber=NUMBER)

    assert (await call(f"message/send{kind}", body)).result == result


@kinds
@pytest.mark.parametrize(
    "fields",
    [
        {"adFlag": True, "optOutNumber": NUMBER},
        {"content": "(광고)봄"},
        {"content": "[광고]봄"},
        {"content": "#{말}봄", "receivers": [*receivers_of(templateData={"말": "[광고]"})]},
    ],
)
async def test_advertisement_at_night_is_refused(
    env: Environment, call: Caller, kind: str, fields: dict[str, Any]
) -> None:
    set_clock(env, NIGHT)

    refused = await call(f"message/send{kind}", sms_body(**fields))
    later = await call(f"message/send{kind}", sms_body(**{**fields, "sendDate": "2026-11-16 08:00"}))
    other = await call(f"message/send{kind}", sms_body())

    assert summarize_refusal(refused) == ("NIGHT_AD_RESTRICTED", {"sendDate": "NIGHT_AD_RESTRICTED"})
    assert (later.result, other.result) == ("SUCCESS", "SUCCESS")


@pytest.mark.settings(night_ads="move")
async def test_advertisement_at_night_is_moved_to_the_morning_if_configured(env: Environment, call: Caller) -> None:
    set_clock(env, NIGHT)

    await call_ok(call, "message/sendSMS", sms_body(adFlag=True, optOutNumber=NUMBER))
    await call_ok(call, "message/sendLMS", sms_body("010-2222-2222", subject="(광고)봄"))

    assert (await get_message(call))["scheduledDate"] == "2026-11-16 08:00:00"
    looks_like_one = await get_message(call, "010-2222-2222")
    assert looks_like_one["scheduledDate"] == "2026-11-16 08:00:00"
    assert looks_like_one["content"] == "안녕하세요"


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({}, f"(광고)친구야\n{LINE}"),
        ({"resendContent": "문자로"}, f"(광고)문자로\n{LINE}"),
        ({"resendContent": "(광고)무료거부 080-999-8888"}, "(광고)무료거부 080-999-8888"),
    ],
)
@pytest.mark.settings(opt_out_number="0809999999")
async def test_fallback_of_an_advertisement_has_both_marks(
    env: Environment, call: Caller, sender_key: str, fields: dict[str, Any], content: str
) -> None:
    await set_account_number(env, "0801234567")

    await call_ok(
        call, "message/sendFriendtalk", friendtalk_body(sender_key, NO_USER, adFlag=True, **FALLBACK, **fields)
    )
    await env.wait(3)

    fallback, _ = await list_messages(call, NO_USER)
    assert describe_outcome(fallback) == "completed 1000"
    assert fallback["content"] == content


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [({}, "fail 9002"), ({"resendContent": "(광고)무료거부 080-999-8888"}, "completed 1000")],
)
async def test_fallback_of_an_advertisement_without_a_number_fails(
    env: Environment, call: Caller, sender_key: str, fields: dict[str, Any], outcome: str
) -> None:
    body = friendtalk_body(sender_key, NO_USER, adFlag=True, **FALLBACK, **fields)

    await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(3)

    fallback, origin = await list_messages(call, NO_USER)
    assert (describe_outcome(fallback), describe_outcome(origin)) == (outcome, "fail 3019")
    assert fallback["content"].startswith("(광고)")


async def test_fallback_of_an_alimtalk_that_begins_with_the_label_waits_until_morning(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    set_clock(env, NIGHT)
    body = alimtalk_body(alimtalk_key, NO_USER, resendContent="(광고)봄", **FALLBACK)

    await call_ok(call, "message/sendAlimtalk", body)
    await env.wait(31)
    at_night, _ = await list_messages(call, NO_USER)
    env.world.move_clock(11 * 3600)
    await env.wait(31)
    in_the_morning, _ = await list_messages(call, NO_USER)

    assert describe_outcome(at_night) == "waiting"
    assert (describe_outcome(in_the_morning), in_the_morning["content"]) == ("completed 1000", "(광고)봄")


async def test_setting_the_number_of_an_account_is_recorded_once(env: Environment) -> None:
    await env.caller()
    for number in ("0801234567", "0801234567", None, None):
        await set_account_number(env, number)

    assert await env.store.read(accounts.get_opt_out_numbers, [1]) == {}
    rows = await env.store.read(lambda tx: tx.fetch_all("select action from audit_log"))
    assert [row[0] for row in rows] == ["account.opt_out"] * 2

"""Every result code of the API: caused once, and answered in Korean and English."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from pabal.domain.base.codes import LANGUAGES, Code
from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, accounts
from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import (
    FailingStore,
    alimtalk_body,
    approve_template,
    call_ok,
    channel_body,
    friendtalk_body,
    get_latest_token,
    image_body,
    register_channel,
    set_clock,
    sms_body,
    template_body,
)

Cause = Callable[[Environment, Caller], Awaitable[ApiResponse]]
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}[+-][0-9]{2}:[0-9]{2}")
pytestmark = pytest.mark.usefixtures("failing_store")
INSIDE = "disk 7 of rack 3 says ENOSPC in table messages"


class CodeCase(NamedTuple):
    """How to cause a code: the call, the settings and the time."""

    act: Cause
    settings: dict[str, Any] = {}  # noqa: RUF012 - never written to
    clock: str = "2026-11-15 12:00"


def _call_with(operation: str, body: Any = None, **options: Any) -> Cause:
    async def act(env: Environment, call: Caller) -> ApiResponse:
        return await call(operation, body, **options)

    return act


def _call_with_sender_key(operation: str, write: Callable[..., dict[str, Any]], **changes: Any) -> Cause:
    """Call with the sender key of an approved channel."""

    async def act(env: Environment, call: Caller) -> ApiResponse:
        return await call(operation, write(await register_channel(call), **changes))

    return act


async def _use_expired_key(env: Environment, call: Caller) -> ApiResponse:
    late = await env.caller(language=call.language, expires_at=env.world.now())
    return await late("message/list")


async def _use_key_without_scope(env: Environment, call: Caller) -> ApiResponse:
    reader = await env.caller(language=call.language, scopes=["read"])
    return await reader("message/sendSMS", sms_body())


async def _exceed_rate(env: Environment, call: Caller) -> ApiResponse:
    slow = await env.caller(language=call.language, rate=1)
    await slow("message/list")
    return await slow("message/list")


async def _exceed_day(env: Environment, call: Caller) -> ApiResponse:
    account_id = await env.store.write(accounts.ensure_account, "limited", env.world.now())
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=1))
    limited = await env.caller("limited", language=call.language)
    return await limited("message/sendSMS", sms_body("010-1111-1111", "010-2222-2222"))


async def _register_twice(env: Environment, call: Caller) -> ApiResponse:
    await register_channel(call)
    return await call("sender/create", channel_body())


async def _delete_approved_template(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await approve_template(call, sender_key)
    return await call("template/delete", {"senderKey": sender_key, "templateCode": "T1"})


async def _use_unapproved_template(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await call_ok(call, "template/create", template_body(sender_key))
    return await call("message/sendAlimtalk", alimtalk_body(sender_key))


async def _use_disabled_profile(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await env.store.write(lambda tx: tx.execute("update profiles set is_enabled = 0"))
    return await call("message/sendFriendtalk", friendtalk_body(sender_key))


async def _use_wrong_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    return await call("sender/auth", {"channelId": "@shop", "token": "wrong"})


async def _use_expired_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)
    await env.jump(1800)
    return await call("sender/auth", {"channelId": "@shop", "token": token})


async def _use_locked_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    for _ in range(5):
        await call("sender/auth", {"channelId": "@shop", "token": "wrong"})
    return await call("sender/auth", {"channelId": "@shop", "token": await get_latest_token(call)})


def _break_store(error: Exception) -> Cause:
    async def act(env: Environment, call: Caller) -> ApiResponse:
        assert isinstance(env.store, FailingStore)
        env.store.error = error
        try:
            return await call("message/sendSMS", sms_body())
        finally:
            env.store.error = None

    return act


CODE_CASES: dict[Code, CodeCase] = {
    Code.SUCCESS: CodeCase(_call_with("message/sendSMS", sms_body())),
    Code.INVALID_JSON: CodeCase(_call_with("message/sendSMS", b"{")),
    Code.MISSING_PARAMETER: CodeCase(_call_with("message/sendSMS", {})),
    Code.INVALID_PARAMETER: CodeCase(_call_with("message/sendSMS", sms_body(content=5))),
    Code.INVALID_PHONE_NUMBER: CodeCase(_call_with("message/sendSMS", sms_body("119"))),
    Code.INVALID_DATE: CodeCase(_call_with("message/sendSMS", sms_body(sendDate="2026-11-14 12:00"))),
    Code.CONTENT_TOO_LONG: CodeCase(_call_with("message/sendSMS", sms_body(content="가" * 46))),
    Code.UNSUPPORTED_CHARACTER: CodeCase(_call_with("message/sendSMS", sms_body(content="😀"))),
    Code.MISSING_VARIABLE: CodeCase(_call_with("message/sendSMS", sms_body(content="#{name}"))),
    Code.INVALID_IMAGE: CodeCase(_call_with("message/sendMMS", sms_body(image=image_body(body="AAAA")))),
    Code.INVALID_BUTTON: CodeCase(_call_with_sender_key("message/sendFriendtalk", friendtalk_body, buttons=[{}])),
    Code.TOO_MANY_RECEIVERS: CodeCase(_call_with("message/sendSMS", sms_body("1", "2")), {"max_receivers": 1}),
    Code.UNAUTHORIZED: CodeCase(_call_with("message/list", headers={"apikey": "nobody"})),
    Code.KEY_EXPIRED: CodeCase(_use_expired_key),
    Code.FORBIDDEN: CodeCase(_use_key_without_scope),
    Code.LIMIT_EXCEEDED: CodeCase(_exceed_day),
    Code.NOT_FOUND: CodeCase(_call_with("message/sendFax")),
    Code.SENDER_NOT_FOUND: CodeCase(_call_with("message/sendFriendtalk", friendtalk_body("x"))),
    Code.TEMPLATE_NOT_FOUND: CodeCase(_call_with_sender_key("message/sendAlimtalk", alimtalk_body)),
    Code.CATEGORY_NOT_FOUND: CodeCase(_call_with("sender/create", channel_body(category="x"))),
    Code.REQUEST_NOT_FOUND: CodeCase(_call_with("message/cancel", {"requestId": "x"})),
    Code.MESSAGE_NOT_FOUND: CodeCase(_call_with("message/detail", query={"messageId": "0" * 32})),
    Code.WEBHOOK_NOT_FOUND: CodeCase(_call_with("webhook/delete", {"webhookId": "1"})),
    Code.METHOD_NOT_ALLOWED: CodeCase(_call_with("message/list", method="GET")),
    Code.DUPLICATE: CodeCase(_register_twice),
    Code.INVALID_STATE: CodeCase(_delete_approved_template),
    Code.PAYLOAD_TOO_LARGE: CodeCase(_call_with("message/list", b" " * 1025), {"max_body_bytes": 1024}),
    Code.UNSUPPORTED_MEDIA_TYPE: CodeCase(
        _call_with("message/list", b"<xml/>", headers={"content-type": "text/xml"})
    ),
    Code.SENDER_NUMBER_NOT_REGISTERED: CodeCase(
        _call_with("message/sendSMS", sms_body()), {"check_sender_numbers": True}
    ),
    Code.SENDER_NOT_APPROVED: CodeCase(_use_disabled_profile),
    Code.TEMPLATE_NOT_APPROVED: CodeCase(_use_unapproved_template),
    Code.NIGHT_AD_RESTRICTED: CodeCase(
        _call_with_sender_key("message/sendFriendtalk", friendtalk_body, adFlag=True), {}, "2026-11-15 21:00"
    ),
    Code.PRODUCT_NOT_AVAILABLE: CodeCase(
        _call_with("message/sendLMS", sms_body()), {"routes": {"sms": ["simulator"]}}
    ),
    Code.TOKEN_INVALID: CodeCase(_use_wrong_token),
    Code.TOKEN_EXPIRED: CodeCase(_use_expired_token),
    Code.TOKEN_LOCKED: CodeCase(_use_locked_token),
    Code.RATE_LIMITED: CodeCase(_exceed_rate),
    Code.INTERNAL_ERROR: CodeCase(_break_store(RuntimeError(INSIDE))),
    Code.SERVICE_UNAVAILABLE: CodeCase(_break_store(StoreUnavailable(INSIDE))),
}
each_code = pytest.mark.parametrize(
    "code",
    [pytest.param(code, marks=pytest.mark.settings(**case.settings)) for code, case in CODE_CASES.items()],
    ids=[code.name for code in CODE_CASES],
)


async def _cause_code(env: Environment, code: Code, language: str) -> ApiResponse:
    """Return the answer of a scenario."""
    set_clock(env, CODE_CASES[code].clock)
    return await CODE_CASES[code].act(env, await env.caller(language=language))


def _collect_values(found: Any) -> list[Any]:
    """Return every value of an answer, at any depth."""
    if isinstance(found, dict):
        return [value for each in found.values() for value in _collect_values(each)]
    if isinstance(found, list):
        return [value for each in found for value in _collect_values(each)]
    return [found]


def test_every_code_has_a_scenario_that_causes_it() -> None:
    assert set(CODE_CASES) == set(Code)


@pytest.mark.parametrize("language", LANGUAGES)
@each_code
async def test_every_code_is_answered_in_the_envelope_and_the_callers_language(
    env: Environment, code: Code, language: str
) -> None:
    answer = await _cause_code(env, code, language)

    assert answer.result == code.name
    assert answer.status == code.http_status
    assert answer.headers["content-type"] == "application/json;charset=UTF-8"
    assert answer.headers["x-request-id"]
    assert answer.body["locale"] == language
    assert answer.body["resultMessage"].startswith(code.text.in_language(language))
    assert TIME.fullmatch(answer.body["time"])
    assert set(answer.body) - {"errors", "item"} == {"time", "result", "resultMessage", "locale"}
    assert None not in _collect_values(answer.body)
    for error in answer.body.get("errors", []):
        assert set(error) == {"field", "code", "message"}
        assert error["message"].startswith(Code[error["code"]].text.in_language(language))
    if "errors" in answer.body:
        assert answer.body["errors"][0]["code"] == code.name


@each_code
@pytest.mark.settings(always_ok=True)
async def test_always_ok_answers_200_instead_of_4xx(env: Environment, code: Code) -> None:
    answer = await _cause_code(env, code, "ko")

    is_softened = 400 <= code.http_status < 500 and code is not Code.RATE_LIMITED
    assert answer.result == code.name
    assert answer.status == (200 if is_softened else code.http_status)


@pytest.mark.settings(always_ok=True)
async def test_always_ok_applies_to_the_interface_only(call: Caller) -> None:
    assert (await call("/nowhere")).status == 404


@pytest.mark.parametrize("code", [Code.INTERNAL_ERROR, Code.SERVICE_UNAVAILABLE])
async def test_internal_details_are_not_exposed(env: Environment, code: Code) -> None:
    answer = await _cause_code(env, code, "en")

    answer_text = f"{answer.body} {answer.headers}"
    for word in ("ENOSPC", "disk", "table", "messages", "Error", "Traceback", "store", ".py"):
        assert word not in answer_text.replace("INTERNAL_ERROR", "")


async def test_internal_error_names_an_id_to_look_up_in_the_log(env: Environment) -> None:
    answer = await _cause_code(env, Code.INTERNAL_ERROR, "en")

    assert answer.headers["x-request-id"] in answer.body["resultMessage"]


async def test_stopping_service_accepts_no_requests(env: Environment, call: Caller) -> None:
    await env.service.stop()

    answer = await call("message/sendSMS", sms_body())

    assert (answer.result, answer.status) == ("SERVICE_UNAVAILABLE", 503)

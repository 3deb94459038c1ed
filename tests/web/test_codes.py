"""Every result code of the interface: caused once, and answered in Korean and English."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pabal.domain.codes import LANGUAGES, Code
from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.virtual import ApiResponse, Caller, Environment, open_store
from tests.fixtures.web import (
    FailingStore,
    RunScenario,
    alimtalk_body,
    approve_template,
    call_ok,
    channel_body,
    friendtalk_body,
    get_latest_token,
    image_body,
    register_channel,
    sms_body,
    template_body,
    world_starting_at,
)

Provoke = Callable[[Environment, Caller], Awaitable[ApiResponse]]
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}[+-][0-9]{2}:[0-9]{2}")
INSIDE = "disk 7 of rack 3 says ENOSPC in table messages"


class Provoked(NamedTuple):
    """How to cause a code: the call, the settings and the time."""

    act: Provoke
    settings: dict[str, Any] = {}  # noqa: RUF012 - never written to
    clock: str = "2026-11-15 12:00"


def _calling(operation: str, body: Any = None, **options: Any) -> Provoke:
    async def act(env: Environment, call: Caller) -> ApiResponse:
        return await call(operation, body, **options)

    return act


def _talking(operation: str, write: Callable[..., dict[str, Any]], **changes: Any) -> Provoke:
    """Call with the sender key of an approved channel."""

    async def act(env: Environment, call: Caller) -> ApiResponse:
        return await call(operation, write(await register_channel(call), **changes))

    return act


async def _expired(env: Environment, call: Caller) -> ApiResponse:
    late = await env.caller(language=call.language, expires_at=env.world.now())
    return await late("message/list")


async def _forbidden(env: Environment, call: Caller) -> ApiResponse:
    reader = await env.caller(language=call.language, scopes=["read"])
    return await reader("message/sendSMS", sms_body())


async def _limited(env: Environment, call: Caller) -> ApiResponse:
    slow = await env.caller(language=call.language, rate=1)
    await slow("message/list")
    return await slow("message/list")


async def _duplicate(env: Environment, call: Caller) -> ApiResponse:
    await register_channel(call)
    return await call("sender/create", channel_body())


async def _wrong_state(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await approve_template(call, sender_key)
    return await call("template/delete", {"senderKey": sender_key, "templateCode": "T1"})


async def _not_approved(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await call_ok(call, "template/create", template_body(sender_key))
    return await call("message/sendAlimtalk", alimtalk_body(sender_key))


async def _out_of_use(env: Environment, call: Caller) -> ApiResponse:
    sender_key = await register_channel(call)
    await env.store.write(lambda tx: tx.execute("update profiles set is_enabled = 0"))
    return await call("message/sendFriendtalk", friendtalk_body(sender_key))


async def _wrong_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    return await call("sender/auth", {"channelId": "@shop", "token": "wrong"})


async def _old_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)
    await env.wait(1800)
    return await call("sender/auth", {"channelId": "@shop", "token": token})


async def _locked_token(env: Environment, call: Caller) -> ApiResponse:
    await call_ok(call, "sender/create", channel_body())
    for _ in range(5):
        await call("sender/auth", {"channelId": "@shop", "token": "wrong"})
    return await call("sender/auth", {"channelId": "@shop", "token": await get_latest_token(call)})


def _breaking(trouble: Exception) -> Provoke:
    async def act(env: Environment, call: Caller) -> ApiResponse:
        assert isinstance(env.store, FailingStore)
        env.store.error = trouble
        try:
            return await call("message/sendSMS", sms_body())
        finally:
            env.store.error = None

    return act


PROVOKED: dict[Code, Provoked] = {
    Code.SUCCESS: Provoked(_calling("message/sendSMS", sms_body())),
    Code.INVALID_JSON: Provoked(_calling("message/sendSMS", b"{")),
    Code.MISSING_PARAMETER: Provoked(_calling("message/sendSMS", {})),
    Code.INVALID_PARAMETER: Provoked(_calling("message/sendSMS", sms_body(content=5))),
    Code.INVALID_PHONE_NUMBER: Provoked(_calling("message/sendSMS", sms_body("119"))),
    Code.INVALID_DATE: Provoked(_calling("message/sendSMS", sms_body(sendDate="2026-11-14 12:00"))),
    Code.CONTENT_TOO_LONG: Provoked(_calling("message/sendSMS", sms_body(content="가" * 46))),
    Code.UNSUPPORTED_CHARACTER: Provoked(_calling("message/sendSMS", sms_body(content="😀"))),
    Code.MISSING_VARIABLE: Provoked(_calling("message/sendSMS", sms_body(content="#{name}"))),
    Code.INVALID_IMAGE: Provoked(_calling("message/sendMMS", sms_body(image=image_body(body="AAAA")))),
    Code.INVALID_BUTTON: Provoked(_talking("message/sendFriendtalk", friendtalk_body, buttons=[{}])),
    Code.TOO_MANY_RECEIVERS: Provoked(_calling("message/sendSMS", sms_body("1", "2")), {"max_receivers": 1}),
    Code.UNAUTHORIZED: Provoked(_calling("message/list", headers={"apikey": "nobody"})),
    Code.KEY_EXPIRED: Provoked(_expired),
    Code.FORBIDDEN: Provoked(_forbidden),
    Code.NOT_FOUND: Provoked(_calling("message/sendFax")),
    Code.SENDER_NOT_FOUND: Provoked(_calling("message/sendFriendtalk", friendtalk_body("x"))),
    Code.TEMPLATE_NOT_FOUND: Provoked(_talking("message/sendAlimtalk", alimtalk_body)),
    Code.CATEGORY_NOT_FOUND: Provoked(_calling("sender/create", channel_body(category="x"))),
    Code.REQUEST_NOT_FOUND: Provoked(_calling("message/cancel", {"requestId": "x"})),
    Code.METHOD_NOT_ALLOWED: Provoked(_calling("message/list", method="GET")),
    Code.DUPLICATE: Provoked(_duplicate),
    Code.INVALID_STATE: Provoked(_wrong_state),
    Code.PAYLOAD_TOO_LARGE: Provoked(_calling("message/list", b" " * 1025), {"max_body_bytes": 1024}),
    Code.UNSUPPORTED_MEDIA_TYPE: Provoked(
        _calling("message/list", b"<xml/>", headers={"content-type": "text/xml"})
    ),
    Code.SENDER_NUMBER_NOT_REGISTERED: Provoked(
        _calling("message/sendSMS", sms_body()), {"check_sender_numbers": True}
    ),
    Code.SENDER_NOT_APPROVED: Provoked(_out_of_use),
    Code.TEMPLATE_NOT_APPROVED: Provoked(_not_approved),
    Code.NIGHT_AD_RESTRICTED: Provoked(
        _talking("message/sendFriendtalk", friendtalk_body, adFlag=True), {}, "2026-11-15 21:00"
    ),
    Code.PRODUCT_NOT_AVAILABLE: Provoked(
        _calling("message/sendLMS", sms_body()), {"routes": {"sms": ["simulator"]}}
    ),
    Code.TOKEN_INVALID: Provoked(_wrong_token),
    Code.TOKEN_EXPIRED: Provoked(_old_token),
    Code.TOKEN_LOCKED: Provoked(_locked_token),
    Code.RATE_LIMITED: Provoked(_limited),
    Code.INTERNAL_ERROR: Provoked(_breaking(RuntimeError(INSIDE))),
    Code.SERVICE_UNAVAILABLE: Provoked(_breaking(StoreUnavailable(INSIDE))),
}
each_code = pytest.mark.parametrize("code", PROVOKED, ids=[code.name for code in PROVOKED])


def _provoked(run_scenario: RunScenario, folder: Path, code: Code, language: str, **settings: Any) -> ApiResponse:
    """Return the answer of a scenario."""
    provoked = PROVOKED[code]
    world = world_starting_at(provoked.clock)
    answers: list[ApiResponse] = []

    async def scenario(env: Environment) -> None:
        answers.append(await provoked.act(env, await env.caller(language=language)))

    store = FailingStore(open_store(folder, world))
    run_scenario(scenario, world=world, store=store, **provoked.settings, **settings)
    return answers[0]


def _values(found: Any) -> list[Any]:
    """Return every value of an answer, at any depth."""
    if isinstance(found, dict):
        return [value for each in found.values() for value in _values(each)]
    if isinstance(found, list):
        return [value for each in found for value in _values(each)]
    return [found]


def test_every_code_has_a_scenario_that_causes_it() -> None:
    assert set(PROVOKED) == set(Code)


@pytest.mark.parametrize("language", LANGUAGES)
@each_code
def test_every_code_is_answered_in_the_envelope_and_the_callers_language(
    run_scenario: RunScenario, tmp_path: Path, code: Code, language: str
) -> None:
    answer = _provoked(run_scenario, tmp_path, code, language)

    assert answer.result == code.name
    assert answer.status == code.http_status
    assert answer.headers["content-type"] == "application/json;charset=UTF-8"
    assert answer.headers["x-request-id"]
    assert answer.body["locale"] == language
    assert answer.body["resultMessage"].startswith(code.text.in_language(language))
    assert TIME.fullmatch(answer.body["time"])
    assert set(answer.body) - {"errors", "item"} == {"time", "result", "resultMessage", "locale"}
    assert None not in _values(answer.body)
    for error in answer.body.get("errors", []):
        assert set(error) == {"field", "code", "message"}
        assert error["message"].startswith(Code[error["code"]].text.in_language(language))
    if "errors" in answer.body:
        assert answer.body["errors"][0]["code"] == code.name


@each_code
def test_always_ok_answers_200_instead_of_4xx(run_scenario: RunScenario, tmp_path: Path, code: Code) -> None:
    answer = _provoked(run_scenario, tmp_path, code, "ko", always_ok=True)

    is_softened = 400 <= code.http_status < 500 and code is not Code.RATE_LIMITED
    assert answer.result == code.name
    assert answer.status == (200 if is_softened else code.http_status)


def test_always_ok_applies_to_the_interface_only(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()

        assert (await call("/nowhere")).status == 404

    run_scenario(scenario, always_ok=True)


@pytest.mark.parametrize("code", [Code.INTERNAL_ERROR, Code.SERVICE_UNAVAILABLE])
def test_internal_details_are_not_exposed(run_scenario: RunScenario, tmp_path: Path, code: Code) -> None:
    answer = _provoked(run_scenario, tmp_path, code, "en")

    answer_text = f"{answer.body} {answer.headers}"
    for word in ("ENOSPC", "disk", "table", "messages", "Error", "Traceback", "store", ".py"):
        assert word not in answer_text.replace("INTERNAL_ERROR", "")


def test_internal_error_names_an_id_to_look_up_in_the_log(run_scenario: RunScenario, tmp_path: Path) -> None:
    answer = _provoked(run_scenario, tmp_path, Code.INTERNAL_ERROR, "en")

    assert answer.headers["x-request-id"] in answer.body["resultMessage"]


def test_unavailable_service_answers_retry_after(run_scenario: RunScenario, tmp_path: Path) -> None:
    answer = _provoked(run_scenario, tmp_path, Code.SERVICE_UNAVAILABLE, "en")

    assert int(answer.headers["retry-after"]) >= 1


def test_stopping_service_accepts_no_requests(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await env.service.stop()

        answer = await call("message/sendSMS", sms_body())

        assert (answer.result, answer.status) == ("SERVICE_UNAVAILABLE", 503)

    run_scenario(scenario)

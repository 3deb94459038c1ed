"""Dry runs: all checks of a send, and what would become of it; nothing is stored."""

from decimal import Decimal

import pytest

from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, accounts
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    RunScenario,
    alimtalk_body,
    approve_template,
    call_ok,
    friendtalk_body,
    list_messages,
    list_phone_messages,
    set_clock,
    sms_body,
    summarize_refusal,
)

DRY_RUN = {"Dry-Run": "true"}


async def test_dry_run_says_what_each_receiver_would_get(env: Environment, call: Caller) -> None:
    body = sms_body(content="#{name}님, 안녕하세요", sendDate="2026-12-24 18:00")
    body["receivers"] = [
        {"phoneNumber": "01012345678", "templateData": {"name": "홍길동"}},
        {"phoneNumber": PHONE, "templateData": {"name": "Kim"}},
    ]

    answer = await call_ok(call, "message/sendSMS", body, headers=DRY_RUN)

    shared = {"product": "sms", "carrier": "simulator", "scheduledDate": "2026-12-24 18:00:00"}
    first, second = answer.item["receivers"]
    assert first == {
        "phoneNumber": PHONE, "content": "홍길동님, 안녕하세요", "size": 20, "warnings": [], **shared
    }  # fmt: skip
    assert (second["content"], second["size"]) == ("Kim님, 안녕하세요", 17)
    assert [each["code"] for each in second["warnings"]] == ["DUPLICATE_RECEIVER"]
    assert answer.item["wouldAccept"] is True
    assert "requestId" not in answer.item
    await env.wait(5)
    assert not await list_messages(call)
    assert not await list_phone_messages(call)


async def test_every_kind_of_send_can_be_tried(call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, content="#{n}번")
    data = {"receivers": [{"phoneNumber": PHONE, "templateData": {"n": "7"}}]}
    bodies = {
        "LMS": sms_body(subject="안내"),
        "MMS": sms_body(),
        "Alimtalk": {**alimtalk_body(sender_key), **data},
        "Friendtalk": friendtalk_body(sender_key),
        "BrandMessage": friendtalk_body(sender_key, messageType="text"),
    }

    for kind, body in bodies.items():
        answer = await call_ok(call, f"message/send{kind}", body, headers=DRY_RUN)
        (receiver,) = answer.item["receivers"]
        assert receiver["content"] in ("안녕하세요", "7번", "친구야"), kind
        assert receiver["size"] == (10 if kind in ("LMS", "MMS") else len(receiver["content"])), kind
    assert not await list_messages(call)


@pytest.mark.settings(night_ads="move", prices={"lms": Decimal("27.50")})
async def test_dry_run_shows_the_price_and_the_morning(env: Environment, call: Caller) -> None:
    set_clock(env, "2026-11-15 22:00")

    answer = await call_ok(call, "message/sendLMS", sms_body(content="(광고) 세일"), headers=DRY_RUN)

    (receiver,) = answer.item["receivers"]
    assert (receiver["cost"], receiver["scheduledDate"]) == (27.5, "2026-11-16 08:00:00")
    codes = {each["code"] for each in answer.body["warnings"]}
    assert codes == {"POSTPONED_TO_MORNING", "LOOKS_LIKE_ADVERTISING"}


async def test_dry_run_checks_limits_without_spending_them(env: Environment, call: Caller) -> None:
    account_id = await env.store.write(accounts.ensure_account, "acme", env.world.now())
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=2))
    await env.wait(2)

    for _ in range(5):
        await call_ok(call, "message/sendSMS", sms_body(PHONE, PHONE), headers=DRY_RUN)
    too_many = await call("message/sendSMS", sms_body(PHONE, PHONE, PHONE), headers=DRY_RUN)

    assert too_many.result == "LIMIT_EXCEEDED"
    await env.wait(2)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, PHONE))
    assert (await call("message/sendSMS", sms_body(), headers=DRY_RUN)).result == "LIMIT_EXCEEDED"


@pytest.mark.parametrize("action", ["refuse", "drop"])
def test_dry_run_looks_for_duplicates(run_scenario: RunScenario, action: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        before = await call_ok(call, "message/sendSMS", sms_body(), headers=DRY_RUN)
        await call_ok(call, "message/sendSMS", sms_body())

        answer = await call("message/sendSMS", sms_body(), headers=DRY_RUN)

        assert before.item["receivers"][0]["warnings"] == []
        if action == "refuse":
            assert answer.result == "DUPLICATE"
        else:
            assert [each["code"] for each in answer.item["receivers"][0]["warnings"]] == ["DUPLICATE_TEXT"]

    run_scenario(scenario, duplicate_minutes=10, duplicate_action=action)


async def test_dry_run_ignores_idempotency_keys(call: Caller) -> None:
    key = {"Idempotency-Key": "k1"}

    await call_ok(call, "message/sendSMS", sms_body(), headers={**key, **DRY_RUN})
    real = await call_ok(call, "message/sendSMS", sms_body(content="다른 글"), headers={**key, "Dry-Run": "false"})
    tried = await call_ok(call, "message/sendSMS", sms_body(), headers={**key, **DRY_RUN})

    assert real.request_id
    assert tried.item["wouldAccept"] is True
    assert len(await list_messages(call)) == 1


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"Dry-Run": "yes"}, "Dry-Run"),
        ({"Dry-Run": ""}, "Dry-Run"),
        ({"Dry-Run": "true, false"}, "Dry-Run"),
        ({"DryRun": "true"}, "DryRun"),
        ({"X-Dry-Run": "true"}, "X-Dry-Run"),
        ({"X-Dry-Run": "false"}, "X-Dry-Run"),
    ],
)
async def test_misspelt_dry_run_never_sends(call: Caller, headers: dict[str, str], field: str) -> None:
    answer = await call("message/sendSMS", sms_body(), headers=headers)

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {field: "INVALID_PARAMETER"})
    assert not await list_messages(call)


@with_each("path", [each.path for each in ENDPOINTS if not each.is_send])
async def test_only_sends_take_a_dry_run(env: Environment, path: str) -> None:
    answer = await (await env.caller())(path, headers=DRY_RUN)

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {"Dry-Run": "INVALID_PARAMETER"})


@pytest.mark.settings(max_receivers=2000)
async def test_dry_run_shows_a_thousand_receivers_and_checks_all(call: Caller) -> None:
    numbers = [f"010-1000-{number:04d}" for number in range(1500)]

    answer = await call_ok(call, "message/sendSMS", sms_body(*numbers), headers=DRY_RUN)
    wrong = await call("message/sendSMS", sms_body(*numbers, "119"), headers=DRY_RUN)

    assert len(answer.item["receivers"]) == 1000
    assert summarize_refusal(wrong).errors == {"receivers[1500].phoneNumber": "INVALID_PHONE_NUMBER"}

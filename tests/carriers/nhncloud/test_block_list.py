"""Opt-outs at NHN Cloud: received by webhook, read from its block service, and kept for the right accounts."""

from typing import Any

import pytest

from pabal.carriers.relay.carrier import FIRST_READ_S, READ_INTERVAL_S
from pabal.service.access.accounts import sender_numbers
from pabal.service.relay.sync import OPT_OUT_INTERVAL_S
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from tests.carriers.nhncloud.test_results import SIGNATURE, tell
from tests.fixtures.nhncloud import NhnCloud
from tests.fixtures.relay_delivery import OPT_OUT
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, describe_outcome, get_message, sms_body

PHONE, DIGITS = "010-2000-0001", "01020000001"
OWN = "0809999999"
AD = {"adFlag": True}
HOUR_S = 3600


def hook(fixture: NhnCloud, number: str = OPT_OUT, phone: str = DIGITS) -> dict[str, Any]:
    """Return the body of SMS ko/webhook.md, "광고 문자 수신 번호 등록"."""
    row = {
        "hookId": "202007271010101010sadasdavas",
        "recipientNo": phone,
        "unsubscribeNo": number,
        "enterpriseName": "NHN Cloud",
        "createdDateTime": "2020-09-09T11:25:10.000+09:00",
    }
    return {"hooksId": "1", "appKey": fixture.relay.sms_app_key, "event": "UNSUBSCRIBE", "hooks": [row]}


async def opted_out(call: Caller) -> list[tuple[str, str]]:
    return [(each["phoneNumber"], each["source"]["value"]) for each in (await call("optOut/list")).items]


async def set_number(env: Environment, account: str, number: str) -> None:
    account_id = await env.store.write(accounts.ensure_account, account, env.world.now())
    entry = AuditEntry(env.world.now(), None, "test", account_id, "account.opt_out", "")
    await env.store.write(sender_numbers.set_opt_out_number, account_id, number, entry)


@pytest.mark.settings(webhook_signature=SIGNATURE)
async def test_webhook_opts_out_of_accounts_that_named_the_number(env: Environment, fixture: NhnCloud) -> None:
    call, quiet, other = await fixture.add_channel(env), await env.caller("quiet"), await env.caller("other")
    await set_number(env, "other", OWN)
    for each in (call, other):
        await call_ok(each, "message/sendSMS", sms_body(PHONE, **AD))
    await call_ok(quiet, "message/sendSMS", sms_body(PHONE))
    await env.wait(6)

    first, again = await tell(call, hook(fixture)), await tell(call, hook(fixture))
    await call_ok(call, "message/sendSMS", sms_body(PHONE, content="둘째", **AD))

    assert (first.result, again.result) == ("SUCCESS", "SUCCESS")
    assert await opted_out(call) == [(PHONE, "relay")]
    assert (await opted_out(quiet), await opted_out(other)) == ([], [])
    (newest, *_) = (await call("message/list", {"receivers": PHONE})).items
    assert describe_outcome(newest) == "fail 9003"


@pytest.mark.settings(webhook_signature=SIGNATURE)
async def test_account_with_its_own_number_gets_its_opt_outs_without_messages(
    env: Environment, fixture: NhnCloud
) -> None:
    call, other = await fixture.add_channel(env), await env.caller("other")
    await set_number(env, "other", OWN)

    await tell(call, hook(fixture, OWN))
    await tell(call, hook(fixture, "15880000"))
    await tell(call, hook(fixture, OWN, "021234567"))

    assert (await opted_out(call), await opted_out(other)) == ([], [(PHONE, "relay")])


@pytest.mark.settings(webhook_signature=SIGNATURE)
@pytest.mark.parametrize("rows", [None, 7, [None], [{"recipientNo": DIGITS}]])
async def test_invalid_rows_are_refused(rows: Any, call: Caller, fixture: NhnCloud) -> None:
    refused = await tell(call, {**hook(fixture), "hooks": rows})
    unsigned = await tell(call, hook(fixture), "another signature")
    foreign = await tell(call, {**hook(fixture), "appKey": "another"})

    assert [each.result for each in (refused, unsigned, foreign)] == [
        "INVALID_JSON",
        "UNAUTHORIZED",
        "UNAUTHORIZED",
    ]


@pytest.mark.torture
async def test_block_service_is_read_without_webhooks_and_after_errors(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await set_number(env, "acme", OPT_OUT)
    relay = fixture.relay
    relay.unsubscribed |= {(OPT_OUT, f"0103000{number:04}"): relay.clock() for number in range(1500)}
    relay.inject_fault("gateway 502", on="blockservice")

    await env.wait(FIRST_READ_S + 5)
    before = len(await opted_out(call))
    await env.wait(READ_INTERVAL_S)
    relay.console.call_opt_out_number(DIGITS)
    await env.wait(READ_INTERVAL_S + 5)
    total = (await call("optOut/list")).body["totalCount"]
    removed = await call_ok(call, "optOut/remove", {"phoneNumber": "010-3000-0001"})
    await env.wait(2 * READ_INTERVAL_S + HOUR_S)

    assert before == 0
    assert total == 1501
    assert removed.item["removedCount"] == 1
    assert (await call("optOut/list")).body["totalCount"] == 1500


async def test_relay_is_told_what_changes_here_for_accounts_with_their_own_number(
    env: Environment, fixture: NhnCloud
) -> None:
    call, shared = await fixture.add_channel(env), await env.caller("shared")
    await set_number(env, "acme", OPT_OUT)
    relay = fixture.relay
    relay.inject_fault("lose answer", on="POST /sms/v3.0/appKeys/smsAppKey0123456/blockservice")
    phones = [f"0104000{number:04}" for number in range(25)]

    await call_ok(call, "optOut/add", {"phoneNumbers": phones})
    await call_ok(call, "optOut/add", {"phoneNumber": DIGITS, "senderNumber": "02-1234-5678"})
    await call_ok(shared, "optOut/add", {"phoneNumber": DIGITS})
    await env.wait(2 * OPT_OUT_INTERVAL_S + 5)
    added = {phone for number, phone in relay.unsubscribed if number == OPT_OUT}
    await call_ok(call, "optOut/remove", {"phoneNumbers": phones[:12]})
    await env.wait(OPT_OUT_INTERVAL_S + READ_INTERVAL_S)

    assert added == set(phones)
    assert {phone for _, phone in relay.unsubscribed} == set(phones[12:])
    assert await count_rows(env, "opt_out_changes") == 0
    assert (await call("optOut/list")).body["totalCount"] == 14


async def test_number_that_the_relay_does_not_have_is_refused_once(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await set_number(env, "acme", OWN)

    await call_ok(call, "optOut/add", {"phoneNumber": DIGITS})
    await env.wait(3 * OPT_OUT_INTERVAL_S)

    assert fixture.relay.unsubscribed == {}
    assert len(fixture.calls("blockservice")) == 1
    assert await count_rows(env, "opt_out_changes") == 0


async def test_message_that_the_relay_refuses_ends_as_refused_by_the_receiver(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.console.call_opt_out_number(DIGITS)

    await call_ok(call, "message/sendSMS", sms_body(PHONE, **AD))
    await env.wait(10)

    assert describe_outcome(await get_message(call, PHONE)) == "fail 3006"

"""The codes of resellers: the account's before the carrier's, in the fields that NHN Cloud documents."""

from typing import Any

import pytest

from pabal.domain.sends.account import SenderCodes
from pabal.store.accounts import accounts
from tests.carriers.relay.delivery_fixture import MANY, send_of
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

OURS, THEIRS = "123456789", "987654321"
BRAND_TEMPLATE = {"templateCode": "B1", "content": None}


@pytest.mark.parametrize(
    ("account", "sent"),
    [
        (None, (OURS, "reseller-1")),
        (SenderCodes(THEIRS), (THEIRS, "reseller-1")),
        (SenderCodes(THEIRS, "reseller-2"), (THEIRS, "reseller-2")),
    ],
)
@pytest.mark.settings(origin_code=OURS, reseller_code="reseller-1")
async def test_codes_of_the_account_come_before_those_of_the_carrier(
    account: SenderCodes | None, sent: tuple[str, str], env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.brand_templates[SENDER_KEY, "B1"] = "새 소식"
    if account:
        await env.store.write(accounts.set_sender_codes, await env.account_id(), account)
    await env.wait(6)
    bodies: dict[str, dict[str, Any]] = {
        "sms": {},
        "mms": {},
        "lms": {"adFlag": True},
        "brandMessage": {},
        "alimTalk": {},
    }
    for kind, more in bodies.items():
        await call_ok(call, *send_of(kind, SENDER_KEY, **more))
    await call_ok(call, *send_of("brandMessage", SENDER_KEY, **BRAND_TEMPLATE))
    await env.wait(5)

    texts = [each.call.originCode for each in fixture.accepted if each.product == "sms"]
    brands = [each.call.resellerCode for each in fixture.accepted if each.product == "brand-message"]
    assert (texts, brands) == ([sent[0]] * 3, [sent[1]] * 2)
    assert len(fixture.accepted) == 6


async def test_equal_texts_of_two_resellers_do_not_share_a_call(env: Environment, fixture: NhnCloud) -> None:
    calls = [await env.caller(name) for name in ("acme", "other", "third")]
    for name, code in (("acme", OURS), ("other", THEIRS)):
        await env.store.write(accounts.set_sender_codes, await env.account_id(name), SenderCodes(code))
    await env.wait(6)
    fixture.set_reachable(False)
    for call, number in zip(calls, MANY, strict=False):
        await call_ok(call, "message/sendSMS", sms_body(number))
    await env.wait(1)
    fixture.set_reachable(True)
    await env.wait(60)

    found = {each.recipient_no: each.call.originCode for each in fixture.accepted}
    assert [found[number.replace("-", "")] for number in MANY[:3]] == [OURS, THEIRS, None]


async def test_changed_code_is_used_within_five_seconds(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(1)
    await env.store.write(accounts.set_sender_codes, await env.account_id(), SenderCodes(OURS))
    await env.wait(5)
    await call_ok(call, "message/sendSMS", sms_body(MANY[1]))
    await env.wait(5)

    assert [each.call.originCode for each in fixture.accepted] == [None, OURS]

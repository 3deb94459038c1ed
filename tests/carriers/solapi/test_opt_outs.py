"""Opt-outs at Solapi, by its 080 number: read from its list, and kept for the account with the sender number."""

import pytest

from pabal.carriers.relay.carrier import FIRST_READ_S, OVERLAP_MS, READ_INTERVAL_S
from pabal.carriers.solapi.carrier import PAGE_SIZE
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.message import Product
from pabal.store.accounts import accounts, numbers
from tests.fixtures.relay_delivery import SENDER
from tests.fixtures.solapi import Solapi
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, describe_outcome, get_message, sms_body

PHONE, DIGITS = "010-2000-0001", "01020000001"
AD = {"adFlag": True, "optOutNumber": "080-123-4567"}


async def register(env: Environment, account: str) -> None:
    account_id = await env.store.write(accounts.ensure_account, account, env.world.now())
    await env.store.write(numbers.add, account_id, SENDER, env.world.now(), NumberState.APPROVED)


async def opted_out(call: Caller) -> list[tuple[str, str, str]]:
    items = (await call("optOut/list", query={"pageSize": 1000})).items
    return [(each["phoneNumber"], each.get("senderNumber", ""), each["source"]["value"]) for each in items]


async def test_opt_out_holds_for_the_account_with_the_sender_number(env: Environment, fixture: Solapi) -> None:
    call, other = await env.caller(), await env.caller("other")
    await register(env, "acme")
    fixture.relay.denials[SENDER, DIGITS] = fixture.relay.clock()

    await env.wait(FIRST_READ_S + 5)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, sender="02-1234-5678", **AD))

    assert await opted_out(call) == [(PHONE, "02-1234-5678", "relay")]
    assert await opted_out(other) == []
    assert describe_outcome(await get_message(call, PHONE)) == "fail 9003"
    assert fixture.accepted == []


async def test_number_that_nobody_registered_counts_for_who_has_sent_from_it(
    env: Environment, fixture: Solapi
) -> None:
    call, other = await env.caller(), await env.caller("other")
    await call_ok(call, "message/sendSMS", sms_body(PHONE, sender="02-1234-5678"))
    await env.wait(10)
    fixture.relay.denials |= dict.fromkeys([(SENDER, DIGITS), ("0299999999", DIGITS)], fixture.relay.clock())

    await env.wait(FIRST_READ_S + 5)

    assert await opted_out(call) == [(PHONE, "02-1234-5678", "relay")]
    assert await opted_out(other) == []


async def test_list_is_read_page_by_page_and_again_after_errors(env: Environment, fixture: Solapi) -> None:
    call, relay = await env.caller(), fixture.relay
    await register(env, "acme")
    relay.denials |= {(SENDER, f"0103000{number:04}"): relay.clock() for number in range(PAGE_SIZE + 1)}
    relay.inject_fault("unavailable", on="iam")

    await env.wait(FIRST_READ_S + 5)
    before = await opted_out(call)
    await env.wait(READ_INTERVAL_S)
    first = (await call("optOut/list")).body["totalCount"]
    await env.jump(OVERLAP_MS / 1000)
    await env.wait(READ_INTERVAL_S)
    removed = {"phoneNumber": "010-3000-0001", "senderNumber": "02-1234-5678"}
    await call_ok(call, "optOut/remove", removed)
    await env.wait(READ_INTERVAL_S)
    relay.denials[SENDER, DIGITS] = relay.clock()
    await env.wait(READ_INTERVAL_S)

    assert before == []
    assert first == PAGE_SIZE + 1
    assert (await call("optOut/list")).body["totalCount"] == PAGE_SIZE + 1
    assert (PHONE, "02-1234-5678", "relay") in await opted_out(call)


@pytest.mark.settings(behavior={"hides_digits": True})
async def test_numbers_with_hidden_digits_are_ignored(env: Environment, fixture: Solapi) -> None:
    call = await env.caller()
    await register(env, "acme")
    fixture.relay.denials[SENDER, DIGITS] = fixture.relay.clock()

    await env.wait(FIRST_READ_S + 5)

    assert await opted_out(call) == []


@pytest.mark.settings(products=(Product.ALIMTALK,))
async def test_carrier_without_texts_does_not_read_the_list(env: Environment, fixture: Solapi) -> None:
    await env.wait(FIRST_READ_S + 5)

    assert not [each for each in fixture.relay.calls if "iam" in each.path]

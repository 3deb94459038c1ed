"""Sender profiles at NHN Cloud: registered, verified, deleted and synced."""

import dataclasses
from typing import Any

import pytest

from pabal.build_context import build_context
from pabal.domain.base.codes import Code, Refused
from pabal.service.metrics import Metrics
from pabal.service.relay import categories, profiles
from pabal.service.relay.sync import RelaySync
from pabal.service.slots import Slots
from pabal.service.work import do_for_all
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.store.kakao import profiles as kept_profiles
from tests.fixtures.refusals import refused
from tests.fixtures.relay import (
    CARRIER,
    CHANNEL,
    SYNC_ROUND_S,
    RelayEnvironment,
    get_sender,
    send_alimtalk,
    template_body,
)
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, channel_body, summarize_refusal

PROOF = {"channelId": CHANNEL}


def wrong(stage: RelayEnvironment) -> str:
    return str(stage.relay.last_token % 900_000 + 100_001)


async def names(call: Caller) -> list[str]:
    return [each["channelId"] for each in (await call("sender/list")).items]


async def test_profile_exists_at_the_relay_from_registration_to_deletion(stage: RelayEnvironment) -> None:
    call = await stage.connect()

    created = await call_ok(call, "sender/create", channel_body())
    assert created.item["authStatus"]["value"] == "waiting"
    assert "senderKey" not in created.item
    ((_, phone, to_channel, token),) = stage.relay.tokens_sent
    assert (phone, to_channel) == ("01099990000", CHANNEL)

    await call_ok(call, "sender/auth", {**PROOF, "token": str(token)})
    known = await get_sender(call)
    assert known["senderKey"] == stage.profile().sender_key
    assert (known["authStatus"]["value"], known["enable"]) == ("approval", True)

    await call_ok(call, "sender/delete", {"senderKey": known["senderKey"]})
    assert stage.relay.profiles == {}
    assert await names(call) == []


async def test_relay_rejects_a_wrong_token_and_five_lock_the_profile(stage: RelayEnvironment) -> None:
    call = await stage.connect()
    await call_ok(call, "sender/create", channel_body())

    for _ in range(5):
        answer = await call("sender/auth", {**PROOF, "token": wrong(stage)})
        assert summarize_refusal(answer) == ("TOKEN_INVALID", {"token": "TOKEN_INVALID"})
    asked = stage.calls("POST", "sender/token")
    right = {**PROOF, "token": str(stage.relay.last_token)}
    assert (await call("sender/auth", right)).result == "TOKEN_LOCKED"
    assert stage.calls("POST", "sender/token") == asked

    await call_ok(call, "sender/create", channel_body())
    await call_ok(call, "sender/auth", {**PROOF, "token": str(stage.relay.last_token)})


@pytest.mark.parametrize("spelling", ["abc", "１２３４５６", "0" * 200, "-1", "1.5"])
async def test_token_that_is_not_a_number_is_not_sent_to_the_relay(stage: RelayEnvironment, spelling: str) -> None:
    call = await stage.connect()
    await call_ok(call, "sender/create", channel_body())

    assert (await call("sender/auth", {**PROOF, "token": spelling})).result == "TOKEN_INVALID"
    assert stage.calls("POST", "sender/token") == 0


async def test_registration_refused_by_the_relay_stores_nothing(stage: RelayEnvironment) -> None:
    stage.relay.unknown_channels.add(CHANNEL)
    call = await stage.connect()

    answer = await call("sender/create", channel_body())

    assert summarize_refusal(answer) == ("INVALID_PARAMETER", {"channelId": "INVALID_PARAMETER"})
    assert "Vender request API is failed. (-7000)" in answer.body["errors"][0]["message"]
    assert await names(call) == []


async def test_refused_registration_does_not_change_the_earlier_one(stage: RelayEnvironment) -> None:
    call = await stage.connect()
    await call_ok(call, "sender/create", channel_body())
    stage.relay.inject_fault("throttle", "POST", times=1)

    answer = await call("sender/create", channel_body(cellphone="010-5555-6666"))

    assert answer.result == "SERVICE_UNAVAILABLE"
    assert (await get_sender(call))["cellphone"] == "010-9999-0000"
    await call_ok(call, "sender/auth", {**PROOF, "token": str(stage.relay.last_token)})


async def test_channel_registered_in_the_relay_console_must_be_adopted_by_the_operator(
    stage: RelayEnvironment,
) -> None:
    stage.relay.add_profile(CHANNEL)
    call = await stage.connect()
    answer = await call("sender/create", channel_body())

    assert summarize_refusal(answer) == ("DUPLICATE", {"channelId": "DUPLICATE"})
    assert "pabal profile adopt" in answer.body["errors"][0]["message"]
    assert await names(call) == []


async def adopt(env: Environment, name: str = "acme", channel_id: str = CHANNEL) -> None:
    account_id = await env.store.write(accounts.ensure_account, name, env.world.now())
    await profiles.adopt(env.context, account_id, CARRIER, channel_id)


async def test_adopted_profile_is_approved_and_its_templates_are_imported(stage: RelayEnvironment) -> None:
    key = stage.relay.add_profile(CHANNEL).sender_key
    stage.relay.add_template(key, "T1", "배송이 시작되었습니다.")
    call = await stage.connect()
    await adopt(stage.env)
    await adopt(stage.env)

    known = await get_sender(call)
    assert (known["senderKey"], known["authStatus"]["value"]) == (key, "approval")
    assert (known["cellphone"], known["enable"]) == ("", True)
    await stage.wait(SYNC_ROUND_S)
    assert (await send_alimtalk(call, key)).result == "SUCCESS"

    for name, channel_id, code in (
        ("other", CHANNEL, Code.DUPLICATE),
        ("acme", "@nothing", Code.SENDER_NOT_FOUND),
    ):
        with pytest.raises(Refused) as refused:
            await adopt(stage.env, name, channel_id)
        assert refused.value.code is code


async def test_profile_awaiting_its_token_at_the_relay_cannot_be_adopted(stage: RelayEnvironment) -> None:
    await call_ok(await stage.connect(), "sender/create", channel_body())

    with refused(Code.SENDER_NOT_FOUND):
        await adopt(stage.env, "other")


def block(stage: RelayEnvironment, key: str, is_so: bool) -> None:
    stage.relay.console.block_profile(key, is_so)


def sleep(stage: RelayEnvironment, key: str, is_so: bool) -> None:
    stage.relay.console.set_profile_dormant(key, is_so)


def close(stage: RelayEnvironment, key: str, is_so: bool) -> None:
    stage.relay.profiles[key].kakao_profile_status = "C" if is_so else "A"


def vanish(stage: RelayEnvironment, key: str, is_so: bool) -> None:
    if is_so:
        stage.gone = stage.relay.profiles.pop(key)  # type: ignore[attr-defined]
    else:
        stage.relay.profiles[key] = stage.gone  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("happen", "reason"), [(block, "blocked"), (sleep, "dormant"), (close, "inactive"), (vanish, "gone")]
)
async def test_profile_changes_in_the_relay_console_are_applied_within_a_minute(
    stage: RelayEnvironment, happen: Any, reason: str
) -> None:
    call, key = await stage.open_approved()
    assert (await send_alimtalk(call, key)).result == "SUCCESS"

    happen(stage, key, True)
    await stage.wait(SYNC_ROUND_S)

    known = await get_sender(call)
    assert (known["enable"], known["disabledReason"]["value"]) == (False, reason)
    refused = await send_alimtalk(call, key)
    assert summarize_refusal(refused) == ("SENDER_NOT_APPROVED", {"senderKey": "SENDER_NOT_APPROVED"})
    assert known["disabledReason"]["label"] in refused.body["errors"][0]["message"]

    happen(stage, key, False)
    await stage.wait(SYNC_ROUND_S)
    known = await get_sender(call)
    assert known["enable"] is True
    assert "disabledReason" not in known
    assert (await send_alimtalk(call, key)).result == "SUCCESS"


async def test_profile_disabled_by_the_operator_stays_disabled(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    profile_id = int((await get_sender(call))["id"])
    await stage.env.store.write(kept_profiles.set_enabled, profile_id, False, stage.env.world.now())

    for is_blocked in (True, False):
        block(stage, key, is_blocked)
        await stage.wait(SYNC_ROUND_S)
        assert (await get_sender(call))["disabledReason"]["value"] == "operator"


async def test_profile_gone_at_the_relay_can_be_deleted(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    stage.relay.console.remove_profile(key)

    await call_ok(call, "sender/delete", {"senderKey": key})

    assert await names(call) == []
    assert await stage.register_channel(call) != key


async def test_relay_categories_replace_the_built_in_ones_in_every_process(stage: RelayEnvironment) -> None:
    env = await stage.start()
    call = await env.caller()
    await env.wait(1)

    known = {each["code"]: each["name"] for each in (await call("sender/categories", {})).items}
    assert known["00200010009"] == "교육,학원,등대지기 학원"
    assert len(known) == 4
    assert (await call("sender/create", channel_body(category="00200010009"))).result == "SUCCESS"
    ours = await call("sender/create", channel_body(category="00300010001", channelId="@other"))
    assert ours.result == "CATEGORY_NOT_FOUND"
    groups = {each["groupName"] for each in (await call("template/categories")).items}
    assert groups
    assert (await get_sender(call))["category"]["label"] == "교육,학원,등대지기 학원"


async def test_built_in_categories_are_used_until_the_relay_sends_its_own(stage: RelayEnvironment) -> None:
    stage.relay.inject_fault("throttle", "categories", times=1e9)
    call = await stage.connect()

    assert len((await call("sender/categories", {})).items) > 4


async def test_lists_are_read_page_by_page(stage: RelayEnvironment) -> None:
    stage.page_limit = 2
    call = await stage.connect()
    for number in range(5):
        await stage.register_channel(call, channelId=f"@shop{number}", cellphone=f"010-9999-000{number}")
    key = (await get_sender(call, "@shop3"))["senderKey"]
    for number in range(4):
        stage.relay.add_template(key, f"T{number}", "글", categoryCode=template_body(key)["category"])
    block(stage, key, True)

    await stage.wait(SYNC_ROUND_S)

    assert [each["enable"] for each in (await call("sender/list")).items] == [True, False, True, True, True]
    assert len((await call("template/list")).items) == 4


async def test_process_without_workers_uses_the_synced_categories(stage: RelayEnvironment) -> None:
    call = await stage.connect()
    asked = stage.calls("GET", "categories")
    without_workers = build_context(
        load({}), stage.env.store, stage.env.world, Metrics(), {CARRIER: stage.carrier()}
    )

    assert "00200010009" in await categories.sender_categories(without_workers)
    assert "002009" in await categories.template_categories(without_workers)
    assert stage.calls("GET", "categories") == asked
    assert (await call("sender/list")).items == []


async def test_only_the_housekeeping_worker_syncs_with_the_relay(stage: RelayEnvironment) -> None:
    await stage.connect()
    before = len(stage.relay.calls)
    other = Slots(2, worker="other")
    context = dataclasses.replace(stage.env.context, slots=other)

    await do_for_all(context, RelaySync(context).run)

    assert not other.held
    assert len(stage.relay.calls) == before


async def test_profile_of_a_removed_carrier_can_be_deleted_but_not_verified(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    await call_ok(call, "sender/create", channel_body(channelId="@other"))
    account_id = await stage.env.store.write(accounts.ensure_account, "acme", stage.env.world.now())
    context = dataclasses.replace(stage.env.context, carriers={})

    with refused(Code.PRODUCT_NOT_AVAILABLE):
        await profiles.authenticate(context, account_id, "@other", "1")
    await profiles.delete(context, account_id, key, None)
    assert await names(call) == ["@other"]

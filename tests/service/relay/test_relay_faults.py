"""Relay failures and lost answers leave no half-finished change."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from tests.fixtures.relay import (
    AWAY,
    CHANNEL,
    SYNC_ROUND_S,
    RelayEnvironment,
    check_unavailable,
    get_sender,
    request_review,
    right,
    send_alimtalk,
    template_body,
    template_status,
)
from tests.fixtures.web import call_ok, channel_body, summarize_refusal

pytestmark = pytest.mark.slow  # each is quick, but there are many

UNTAKEN = [each for each in AWAY if each[0] != "garbage"]
TAKEN = ["lose answer", "garbage", "html 502 accepted", "system error accepted", "twice"]


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize("step", ["GET", "POST"])
async def test_registration_that_does_not_reach_the_relay_stores_nothing(
    stage: RelayEnvironment, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    call = await stage.connect("en")
    stage.relay.inject_fault(kind, step, **how)

    check_unavailable(await call("sender/create", channel_body()), words)

    assert (await call("sender/list")).items == []
    assert stage.relay.tokens_sent == []
    assert await stage.register_channel(call)


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize("step", ["GET", "POST"])
async def test_token_that_does_not_reach_the_relay_stays_valid(
    stage: RelayEnvironment, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    stage.relay.inject_fault(kind, step, **how)

    check_unavailable(await call("sender/auth", right(stage)), words)

    assert (await get_sender(call))["authStatus"]["value"] == "waiting"
    await call_ok(call, "sender/auth", right(stage))


@pytest.mark.parametrize("kind", TAKEN)
async def test_profile_verified_with_a_lost_answer_must_be_adopted_by_the_operator(
    stage: RelayEnvironment, kind: str
) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    proof = right(stage)
    stage.relay.inject_fault(kind, "POST")

    check_unavailable(await call("sender/auth", proof), "did not answer")
    await stage.wait(SYNC_ROUND_S)
    again = await call("sender/auth", proof)

    assert summarize_refusal(again) == ("DUPLICATE", {"channelId": "DUPLICATE"})
    assert "pabal profile adopt" in again.body["resultMessage"]
    assert (await get_sender(call))["authStatus"]["value"] == "waiting"


async def test_two_wrong_tokens_at_once_verify_nothing(stage: RelayEnvironment) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    stage.profile().token = None  # verified in the relay's console, for another account
    stage.relay.inject_fault("slow", "GET", times=3, seconds=0.05)
    wrong = {"channelId": CHANNEL, "token": "1"}
    first = asyncio.ensure_future(call("sender/auth", wrong))
    await stage.wait(0.02)
    second = await call("sender/auth", {**wrong, "token": "2"})
    await stage.wait(2 * SYNC_ROUND_S)

    assert ((await first).result, second.result) == ("DUPLICATE", "DUPLICATE")
    assert (await get_sender(call))["authStatus"]["value"] == "waiting"


async def test_concurrent_token_guesses_count_like_sequential_ones(stage: RelayEnvironment) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    stage.relay.inject_fault("slow", "POST", times=1e9, seconds=1)
    guesses = [call("sender/auth", {"channelId": CHANNEL, "token": str(one)}) for one in range(1, 21)]
    results = Counter(each.result for each in await asyncio.gather(*guesses))

    assert results == {"TOKEN_INVALID": 5, "TOKEN_LOCKED": 15}


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
async def test_deletion_that_does_not_reach_the_relay_deletes_nothing(
    stage: RelayEnvironment, kind: str, how: dict[str, Any], words: str
) -> None:
    call, key = await stage.open("en")
    await call_ok(call, "template/create", template_body(key))
    stage.relay.inject_fault(kind, "DELETE", times=2, **how)

    check_unavailable(await call("sender/delete", {"senderKey": key}), words)
    check_unavailable(await call("template/delete", {"senderKey": key, "templateCode": "T1"}), words)

    assert (await get_sender(call))["enable"] is True
    assert await template_status(call) == "registered"
    await call_ok(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
    await call_ok(call, "sender/delete", {"senderKey": key})
    assert (await call("sender/list")).items == []


@pytest.mark.parametrize("kind", TAKEN)
async def test_profile_deleted_with_a_lost_answer_is_suspended_and_can_be_deleted(
    stage: RelayEnvironment, kind: str
) -> None:
    call, key = await stage.open("en")
    stage.relay.inject_fault(kind, "DELETE")

    check_unavailable(await call("sender/delete", {"senderKey": key}), "did not answer")
    await stage.wait(SYNC_ROUND_S)

    assert (await get_sender(call))["disabledReason"]["value"] == "gone"
    await call_ok(call, "sender/delete", {"senderKey": key})
    assert (await call("sender/list")).items == []


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize(("step", "passed"), [("GET", 0), ("POST", 0), ("PUT", 0), ("GET", 1)])
async def test_template_that_does_not_reach_the_relay_stays_registered(
    stage: RelayEnvironment, step: str, passed: int, kind: str, how: dict[str, Any], words: str
) -> None:
    call, key = await stage.open("en")
    if step == "PUT" or passed:
        await stage.approve_template(call, key)
        await call_ok(call, "template/update", template_body(key, content="새 글"))
    else:
        await call_ok(call, "template/create", template_body(key))
    before = dict(stage.relay.templates)
    stage.relay.inject_fault(kind, f"{step} /alimtalk", passed=passed, **how)
    place = {"senderKey": key, "templateCode": "T1"}

    check_unavailable(await call("template/request", place), words)

    assert await template_status(call) == "registered"
    assert stage.relay.templates == before
    await request_review(call, key)
    assert await template_status(call) == "inspecting"


@pytest.mark.first_case
@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("step", ["POST", "PUT"])
@pytest.mark.parametrize("does_ask_again", [True, False])
async def test_template_submitted_with_a_lost_answer_is_submitted_once(
    stage: RelayEnvironment, does_ask_again: bool, step: str, kind: str
) -> None:
    call, key = await stage.open("en")
    if step == "PUT":
        await stage.approve_template(call, key)
        await call_ok(call, "template/update", template_body(key, content="새 글"))
    else:
        await call_ok(call, "template/create", template_body(key))
    stage.relay.inject_fault(kind, f"{step} /alimtalk")
    place = {"senderKey": key, "templateCode": "T1"}

    check_unavailable(await call("template/request", place), "did not answer")
    if does_ask_again:
        await call_ok(call, "template/request", place)
        assert await template_status(call) == "inspecting"
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)

    assert stage.calls(step, "templates" if step == "POST" else "{templateCode}") == 1
    assert await template_status(call) == "approved"
    assert (await send_alimtalk(call, key)).result == "SUCCESS"


async def test_profile_unknown_to_the_relay_must_be_registered_again(stage: RelayEnvironment) -> None:
    call = await stage.connect("en")
    account_id = await stage.env.store.write(accounts.ensure_account, "acme", stage.env.world.now())

    def keep(tx: Tx) -> None:
        number = profiles.add(tx, account_id, "@old", "00100010001", "01012345678", stage.env.world.now())
        profiles.approve(tx, number, "a" * 40, stage.env.world.now())

    await stage.env.store.write(keep)
    await call_ok(call, "template/create", template_body("a" * 40))

    answer = await call("template/request", {"senderKey": "a" * 40, "templateCode": "T1"})

    assert summarize_refusal(answer) == ("INVALID_STATE", {"senderKey": "INVALID_STATE"})
    await stage.wait(2 * SYNC_ROUND_S)
    assert (await get_sender(call, "@old"))["enable"] is True
    assert len(await stage.env.store.read(templates.list_all)) == 1


async def test_lost_answer_does_not_give_away_a_channel_verified_by_another_account(
    stage: RelayEnvironment,
) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    stage.relay.inject_fault("lose request", "POST")
    check_unavailable(await call("sender/auth", right(stage)), "did not answer")
    await stage.wait(31 * 60)
    stage.profile().token = None  # the operator has verified it in the relay's console

    await stage.wait(2 * SYNC_ROUND_S)

    assert (await get_sender(call))["authStatus"]["value"] == "waiting"
    assert (await call("sender/auth", {"channelId": CHANNEL, "token": "1"})).result == "TOKEN_EXPIRED"

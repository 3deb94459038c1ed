"""The relay is away, slow, busy or odd, or its answer is lost: nothing is left half-way, what was done is found."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from pabal.store import accounts, profiles, templates
from pabal.store.engine.base import StoreAway, Tx
from tests.fakes.nhncloud.state import Profile
from tests.fixtures.relay import (
    A_ROUND_S,
    CHANNEL,
    Stage,
    begun,
    requested,
    send,
    sender,
    state_of,
    template_of,
    written,
)
from tests.fixtures.virtual import Answer, Caller, Environment
from tests.fixtures.web import accepted, channel, told

pytestmark = pytest.mark.slow  # each is quick, but they are many

AWAY = [
    ("refuse", {}, "cannot be reached"),
    ("throttle", {}, "cannot be reached"),
    ("slow to take", {"seconds": 1000}, "did not answer"),
    ("lose request", {}, "did not answer"),
    ("garbage", {}, "did not answer"),
    ("html 502", {}, "did not answer"),
    ("system error", {}, "did not answer"),
]
UNTAKEN = [each for each in AWAY if each[0] != "garbage"]
TAKEN = ["lose answer", "garbage", "html 502 taken", "system error taken", "twice"]
AGAIN = 1e9


def right(stage: Stage) -> dict[str, str]:
    return {"channelId": CHANNEL, "token": str(stage.relay.last_token)}


def check_away(answer: Answer, words: str) -> None:
    """Expect a refusal that says what the matter is, and nothing of the inside."""
    assert answer.result == "SERVICE_UNAVAILABLE"
    message = str(answer.body["resultMessage"]) + str(answer.body.get("errors", ""))
    assert words in message
    for secret in ("talkAppKey", "talkSecret", "127.0.0.1"):
        assert secret not in str(answer.body)


async def quiet(env: Environment, stage: Stage) -> Caller:
    """Return a caller in English, when the relay has been looked at and will not be for a while."""
    await begun(env)
    return await env.caller(language="en")


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize("step", ["GET", "POST"])
def test_a_registration_that_does_not_reach_the_relay_leaves_nothing(
    stage: Stage, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        stage.relay.inject_fault(kind, step, **how)

        check_away(await call("sender/create", channel()), words)

        assert (await call("sender/list")).items == []
        assert stage.relay.tokens_sent == []
        assert await stage.opened(call)

    stage.run(scenario)


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize("step", ["GET", "POST"])
def test_a_token_that_does_not_reach_the_relay_is_still_good(
    stage: Stage, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        stage.relay.inject_fault(kind, step, **how)

        check_away(await call("sender/auth", right(stage)), words)

        assert (await sender(call))["authStatus"]["value"] == "waiting"
        await accepted(call, "sender/auth", right(stage))

    stage.run(scenario)


@pytest.mark.parametrize("kind", TAKEN)
def test_a_profile_that_was_proved_though_its_answer_was_lost_is_the_operators_to_adopt(
    stage: Stage, kind: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        proof = right(stage)
        stage.relay.inject_fault(kind, "POST")

        check_away(await call("sender/auth", proof), "did not answer")
        await env.wait(A_ROUND_S)
        again = await call("sender/auth", proof)

        assert told(again) == ("DUPLICATE", {"channelId": "DUPLICATE"})
        assert "pabal profile adopt" in again.body["resultMessage"]
        assert (await sender(call))["authStatus"]["value"] == "waiting"

    stage.run(scenario)


def test_two_wrong_tokens_at_once_take_over_nothing_either(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        stage.profile().token = None  # somebody has proved it in the console, for another account
        stage.relay.inject_fault("slow", "GET", times=3, seconds=0.05)
        wrong = {"channelId": CHANNEL, "token": "1"}
        first = asyncio.ensure_future(call("sender/auth", wrong))
        await env.wait(0.02)
        second = await call("sender/auth", {**wrong, "token": "2"})
        await env.wait(2 * A_ROUND_S)

        assert ((await first).result, second.result) == ("DUPLICATE", "DUPLICATE")
        assert (await sender(call))["authStatus"]["value"] == "waiting"

    stage.run(scenario)


def test_many_guesses_at_once_are_no_more_than_one_after_the_other(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        stage.relay.inject_fault("slow", "POST", times=1e9, seconds=1)
        guesses = [call("sender/auth", {"channelId": CHANNEL, "token": str(one)}) for one in range(1, 21)]
        results = Counter(each.result for each in await asyncio.gather(*guesses))

        assert results == {"TOKEN_INVALID": 5, "TOKEN_LOCKED": 15}

    stage.run(scenario)


def test_a_wrong_token_never_takes_over_what_was_registered_in_the_console_meanwhile(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        stage.profile().token = None  # somebody has proved it in the console

        answer = await call("sender/auth", {"channelId": CHANNEL, "token": "1"})
        await env.wait(2 * A_ROUND_S)

        assert told(answer) == ("DUPLICATE", {"channelId": "DUPLICATE"})
        assert (await sender(call))["authStatus"]["value"] == "waiting"

    stage.run(scenario)


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
def test_a_deletion_that_does_not_reach_the_relay_deletes_nothing(
    stage: Stage, kind: str, how: dict[str, Any], words: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        await accepted(call, "template/create", written(key))
        stage.relay.inject_fault(kind, "DELETE", times=2, **how)

        check_away(await call("sender/delete", {"senderKey": key}), words)
        check_away(await call("template/delete", {"senderKey": key, "templateCode": "T1"}), words)

        assert (await sender(call))["enable"] is True
        assert await state_of(call) == "registered"
        await accepted(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
        await accepted(call, "sender/delete", {"senderKey": key})
        assert (await call("sender/list")).items == []

    stage.run(scenario)


@pytest.mark.parametrize("kind", TAKEN)
def test_a_profile_that_was_deleted_though_the_answer_was_lost_is_out_of_use_and_can_be_deleted(
    stage: Stage, kind: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        stage.relay.inject_fault(kind, "DELETE")

        check_away(await call("sender/delete", {"senderKey": key}), "did not answer")
        await env.wait(A_ROUND_S)

        assert (await sender(call))["disabledReason"]["value"] == "gone"
        await accepted(call, "sender/delete", {"senderKey": key})
        assert (await call("sender/list")).items == []

    stage.run(scenario)


@pytest.mark.parametrize(("kind", "how", "words"), UNTAKEN)
@pytest.mark.parametrize(("step", "passed"), [("GET", 0), ("POST", 0), ("PUT", 0), ("GET", 1)])
def test_a_template_that_does_not_reach_the_relay_stays_registered(
    stage: Stage, step: str, passed: int, kind: str, how: dict[str, Any], words: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        if step == "PUT" or passed:
            await stage.approved(env, call, key)
            await accepted(call, "template/update", written(key, content="새 글"))
        else:
            await accepted(call, "template/create", written(key))
        before = dict(stage.relay.templates)
        stage.relay.inject_fault(kind, f"{step} /alimtalk", passed=passed, **how)
        place = {"senderKey": key, "templateCode": "T1"}

        check_away(await call("template/request", place), words)

        assert await state_of(call) == "registered"
        assert stage.relay.templates == before
        await requested(call, key)
        assert await state_of(call) == "inspecting"

    stage.run(scenario)


@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("step", ["POST", "PUT"])
@pytest.mark.parametrize("does_ask_again", [True, False])
def test_a_template_that_was_handed_in_though_the_answer_was_lost_is_handed_in_once(
    stage: Stage, does_ask_again: bool, step: str, kind: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        if step == "PUT":
            await stage.approved(env, call, key)
            await accepted(call, "template/update", written(key, content="새 글"))
        else:
            await accepted(call, "template/create", written(key))
        stage.relay.inject_fault(kind, f"{step} /alimtalk")
        place = {"senderKey": key, "templateCode": "T1"}

        check_away(await call("template/request", place), "did not answer")
        if does_ask_again:
            await accepted(call, "template/request", place)
            assert await state_of(call) == "inspecting"
        stage.relay.console.approve(key, "T1")
        await env.wait(A_ROUND_S)

        assert stage.calls(step, "templates" if step == "POST" else "{templateCode}") == 1
        assert await state_of(call) == "approved"
        assert (await send(call, key)).result == "SUCCESS"

    stage.run(scenario)


@pytest.mark.parametrize(("kind", "how", "words"), AWAY)
@pytest.mark.parametrize("step", ["/senders", "/templates", "GET /alimtalk"])
def test_a_relay_that_does_not_say_what_it_has_changes_nothing_here(
    stage: Stage, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        await stage.approved(env, call, key)
        before = await sender(call), await template_of(call)
        meddle = stage.relay.inject_fault(kind, step, times=AGAIN, **how)

        await env.wait(5 * A_ROUND_S)

        assert meddle.done > 1
        assert (await sender(call), await template_of(call)) == before
        meddle.times = 0
        stage.relay.console.block_profile(key)
        await env.wait(2 * A_ROUND_S)
        assert (await sender(call))["enable"] is False

    stage.run(scenario)


def test_a_profile_that_gives_trouble_does_not_hold_up_the_others(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        keys = [
            await stage.opened(call, channelId=f"@shop{number}", cellphone=f"010-9999-000{number}")
            for number in range(5)
        ]
        for key in keys[:4]:
            stage.relay.inject_fault("garbage", f"/senders/{key}", times=AGAIN)
        stage.relay.add_template(keys[4], "T1", "글")

        await env.wait(3 * A_ROUND_S)

        assert await state_of(call) == "approved"

    stage.run(scenario)


def test_an_answer_of_another_shape_changes_nothing(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        await stage.approved(env, call, key)
        stage.template().current.fields["templateName"] = None
        stage.relay.profiles["odd"] = Profile("@odd", "odd", "01012345678", "00100010001", 0)

        await env.wait(3 * A_ROUND_S)

        assert (await template_of(call))["enable"] is True
        assert len((await call("sender/list")).items) == 1

    stage.run(scenario)


def test_what_is_deleted_while_the_relay_is_being_looked_at_does_not_come_back(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        await accepted(call, "template/create", written(key))
        await requested(call, key)
        stage.relay.console.reject(key, "T1")
        await env.wait(A_ROUND_S)
        stage.relay.inject_fault("slow", f"senders/{key}/templates", seconds=4)
        while not stage.relay.faults.faults[-1].done:
            await env.wait(0.5)

        await accepted(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
        await env.wait(6)

        assert (await call("template/list")).items == []

    stage.run(scenario)


def test_a_profile_that_is_kept_here_alone_is_told_to_be_registered_anew(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        account_id = await env.store.write(accounts.ensure_account, "acme", env.world.now())

        def keep(tx: Tx) -> None:
            number = profiles.add(tx, account_id, "@old", "00100010001", "01012345678", env.world.now())
            profiles.approve(tx, number, "a" * 40, env.world.now())

        await env.store.write(keep)
        await accepted(call, "template/create", written("a" * 40))

        answer = await call("template/request", {"senderKey": "a" * 40, "templateCode": "T1"})

        assert told(answer) == ("INVALID_STATE", {"senderKey": "INVALID_STATE"})
        await env.wait(2 * A_ROUND_S)
        assert (await sender(call, "@old"))["enable"] is True
        assert len(await env.store.read(templates.everyone)) == 1

    stage.run(scenario)


def test_an_answer_that_was_lost_long_ago_gives_nobody_a_channel_that_another_has_proved_since(
    stage: Stage,
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        stage.relay.inject_fault("lose request", "POST")
        check_away(await call("sender/auth", right(stage)), "did not answer")
        await env.wait(31 * 60)
        stage.profile().token = None  # the operator has proved it in the console

        await env.wait(2 * A_ROUND_S)

        assert (await sender(call))["authStatus"]["value"] == "waiting"
        assert (await call("sender/auth", {"channelId": CHANNEL, "token": "1"})).result == "TOKEN_EXPIRED"

    stage.run(scenario)


@pytest.mark.parametrize(("step", "operation"), [("DELETE", "sender/delete"), ("POST", "template/request")])
def test_what_the_relay_did_while_the_store_was_away_is_found_when_it_is_back(
    stage: Stage, step: str, operation: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        await accepted(call, "sender/create", channel())
        await accepted(call, "sender/auth", right(stage))
        key = stage.profile().sender_key
        await accepted(call, "template/create", written(key))
        body = {"senderKey": key, "templateCode": "T1"} if step == "POST" else {"senderKey": key}
        stage.relay.inject_fault("slow", f"{step} /alimtalk", seconds=2)
        asked = asyncio.ensure_future(call(operation, body))
        await env.wait(1)
        stage.store.write_trouble = StoreAway("told to be")

        assert (await asked).result == "SERVICE_UNAVAILABLE"
        stage.store.write_trouble = None
        await env.wait(2 * A_ROUND_S)

        if operation == "sender/delete":
            assert (await sender(call))["disabledReason"]["value"] == "gone"
        else:
            assert await state_of(call) == "inspecting"

    stage.run(scenario)


def test_a_relay_that_refuses_our_keys_is_the_operators_to_mend(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(env: Environment) -> None:
        call = await quiet(env, stage)
        key = await stage.opened(call)
        stage.relay.talk_secret_key = "another"

        answer = await call("sender/create", channel(channelId="@other"))
        await env.wait(5 * A_ROUND_S)

        check_away(answer, "tell the operator")
        assert (await sender(call))["senderKey"] == key
        told_of = [each for each in caplog.records if each.name == "pabal.keep_in_step"]
        assert [(each.getMessage(), each.__dict__["reason"]) for each in told_of] == [
            ("a relay does not show its profiles", "it refuses the keys of the settings (code -1001)")
        ]

    with caplog.at_level("WARNING"):
        stage.run(scenario)

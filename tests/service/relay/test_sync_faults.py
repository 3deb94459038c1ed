"""Faults of a relay or the store during a sync change nothing by mistake."""

import asyncio
from typing import Any

import pytest

from pabal.store.engine.base import StoreUnavailable
from tests.fakes.nhncloud.state import Profile
from tests.fixtures.relay import (
    AWAY,
    SYNC_ROUND_S,
    RelayEnvironment,
    check_unavailable,
    get_sender,
    get_template,
    request_review,
    right,
    template_body,
    template_status,
)
from tests.fixtures.web import call_ok, channel_body

pytestmark = pytest.mark.slow  # each is quick, but there are many

AGAIN = 1e9


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "how", "words"), AWAY)
@pytest.mark.parametrize("step", ["/senders", "/templates", "GET /alimtalk"])
async def test_relay_that_does_not_answer_changes_nothing(
    stage: RelayEnvironment, step: str, kind: str, how: dict[str, Any], words: str
) -> None:
    call, key = await stage.open_approved("en")
    before = await get_sender(call), await get_template(call)
    meddle = stage.relay.inject_fault(kind, step, times=AGAIN, **how)

    await stage.wait(5 * SYNC_ROUND_S)

    assert meddle.done > 1
    assert (await get_sender(call), await get_template(call)) == before
    meddle.times = 0
    stage.relay.console.block_profile(key)
    await stage.wait(2 * SYNC_ROUND_S)
    assert (await get_sender(call))["enable"] is False


async def test_failing_profile_does_not_delay_the_others(stage: RelayEnvironment) -> None:
    call = await stage.connect("en")
    keys = [
        await stage.register_channel(call, channelId=f"@shop{number}", cellphone=f"010-9999-000{number}")
        for number in range(5)
    ]
    for key in keys[:4]:
        stage.relay.inject_fault("garbage", f"/senders/{key}", times=AGAIN)
    stage.relay.add_template(keys[4], "T1", "글")

    await stage.wait(3 * SYNC_ROUND_S)

    assert await template_status(call) == "approved"


async def test_malformed_answer_changes_nothing(stage: RelayEnvironment) -> None:
    call, _ = await stage.open_approved("en")
    stage.template().current.fields["templateName"] = None
    stage.relay.profiles["odd"] = Profile("@odd", "odd", "01012345678", "00100010001", 0)

    await stage.wait(3 * SYNC_ROUND_S)

    assert (await get_template(call))["enable"] is True
    assert len((await call("sender/list")).items) == 1


async def test_template_deleted_during_a_sync_does_not_come_back(stage: RelayEnvironment) -> None:
    call, key = await stage.open("en")
    await call_ok(call, "template/create", template_body(key))
    await request_review(call, key)
    stage.relay.console.reject(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    stage.relay.inject_fault("slow", f"senders/{key}/templates", seconds=4)
    while not stage.relay.faults.faults[-1].done:
        await stage.wait(0.5)

    await call_ok(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
    await stage.wait(6)

    assert (await call("template/list")).items == []


@pytest.mark.parametrize(("step", "operation"), [("DELETE", "sender/delete"), ("POST", "template/request")])
async def test_relay_changes_are_applied_when_the_store_is_available_again(
    stage: RelayEnvironment, step: str, operation: str
) -> None:
    call = await stage.connect("en")
    await call_ok(call, "sender/create", channel_body())
    await call_ok(call, "sender/auth", right(stage))
    key = stage.profile().sender_key
    await call_ok(call, "template/create", template_body(key))
    body = {"senderKey": key, "templateCode": "T1"} if step == "POST" else {"senderKey": key}
    stage.relay.inject_fault("slow", f"{step} /alimtalk", seconds=2)
    asked = asyncio.ensure_future(call(operation, body))
    await stage.wait(1)
    stage.store.write_error = StoreUnavailable("simulated failure")

    assert (await asked).result == "SERVICE_UNAVAILABLE"
    stage.store.write_error = None
    await stage.wait(2 * SYNC_ROUND_S)

    if operation == "sender/delete":
        assert (await get_sender(call))["disabledReason"]["value"] == "gone"
    else:
        assert await template_status(call) == "inspecting"


async def test_refused_relay_keys_are_logged_for_the_operator(
    stage: RelayEnvironment, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING"):
        call, key = await stage.open("en")
        stage.relay.talk_secret_key = "another"

        answer = await call("sender/create", channel_body(channelId="@other"))
        await stage.wait(5 * SYNC_ROUND_S)

        check_unavailable(answer, "Tell the operator")
        assert (await get_sender(call))["senderKey"] == key
        told_of = [each for each in caplog.records if each.name == "pabal.relay_sync"]
        assert [(each.getMessage(), each.__dict__["reason"]) for each in told_of] == [
            (
                "cannot read the profiles of a relay; retrying every 30 s",
                "the configured keys are not accepted (code -1001)",
            )
        ]

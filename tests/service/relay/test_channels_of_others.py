"""Channels that another account has at the relay: registering one tells nothing about that account."""

import json
from typing import Any

from tests.fixtures.relay import CHANNEL, RelayEnvironment, get_sender
from tests.fixtures.web import call_ok, channel_body


async def test_channel_of_another_account_answers_like_a_free_one_and_stays_waiting(
    stage: RelayEnvironment,
) -> None:
    call = await stage.connect()
    other = await stage.env.caller("other", "en")
    await stage.register_channel(call)
    key = (await get_sender(call))["senderKey"]
    answers: dict[str, list[Any]] = {}
    for channel_id in (CHANNEL, "@unheard-of"):
        body = {**channel_body(), "channelId": channel_id}
        proof = {"channelId": channel_id, "token": "1"}
        steps = [("sender/create", body)] * 2 + [("sender/auth", proof)] * 6
        given = [await other(operation, body) for operation, body in steps]
        answers[channel_id] = [
            [each.status, {name: value for name, value in each.body.items() if name != "time"}] for each in given
        ]

    taken, free = answers.values()
    assert json.loads(json.dumps(taken).replace(CHANNEL, "@unheard-of")) == free
    assert [body["result"] for _, body in free] == [
        *["SUCCESS"] * 2,
        *["TOKEN_INVALID"] * 5,
        "TOKEN_LOCKED",
    ]
    assert (await get_sender(call))["senderKey"] == key
    assert {each["authStatus"]["value"] for each in (await other("sender/list")).items} == {"waiting"}


async def test_right_token_of_a_channel_verified_meanwhile_gives_nothing_away(stage: RelayEnvironment) -> None:
    call = await stage.connect()
    other = await stage.env.caller("other", "en")
    await call_ok(other, "sender/create", channel_body(cellphone="010-5555-6666"))
    await stage.register_channel(call)

    answer = await other("sender/auth", {"channelId": CHANNEL, "token": "123456"})

    assert answer.result == "TOKEN_INVALID"

"""Inbound messages by the API: listed by cursor, each once, and only to the account that has the number."""

from typing import Any

import pytest

from pabal.carriers.base import InboundMessage
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import accounts, numbers
from tests.fixtures.virtual import Caller, Environment

NUMBER = "0212345678"


async def register(env: Environment, account: str) -> None:
    account_id = await env.store.write(accounts.ensure_account, account, env.world.now())
    await env.store.write(numbers.add, account_id, NUMBER, env.world.now())


async def arrive(env: Environment, *contents: str) -> None:
    messages = [InboundMessage("01012345678", NUMBER, content) for content in contents]
    await store_messages(env.context, "simulator", messages)


async def list_contents(call: Caller, **query: Any) -> tuple[list[str], str]:
    """Return the texts of one call, and the cursor of the next."""
    answer = await call("message/inbound", query=query)
    assert answer.body["resultCount"] == len(answer.items)
    return [each["content"] for each in answer.items], answer.item["nextCursor"]


async def test_each_message_is_listed_once_along_the_cursors(env: Environment) -> None:
    call, other = await env.caller("ours"), await env.caller("theirs")
    await register(env, "ours")
    nothing, cursor = await list_contents(call)
    await arrive(env, "하나", "둘", "셋")

    some, cursor = await list_contents(call, cursor=cursor, limit=2)
    rest, cursor = await list_contents(call, cursor=cursor)
    await arrive(env, "넷")
    more, cursor = await list_contents(call, cursor=cursor)
    none, again = await list_contents(call, cursor=cursor)

    assert [nothing, some, rest, more, none] == [[], ["하나", "둘"], ["셋"], ["넷"], []]
    assert again == cursor
    assert (await list_contents(call))[0] == ["하나", "둘", "셋", "넷"]
    assert (await list_contents(other))[0] == []


async def test_record_has_numbers_text_and_time(env: Environment, call: Caller) -> None:
    await register(env, "acme")
    await arrive(env, "문의")

    answer = await call("message/inbound")

    assert answer.items == [
        {
            "id": answer.items[0]["id"],
            "label": "010-1234-5678",
            "sender": "010-1234-5678",
            "receiver": "02-1234-5678",
            "content": "문의",
            "optOut": False,
            "receivedDate": "2026-11-15 12:00:00",
        }
    ]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "f" * 16}, "cursor"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
    ],
)
async def test_wrong_parameters_are_refused(call: Caller, query: dict[str, Any], field: str) -> None:
    refused = await call("message/inbound", query=query)

    assert (refused.result, refused.body["errors"][0]["field"]) == ("INVALID_PARAMETER", field)

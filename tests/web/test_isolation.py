"""No account sees, uses or deletes objects of another: every endpoint, called with another account's ids."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from pabal.carriers.base import InboundMessage
from pabal.domain.events.event import format_cursor
from pabal.domain.people.phone import NumberState
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import accounts, numbers
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import (
    CATEGORY,
    SENDER,
    alimtalk_body,
    approve_template,
    call_ok,
    channel_body,
    describe_outcome,
    friendtalk_body,
    get_latest_token,
    get_message,
    list_messages,
    list_phone_messages,
    register_channel,
    sms_body,
    template_body,
)

pytestmark = pytest.mark.slow

THEIR_RECEIVER = "010-5555-5555"
HOOK = "https://theirs.example/hook"
THEIR_NUMBER = "0299998888"
REPLY = "그들에게 온 답장"
THEIR_ADMIN = "010-9999-0000"


class ObjectIds(NamedTuple):
    """The ids of an account's objects."""

    sender_key: str
    channel_id: str
    waiting_channel: str
    token: str
    template_code: str
    request_id: str
    message_id: str
    phone: str
    webhook_id: str
    results_cursor: str
    inbound_cursor: str


UNKNOWN_IDS = ObjectIds(
    "0" * 40,
    "@nobody",
    "@no-one",
    "000000",
    "NONE",
    "f" * 26,
    "f" * 32,
    "010-4444-4444",
    "999999",
    format_cursor({}),
    "0",
)


class Case(NamedTuple):
    """A call that names objects of an account, or lists its own."""

    body: Callable[[ObjectIds], Any] = lambda ids: None
    query: Callable[[ObjectIds], Mapping[str, Any]] = lambda ids: {}


CASES: dict[str, list[Case]] = {
    "sender/categories": [Case()],
    "sender/create": [Case(lambda ids: channel_body(channelId=ids.channel_id, cellphone=ids.phone))],
    "sender/delete": [
        Case(lambda ids: {"senderKey": ids.sender_key}),
        Case(lambda ids: {"channelId": ids.channel_id}),
        Case(lambda ids: {"channelId": ids.waiting_channel}),
        Case(lambda ids: {"senderKey": ids.sender_key, "channelId": ids.channel_id}),
    ],
    "sender/auth": [
        Case(lambda ids: {"channelId": ids.waiting_channel, "token": ids.token}),
        Case(lambda ids: {"channelId": ids.channel_id, "token": ids.token}),
    ],
    "sender/list": [
        Case(),
        Case(query=lambda ids: {"senderKey": ids.sender_key}),
        Case(query=lambda ids: {"channelId": ids.channel_id}),
    ],
    "message/sendSMS": [Case(lambda ids: sms_body(ids.phone))],
    "message/sendLMS": [Case(lambda ids: sms_body(ids.phone))],
    "message/sendMMS": [Case(lambda ids: sms_body(ids.phone))],
    "message/sendAlimtalk": [
        Case(lambda ids: alimtalk_body(ids.sender_key, templateCode=ids.template_code)),
        Case(lambda ids: alimtalk_body("OURS", templateCode=ids.template_code)),
    ],
    "message/sendFriendtalk": [Case(lambda ids: friendtalk_body(ids.sender_key))],
    "message/sendBrandMessage": [Case(lambda ids: brand_body(ids.sender_key))],
    "message/list": [
        Case(lambda ids: {"receivers": ids.phone}),
        Case(lambda ids: {"receivers": ids.phone, "requestId": ids.request_id}),
        Case(lambda ids: {"receivers": ids.phone, "messageId": ids.message_id}),
        Case(lambda ids: {"receivers": ids.phone, "senderKey": ids.sender_key}),
        Case(lambda ids: {"receivers": ids.phone, "channelId": ids.channel_id}),
        Case(lambda ids: {"receivers": ids.phone, "templateCode": ids.template_code}),
        Case(lambda ids: {"requestId": ids.request_id}),
        Case(lambda ids: {"messageId": ids.message_id}),
    ],
    "message/cancel": [
        Case(lambda ids: {"requestId": ids.request_id}),
        Case(lambda ids: {"requestId": ids.request_id, "messageId": ids.message_id}),
    ],
    "message/results": [
        Case(),
        Case(query=lambda ids: {"limit": 1}),
        Case(query=lambda ids: {"cursor": ids.results_cursor}),
    ],
    "message/request": [Case(query=lambda ids: {"requestId": ids.request_id})],
    "message/detail": [Case(query=lambda ids: {"messageId": ids.message_id})],
    "statistics/list": [Case(query=lambda ids: {"from": "2026-11-15", "groupBy": "sender,templateCode,key"})],
    "template/categories": [Case()],
    "template/create": [Case(lambda ids: template_body(ids.sender_key, templateCode=ids.template_code))],
    "template/update": [
        Case(lambda ids: template_body(ids.sender_key, templateCode=ids.template_code, content="gone")),
        Case(lambda ids: template_body("OURS", templateCode=ids.template_code, content="gone")),
    ],
    "template/delete": [
        Case(lambda ids: {"senderKey": ids.sender_key, "templateCode": ids.template_code}),
        Case(lambda ids: {"senderKey": "OURS", "templateCode": ids.template_code}),
    ],
    "template/request": [
        Case(lambda ids: {"senderKey": ids.sender_key, "templateCode": ids.template_code}),
        Case(lambda ids: {"senderKey": "OURS", "templateCode": ids.template_code}),
    ],
    "template/list": [
        Case(),
        Case(query=lambda ids: {"senderKey": ids.sender_key}),
        Case(query=lambda ids: {"templateCode": ids.template_code}),
    ],
    "message/inbound": [Case(), Case(query=lambda ids: {"cursor": ids.inbound_cursor})],
    "optOut/add": [
        Case(lambda ids: {"phoneNumber": ids.phone}),
        Case(lambda ids: {"phoneNumbers": [ids.phone], "senderNumber": SENDER}),
    ],
    "optOut/remove": [
        Case(lambda ids: {"phoneNumber": ids.phone}),
        Case(lambda ids: {"phoneNumbers": [ids.phone], "senderNumber": SENDER}),
    ],
    "optOut/list": [
        Case(),
        Case(query=lambda ids: {"phoneNumber": ids.phone}),
        Case(query=lambda ids: {"senderNumber": SENDER}),
    ],
    "privacy/export": [
        Case(lambda ids: {"phoneNumber": ids.phone}),
        Case(lambda ids: {"phoneNumber": THEIR_ADMIN}),
    ],
    "privacy/erase": [Case(lambda ids: {"phoneNumber": ids.phone}), Case(lambda ids: {"phoneNumber": THEIR_ADMIN})],
    "webhook/create": [Case(lambda ids: {"url": HOOK, "events": ["limit.near"]})],
    "webhook/update": [
        Case(lambda ids: {"webhookId": ids.webhook_id, "url": "https://ours.example/"}),
        Case(lambda ids: {"webhookId": ids.webhook_id, "rotateSecret": True, "enabled": False}),
    ],
    "webhook/delete": [Case(lambda ids: {"webhookId": ids.webhook_id})],
    "webhook/test": [Case(lambda ids: {"webhookId": ids.webhook_id})],
    "webhook/replay": [Case(lambda ids: {"webhookId": ids.webhook_id, "since": "2026-11-15 11:00"})],
    "webhook/list": [Case()],
    "webhook/events": [
        Case(query=lambda ids: {"since": "2026-11-15 11:00"}),
        Case(query=lambda ids: {"cursor": ids.results_cursor}),
    ],
    "webhook/deliveries": [Case(query=lambda ids: {"webhookId": ids.webhook_id})],
    "simulator/phone": [
        Case(query=lambda ids: {"phoneNumber": ids.phone}),
        Case(query=lambda ids: {"phoneNumber": THEIR_ADMIN}),
    ],
}


CREATING = ("message/send", "sender/create", "template/create", "webhook/create", "optOut/add")
"""Called last: what they leave to the caller would be found by the others."""


def test_every_endpoint_has_a_case() -> None:
    assert {f"/api/{operation}.v1.0" for operation in CASES} == {endpoint.path for endpoint in ENDPOINTS}


async def _create_objects(env: Environment, call: Caller) -> ObjectIds:
    """Give an account one object of each kind, a sent message, and one scheduled for 12:10."""
    sender_key = await register_channel(call)
    await call_ok(call, "sender/create", channel_body(channelId="@waiting"))
    await approve_template(call, sender_key, templateCode="SENT")
    await call_ok(call, "template/create", template_body(sender_key, templateCode="THEIRS"))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, THEIR_RECEIVER, templateCode="SENT"))
    await call_ok(call, "optOut/add", {"phoneNumber": THEIR_RECEIVER})
    await call_ok(call, "optOut/add", {"phoneNumber": THEIR_RECEIVER, "senderNumber": SENDER})
    later = {"templateCode": "SENT", "sendDate": "2026-11-15 12:10"}
    sent = await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, THEIR_RECEIVER, **later))
    hook = await call_ok(call, "webhook/create", {"url": HOOK, "events": ["limit.near"]})
    await call_ok(call, "webhook/test", {"webhookId": hook.item["webhookId"]})
    account_id = await env.store.write(accounts.ensure_account, "theirs", env.world.now())
    await env.store.write(numbers.add, account_id, THEIR_NUMBER, env.world.now(), NumberState.APPROVED)
    reply = InboundMessage("01055555555", THEIR_NUMBER, REPLY)
    await store_messages(env.context, "simulator", [reply])
    results = (await call_ok(call, "message/results", query={"limit": 1})).item["nextCursor"]
    await env.wait(2)
    inbound = await call_ok(call, "message/inbound", query={"limit": 1})
    assert [each["content"] for each in inbound.items] == [REPLY]
    waiting = await get_message(call, THEIR_RECEIVER, requestId=sent.request_id)
    return ObjectIds(
        sender_key,
        "@shop",
        "@waiting",
        await get_latest_token(call),
        "THEIRS",
        sent.request_id,
        waiting["messageId"],
        THEIR_RECEIVER,
        hook.item["webhookId"],
        results,
        f"{int(inbound.item['nextCursor'], 16) - 1:x}",
    )


async def _read_everything(call: Caller) -> list[Any]:
    return [
        (await call("sender/list")).items,
        (await call("template/list")).items,
        (await call("optOut/list")).items,
        hooks := (await call("webhook/list")).items,
        [(await call("webhook/deliveries", query={"webhookId": each["webhookId"]})).items for each in hooks],
        (await call("message/inbound")).items,
        (await call("message/results")).items,
        await list_messages(call, THEIR_RECEIVER),
        await list_phone_messages(call, THEIR_RECEIVER),
        await list_phone_messages(call, THEIR_ADMIN),
    ]


def _comparable(answer: ApiResponse) -> Any:
    """Return an answer without its time and the ids that it created."""
    fields = {name: value for name, value in answer.body.items() if name not in ("time", "item")}
    return answer.status, fields, set(answer.headers)


def _replace_key(given: Any, our_key: str) -> Any:
    return {name: our_key if value == "OURS" else value for name, value in given.items()} if given else given


async def test_objects_of_another_account_are_not_found(env: Environment) -> None:
    theirs, ours = await env.caller("theirs"), await env.caller("ours")
    ids = await _create_objects(env, theirs)
    our_key = await register_channel(ours, channelId="@ours", cellphone="010-9999-2222")
    before = await _read_everything(theirs)

    async def call(operation: str, case: Case, named: ObjectIds) -> ApiResponse:
        body = _replace_key(case.body(named), our_key)
        return await ours(operation, body, query=case.query(named))

    for operation in sorted(CASES, key=lambda name: name.startswith(CREATING)):
        for number, case in enumerate(CASES[operation], 1):
            of_theirs = await call(operation, case, ids)
            of_nobodys = await call(operation, case, UNKNOWN_IDS)
            await env.wait(5)

            assert _comparable(of_theirs) == _comparable(of_nobodys), (operation, number)
            assert await _read_everything(theirs) == before, (operation, number)
            for word in (ids.sender_key, ids.request_id, ids.message_id, HOOK, REPLY):
                assert word not in str(of_theirs.body), (operation, number)
    await env.wait(600)
    assert describe_outcome(await get_message(theirs, THEIR_RECEIVER, messageId=ids.message_id)) == "completed 1000"
    proved = await theirs("sender/auth", {"channelId": ids.waiting_channel, "token": ids.token})
    assert proved.result == "SUCCESS"


async def test_two_accounts_may_have_the_same_channel_each_with_its_own_token_and_key(env: Environment) -> None:
    ours, theirs = await env.caller("ours"), await env.caller("theirs")
    for call in (ours, theirs):
        await call_ok(call, "sender/create", channel_body())
    our_token, their_token = await get_latest_token(ours), await get_latest_token(theirs)

    crossed = await ours("sender/auth", {"channelId": "@shop", "token": their_token})
    for call, token in ((ours, our_token), (theirs, their_token)):
        await call_ok(call, "sender/auth", {"channelId": "@shop", "token": token})

    (our_profile,), (their_profile,) = (await ours("sender/list")).items, (await theirs("sender/list")).items
    assert crossed.result == "TOKEN_INVALID"
    assert our_profile["senderKey"] != their_profile["senderKey"]
    assert our_profile["category"]["value"] == CATEGORY


async def test_deleting_a_channel_leaves_the_same_channel_of_another_account(env: Environment) -> None:
    ours, theirs = await env.caller("ours"), await env.caller("theirs")
    our_key, their_key = await register_channel(ours), await register_channel(theirs)
    await call_ok(theirs, "message/sendFriendtalk", friendtalk_body(their_key, sendDate="2026-11-15 12:10"))

    await call_ok(ours, "sender/delete", {"senderKey": our_key})
    await env.wait(900)

    assert len((await theirs("sender/list")).items) == 1
    assert describe_outcome(await get_message(theirs)) == "completed 1000"

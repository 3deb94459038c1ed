"""Groups that a program creates, fills with messages, and then sends or schedules."""

from typing import Any

import msgspec

from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import AddMessagesBody, CreateGroupBody, MessageBody, ScheduleBody, decode
from pabal.compat.solapi.call import CompatCall, format_group_id, parse_group_id
from pabal.compat.solapi.codes import CallRefused, invalid, not_found
from pabal.compat.solapi.groups import describe_new_group, show_group
from pabal.compat.solapi.sending import MAX_MESSAGES, check_messages, describe_item, send_messages
from pabal.compat.solapi.translation import note_refusals, read_body
from pabal.service.sending.accept import choose_slot, find_same
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_groups, idempotency_keys
from pabal.store.messages.compat_groups import GroupMessage, OpenGroup
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from pabal.world import new_request_id

MAX_OPEN_GROUPS = 100
"""Groups of an account that are not sent yet."""


async def create_group(call: CompatCall) -> dict[str, Any]:
    """Create an empty group."""
    body = read_body(call, CreateGroupBody)
    store = call.context.store
    if await store.read(compat_groups.count, call.account_id) >= MAX_OPEN_GROUPS:
        words = f"발송하지 않은 그룹은 최대 {MAX_OPEN_GROUPS}개까지 만들 수 있습니다."
        raise CallRefused(400, "TooManyGroups", words)
    group_id = new_request_id(call.context.world, 0)
    allows = bool(body.allowDuplicates)
    await store.write(compat_groups.add, call.account_id, group_id, call.now, allows_duplicates=allows)
    return _describe(call, OpenGroup(group_id, allows, call.now, 0))


async def add_messages(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Add messages to a group; those that cannot be sent are named, and left out."""
    group = await _get(call, group_id)
    given = read_body(call, AddMessagesBody).messages
    checked = await check_messages(call, given, None, allows_duplicates=group.allows_duplicates)
    kept = [
        GroupMessage(item.to.replace("-", ""), _encode(item.body, item.to))
        for item in checked.items
        if item.place not in checked.refusals
    ]
    count = await call.context.store.write(_add_once, call, group.id, kept)
    if count is None:
        raise invalid("발송을 시작한 그룹에는 메시지를 추가할 수 없습니다.")
    if count > MAX_MESSAGES:
        raise CallRefused(413, "RecipientsTooMany", f"그룹에 추가할 수 있는 메시지는 최대 {MAX_MESSAGES}건 입니다.")
    note_refusals(call, checked.items, checked.refusals)
    results = [describe_item(call, item, checked.refusals.get(item.place)) for item in checked.items]
    return {"groupId": group_id, "errorCount": len(checked.refusals), "resultList": results}


def _add_once(tx: Tx, call: CompatCall, group_id: bytes, kept: list[GroupMessage]) -> int | None:
    """Add messages to a group as `compat_groups.add_messages` does; a repeat of the call adds nothing.

    Raises Refused(DUPLICATE) where the signature was used for a different call.
    """
    context, given = call.context, call.idempotency_key(0, call.digest())
    key = IdempotencyKeyId(choose_slot(context, call.account_id, given.key), call.account_id, given.key)
    if find_same(idempotency_keys.find(tx, [key]).get(key), given, call.now - context.policy.idempotency_ms):
        return 0
    count = compat_groups.add_messages(tx, call.account_id, group_id, kept, MAX_MESSAGES)
    if count is not None and count <= MAX_MESSAGES:
        idempotency_keys.save(tx, {key: KeyedRequest(given.digest, group_id, call.now)})
    return count


async def send_group(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Send what a group has now."""
    return await _send(call, group_id, None)


async def schedule_group(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Send what a group has at a later time."""
    return await _send(call, group_id, decode(call.raw, ScheduleBody).scheduledDate)


async def show_any_group(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Return a group, sent or not."""
    found = await call.context.store.read(compat_groups.get, call.account_id, parse_group_id(group_id))
    return _describe(call, found) if found else await show_group(call, group_id)


async def delete_group(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Delete a group that is not sent."""
    group = await _get(call, group_id)
    await call.context.store.write(compat_groups.delete, call.account_id, group.id)
    return {**_describe(call, group), "status": "DELETED"}


async def _get(call: CompatCall, group_id: str) -> OpenGroup:
    found = await call.context.store.read(compat_groups.get, call.account_id, parse_group_id(group_id))
    if found is None:
        raise not_found()
    return found


async def _send(call: CompatCall, group_id: str, scheduled: str | None) -> dict[str, Any]:
    """Send a group once: a repeat, after whatever happened to the first call, sends what is missing."""
    group = await _get(call, group_id)
    stored = await call.context.store.write(compat_groups.close, call.account_id, group.id)
    if not stored:
        raise invalid("발송할 메시지가 없습니다.")
    given = [msgspec.json.decode(each, type=MessageBody) for each in stored]
    once = call._replace(signature=f"group:{group_id}", path="group", raw=b"")
    sent = await send_messages(once, given, scheduled, allows_duplicates=group.allows_duplicates, group_id=group.id)
    if len(sent.refusals) == len(sent.items):
        code = next(iter(sent.refusals.values()))
        raise CallRefused(400, code, codes.MESSAGES.get(code, code))
    await call.context.store.write(compat_groups.delete, call.account_id, group.id)
    return await show_group(call, group_id)


def _encode(body: MessageBody, to: str) -> str:
    """Return a message to one receiver as it is stored."""
    fields = {name: value for name, value in msgspec.to_builtins(body).items() if value is not None}
    return msgspec.json.encode({**fields, "to": to}).decode()


def _describe(call: CompatCall, group: OpenGroup) -> dict[str, Any]:
    described = describe_new_group(
        call, group.id, group.total, 0, allows_duplicates=group.allows_duplicates, is_scheduled=False
    )
    return {**described, "status": "PENDING", "groupId": format_group_id(group.id), "dateSent": None}

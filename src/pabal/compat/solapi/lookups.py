"""Lists messages: by their fields and dates, and those of a group."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.compat.solapi import codes
from pabal.compat.solapi.authentication import parse_time
from pabal.compat.solapi.call import CompatCall, format_message_id, parse_message_id
from pabal.compat.solapi.errors import invalid
from pabal.compat.solapi.groups import request_ids_of
from pabal.compat.solapi.noted import note_ignored_query
from pabal.compat.solapi.records import describe_message, sender_of
from pabal.compat.solapi.translation import PRODUCTS
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Period
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.people import phone
from pabal.domain.sends.message import Product
from pabal.service.history.timeline import search_messages
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests, history, messages
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

_AFTER_ALL = b"\xff" * MESSAGE_ID_BYTES
_LATEST = 2**47
"""Behind every time that an id can have."""
MAX_MESSAGE_IDS = 500
_CRITERIA = ("messageId", "groupId", "to", "from", "type", "statusCode")


async def list_messages(call: CompatCall) -> dict[str, Any]:
    """Return messages, newest first."""
    note_ignored_query(call)
    wanted = _read_criteria(call.query)
    if wanted.get("groupId"):
        return await list_group_messages(call, wanted["groupId"])
    limit = call.read_limit()
    names = ("messageId", "messageIds")
    ids = [each for name in names for each in wanted.get(name, "").split(",") if each]
    if ids:
        if len(ids) > MAX_MESSAGE_IDS:
            raise invalid(f"messageIds 는 최대 {MAX_MESSAGE_IDS}건 입니다.")
        return await _answer(call, await _find(call, ids), None, limit)
    message_filter = _build_filter(call, wanted)
    if message_filter is None:
        return await _answer(call, [], None, limit)
    page = await search_messages(call.context, message_filter, _read_start(call), limit)
    code, sender = wanted.get("statusCode"), (wanted.get("from") or "").replace("-", "")
    found = [
        (message, request)
        for message, request in page.found
        if code in (None, "", codes.status_code(message.status, message.outcome))
        and sender in ("", sender_of(message, request))
    ]
    return await _answer(call, found, page.next_before, limit)


async def list_group_messages(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Return the messages of a group, newest first."""
    note_ignored_query(call)
    request_ids = await request_ids_of(call, group_id)
    limit, before = call.read_limit(), _read_start(call)
    found: list[tuple[Message, Request]] = []
    following: bytes | None = None
    for one in sorted(request_ids, reverse=True):
        if len(found) == limit:
            following = found[-1][0].id
            break
        message_filter = MessageFilter(call.account_id, request_id=one)
        page = await search_messages(call.context, message_filter, before, limit - len(found))
        found += page.found
        following = page.next_before
    return await _answer(call, found, following, limit)


def _read_criteria(query: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a query; those of `criteria`, `cond` and `value` by their names."""
    wanted = dict(query)
    names, operators, values = ((query.get(each) or "").split(",") for each in ("criteria", "cond", "value"))
    if names == [""]:
        return wanted
    if not len(names) == len(operators) == len(values):
        raise invalid("criteria, cond, value 의 개수가 다릅니다.")
    for name, operator, value in zip(names, operators, values, strict=True):
        if name not in _CRITERIA or operator != "eq":
            raise invalid(f"{name} {operator} 조건은 사용할 수 없습니다.")
        wanted[name] = value
    return wanted


def _build_filter(call: CompatCall, wanted: Mapping[str, str]) -> MessageFilter | None:
    """Return what to search for; None where nothing can match."""
    product: Product | None = None
    if wanted.get("type"):
        product = PRODUCTS.get(wanted["type"].upper())
        if product is None:
            return None
    receiver: str | None = None
    if wanted.get("to"):
        try:
            receiver = phone.parse_mobile(wanted["to"])
        except Refused:
            return None
    period: Period | None = None
    if wanted.get("startDate") or wanted.get("endDate"):
        since = parse_time(wanted["startDate"]) if wanted.get("startDate") else 0
        until = parse_time(wanted["endDate"]) + 1 if wanted.get("endDate") else _LATEST
        period = Period(since, max(since, until))
    kind = wanted.get("dateType") or "CREATED"
    if kind not in ("CREATED", "UPDATED"):
        raise invalid("dateType 의 값이 올바르지 않습니다.")
    if kind == "UPDATED":
        return MessageFilter(call.account_id, receiver=receiver, product=product, completed=period)
    return MessageFilter(call.account_id, receiver=receiver, product=product, requested=period)


def _read_start(call: CompatCall) -> bytes:
    """Return the id that a page comes before: the last one of the page that gave its `nextKey`."""
    spelling = call.query.get("startKey")
    if not spelling:
        return _AFTER_ALL
    found = parse_message_id(spelling)
    if found is None:
        raise invalid("startKey 의 값이 올바르지 않습니다.")
    return found


async def _find(call: CompatCall, spellings: Sequence[str]) -> list[tuple[Message, Request]]:
    ids = {found for each in spellings if (found := parse_message_id(each)) is not None}
    return await call.context.store.read(_read_messages, call.account_id, sorted(ids, reverse=True))


def _read_messages(tx: Tx, account_id: int, ids: Sequence[bytes]) -> list[tuple[Message, Request]]:
    found = {one: each for one, each in messages.get(tx, ids).items() if each.account_id == account_id}
    return history.join_requests(tx, [one for one in ids if one in found], found).found


async def _answer(
    call: CompatCall, found: Sequence[tuple[Message, Request]], following: bytes | None, limit: int
) -> dict[str, Any]:
    request_ids = {request.id for _, request in found}
    groups = await call.context.store.read(compat_requests.groups_by_request, request_ids) if found else {}
    policy = call.context.policy
    return {
        "startKey": call.query.get("startKey"),
        "nextKey": format_message_id(following) if following else None,
        "limit": limit,
        "messageList": {
            format_message_id(message.id): describe_message(
                policy, message, request, groups.get(request.id, request.id)
            )
            for message, request in found
        },
    }

"""Lists messages: by their fields and dates, and those of a group."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pabal.compat.solapi import codes
from pabal.compat.solapi.call import MAX_LIMIT, CompatCall, format_message_id, parse_message_id
from pabal.compat.solapi.codes import invalid
from pabal.compat.solapi.groups import request_ids_of
from pabal.compat.solapi.records import describe_message, sender_of
from pabal.compat.solapi.translation import PRODUCTS
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.people import phone
from pabal.service.history.timeline import search_messages
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests, history, messages
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

_AFTER_ALL = b"\xff" * MESSAGE_ID_BYTES
MAX_MESSAGE_IDS = 500
MAX_SEARCHES = 5
"""Pages that are searched for one of what only some of their messages match."""
_CRITERIA = ("messageId", "groupId", "to", "from", "type", "statusCode")


class _Wanted(NamedTuple):
    """What a list asks for: what the store searches for, and what is left to look at."""

    filter: MessageFilter
    code: str
    sender: str
    is_searched: bool
    """Whether the store finds just these messages."""

    def fits(self, message: Message, request: Request) -> bool:
        code = codes.status_code(message.status, message.outcome)
        return self.code in ("", code) and self.sender in ("", sender_of(message, request))


async def list_messages(call: CompatCall) -> dict[str, Any]:
    """Return messages, newest first."""
    given = _read_criteria(call.query)
    ids = [each for name in ("messageId", "messageIds") for each in given[name].split(",") if each]
    if len(ids) > MAX_MESSAGE_IDS:
        raise invalid(f"messageIds 는 최대 {MAX_MESSAGE_IDS}건 입니다.")
    if not ids:
        return await _list(call, given)
    group = await request_ids_of(call, given["groupId"]) if given["groupId"] else None
    found = [each for each in await _find(call, ids) if group is None or each[1].id in group]
    return await _answer(call, found, None)


async def list_group_messages(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Return the messages of a group, newest first."""
    return await _list(call, {**_read_criteria(call.query), "groupId": group_id})


async def _list(call: CompatCall, given: Mapping[str, str]) -> dict[str, Any]:
    places: Sequence[bytes | None] = [None]
    if given["groupId"]:
        places = sorted(await request_ids_of(call, given["groupId"]), reverse=True)
    wanted = _build_filter(call, given)
    found, following = await _search(call, wanted, places) if wanted else ([], None)
    return await _answer(call, found, following)


async def _search(
    call: CompatCall, wanted: _Wanted, places: Sequence[bytes | None]
) -> tuple[list[tuple[Message, Request]], bytes | None]:
    """Return a page of messages of some requests, of all for None, and the id that the next page comes before."""
    found: list[tuple[Message, Request]] = []
    limit, start = call.read_limit(), _read_start(call)
    size = limit if wanted.is_searched else MAX_LIMIT
    left = MAX_SEARCHES if places == [None] else MAX_LIMIT
    for place in places:
        before: bytes | None = start
        while before is not None and left and len(found) < limit:
            page = await search_messages(call.context, wanted.filter._replace(request_id=place), before, size)
            found += [each for each in page.found if wanted.fits(*each)]
            before, left = page.next_before, left - 1
        if place is not None and before is None and place != places[-1] and (len(found) >= limit or not left):
            before = identifiers.message_id_range(place)[0]
        if before is not None:
            return found[:limit], before if len(found) <= limit else found[limit - 1][0].id
    return found[:limit], found[limit - 1][0].id if len(found) > limit else None


def _read_criteria(query: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a query, of which some may be empty, with those that `criteria` and `value` name."""
    wanted = {name: query.get(name) or "" for name in (*_CRITERIA, "messageIds")}
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


def _build_filter(call: CompatCall, given: Mapping[str, str]) -> _Wanted | None:
    """Return what to search for; None where nothing can match."""
    kind, period = call.query.get("dateType") or "CREATED", call.read_period("startDate", "endDate")
    if kind not in ("CREATED", "UPDATED"):
        raise invalid("dateType 의 값이 올바르지 않습니다.")
    product = PRODUCTS.get(given["type"].upper())
    if given["type"] and product is None:
        return None
    try:
        receiver = phone.parse_mobile(given["to"]) if given["to"] else None
    except Refused:
        return None
    plain = MessageFilter(call.account_id, receiver=receiver, product=product)
    dated = plain._replace(completed=period) if kind == "UPDATED" else plain._replace(requested=period)
    code, sender = given["statusCode"], given["from"].replace("-", "")
    wanted = codes.narrow(dated, code)
    return _Wanted(wanted, code, sender, is_searched=not sender and (not code or wanted != dated))


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
    call: CompatCall, found: Sequence[tuple[Message, Request]], following: bytes | None
) -> dict[str, Any]:
    request_ids = {request.id for _, request in found}
    groups = await call.context.store.read(compat_requests.groups_by_request, request_ids) if found else {}
    policy = call.context.policy
    return {
        "startKey": call.query.get("startKey"),
        "nextKey": format_message_id(following) if following else None,
        "limit": call.read_limit(),
        "messageList": {
            format_message_id(message.id): describe_message(
                policy, message, request, groups.get(request.id, request.id)
            )
            for message, request in found
        },
    }

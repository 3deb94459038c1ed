"""The endpoints that look up one message, results, inbound messages, statistics and a simulated phone."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pabal.answers.kakao_records import build_button_item, build_parts
from pabal.answers.message_records import (
    build_inbound_item,
    build_message_detail,
    build_result_items,
    format_inbound_cursor,
    parse_inbound_cursor,
)
from pabal.answers.statistics import (
    MAX_ROWS,
    TOO_MANY_ROWS,
    build_statistics_items,
    read_reads,
    read_statistics_query,
)
from pabal.checks.body.call import ApiCall, check_range, read_paging
from pabal.checks.body.locale import Locale
from pabal.checks.webhooks import EXPIRED_CURSOR, parse_positions
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.brand.message import BrandAttachment, to_documented
from pabal.domain.events.event import format_cursor
from pabal.domain.people import phone
from pabal.domain.sends.message import SimulatedMessage
from pabal.models import lookup, operations, statistics
from pabal.models.brand_bodies import AttachmentBody
from pabal.models.lookup import PhoneItem
from pabal.service.events import read_results
from pabal.service.history import history
from pabal.service.history.timeline import get_timeline
from pabal.service.upkeep.reports import get_grouped_statistics
from pabal.store.queue import simulator
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, HISTORY, Group


async def _list_results(call: ApiCall) -> dict[str, Any]:
    check_range(call.form, "limit", lookup.MAX_RESULTS)
    positions = call.form.read_optional("cursor", parse_positions)
    call.form.raise_problems()
    page = await read_results(call.context, call.account_id, positions, call.form.body.limit)
    if page is None:
        raise Refused(Code.INVALID_PARAMETER, "cursor", EXPIRED_CURSOR)
    items = build_result_items(page.events, page.read, call.locale, call.context.policy)
    return envelope.followed_fields(lookup.ResultsItem(nextCursor=format_cursor(page.positions)), items)


async def _get_message(call: ApiCall) -> dict[str, Any]:
    word = call.form.read("messageId", str)
    call.form.raise_problems()
    message_id = identifiers.parse_message_id(word)
    found = await call.context.store.read(get_timeline, call.account_id, message_id) if message_id else None
    if found is None:
        raise Refused(Code.MESSAGE_NOT_FOUND, "messageId")
    return {"item": build_message_detail(found, call.locale, call.context.policy)}


async def _list_statistics(call: ApiCall) -> dict[str, Any]:
    page, page_size = read_paging(call.form)
    query = read_statistics_query(call.form, call.locale.zone, call.now)
    call.form.raise_problems()
    columns = [each.column for each in query.groups]
    found = await get_grouped_statistics(call.context, call.account_id, query.periods, columns, MAX_ROWS + 1)
    if len(found.rows) > MAX_ROWS:
        raise Refused(Code.INVALID_PARAMETER, "groupBy", TOO_MANY_ROWS)
    shown = found.rows[(page - 1) * page_size : page * page_size]
    reads = await read_reads(call.context, call.account_id, query, call.locale.zone)
    items = build_statistics_items(shown, query.groups, found.names, call.locale, reads)
    counted = call.locale.format_timestamp(found.as_of if found.as_of is not None else call.now)
    return {
        "item": statistics.StatisticsInfo(counted),
        **envelope.page_fields(len(found.rows), page, page_size, items),
    }


async def _list_inbound(call: ApiCall) -> dict[str, Any]:
    form = call.form
    check_range(form, "limit", lookup.MAX_INBOUND)
    after = form.read_optional("cursor", parse_inbound_cursor) or 0
    form.raise_problems()
    found = await history.list_after(call.context, call.account_id, after, form.body.limit)
    items = [build_inbound_item(each, call.locale) for each in found]
    position = lookup.InboundPosition(format_inbound_cursor(found[-1].id if found else after))
    return envelope.followed_fields(position, items)


ENDPOINTS = (
    HISTORY.endpoint(
        operations.LIST_RESULTS,
        _list_results,
        "read",
        "지난 호출 뒤에 끝난 메시지 조회",
        "List the messages that have ended since the last call",
        Code.UNSUPPORTED_CHARACTER,
    ),
    HISTORY.endpoint(
        operations.LOOK_UP_MESSAGE,
        _get_message,
        "read",
        "메시지 하나와 그 처리 이력 조회",
        "Get one message and what happened to it",
        Code.MISSING_PARAMETER,
        Code.UNSUPPORTED_CHARACTER,
        Code.MESSAGE_NOT_FOUND,
    ),
    HISTORY.endpoint(
        operations.LIST_STATISTICS,
        _list_statistics,
        "read",
        "계정의 메시지를 시간, 날짜, 달별로, 그리고 공통점별로 집계",
        "Count the account's messages by hour, day or month, and by what they have in common",
        Code.MISSING_PARAMETER,
        Code.UNSUPPORTED_CHARACTER,
        Code.INVALID_DATE,
    ),
    HISTORY.endpoint(
        operations.LIST_INBOUND_MESSAGES,
        _list_inbound,
        "read",
        "수신자가 계정의 번호로 보낸 메시지(MO)를 오래된 것부터 조회",
        "List the messages that subscribers have sent to the account's numbers, oldest first",
        Code.UNSUPPORTED_CHARACTER,
    ),
)


async def _list_phone_messages(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    total, found = await call.context.store.read(
        simulator.list_on_phone, call.account_id, number, call.now, page, page_size
    )
    return envelope.page_fields(total, page, page_size, [_build_phone_item(each, call.locale) for each in found])


def _build_attachment(attachment: BrandAttachment) -> AttachmentBody | UnsetType:
    """Return the attachment of a brand message as the API writes it; nothing for an empty one."""
    given = to_documented(attachment)
    return msgspec.convert(given, AttachmentBody) if given else UNSET


def _build_phone_item(message: SimulatedMessage, locale: Locale) -> PhoneItem:
    """Return the record of a message on a simulated phone."""
    brand = message.brand
    return PhoneItem(
        time=locale.format_timestamp(message.arrives_at or message.accepted_at),
        kind=message.kind,
        sender=message.sender,
        subject=message.subject or UNSET,
        content=message.content,
        buttons=[build_button_item(one) for one in message.buttons],
        image=message.images > 0,
        images=message.images,
        messageType=(brand.type if brand else None) or UNSET,
        targeting=brand.targeting if brand else UNSET,
        attachment=_build_attachment(brand.attachment) if brand else UNSET,
        **build_parts(message.parts),
    )


_TESTING = Group(Text("시험", "Testing"))
PHONE_ENDPOINTS = (
    _TESTING.endpoint(
        operations.LOOK_AT_PHONE,
        _list_phone_messages,
        "read",
        "가상 휴대폰이 이 계정에서 받은 메시지 조회",
        "List the messages that a simulated phone received from this account",
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
        Code.NOT_FOUND,
    ),
)

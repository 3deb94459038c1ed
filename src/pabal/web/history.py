"""The endpoints that read: messages, one request, a simulated phone."""

from typing import Any

from pabal.checks.call import ApiCall, read_paging
from pabal.checks.choices import one_of
from pabal.checks.forms import Form
from pabal.checks.message_records import build_message_items
from pabal.domain import dates, identifiers, phone, profile, text
from pabal.domain.codes import Code, Problem, Text
from pabal.domain.dates import Period
from pabal.domain.message import PRODUCT_BY_CODE, STATUS_BY_CODE
from pabal.models.bodies import ListMessages
from pabal.service.history import history
from pabal.store import simulator
from pabal.store.history import MessageFilter
from pabal.web import envelope, records


async def list_messages(call: ApiCall) -> dict[str, Any]:
    """List the messages of one receiver."""
    page, page_size = read_paging(call.form)
    message_filter = _read_filter(call)
    call.form.raise_problems()
    if message_filter is None:
        return envelope.page_fields(0, page, page_size, [])
    found = await history.find_messages(call.context, message_filter, page, page_size)
    return envelope.page_fields(found.total, page, page_size, build_message_items(found, call.locale))


async def get_request(call: ApiCall) -> dict[str, Any]:
    """Get one send request, its counts and its messages."""
    word = call.form.read("requestId", str)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    request_id = identifiers.parse_request_id(word)
    outlook = await history.get_request_details(call.context, call.account_id, request_id, page, page_size)
    requested_at = identifiers.requested_at(outlook.request_id)
    return {
        "item": records.build_request_item(outlook, requested_at, call.locale),
        **envelope.page_fields(outlook.page.total, page, page_size, build_message_items(outlook.page, call.locale)),
    }


async def list_phone_messages(call: ApiCall) -> dict[str, Any]:
    """List the messages that a simulated phone received from this account."""
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    total, found = await call.context.store.read(
        simulator.list_on_phone, call.account_id, number, call.now, page, page_size
    )
    return envelope.page_fields(
        total, page, page_size, [records.build_phone_item(each, call.locale) for each in found]
    )


def _read_filter(call: ApiCall) -> MessageFilter | None:
    """Return the filter of a search, None if it contains an id that cannot exist."""
    form: Form[ListMessages] = call.form
    body = form.body
    zone = call.locale.zone

    def period(field: str) -> Period | None:
        return form.read_optional(field, lambda spelling: dates.parse_period(spelling, zone))

    request_id = identifiers.parse_request_id(body.requestId) if body.requestId else None
    message_id = identifiers.parse_message_id(body.messageId) if body.messageId else None
    receivers = _given_name(form, "receivers", "receiver")
    message_filter = MessageFilter(
        call.account_id,
        receiver=form.read(receivers, phone.parse_mobile),
        request_id=request_id,
        message_id=message_id,
        product=form.read_optional("messageProductType", one_of(PRODUCT_BY_CODE)),
        status=form.read_optional("sendingStatus", one_of(STATUS_BY_CODE)),
        channel_id=form.read_optional("channelId", profile.parse_channel_id),
        sender_key=body.senderKey,
        template_code=form.read_optional("templateCode", text.normalize),
        month=form.read_optional("yyyyMM", lambda spelling: dates.parse_month(spelling, zone)),
        requested=period("requestDate"),
        scheduled=period("scheduledDate"),
        completed=period(_given_name(form, "completeDate", "completedDate")),
    )
    is_impossible = (body.requestId and request_id is None) or (body.messageId and message_id is None)
    return None if is_impossible else message_filter


def _given_name(form: Form[ListMessages], name: str, alias: str) -> str:
    """Return the name, of the two, under which a value was given."""
    by_name, by_alias = getattr(form.body, name), getattr(form.body, alias)
    if by_name is not None and by_alias is not None and by_name != by_alias:
        detail = Text(
            f"{name} 값과 {alias} 값이 다릅니다. 하나만 보내세요.", f"{name} and {alias} differ; send only one."
        )
        form.add(Problem(Code.INVALID_PARAMETER, name, detail))
    return alias if by_name is None and by_alias is not None else name

"""The endpoints that look things up: the history, one send, a simulated phone."""

from collections.abc import Callable
from typing import Any, TypeVar

from pabal.checks.call import Call, paging
from pabal.checks.forms import Form
from pabal.domain import dates, identifiers, phone, profile, text
from pabal.domain.codes import Code, Problem, Refused, Words
from pabal.domain.dates import Period
from pabal.domain.message import PRODUCT_BY_WORD, STATUS_BY_WORD
from pabal.models import answers
from pabal.models.bodies import ListMessages
from pabal.service.history import history
from pabal.store import simulator
from pabal.store.history import Filter, Page
from pabal.web import envelope, records

T = TypeVar("T")


async def list_messages(call: Call) -> dict[str, Any]:
    """List the messages of one receiver."""
    page, page_size = paging(call.form)
    wanted = _filter(call)
    call.form.done()
    if wanted is None:
        return envelope.paged(0, page, page_size, [])
    found = await history.find(call.context, wanted, page, page_size)
    return envelope.paged(found.total, page, page_size, _items(call, found))


async def look_up_request(call: Call) -> dict[str, Any]:
    """Look up what became of one send."""
    word = call.form.read("requestId", str)
    page, page_size = paging(call.form)
    call.form.done()
    request_id = identifiers.read_request(word)
    outlook = await history.outlook(call.context, call.account_id, request_id, page, page_size)
    requested_at = identifiers.requested_at(outlook.request.id)
    return {
        "item": records.request_item(outlook, requested_at, call.speech),
        **envelope.paged(outlook.page.total, page, page_size, _items(call, outlook.page)),
    }


async def look_at_phone(call: Call) -> dict[str, Any]:
    """Look at what a simulated phone received from this account."""
    number = call.form.read("phoneNumber", phone.mobile)
    page, page_size = paging(call.form)
    call.form.done()
    total, found = await call.context.store.read(
        simulator.on_phone, call.account_id, number, call.now, page, page_size
    )
    return envelope.paged(total, page, page_size, [records.phone_item(each, call.speech) for each in found])


def one_of(choices: dict[str, T]) -> Callable[[str], T]:
    """Return a parser of words that may only be one of some."""

    def parse(word: str) -> T:
        if word not in choices:
            allowed = ", ".join(choices)
            detail = Words(f"허용되는 값: {allowed}", f"Allowed values: {allowed}")
            raise Refused(Code.INVALID_PARAMETER, detail=detail)
        return choices[word]

    return parse


def _items(call: Call, page: Page) -> list[answers.MessageItem]:
    return [
        records.message_item(message, request, identifiers.requested_at(request.id), call.speech)
        for message, request in page.found
    ]


def _filter(call: Call) -> Filter | None:
    """Return what a search asks for, None where it asks for an id that nothing can have."""
    form: Form[ListMessages] = call.form
    body = form.body
    zone = call.speech.zone

    def period(field: str) -> Period | None:
        return form.read_optional(field, lambda spelling: dates.period(spelling, zone))

    request_id = identifiers.read_request(body.requestId) if body.requestId else None
    message_id = identifiers.read_message(body.messageId) if body.messageId else None
    receivers = _either(form, "receivers", "receiver")
    wanted = Filter(
        call.account_id,
        receiver=form.read(receivers, phone.mobile),
        request_id=request_id,
        message_id=message_id,
        product=form.read_optional("messageProductType", one_of(PRODUCT_BY_WORD)),
        status=form.read_optional("sendingStatus", one_of(STATUS_BY_WORD)),
        channel_id=form.read_optional("channelId", profile.channel),
        sender_key=body.senderKey,
        template_code=form.read_optional("templateCode", text.cleaned),
        month=form.read_optional("yyyyMM", lambda spelling: dates.month(spelling, zone)),
        requested=period("requestDate"),
        scheduled=period("scheduledDate"),
        completed=period(_either(form, "completeDate", "completedDate")),
    )
    is_impossible = (body.requestId and request_id is None) or (body.messageId and message_id is None)
    return None if is_impossible else wanted


def _either(form: Form[ListMessages], name: str, alias: str) -> str:
    """Return under which of two names a value was given."""
    by_name, by_alias = getattr(form.body, name), getattr(form.body, alias)
    if by_name is not None and by_alias is not None and by_name != by_alias:
        detail = Words(f"{name}와 {alias}의 값이 다릅니다.", f"{name} and {alias} differ.")
        form.add(Problem(Code.INVALID_PARAMETER, name, detail))
    return alias if by_name is None and by_alias is not None else name

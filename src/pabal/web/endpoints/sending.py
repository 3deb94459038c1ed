"""The endpoints that send and cancel messages."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import UNSET

from pabal.checks.body.call import ApiCall
from pabal.checks.body.forms import Form
from pabal.checks.sends.alimtalk import check_alimtalk
from pabal.checks.sends.brand import check_brand_message
from pabal.checks.sends.friendtalk import apply_ad_hours, check_friendtalk
from pabal.checks.sends.text_messages import check_text_message
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.domain.sends.field_warning import MAX_WARNINGS, FieldWarning, WarningCode
from pabal.domain.sends.message import Product
from pabal.domain.sends.price import HUNDREDTHS_PER_WON
from pabal.domain.sends.sending import Sending
from pabal.models.send_answers import AcceptedItem, CancelItem, DryRunReceiverItem
from pabal.service.sending import cancel
from pabal.service.sending.accept import accept_request, find_accepted
from pabal.service.sending.dry_run import dry_run, fill_texts
from pabal.web.envelope import build_warning


def send_sms(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send an SMS to each receiver."""
    return _send(call, partial(_check_text_message, Product.SMS))


def send_lms(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send an LMS to each receiver."""
    return _send(call, partial(_check_text_message, Product.LMS))


def send_mms(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send an MMS to each receiver."""
    return _send(call, partial(_check_text_message, Product.MMS))


def send_alimtalk(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send an Alimtalk to each receiver."""
    return _send(call, check_alimtalk)


def send_friendtalk(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send a friend talk to each receiver."""
    return _send(call, check_friendtalk)


def send_brand_message(call: ApiCall) -> Awaitable[dict[str, Any]]:
    """Send a brand message to each receiver."""
    return _send(call, check_brand_message)


async def cancel_request(call: ApiCall) -> dict[str, Any]:
    """Cancel the waiting messages of a send request."""
    request_spelling = call.form.read("requestId", str)
    call.form.raise_problems()
    message_spelling = call.form.body.messageId
    message_id = identifiers.parse_message_id(message_spelling) if message_spelling is not None else None
    if message_spelling is not None and message_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId")
    result = await cancel.cancel_request(
        call.context, call.account_id, identifiers.parse_request_id(request_spelling), message_id
    )
    return {"item": CancelItem(result.requested, result.canceled)}


async def _check_text_message(product: Product, call: ApiCall) -> Sending:
    policy = call.context.policy
    sending = check_text_message(product, call.form, policy, call.now, call.opt_out_number)
    return apply_ad_hours(sending, policy, call.now, call.form) if sending.is_ad else sending


async def _send(call: ApiCall, check: Callable[[ApiCall], Awaitable[Sending]]) -> dict[str, Any]:
    """Check a send and store it; a repeated one gets its earlier answer, even if it would be refused now.

    The transaction that would store it looks for the earlier request, so only a refusal needs a look-up of its own.
    """
    try:
        return await _accept(call, await check(call))
    except Refused:
        earlier = await _find_earlier_answer(call)
        if earlier is None:
            raise
        return earlier


async def _find_earlier_answer(call: ApiCall) -> dict[str, Any] | None:
    """Return the earlier answer to the same request with the same Idempotency-Key."""
    if call.idempotency_key is None:
        return None
    request_id = await find_accepted(call.context, call.account_id, call.idempotency_key)
    return None if request_id is None else _repeat_answer(call, request_id)


def _repeat_answer(call: ApiCall, request_id: bytes) -> dict[str, Any]:
    call.form.warnings = ()  # they were in the first answer
    return _build_answer(request_id)


async def _accept(call: ApiCall, sending: Sending) -> dict[str, Any]:
    add_send_warnings(call.form, sending)
    if call.is_dry_run:
        return await _dry_run(call, sending)
    accepted = await accept_request(
        call.context, call.account_id, sending, call.idempotency_key, key_id=call.key_id
    )
    if not accepted.is_new:
        return _repeat_answer(call, accepted.request_id)
    for index in accepted.opted_out[:MAX_WARNINGS]:
        call.form.warn(FieldWarning(WarningCode.OPTED_OUT, f"receivers[{index}].phoneNumber"))
    return _build_answer(accepted.request_id)


async def _dry_run(call: ApiCall, sending: Sending) -> dict[str, Any]:
    """Return what would happen to each receiver; nothing is stored."""
    found = await dry_run(call.context, call.account_id, sending)
    repeated, locale = find_repeated(sending), call.locale
    scheduled = locale.format_timestamp(found.scheduled_at)
    cost = UNSET if found.price is None else found.price / HUNDREDTHS_PER_WON
    receivers = []
    for index, (receiver, text) in enumerate(fill_texts(sending)):
        warnings = [repeated[index]] if index in repeated else []
        if index in found.dropped:
            warnings.append(FieldWarning(WarningCode.DUPLICATE_TEXT, f"receivers[{index}].phoneNumber"))
        if index in found.opted_out:
            warnings.append(FieldWarning(WarningCode.OPTED_OUT, f"receivers[{index}].phoneNumber"))
        receivers.append(
            DryRunReceiverItem(
                phoneNumber=phone.hyphenate(receiver.phone),
                product=sending.product.code,
                content=text.content,
                size=text.size,
                carrier=found.carrier,
                scheduledDate=scheduled,
                cost=cost,
                warnings=[build_warning(each, locale) for each in warnings],
            )
        )
    return {"item": AcceptedItem(wouldAccept=True, receivers=receivers)}


def _build_answer(request_id: bytes) -> dict[str, Any]:
    return {"item": AcceptedItem(request_id.hex())}


def add_send_warnings(form: Form[Any], sending: Sending) -> None:
    """Add what looks like a mistake in a send to the warnings of its form."""
    if sending.is_ad and sending.product.is_text and not form.body.adFlag:
        form.warn(FieldWarning(WarningCode.LOOKS_LIKE_ADVERTISING, "content"))
    for warning in find_repeated(sending).values():
        form.warn(warning)


def find_repeated(sending: Sending) -> dict[int, FieldWarning]:
    """Return a warning for each receiver whose number was there before, by its index."""
    receivers = sending.receivers
    if len(receivers) == 1 or len({each.phone for each in receivers}) == len(receivers):
        return {}
    first: dict[str, int] = {}
    found: dict[int, FieldWarning] = {}
    for index, receiver in enumerate(receivers):
        before = first.setdefault(receiver.phone, index)
        if before != index:
            detail = Text(f"receivers[{before}]와 같습니다.", f"It is that of receivers[{before}].")
            found[index] = FieldWarning(WarningCode.DUPLICATE_RECEIVER, f"receivers[{index}].phoneNumber", detail)
            if len(found) == MAX_WARNINGS:
                break
    return found

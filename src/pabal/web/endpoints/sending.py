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
from pabal.models import operations
from pabal.models.operations import Operation
from pabal.models.send_answers import AcceptedItem, CancelItem, DryRunReceiverItem
from pabal.service.sending import waiting
from pabal.service.sending.accept import accept_request, find_accepted
from pabal.service.sending.dry_run import dry_run, fill_texts
from pabal.web.endpoints.endpoint import FIELD_CODES, Endpoint, Group
from pabal.web.envelope import build_warning

Check = Callable[[ApiCall], Awaitable[Sending]]


async def _cancel_request(call: ApiCall) -> dict[str, Any]:
    request_spelling = call.form.read("requestId", str)
    call.form.raise_problems()
    message_spelling = call.form.body.messageId
    message_id = identifiers.parse_message_id(message_spelling) if message_spelling is not None else None
    if message_spelling is not None and message_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId")
    result = await waiting.cancel_request(
        call.context, call.account_id, identifiers.parse_request_id(request_spelling), message_id
    )
    return {"item": CancelItem(result.requested, result.canceled)}


async def _check_text_message(product: Product, call: ApiCall) -> Sending:
    policy = call.context.policy
    sending = check_text_message(product, call.form, policy, call.now, call.opt_out_number)
    return apply_ad_hours(sending, policy, call.now, call.form) if sending.is_ad else sending


async def _send(check: Check, call: ApiCall) -> dict[str, Any]:
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
        call.context, call.account_id, sending, call.idempotency_key, api_key_id=call.key_id
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


_SENDS = Group(Text("발송", "Sending"))
_SENDING_CODES = (
    *FIELD_CODES,
    Code.INVALID_PHONE_NUMBER,
    Code.INVALID_DATE,
    Code.CONTENT_TOO_LONG,
    Code.MISSING_VARIABLE,
    Code.TOO_MANY_RECEIVERS,
    Code.PRODUCT_NOT_AVAILABLE,
    Code.SENDER_NUMBER_NOT_REGISTERED,
    Code.DUPLICATE,
    Code.LIMIT_EXCEEDED,
)
_PROFILE_CODES = (Code.SENDER_NOT_FOUND, Code.SENDER_NOT_APPROVED)


def _send_endpoint(operation: Operation[Any], check: Check, ko: str, en: str, *own_codes: Code) -> Endpoint:
    """Return the endpoint that sends one kind of message, which is named in Korean and English."""
    summary = f"수신자마다 {ko} 발송", f"Send {en} to each receiver"
    return _SENDS.endpoint(operation, partial(_send, check), "send", *summary, *_SENDING_CODES, *own_codes)


def _text_endpoint(operation: Operation[Any], product: Product, en: str, *own_codes: Code) -> Endpoint:
    check = partial(_check_text_message, product)
    return _send_endpoint(operation, check, product.name, en, *own_codes, Code.NIGHT_AD_RESTRICTED)


ENDPOINTS = (
    _text_endpoint(operations.SEND_SMS, Product.SMS, "an SMS"),
    _text_endpoint(operations.SEND_LMS, Product.LMS, "an LMS"),
    _text_endpoint(operations.SEND_MMS, Product.MMS, "an MMS", Code.INVALID_IMAGE),
    _send_endpoint(
        operations.SEND_ALIMTALK,
        check_alimtalk,
        "알림톡",
        "an Alimtalk",
        *_PROFILE_CODES,
        Code.TEMPLATE_NOT_FOUND,
        Code.TEMPLATE_NOT_APPROVED,
        Code.INVALID_BUTTON,
    ),
    _send_endpoint(
        operations.SEND_FRIENDTALK,
        check_friendtalk,
        "친구톡",
        "a friend talk",
        *_PROFILE_CODES,
        Code.INVALID_IMAGE,
        Code.INVALID_BUTTON,
        Code.NIGHT_AD_RESTRICTED,
    ),
    _send_endpoint(
        operations.SEND_BRAND_MESSAGE,
        check_brand_message,
        "브랜드 메시지",
        "a brand message",
        *_PROFILE_CODES,
        Code.INVALID_IMAGE,
        Code.INVALID_BUTTON,
        Code.NIGHT_AD_RESTRICTED,
    ),
    _SENDS.endpoint(
        operations.CANCEL,
        _cancel_request,
        "send",
        "발송 요청의 대기 중인 메시지 취소",
        "Cancel the waiting messages of a send request",
        *FIELD_CODES,
        Code.REQUEST_NOT_FOUND,
    ),
)

"""The endpoints that send and cancel messages."""

from typing import Any

from pabal.checks.alimtalk import check_alimtalk
from pabal.checks.brand import check_brand_message
from pabal.checks.call import ApiCall
from pabal.checks.friendtalk import apply_ad_hours, check_friendtalk
from pabal.checks.text_messages import check_text_message
from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Product
from pabal.domain.sending import Sending
from pabal.models.answers import AcceptedItem, CancelItem
from pabal.service.sending import cancel
from pabal.service.sending.accept import accept, find_accepted


async def send_sms(call: ApiCall) -> dict[str, Any]:
    """Send an SMS to each receiver."""
    return await _send_text_message(call, Product.SMS)


async def send_lms(call: ApiCall) -> dict[str, Any]:
    """Send an LMS to each receiver."""
    return await _send_text_message(call, Product.LMS)


async def send_mms(call: ApiCall) -> dict[str, Any]:
    """Send an MMS to each receiver."""
    return await _send_text_message(call, Product.MMS)


async def send_alimtalk(call: ApiCall) -> dict[str, Any]:
    """Send an Alimtalk to each receiver."""
    earlier = await _find_earlier_answer(call)
    if earlier:
        return earlier
    return await _accept(call, await check_alimtalk(call))


async def send_friendtalk(call: ApiCall) -> dict[str, Any]:
    """Send a friend talk to each receiver."""
    earlier = await _find_earlier_answer(call)
    if earlier:
        return earlier
    return await _accept(call, await check_friendtalk(call))


async def send_brand_message(call: ApiCall) -> dict[str, Any]:
    """Send a brand message to each receiver."""
    earlier = await _find_earlier_answer(call)
    if earlier:
        return earlier
    return await _accept(call, await check_brand_message(call))


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


async def _send_text_message(call: ApiCall, product: Product) -> dict[str, Any]:
    if call.idempotency_key and (earlier := await _find_earlier_answer(call)):
        return earlier
    policy = call.context.policy
    sending = check_text_message(product, call.form, policy, call.now, call.opt_out_number)
    if sending.is_ad:
        sending = apply_ad_hours(sending, policy, call.now)
    return _build_answer(await accept(call.context, call.account_id, sending, call.idempotency_key))


async def _find_earlier_answer(call: ApiCall) -> dict[str, Any] | None:
    """Return the earlier answer to the same request with the same Idempotency-Key."""
    if call.idempotency_key is None:
        return None
    request_id = await find_accepted(call.context, call.account_id, call.idempotency_key)
    return _build_answer(request_id) if request_id else None


async def _accept(call: ApiCall, sending: Sending) -> dict[str, Any]:
    return _build_answer(await accept(call.context, call.account_id, sending, call.idempotency_key))


def _build_answer(request_id: bytes) -> dict[str, Any]:
    return {"item": AcceptedItem(request_id.hex())}

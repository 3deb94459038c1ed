"""The sending endpoints: 6 to 10, and cancel."""

from typing import Any

from pabal.checks import sends
from pabal.checks.call import Call
from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Product
from pabal.domain.sending import Sending
from pabal.models.answers import CancelItem, SentItem
from pabal.service.sending.accept import accept, answered_before, usable_profile, usable_template
from pabal.service.sending.cancel import cancel_request


async def send_sms(call: Call) -> dict[str, Any]:
    """Send an SMS to each receiver."""
    return await _send_text(call, Product.SMS)


async def send_lms(call: Call) -> dict[str, Any]:
    """Send an LMS to each receiver."""
    return await _send_text(call, Product.LMS)


async def send_mms(call: Call) -> dict[str, Any]:
    """Send an MMS to each receiver."""
    return await _send_text(call, Product.MMS)


async def send_alimtalk(call: Call) -> dict[str, Any]:
    """Send an Alimtalk to each receiver."""
    before = await _answered_before(call)
    if before:
        return before
    return await _accepted(call, await checked_alimtalk(call))


async def send_friendtalk(call: Call) -> dict[str, Any]:
    """Send a friend talk to each receiver."""
    before = await _answered_before(call)
    if before:
        return before
    return await _accepted(call, await checked_friendtalk(call))


async def checked_alimtalk(call: Call) -> Sending:
    """Return the checked send of an Alimtalk.

    Raises Refused.
    """
    context = call.context
    form = sends.alimtalk_form(call.form, context.policy, call.now)
    profile = await usable_profile(context, call.account_id, form.sender_key)
    template = await usable_template(context, profile, form.template_code)
    return form.sending(profile, template)


async def checked_friendtalk(call: Call) -> Sending:
    """Return the checked send of a friend talk.

    Raises Refused.
    """
    context = call.context
    sending = sends.friendtalk(call.form, context.policy, call.now)
    profile = await usable_profile(context, call.account_id, call.form.body.senderKey)
    sending = sends.at_a_decent_hour(sending, context.policy, call.now)
    return sending._replace(profile_id=profile.id)


async def cancel(call: Call) -> dict[str, Any]:
    """Cancel what still waits of a send."""
    request_word = call.form.read("requestId", str)
    call.form.done()
    message_word = call.form.body.messageId
    message_id = identifiers.read_message(message_word) if message_word is not None else None
    if message_word is not None and message_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "messageId")
    done = await cancel_request(call.context, call.account_id, identifiers.read_request(request_word), message_id)
    return {"item": CancelItem(done.requested, done.canceled)}


async def _send_text(call: Call, product: Product) -> dict[str, Any]:
    if call.repeatable and (before := await _answered_before(call)):
        return before
    sending = sends.text_message(product, call.form, call.context.policy, call.now)
    return _sent(await accept(call.context, call.account_id, sending, call.repeatable))


async def _answered_before(call: Call) -> dict[str, Any] | None:
    """Return the answer that this same request got before, if it has an Idempotency-Key that says so."""
    if call.repeatable is None:
        return None
    request_id = await answered_before(call.context, call.account_id, call.repeatable)
    return _sent(request_id) if request_id else None


async def _accepted(call: Call, sending: Sending) -> dict[str, Any]:
    return _sent(await accept(call.context, call.account_id, sending, call.repeatable))


def _sent(request_id: bytes) -> dict[str, Any]:
    return {"item": SentItem(request_id.hex())}

"""Cancels scheduled texts."""

from typing import Any

from pabal.compat.nhncloud.call import NhnCall, parse_request_id
from pabal.compat.nhncloud.sms.bodies import CancelBody, Reservation
from pabal.compat.nhncloud.sms.codes import refuse
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.identifiers import MAX_MESSAGE_NUMBER, make_message_id
from pabal.service.sending.cancel import cancel_request

MAX_RESERVATIONS = 1000
"""Messages of one call."""


async def cancel(call: NhnCall) -> dict[str, Any]:
    """Cancel the messages that still wait; the answer counts them."""
    given = call.decode(CancelBody).reservationList or []
    if not 1 <= len(given) <= MAX_RESERVATIONS:
        raise refuse(4, f"reservationList: 1 ~ {MAX_RESERVATIONS:,}")
    cancelled = 0
    for each in dict.fromkeys((one.requestId, one.recipientSeq) for one in given):
        cancelled += await _cancel(call, Reservation(*each))
    return {"body": {"data": {"requestedCount": len(given), "canceledCount": cancelled}}}


async def _cancel(call: NhnCall, given: Reservation) -> int:
    """Cancel a message; return how many were, which is none where the account has no such message."""
    request_id = parse_request_id(given.requestId)
    if request_id is None or not 1 <= given.recipientSeq <= MAX_MESSAGE_NUMBER:
        return 0
    message_id = make_message_id(request_id, given.recipientSeq)
    try:
        return (await cancel_request(call.context, call.account_id, request_id, message_id)).canceled
    except Refused as refused:
        if refused.code is not Code.REQUEST_NOT_FOUND:
            raise
        return 0

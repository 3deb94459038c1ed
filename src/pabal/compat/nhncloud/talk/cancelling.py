"""Cancels the waiting messages of a call, or some of them."""

from typing import Any

from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk import rows
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.compat.nhncloud.talk.lookups import Family, read_call
from pabal.domain.sends.message import Status
from pabal.service.sending.cancel import cancel_request


async def cancel_messages(call: NhnCall, family: Family, request_id: str) -> dict[str, Any]:
    """Cancel the messages of a call that are waiting: all, or those with the numbers in `recipientSeq`.

    Raises NhnRefused where there are none.
    """
    given = call.query.get("recipientSeq")
    wanted = {each.strip() for each in given.split(",")} if given else None
    page = await read_call(call, family, request_id)
    waiting = [
        (message, request)
        for message, request in page.found
        if message.status is Status.WAITING
        and (wanted is None or str(rows.sequence_of(message, page.beside.calls.get(request.id))) in wanted)
    ]
    canceled = 0
    if wanted is None:
        for one in {request.id for _, request in waiting}:
            canceled += (await cancel_request(call.context, call.account_id, one, None)).canceled
    else:
        for message, request in waiting:
            canceled += (await cancel_request(call.context, call.account_id, request.id, message.id)).canceled
    if not canceled:
        raise refuse(TalkCode.NOT_CANCELLABLE)
    return {}

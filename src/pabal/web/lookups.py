"""The endpoints that look up what became of messages: the timeline of one."""

from typing import Any

from pabal.checks.call import ApiCall
from pabal.checks.message_details import build_message_detail
from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.service.history.timeline import get_timeline


async def get_message(call: ApiCall) -> dict[str, Any]:
    """Get one message and what happened to it."""
    word = call.form.read("messageId", str)
    call.form.raise_problems()
    message_id = identifiers.parse_message_id(word)
    found = await get_timeline(call.context, call.account_id, message_id) if message_id else None
    if found is None:
        raise Refused(Code.MESSAGE_NOT_FOUND, "messageId")
    return {"item": build_message_detail(found, call.locale)}

"""The endpoint of inbound messages."""

from typing import Any

from pabal.answers.inbound import build_inbound_item, format_cursor, parse_cursor
from pabal.checks.body.call import ApiCall, check_range
from pabal.domain.base.codes import Code, Text
from pabal.models import lookup as models
from pabal.service.history import history
from pabal.web.endpoints.endpoint import HISTORY, Endpoint


async def list_inbound(call: ApiCall) -> dict[str, Any]:
    """List the messages that subscribers have sent to the account's numbers, oldest first."""
    form = call.form
    check_range(form, "limit", models.MAX_INBOUND)
    after = form.read_optional("cursor", parse_cursor) or 0
    form.raise_problems()
    found = await history.list_after(call.context, call.account_id, after, form.body.limit)
    items = [build_inbound_item(each, call.locale) for each in found]
    position = models.InboundPosition(format_cursor(found[-1].id if found else after))
    return {"item": position, "resultCount": len(items), "items": items}


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/message/inbound.v1.0",
        operation_id="list_inbound_messages",
        summary=Text(
            "가입자가 계정의 번호로 보낸 메시지를 오래된 것부터 조회",
            "List the messages that subscribers have sent to the account's numbers, oldest first",
        ),
        group=HISTORY,
        scope="read",
        input_source="query",
        body=models.ListInbound,
        answer=models.InboundAnswer,
        handler=list_inbound,
        own_codes=(Code.UNSUPPORTED_CHARACTER,),
    ),
)

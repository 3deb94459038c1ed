"""The page after a send: what was accepted, for whom, and how far it has come."""

from starlette.responses import Response

from pabal.console.requests.requests import build_entry
from pabal.console.send import rest
from pabal.console.shell.page_request import PageRequest
from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.service.history.history import build_each, get_first_message
from pabal.service.sending import compose
from pabal.service.sending import progress as progress_service


async def show_sent(request: PageRequest) -> Response:
    """Show what was sent and its first receiver; its progress is refreshed.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's, and RecordDamaged.
    """
    request_id = identifiers.parse_request_id(str(request.http.path_params["request"]))
    sent = await progress_service.get_sent(request.context, request.account_id, request_id)
    if sent is None or sent.request is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    found = await get_first_message(request.context, sent.id)
    shown = build_each(
        found.found,
        found.unreadable,
        lambda message, shared: (message.receiver, compose.content_of(message, shared)),
        lambda message_id: ("", request.t("history.unreadable", id=message_id.hex())),
    )
    left = await rest.count_rest(request, sent.id)
    receiver, content = shown[0] if shown else ("", "")
    return request.render(
        "requests/sent.html",
        entry=build_entry(request, sent),
        receiver=receiver,
        receiver_shown=request.phone_number(receiver),
        others=sent.total - 1,
        content=content,
        rest_count=left,
        news="",
    )

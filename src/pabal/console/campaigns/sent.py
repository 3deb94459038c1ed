"""The page after a send: what was accepted, for whom, and how far it has come."""

from starlette.responses import Response

from pabal.console.campaigns.entry import build_entry
from pabal.console.send import kept_draft
from pabal.console.send.review import review_draft
from pabal.console.shell.download import attach_table, rows_at_once
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, require
from pabal.service.history.history import build_each, get_first_message
from pabal.service.sending import compose
from pabal.service.sending.campaigns import progress as progress_service

FILE_NAME = "pabal-bad-lines.csv"


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
        lambda message, shared: (
            message.receiver,
            request.shown_text(
                compose.content_of(message, shared), shared, has_ended=message.completed_at is not None
            ),
        ),
        lambda message_id: ("", request.t("history.unreadable", id=message_id.hex())),
    )
    left = await kept_draft.count_rest(request, sent.id)
    receiver, content = shown[0] if shown else ("", "")
    return request.render(
        "campaigns/sent.html",
        entry=await build_entry(request, sent),
        receiver=receiver,
        receiver_shown=request.phone_number(receiver),
        others=sent.total - 1,
        content=content,
        rest_count=left,
        news="",
    )


async def download_rest(request: PageRequest) -> Response:
    """Answer with a CSV file of the lines that a request left out, and the reason of each.

    Raises Refused(NOT_FOUND) where the user has none.
    """
    sent_id = identifiers.parse_request_id(str(request.http.path_params["request"]))
    draft = require(await kept_draft.load_rest(request, sent_id) if sent_id else None)
    review = await review_draft(request, draft)
    reasons = {each.line_number: each.error for each in review.invalid_rows}
    names = review.message.variables
    head = [request.t("send.number"), *names, request.t("word.reason")]
    rows = [
        [line.phone_number, *(line.values.get(name, "") for name in names), reasons.get(line.line_number, "")]
        for line in (*review.receivers.entries, *review.receivers.duplicates)
    ]
    return attach_table(request, FILE_NAME, head, rows_at_once(rows))

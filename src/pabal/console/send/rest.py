"""The typed lines that could not be sent to: kept with their message, to be corrected and sent later."""

from collections.abc import Sequence
from dataclasses import replace

from starlette.responses import Response

from pabal.console.history.export import BOM, csv_line
from pabal.console.send import kept_draft, typed_receivers
from pabal.console.send.draft import MessageDraft
from pabal.console.send.review import Review, review_draft
from pabal.console.shell.page_request import PageRequest
from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused

FILE_NAME = "pabal-bad-lines.csv"


def rest_form(sent_id: bytes) -> str:
    """Return the name of the draft with the lines that a request left out."""
    return f"{kept_draft.FORM}.rest.{sent_id.hex()}"


async def keep_rest(request: PageRequest, review: Review, sent_id: bytes) -> None:
    """Keep the lines that a request left out, with its message and without its time."""
    bad = [each.line_number for each in review.invalid_rows]
    if bad:
        draft = review.draft.without_fields("sendDate", "receivers", "resends")
        lines = typed_receivers.pick_lines(review.draft.texts["receivers"], bad)
        draft = replace(
            draft,
            texts={**draft.texts, "receivers": "\n".join(lines)},
            checkboxes={**draft.checkboxes, "later": False},
        )
        await kept_draft.keep_as(request, draft, rest_form(sent_id))


async def count_rest(request: PageRequest, sent_id: bytes) -> int:
    """Return how many lines of a request the user still has to correct."""
    draft = await _load(request, sent_id)
    return typed_receivers.count_lines(draft.texts["receivers"]) if draft else 0


async def download_rest(request: PageRequest) -> Response:
    """Answer with a CSV file of the lines that a request left out, and the reason of each.

    Raises Refused(NOT_FOUND) where the user has none.
    """
    sent_id = identifiers.parse_request_id(str(request.http.path_params["request"]))
    draft = await _load(request, sent_id) if sent_id else None
    if draft is None:
        raise Refused(Code.NOT_FOUND)
    review = await review_draft(request, draft)
    reasons = {each.line_number: each.error for each in review.invalid_rows}
    body = BOM + csv_line(_head(request, review)) + "".join(_lines(review, reasons))
    headers = {"content-disposition": f'attachment; filename="{FILE_NAME}"'}
    return Response(body.encode(), media_type="text/csv; charset=utf-8", headers=headers)


def _head(request: PageRequest, review: Review) -> list[str]:
    return [request.t("send.number"), *review.message.variables, request.t("upload.reason")]


def _lines(review: Review, reasons: dict[int, str]) -> Sequence[str]:
    names = review.message.variables
    return [
        csv_line(
            [line.phone_number, *(line.values.get(name, "") for name in names), reasons.get(line.line_number, "")]
        )
        for line in (*review.receivers.entries, *review.receivers.duplicates)
    ]


async def _load(request: PageRequest, sent_id: bytes) -> MessageDraft | None:
    draft, _ = await kept_draft.load(request, rest_form(sent_id))
    return draft

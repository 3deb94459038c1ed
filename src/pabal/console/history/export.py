"""Exports the history as CSV or Excel, streamed while it is read."""

from contextlib import aclosing
from functools import partial

from starlette.responses import Response

from pabal.console.history import filters
from pabal.console.shell.download import TableRows, attach_table, dated_name, file_extension
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.people import phone
from pabal.domain.sends.price import HUNDREDTHS_PER_WON
from pabal.service.access.accounts import audit
from pabal.service.history import timeline
from pabal.service.history.history import build_each
from pabal.service.history.timeline import (
    NEWEST,
    DeliveredPage,
    DeliveryRecord,
    Message,
    MessageFilter,
    Request,
)
from pabal.service.sending import compose

BATCH_ROWS = 1000
MAX_ROWS = 1_000_000
"""About as many rows as a spreadsheet can hold."""
COLUMNS = (
    "requestDate", "scheduledDate", "completedDate", "product", "receiver", "status", "resultCode", "result",
    "sender", "channelId", "templateCode", "subject", "content", "reference", "requestId", "messageId",
    "submittedDate", "carrier", "carrierCode", "cost", "key",
)  # fmt: skip


async def export_messages(request: PageRequest) -> Response:
    """Answer with every message that the search finds, newest first, as CSV or as an Excel workbook.

    Raises Refused for an invalid search.
    """
    search = filters.read_search(request)
    if search.problems:
        raise Refused.from_problems(search.problems)
    extension = file_extension(request)
    await audit.add_entry(request.context, request.audit_entry("history.export", extension))
    truncation_note = request.t("export.cut", most=f"{MAX_ROWS:,}")
    rows = limit_rows(MAX_ROWS, _row_batches(request, search.message_filter), truncation_note)
    head = [request.t(f"export.{column}") for column in COLUMNS]
    return attach_table(request, dated_name(request, "pabal", extension), head, rows, request.t("menu.history"))


async def limit_rows(limit: int, batches: TableRows, truncation_note: str) -> TableRows:
    """Yield at most `limit` rows; if there are more, end with the note, so that nobody takes a part for all."""
    async with aclosing(batches):
        async for rows in batches:
            yield rows if len(rows) <= limit else [*rows[:limit], [truncation_note]]
            limit -= len(rows)
            if limit < 0:
                return


async def _row_batches(request: PageRequest, wanted_filter: MessageFilter) -> TableRows:
    """Yield the cells of the messages that the search finds, in batches of rows."""
    before: bytes | None = NEWEST
    while before:
        found = await timeline.search_deliveries(request.context, wanted_filter, before, BATCH_ROWS)
        before = found.page.next_before
        if found.page.found or found.page.unreadable:
            yield build_each(
                found.page.found,
                found.page.unreadable,
                partial(_cells, request, found),
                lambda message_id: _unreadable_cells(request, message_id),
            )


def _cells(request: PageRequest, found: DeliveredPage, message: Message, send_request: Request) -> list[str]:
    is_fallback = compose.is_fallback(message, send_request)
    outcome, stamp = message.outcome, request.time
    sender = send_request.fallback_sender if is_fallback else send_request.sender
    show = partial(request.shown_text, send_request=send_request, has_ended=message.completed_at is not None)
    return [
        stamp(identifiers.requested_at(send_request.id)),
        stamp(send_request.scheduled_at),
        stamp(message.completed_at) if message.completed_at is not None else "",
        request.translate(message.product.label),
        request.phone_number(message.receiver),
        request.translate(message.status.label),
        str(outcome.number) if outcome else "",
        request.translate(outcome.label) if outcome else "",
        phone.hyphenate(sender) if sender else "",  # spreadsheets drop the zero of bare digits
        send_request.channel_id or "",
        (None if is_fallback else send_request.template_code) or "",
        show(compose.subject_of(message, send_request) or ""),
        show(compose.content_of(message, send_request)),
        message.reference or "",
        send_request.id.hex(),
        message.id.hex(),
        *_delivery_cells(request, found.deliveries[message.id]),
        found.key_names.get(send_request.id, ""),
    ]


def _delivery_cells(request: PageRequest, delivery: DeliveryRecord) -> list[str]:
    """Return when a message was last submitted, the carrier that decided it, that carrier's code, and the cost."""
    cost, submitted_at, carrier, carrier_code = delivery
    return [
        request.time(submitted_at),
        carrier or "",
        carrier_code or "",
        "" if cost is None else f"{cost / HUNDREDTHS_PER_WON:.2f}",
    ]


def _unreadable_cells(request: PageRequest, message_id: bytes) -> list[str]:
    """Return the cells of a message that cannot be read: when it was requested, why that is all, and its ids."""
    requested = request.time(identifiers.requested_at(message_id))
    note = request.t("history.unreadable", id=message_id.hex())
    known = {
        "requestDate": requested,
        "content": note,
        "requestId": identifiers.request_id_of(message_id).hex(),
        "messageId": message_id.hex(),
    }
    return [known.get(column, "") for column in COLUMNS]

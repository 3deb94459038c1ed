"""The page of saved and recent texts, and saving what is on the send page."""

from contextlib import suppress
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.send import draft as drafts
from pabal.console.send import send as send_page
from pabal.console.send.draft import KINDS, MessageDraft
from pabal.console.send.prefill import KIND_BY_PRODUCT
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest, Toast
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused
from pabal.service.errors import RecordDamaged
from pabal.service.sending import drafts as kept_drafts
from pabal.service.sending.campaigns import campaign_files, progress
from pabal.service.sending.campaigns.progress import AFTER_NEWEST_ID, SentItem

TEXTS_PATH = "/console/texts"
RECENT = 20
SHOWN_CHARACTERS = 200
_LEFT_OUT = ("receivers", "sendDate", "later", "edits", "resends", "once", "columns")
"""What belongs to one send, and not to the text."""


class TextRow(NamedTuple):
    """A saved or recent text in the list."""

    id: str
    name: str
    kind: str
    content: str
    time: str


async def show_texts(request: PageRequest, toast: Toast | None = None) -> Response:
    """Show the texts that the account has saved, and what it has sent recently."""
    saved = [
        TextRow(
            str(each.id),
            each.name,
            request.t(f"send_kind.{each.kind}") if each.kind in KINDS else each.kind,
            (fields.get("content") or fields.get("templateCode") or "")[:SHOWN_CHARACTERS],
            request.minute(each.changed_at),
        )
        for each, fields in await kept_drafts.list_saved(request.context, request.account_id)
    ]
    return request.render("send/saved.html", saved=saved, recent=await _recent_texts(request), toast=toast)


async def save_text(request: PageRequest) -> Response:
    """Save the message of the send page under a name; what was typed stays.

    Raises Refused.
    """
    return await send_page.show_saved(request, await _store(request))


async def _store(request: PageRequest) -> MessageDraft:
    """Save the message that was typed under the name that was given, and return it; raises Refused."""
    draft = drafts.read_draft(request.fields)
    fields = {name: value for name, value in drafts.to_fields(draft).items() if name not in _LEFT_OUT}
    if not drafts.is_worth_keeping(draft):
        raise Refused(Code.MISSING_PARAMETER, "content")
    await kept_drafts.save_text(
        request.context,
        request.account_id,
        request.field("text_name"),
        draft.kind.word,
        fields,
        request.audit_entry("text.save"),
    )
    return draft


async def delete_text(request: PageRequest) -> Response:
    """Delete a saved text, and offer to undo that; one that is gone already is no error."""
    text_id = parse_id(str(request.http.path_params["text"]))
    if not text_id:
        return request.redirect(TEXTS_PATH)
    listed = await kept_drafts.list_saved(request.context, request.account_id)
    found = next(((each.name, fields) for each, fields in listed if each.id == text_id), None)
    audit_entry = request.audit_entry("text.delete", str(text_id))
    await request.context.store.write(kept_drafts.delete_text, request.account_id, text_id, audit_entry)
    if found is None:
        return request.redirect(TEXTS_PATH)
    name, fields = found
    told = request.t("texts.deleted", name=name)
    return await show_texts(request, Toast(told, f"{TEXTS_PATH}/restore", [("text_name", name), *fields.items()]))


async def restore_text(request: PageRequest) -> Response:
    """Save a text again that was deleted.

    Raises Refused.
    """
    await _store(request)
    return request.redirect(TEXTS_PATH)


async def _recent_texts(request: PageRequest) -> list[TextRow]:
    """Return what was sent recently, each text once."""
    page = await request.context.store.read(
        progress.list_sent, request.account_id, AFTER_NEWEST_ID, RECENT, progress.EVERYTHING, request.now
    )
    rows: dict[tuple[str, str], TextRow] = {}
    for each in page.items:
        content = await _content_of(request, each)
        kind = request.t(f"send_kind.{KIND_BY_PRODUCT[each.product]}")
        at = request.minute(identifiers.requested_at(each.id))
        if content:
            name = each.campaign.name if each.campaign else ""
            rows.setdefault((kind, content), TextRow(each.id.hex(), name, kind, content[:SHOWN_CHARACTERS], at))
    return list(rows.values())


async def _content_of(request: PageRequest, sent: SentItem) -> str:
    if sent.request:
        return request.shown_text(sent.request.content, sent.request, has_ended=sent.has_ended)
    with suppress(RecordDamaged):  # the campaign's own page tells it
        sending = await campaign_files.get_sending(request.context, sent.id)
        return sending.content if sending else ""
    return ""

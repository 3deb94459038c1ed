"""Keeps drafts of the send page on the server, also lines that a send left out."""

import re
from collections.abc import Collection
from string import hexdigits
from typing import NamedTuple

from pabal.console.send import draft as drafts
from pabal.console.send import typed_receivers
from pabal.console.send.draft import MessageDraft
from pabal.console.send.draft_parts import IMAGE_FIELDS
from pabal.console.send.review import Review
from pabal.console.shell.form_fields import GROUP, new_tab_id, tab_id, ticked_ids
from pabal.console.shell.page_request import PageRequest
from pabal.service.access.users.sign_in import new_secret
from pabal.service.sending import drafts as draft_service
from pabal.service.sending.drafts import Keeping

FORM = "send"
"""The form of a message that began empty; one that began as a copy has a name of its own."""
FIELD = "draft"
KEY_CHARACTERS = 64
KEY_TIME_DIGITS = 12
"""The digits at the start of a form's key that say when it was made."""
_FORM_NAME = re.compile(r"send(\.[a-z]{1,10}\.[0-9a-f]{1,32})?", re.ASCII)


class KeptDraft(NamedTuple):
    """What the page shows about its draft."""

    form: str = FORM
    is_loaded: bool = False
    """Whether the page shows what was typed before."""
    time: str = ""
    """When it was last kept; empty: it is not."""
    is_too_large: bool = False
    notice: str = ""
    """The key of what else to say; empty: nothing."""
    groups: Collection[int] = ()
    """The groups of the address book that were ticked in it."""
    page: str = ""
    """The name of the open page: once it has sent its draft, late requests of it keep nothing."""
    is_sent: bool = False
    """Whether that page has sent its draft already."""


def form_name(request: PageRequest) -> str:
    """Return the form that the fields belong to."""
    name = request.field(FIELD)
    return name if _FORM_NAME.fullmatch(name) else FORM


async def keep(request: PageRequest, draft: MessageDraft) -> KeptDraft:
    """Keep a draft in place of the one before, unless it is nearly empty, or the page has sent it already.

    A request that names a picture and leaves it out means the one that is kept already.
    """
    return await keep_as(request, draft, form_name(request), tab_id(request))


async def keep_on(request: PageRequest, draft: MessageDraft) -> KeptDraft:
    """Keep a draft as `keep` does; a page that has sent its draft and is used again gets a new name."""
    kept = await keep(request, draft)
    if not kept.is_sent:
        return kept
    return await keep_as(request, draft, kept.form, new_tab_id(request))


async def keep_as(request: PageRequest, draft: MessageDraft, form: str, page: str = "") -> KeptDraft:
    """Keep a draft as that of a form, as `keep` does."""
    key = request.draft_key(form)
    if not drafts.is_worth_keeping(draft):
        await draft_service.discard(request.context, key)
        return KeptDraft(form, page=page)
    fields = drafts.to_fields(draft)
    fields |= {f"{GROUP}{group_id}": "1" for group_id in ticked_ids(request.fields, GROUP)}
    if draft.has_unseen_image:
        before = await draft_service.load(request.context, key)
        for kind, name, body in IMAGE_FIELDS:
            if before and not draft.texts[body] and before.fields.get(name) == draft.texts[name] != "":
                fields |= {each: before.fields[each] for each in (body, kind) if each in before.fields}
    keeping = await draft_service.save(request.context, key, fields, page)
    return KeptDraft(
        form,
        time=request.time(request.now) if keeping is Keeping.KEPT else "",
        is_too_large=keeping is Keeping.TOO_LARGE,
        page=page,
        is_sent=keeping is Keeping.SENT,
    )


async def load(request: PageRequest, form: str = FORM) -> tuple[MessageDraft | None, KeptDraft]:
    """Return the draft of a form, None if there is none, and what to say of it."""
    found = await draft_service.load(request.context, request.draft_key(form))
    if found is None:
        return None, KeptDraft(form)
    kept = KeptDraft(form, True, request.time(found.changed_at), groups=frozenset(ticked_ids(found.fields, GROUP)))
    return drafts.read_draft(found.fields), kept


async def end(request: PageRequest, form: str, page: str) -> None:
    """Delete the draft of a form that a page has sent, or whose author wants none of it."""
    if _FORM_NAME.fullmatch(form):
        await draft_service.end(request.context, request.draft_key(form), page)


def rest_form(sent_id: bytes) -> str:
    """Return the name of the draft with the lines that a request left out."""
    return f"{FORM}.rest.{sent_id.hex()}"


async def keep_rest(request: PageRequest, review: Review, sent_id: bytes) -> None:
    """Keep the lines that a request left out, with its message and without its time."""
    bad = [each.line_number for each in review.invalid_rows]
    if bad:
        lines = typed_receivers.pick_lines(review.draft.texts["receivers"], bad)
        draft = review.draft.changed(receivers="\n".join(lines), sendDate="", later=False, resends="")
        await keep_as(request, draft, rest_form(sent_id))


async def count_rest(request: PageRequest, sent_id: bytes) -> int:
    """Return how many lines of a request the user still has to correct."""
    draft = await load_rest(request, sent_id)
    return typed_receivers.count_lines(draft.texts["receivers"]) if draft else 0


async def load_rest(request: PageRequest, sent_id: bytes) -> MessageDraft | None:
    """Return the lines that a request left out, with its message; None: the user has none."""
    draft, _ = await load(request, rest_form(sent_id))
    return draft


def new_key(request: PageRequest) -> str:
    """Return a new idempotency key; it starts with the time."""
    return f"{request.now:0{KEY_TIME_DIGITS}x}{new_secret(request.context.world)[KEY_TIME_DIGITS:]}"


def is_key_current(request: PageRequest, key: str) -> bool:
    """Return whether a key is well-formed and young enough that its first use would still be stored."""
    made_at = key[:KEY_TIME_DIGITS]
    is_well_formed = len(key) == KEY_CHARACTERS and set(key) <= set(hexdigits)
    return is_well_formed and request.now < int(made_at, 16) + request.context.policy.idempotency_ms

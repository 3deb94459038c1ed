"""The send page: a message is written with a preview, confirmed, and sent."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.manage.template_form import BUTTON_LABELS
from pabal.console.send import draft as drafts
from pabal.console.send import kept_draft, prefill
from pabal.console.send.campaign_body import submit_typed
from pabal.console.send.draft import ALIMTALK, FRIENDTALK_PRODUCTS, KINDS, MessageDraft, draft_digest
from pabal.console.send.draft_parts import BUTTON_FIELDS, IMAGE_FIELDS, MAX_IMAGE_BYTES
from pabal.console.send.field_errors import errors_by_field
from pabal.console.send.kept_draft import KEY_CHARACTERS, KeptDraft, is_key_current, new_key
from pabal.console.send.review import (
    SHOWN_INVALID_ROWS,
    Review,
    build_sending,
    build_sending_to,
    first_values,
    review_digest,
    review_draft,
)
from pabal.console.send.summary import (
    CostEstimate,
    dearest_fallback,
    estimate_cost,
    open_times,
    open_ways,
    summarize,
)
from pabal.console.send.typed_receivers import TypedReceiver
from pabal.console.shell.form_fields import GROUP, new_tab_id, parse_id, tab_id, ticked_ids
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.brand.message import BrandType, Targeting
from pabal.domain.content.button import FRIENDTALK_BUTTON_TYPES
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import Template
from pabal.domain.people import phone
from pabal.domain.people.contact import NAME_FIELD, ContactGroup
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Sending
from pabal.service.access.accounts import send_preferences, sender_numbers
from pabal.service.access.contacts import contacts
from pabal.service.relay import lookup
from pabal.service.sending.accept import IdempotencyKey, accept, find_accepted
from pabal.service.sending.campaigns import approvals
from pabal.service.sending.preconditions import choose_carrier
from pabal.service.sending.replace import replace_request

SEND_PATH = "/console/send"
SHOWN_GROUPS = 100
MAX_OPEN_GROUPS = 12
"""Groups are shown at once if there are at most this many."""


class FormChoices(NamedTuple):
    """What can be chosen in the form."""

    profiles: list[Profile]
    templates: list[Template]
    numbers: list[str]
    own_number: str
    opt_out_number: str = ""
    """The number for opting out that advertisements have by default; empty: none."""
    groups: Sequence[ContactGroup] = ()
    """The first groups of the address book, and those that are chosen."""
    has_more_groups: bool = False
    book_fields: Sequence[str] = ()
    """The variables that the address book fills in."""


class Confirmation(NamedTuple):
    """What is shown before a message is sent, and the key that makes the send idempotent."""

    total: int
    skipped_duplicates: int
    left_out_count: int
    """Lines that cannot be sent to, and are kept."""
    scheduled: str
    is_postponed: bool
    key: str
    product: Product
    cost: CostEstimate | None
    needs_approval: bool
    approvers: int
    """How many other users could approve it."""
    digest: str
    """The digest of the draft, followed by that of its review."""


async def show_form(request: PageRequest) -> Response:
    """Show the form with what was typed before, a copy of what was sent, or an empty one for a kind of message.

    Raises Refused: REQUEST_NOT_FOUND, NOT_FOUND, INVALID_STATE for what cannot be copied.
    """
    draft, kept = await kept_draft.load(request, prefill.form_of(request))
    if draft is None:
        start = await prefill.find_start(request)
        draft, kept = start.draft, KeptDraft(start.form, notice=start.notice)
    if draft is None:
        draft = await _with_default_fallback(request, drafts.blank_draft(request.field("kind")))
    draft = await _with_default_sender(request, draft)
    groups = _chosen_groups(request) | set(kept.groups)
    return await _render_form(request, await review_draft(request, draft, groups), kept=kept)


async def show_saved(request: PageRequest, draft: MessageDraft) -> Response:
    """Show the form after its text was saved."""
    kept = KeptDraft(kept_draft.form_name(request), notice="texts.done")
    return await _render_form(request, await review_draft(request, draft), kept=kept)


async def discard_draft(request: PageRequest) -> Response:
    """Delete what was typed, and show an empty form."""
    await kept_draft.end(request, kept_draft.form_name(request), tab_id(request))
    return request.redirect(SEND_PATH)


async def change_form(request: PageRequest) -> Response:
    """Show the form with what was typed, for another kind of message or with other buttons."""
    draft = await _with_default_sender(request, drafts.read_draft(request.fields))
    if request.field("to") == ALIMTALK:
        draft = await _with_default_fallback(request, draft)
    kept = await kept_draft.keep_on(request, draft)
    return await _render_form(request, await review_draft(request, draft, _chosen_groups(request)), kept=kept)


async def update_preview(request: PageRequest) -> Response:
    """Answer with what changes while someone types: size, receivers, preview; what was typed is kept."""
    groups = ticked_ids(request.fields, GROUP)
    review = await review_draft(request, drafts.read_draft(request.fields), groups)
    kept = await kept_draft.keep(request, review.draft)
    return request.render(
        "send/send_look.html",
        review=review,
        draft=review.draft,
        is_part=True,
        max_invalid_rows=SHOWN_INVALID_ROWS,
        kept=kept,
        summary=await summarize(request, review, groups),
        image_fields=IMAGE_FIELDS,
    )


async def show_confirmation(request: PageRequest) -> Response:
    """Show how many messages would be sent and when, or the errors."""
    review = await review_draft(request, drafts.read_draft(request.fields))
    kept = await kept_draft.keep_on(request, review.draft)
    shown = KeptDraft(kept.form, page=kept.page)
    try:
        found = await build_sending(request, review)
        await _check_edit(request, review, found)
        await choose_carrier(request.context, request.account_id, found)
    except Refused as refused:
        return await _render_form(request, review, refused, kept=shown)
    return await _render_form(request, review, confirmation=await _confirmation(request, review, found), kept=shown)


async def show_refused(request: PageRequest, refused: Refused) -> Response:
    """Show what was typed with its errors."""
    draft = drafts.read_draft(request.fields)
    return await _render_form(request, await review_draft(request, draft, _chosen_groups(request)), refused)


async def send(request: PageRequest) -> Response:
    """Send what was confirmed, once, however often the form is submitted."""
    draft = drafts.read_draft(request.fields)
    digest, key = draft_digest(draft), request.field("key")[:KEY_CHARACTERS]
    if not request.field("digest").startswith(digest) or not is_key_current(request, key):
        return await show_confirmation(request)
    idempotency_key = IdempotencyKey(f"console-{key}", bytes.fromhex(digest))
    before = await find_accepted(request.context, request.account_id, idempotency_key)
    if before:  # already sent: whether it is still valid does not matter
        return request.redirect(f"{SEND_PATH}/done/{before.hex()}")
    review = await review_draft(request, draft)
    if request.field("digest") != digest + review_digest(review):
        return await show_confirmation(request)
    try:
        found = await build_sending(request, review)
        if submit := await _submit_if_needed(request, review, found, key):
            return submit
        request_id = await _accept(request, found, idempotency_key, "send")
    except Refused as refused:
        return await _render_form(request, review, refused)
    if review.left_out_count:
        await kept_draft.keep_rest(request, review, request_id)
    await kept_draft.end(request, kept_draft.form_name(request), tab_id(request))
    return request.redirect(f"{SEND_PATH}/done/{request_id.hex()}")


async def _submit_if_needed(request: PageRequest, review: Review, sending: Sending, key: str) -> Response | None:
    """Submit a send for approval if it needs one; None: it does not.

    Raises Refused(INVALID_STATE) for a scheduled request that would be changed to such a one.
    """
    await _check_edit(request, review, sending)
    context, account_id = request.context, request.account_id
    if _edited(review) or not await approvals.needs_approval(context, account_id, sending, len(sending.receivers)):
        return None
    await choose_carrier(context, account_id, sending)
    campaign_id = await submit_typed(request, review.sent_draft, sending, key)
    if review.left_out_count:
        await kept_draft.keep_rest(request, review, campaign_id)
    return request.redirect(f"{SEND_PATH}/upload/{campaign_id.hex()}")


async def _check_edit(request: PageRequest, review: Review, sending: Sending) -> None:
    """Raise Refused(INVALID_STATE) where a scheduled request would be changed to what needs approval."""
    if edited := _edited(review):
        await approvals.check_edit(request.context, request.account_id, sending, edited)


def _edited(review: Review) -> bytes | None:
    """Return the id of the scheduled request whose place a send takes, if there is one."""
    return identifiers.parse_request_id(review.draft.texts["edits"])


async def send_test(request: PageRequest) -> Response:
    """Send the message now to the number given, which becomes the user's test number.

    It has the values of the first receiver; a variable without one stays as it is written.
    """
    draft, key = drafts.read_draft(request.fields), request.field("test_key")[:KEY_CHARACTERS]
    draft = draft.changed(later=False)
    try:
        number = phone.parse_mobile(request.field("own_number"))
        await send_preferences.set_test_number(request.context, request.user.id, number)
        review = await review_draft(request, draft)
        values = {name: f"#{{{name}}}" for name in review.message.variables} | first_values(review.receivers)
        found = await build_sending_to(request, review.sent_draft, [TypedReceiver(1, number, values)])
        idempotency_key = IdempotencyKey(f"console-test-{key}", bytes.fromhex(draft_digest(draft, number)))
        request_id = await _accept(request, found, idempotency_key, "test")
    except Refused as refused:
        errors = [request.tell(each) for each in refused.problems]
        return request.render("send/send_tested.html", errors=errors, request_id="", test_key=key, is_part=True)
    return request.render(
        "send/send_tested.html", errors=[], request_id=request_id.hex(), test_key=new_key(request), is_part=True
    )


async def _render_form(
    request: PageRequest,
    review: Review,
    refused: Refused | None = None,
    confirmation: Confirmation | None = None,
    kept: KeptDraft | None = None,
) -> Response:
    """Answer with the whole page and its errors.

    htmx discards answers that are not a success, so it gets a refused form with status 200.
    """
    errors = errors_by_field(request, refused.problems, review.draft.fields) if refused else {}
    groups = _chosen_groups(request) | set(kept.groups if kept else ())
    is_htmx = request.http.headers.get("hx-request") == "true"
    limits = request.context.policy.image_limits_of(review.draft.product)
    found = await _load_choices(request, review.draft, groups)
    return request.render(
        "send/send.html",
        refused.code.http_status if refused and not is_htmx else 200,
        review=review._replace(errors={**review.errors, **errors}),
        draft=review.draft,
        is_part=False,
        is_refused=refused is not None,
        confirmation=confirmation,
        kept=kept or KeptDraft(kept_draft.form_name(request)),
        page=(kept.page if kept else "") or tab_id(request) or new_tab_id(request),
        choices=found,
        ways=open_ways(request, review.draft, found.groups, groups),
        times=open_times(request, review.draft.texts["sendDate"], is_later=review.draft.checkboxes["later"]),
        chosen_groups=groups,
        summary=await summarize(request, review, groups),
        max_open_groups=MAX_OPEN_GROUPS,
        test_key=new_key(request),
        kinds=list(KINDS.values()),
        talks=FRIENDTALK_PRODUCTS,
        brand_types=list(BrandType),
        targetings=list(Targeting),
        types={word: BUTTON_LABELS[word] for word in FRIENDTALK_BUTTON_TYPES},
        button_fields=BUTTON_FIELDS,
        policy=request.context.policy,
        most_image_bytes=min(limits.max_bytes, MAX_IMAGE_BYTES),
        most_images=limits.max_count,
        most_bytes_together=limits.max_total_bytes,
        image_fields=IMAGE_FIELDS,
        most_image_px=limits.max_side_px,
        max_invalid_rows=SHOWN_INVALID_ROWS,
    )


def _chosen_groups(request: PageRequest) -> set[int]:
    """Return the groups that were ticked, or that a link of the address book names."""
    linked = parse_id(request.field("group"))
    return {*ticked_ids(request.fields, GROUP), *([linked] if linked else ())}


async def _load_choices(request: PageRequest, draft: MessageDraft, chosen: Collection[int]) -> FormChoices:
    """Return what can be chosen for a draft; `chosen` groups are shown in any case."""
    book, groups = await request.context.store.read(contacts.get_book, request.account_id)
    shown = [each for place, each in enumerate(groups) if place < SHOWN_GROUPS or each.id in chosen]
    found = await _load_senders(request, draft)
    fields = (NAME_FIELD, *book.fields)
    return found._replace(groups=shown, has_more_groups=len(groups) > len(shown), book_fields=fields)


async def _load_senders(request: PageRequest, draft: MessageDraft) -> FormChoices:
    context, account_id = request.context, request.account_id
    numbers = await sender_numbers.list_usable(context, account_id)
    stored_number = await send_preferences.get_test_number(context, request.user.id)
    test_number = request.field("own_number") or (phone.hyphenate(stored_number) if stored_number else "")
    if draft.product.is_text:
        opt_out_number = await sender_numbers.get_default_opt_out_number(context, account_id)
        shown_number = phone.hyphenate(opt_out_number) if opt_out_number else ""
        return FormChoices([], [], numbers, test_number, shown_number)
    profiles = await lookup.list_usable_profiles(context, account_id)
    templates: list[Template] = []
    if draft.kind.word == ALIMTALK and draft.texts["senderKey"]:
        templates = await lookup.list_usable_templates(context, account_id, draft.texts["senderKey"])
    return FormChoices(profiles, templates, numbers, test_number)


async def _with_default_sender(request: PageRequest, draft: MessageDraft) -> MessageDraft:
    """Return the draft with the first available sender, if none has been chosen.

    An Alimtalk begins with a profile that has a template to send.
    """
    context, account_id = request.context, request.account_id
    if draft.product.is_text:
        field, senders = "sender", await sender_numbers.list_usable(context, account_id)
    else:
        profiles = await lookup.list_usable_profiles(context, account_id)
        field, senders = "senderKey", [profile.sender_key or "" for profile in profiles]
    if draft.texts[field] or not senders:
        return draft
    if draft.kind.word == ALIMTALK:
        ready = {each.sender_key for each in await lookup.list_usable_templates(context, account_id)}
        senders.sort(key=lambda sender: sender not in ready)
    sender = phone.hyphenate(senders[0]) if field == "sender" else senders[0]
    return draft.changed({field: sender})


async def _with_default_fallback(request: PageRequest, draft: MessageDraft) -> MessageDraft:
    """Return a new Alimtalk with the fallback that the account's owners want by default, unless it has one."""
    has_own = draft.checkboxes["resend"] or draft.texts["resendPhoneNumber"] or draft.texts["edits"]
    if draft.kind.word != ALIMTALK or has_own:
        return draft
    number = (await send_preferences.get(request.context, request.account_id)).fallback_number
    if not number:
        return draft
    return draft.changed(resendPhoneNumber=phone.hyphenate(number), resend=True)


async def _accept(request: PageRequest, sending: Sending, idempotency_key: IdempotencyKey, action: str) -> bytes:
    """Store a send, in place of the scheduled request that it edits, if it does.

    Raises Refused as the API does.
    """
    context, account_id = request.context, request.account_id
    edited = identifiers.parse_request_id(request.field("edits")) if action == "send" else None
    send_id = idempotency_key.key.encode()
    async with approvals.count_unapproved(context, account_id, sending, len(sending.receivers), send_id, edited):
        if edited:
            audit_entry = request.audit_entry("request.edit")
            return await replace_request(context, account_id, edited, sending, idempotency_key, audit_entry)
        audit_entry = request.audit_entry(f"message.{action}")
        return await accept(context, account_id, sending, idempotency_key, audit_entry)


async def _confirmation(request: PageRequest, review: Review, sending: Sending) -> Confirmation:
    at, context, account_id = sending.scheduled_at, request.context, request.account_id
    return Confirmation(
        total=len(sending.receivers),
        skipped_duplicates=len(review.receivers.duplicates) if review.draft.checkboxes["once"] else 0,
        left_out_count=review.left_out_count,
        scheduled=request.minute(at),
        is_postponed=bool(review.night_key),
        key=new_key(request),
        product=sending.product,
        cost=estimate_cost(
            context.policy,
            {sending.product: len(sending.receivers)},
            dearest_fallback(context.policy, sending, review.opt_out_number),
        ),
        needs_approval=not _edited(review)
        and await approvals.needs_approval(context, account_id, sending, len(sending.receivers)),
        approvers=await approvals.count_approvers(context, account_id, request.user.id),
        digest=draft_digest(review.draft) + review_digest(review),
    )

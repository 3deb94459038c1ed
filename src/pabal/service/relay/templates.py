"""Creates, edits and deletes templates, and requests their review."""

from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, current_state, require
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import EDITABLE_STATUSES, ReviewDecision, Template, TemplateContent, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import categories
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates


class TemplateRef(NamedTuple):
    """Identifies a template by account, profile and code."""

    account_id: int
    sender_key: str
    code: str


class ReviewSubmission(NamedTuple):
    """What a provider gets to review."""

    profile: Profile
    template: Template
    image: Image | None


async def create(
    context: Context,
    ref: TemplateRef,
    content: TemplateContent,
    image: Image | None,
    audit_entry: AuditEntry | None = None,
    thumbnail: Image | None = None,
) -> Template:
    """Store a new template; a relay gets it when its review is requested, but a thumbnail at once.

    Raises Refused: SENDER_NOT_FOUND, CATEGORY_NOT_FOUND, DUPLICATE, and a relay's refusals of the thumbnail.
    """
    await _check_category(context, content)
    content = await _upload_thumbnail(context, ref, content, thumbnail)
    return await context.store.write(
        audit_log.run_audited, audit_entry, _create, ref, content, image, context.world.now()
    )


async def update(
    context: Context,
    ref: TemplateRef,
    content: TemplateContent,
    image: Image | None,
    audit_entry: AuditEntry | None = None,
    thumbnail: Image | None = None,
) -> Template:
    """Replace the content of a template; approved content stays in use until the new one is approved.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, CATEGORY_NOT_FOUND, INVALID_STATE under review, and a
    relay's refusals of the thumbnail.
    """
    await _check_category(context, content)
    content = await _upload_thumbnail(context, ref, content, thumbnail)
    updated = await context.store.write(
        audit_log.run_audited, audit_entry, _update, ref, content, image, context.world.now()
    )
    context.new_events.set()
    return updated


async def request_review(context: Context, ref: TemplateRef, audit_entry: AuditEntry | None = None) -> Template:
    """Request the review of a template.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE where it is not registered, and the
    refusals of a relay; then it stays registered.
    """
    profile, template, image = await context.store.read(_read_submission, ref)
    desk = context.provider_of(profile)
    review = await desk.submit_template(ref.sender_key, ref.code, template.latest, image)
    requested = await context.store.write(
        audit_log.run_audited, audit_entry, _mark_requested, ref, template.latest, review, context.world.now()
    )
    context.new_events.set()
    return requested


async def delete(context: Context, ref: TemplateRef, audit_entry: AuditEntry | None = None) -> None:
    """Delete a template, first at its relay if it has one.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE where it is approved or under review,
    and the refusals of a relay; then it stays.
    """
    template = await context.store.read(_find_deletable, ref)
    relay = context.relays.get(template.carrier or "")
    if relay is not None:
        await relay.delete_template(ref.sender_key, ref.code)
    await context.store.write(audit_log.run_audited, audit_entry, _delete, ref)


def decide_review(tx: Tx, template_id: int, decision: ReviewDecision, now: Instant) -> Template:
    """Approve or reject a template that is under review.

    Raises Refused: TEMPLATE_NOT_FOUND, INVALID_STATE, also where a relay reviews it.
    """
    template = require(templates.get_by_id(tx, template_id), Code.TEMPLATE_NOT_FOUND)
    if template.carrier is not None:
        detail = Text(
            f"이 템플릿은 발송 경로 {template.carrier}에서 검수합니다.",
            f"The carrier {template.carrier} reviews this template.",
        )
        raise Refused(Code.INVALID_STATE, detail=detail)
    if template.status is not TemplateStatus.INSPECTING:
        raise _wrong_state(template)
    return _apply_decision(tx, template, decision, now)


def _create(tx: Tx, ref: TemplateRef, content: TemplateContent, image: Image | None, now: Instant) -> Template:
    profile = _profile(tx, ref)
    if templates.get(tx, profile.id, ref.code):
        raise Refused(Code.DUPLICATE, "templateCode")
    return _by_id(tx, templates.add(tx, ref.account_id, profile.id, ref.code, content, image, now))


def _update(tx: Tx, ref: TemplateRef, content: TemplateContent, image: Image | None, now: Instant) -> Template:
    template = _find(tx, ref)
    if template.status not in EDITABLE_STATUSES:
        raise _wrong_state(template)
    templates.update_design(tx, template.id, content, image, now)
    return _by_id(tx, template.id)


def _mark_requested(
    tx: Tx, ref: TemplateRef, content: TemplateContent, review: ReviewDecision | None, now: Instant
) -> Template:
    template = _find(tx, ref)
    _check_requestable(template)
    if template.latest != content:  # edited during the review
        raise _wrong_state(template)
    if review:
        return _apply_decision(tx, template, review, now)
    templates.set_status(tx, template.id, TemplateStatus.INSPECTING, None, now)
    return _by_id(tx, template.id)


def _read_submission(tx: Tx, ref: TemplateRef) -> ReviewSubmission:
    template = _find(tx, ref)
    _check_requestable(template)
    return ReviewSubmission(_profile(tx, ref), template, templates.get_image(tx, template.id))


def _find_deletable(tx: Tx, ref: TemplateRef) -> Template:
    template = _find(tx, ref)
    if not template.is_deletable:
        raise _wrong_state(template)
    return template


def _delete(tx: Tx, ref: TemplateRef) -> None:
    templates.delete(tx, _find_deletable(tx, ref).id)


def _apply_decision(tx: Tx, template: Template, review: ReviewDecision, now: Instant) -> Template:
    status = TemplateStatus.APPROVED if review.is_approved else TemplateStatus.REJECTED
    templates.set_status(tx, template.id, status, review.comment, now)
    return _by_id(tx, template.id)


async def _upload_thumbnail(
    context: Context, ref: TemplateRef, content: TemplateContent, thumbnail: Image | None
) -> TemplateContent:
    """Return the content with the address that the provider gives the thumbnail of the item highlight."""
    highlight = content.parts.highlight
    if thumbnail is None or highlight is None:
        return content
    provider = context.provider_of(await context.store.read(_profile, ref))
    highlight = highlight._replace(image_url=await provider.upload_thumbnail(thumbnail))
    return content._replace(parts=content.parts._replace(highlight=highlight))


async def _check_category(context: Context, content: TemplateContent) -> None:
    if content.category not in await categories.template_categories(context):
        raise Refused(Code.CATEGORY_NOT_FOUND, "category")


def _check_requestable(template: Template) -> None:
    if template.status is not TemplateStatus.REGISTERED:
        raise _wrong_state(template)


def _profile(tx: Tx, ref: TemplateRef) -> Profile:
    profile = profiles.get_by_sender_key(tx, ref.account_id, ref.sender_key)
    if profile is None:
        raise Refused(Code.SENDER_NOT_FOUND, "senderKey")
    return profile


def _find(tx: Tx, ref: TemplateRef) -> Template:
    return require(templates.get(tx, _profile(tx, ref).id, ref.code), Code.TEMPLATE_NOT_FOUND, "templateCode")


def _by_id(tx: Tx, template_id: int) -> Template:
    template = templates.get_by_id(tx, template_id)
    assert template is not None
    return template


def _wrong_state(template: Template) -> Refused:
    return Refused(Code.INVALID_STATE, "templateCode", current_state(template.status.label))

"""Registers templates, edits them, has them reviewed, and deletes them."""

from typing import NamedTuple

from pabal.domain.codes import Code, Refused, Text
from pabal.domain.dates import Instant
from pabal.domain.image import Image
from pabal.domain.profile import Profile
from pabal.domain.template import EDITABLE_STATUSES, ReviewDecision, Template, TemplateContent, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import categories
from pabal.store import audit_log, profiles, templates
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx


class TemplateRef(NamedTuple):
    """Which template of which profile of which account."""

    account_id: int
    sender_key: str
    code: str


class ReviewSubmission(NamedTuple):
    """What a desk is handed for review."""

    profile: Profile
    template: Template
    image: Image | None


async def create(
    context: Context,
    ref: TemplateRef,
    content: TemplateContent,
    image: Image | None,
    deed: AuditEntry | None = None,
) -> Template:
    """Keep a new template, registered; a relay hears of it when its review is requested.

    Raises Refused: SENDER_NOT_FOUND, CATEGORY_NOT_FOUND, DUPLICATE.
    """
    await _check_category(context, content)
    return await context.store.write(audit_log.run_audited, deed, _create, ref, content, image, context.world.now())


async def update(
    context: Context,
    ref: TemplateRef,
    content: TemplateContent,
    image: Image | None,
    deed: AuditEntry | None = None,
) -> Template:
    """Give a template a new text; one that was approved stays in use until the new one is.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, CATEGORY_NOT_FOUND, INVALID_STATE under review.
    """
    await _check_category(context, content)
    return await context.store.write(audit_log.run_audited, deed, _update, ref, content, image, context.world.now())


async def request_review(context: Context, ref: TemplateRef, deed: AuditEntry | None = None) -> Template:
    """Have a template reviewed.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE for one that is not newly written, and
    whatever a relay says; then it stays registered.
    """
    profile, template, image = await context.store.read(_read_submission, ref)
    desk = context.provider_of(profile)
    review = await desk.submit_template(ref.sender_key, ref.code, template.latest, image)
    return await context.store.write(
        audit_log.run_audited, deed, _mark_requested, ref, template.latest, review, context.world.now()
    )


async def delete(context: Context, ref: TemplateRef, deed: AuditEntry | None = None) -> None:
    """Delete a template, first at its relay if that keeps it.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE for an approved one or under review, and
    whatever a relay says; then it stays.
    """
    template = await context.store.read(_find_deletable, ref)
    relay = context.relays.get(template.carrier or "")
    if relay is not None:
        await relay.delete_template(ref.sender_key, ref.code)
    await context.store.write(audit_log.run_audited, deed, _delete, ref)


def decide_review(tx: Tx, template_id: int, decision: ReviewDecision, now: Instant) -> Template:
    """Approve or reject a template that is under review.

    Raises Refused: TEMPLATE_NOT_FOUND, INVALID_STATE, also where a relay's review decides.
    """
    template = templates.get_by_id(tx, template_id)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND)
    if template.carrier is not None:
        detail = Text(
            f"통신사 {template.carrier}의 검수가 결정합니다.", f"The review of {template.carrier} decides on it."
        )
        raise Refused(Code.INVALID_STATE, detail=detail)
    if template.status is not TemplateStatus.INSPECTING:
        raise _wrong_state(template)
    return _apply_decision(tx, template, decision, now)


def _create(tx: Tx, place: TemplateRef, design: TemplateContent, image: Image | None, now: Instant) -> Template:
    profile = _profile(tx, place)
    if templates.get(tx, profile.id, place.code):
        raise Refused(Code.DUPLICATE, "templateCode")
    return _by_id(tx, templates.add(tx, place.account_id, profile.id, place.code, design, image, now))


def _update(tx: Tx, place: TemplateRef, design: TemplateContent, image: Image | None, now: Instant) -> Template:
    template = _find(tx, place)
    if template.status not in EDITABLE_STATUSES:
        raise _wrong_state(template)
    templates.update_design(tx, template.id, design, image, now)
    return _by_id(tx, template.id)


def _mark_requested(
    tx: Tx, place: TemplateRef, design: TemplateContent, review: ReviewDecision | None, now: Instant
) -> Template:
    template = _find(tx, place)
    _check_requestable(template)
    if template.latest != design:  # edited while the reviewer read it
        raise _wrong_state(template)
    templates.set_status(tx, template.id, TemplateStatus.INSPECTING, None, now)
    return _apply_decision(tx, template, review, now) if review else _by_id(tx, template.id)


def _read_submission(tx: Tx, place: TemplateRef) -> ReviewSubmission:
    template = _find(tx, place)
    _check_requestable(template)
    return ReviewSubmission(_profile(tx, place), template, templates.get_image(tx, template.id))


def _find_deletable(tx: Tx, place: TemplateRef) -> Template:
    template = _find(tx, place)
    if not template.is_deletable:
        raise _wrong_state(template)
    return template


def _delete(tx: Tx, place: TemplateRef) -> None:
    templates.delete(tx, _find_deletable(tx, place).id)


def _apply_decision(tx: Tx, template: Template, review: ReviewDecision, now: Instant) -> Template:
    status = TemplateStatus.APPROVED if review.is_approved else TemplateStatus.REJECTED
    templates.set_status(tx, template.id, status, review.comment, now)
    return _by_id(tx, template.id)


async def _check_category(context: Context, design: TemplateContent) -> None:
    if design.category not in await categories.template_categories(context):
        raise Refused(Code.CATEGORY_NOT_FOUND, "category")


def _check_requestable(template: Template) -> None:
    if template.status is not TemplateStatus.REGISTERED:
        raise _wrong_state(template)


def _profile(tx: Tx, place: TemplateRef) -> Profile:
    profile = profiles.get_by_sender_key(tx, place.account_id, place.sender_key)
    if profile is None:
        raise Refused(Code.SENDER_NOT_FOUND, "senderKey")
    return profile


def _find(tx: Tx, place: TemplateRef) -> Template:
    template = templates.get(tx, _profile(tx, place).id, place.code)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND, "templateCode")
    return template


def _by_id(tx: Tx, template_id: int) -> Template:
    template = templates.get_by_id(tx, template_id)
    assert template is not None
    return template


def _wrong_state(template: Template) -> Refused:
    label = template.status.label
    return Refused(Code.INVALID_STATE, "templateCode", Text(f"지금 상태: {label.ko}.", f"It is: {label.en}."))

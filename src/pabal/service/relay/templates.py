"""Registers templates, edits them, has them reviewed, and deletes them."""

from typing import NamedTuple

from pabal.domain.codes import Code, Refused, Words
from pabal.domain.dates import Instant
from pabal.domain.image import Image
from pabal.domain.profile import Profile
from pabal.domain.template import EDITABLE, Design, Review, Template, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import categories
from pabal.store import audit_log, profiles, templates
from pabal.store.audit_log import Deed
from pabal.store.engine.base import Tx


class Place(NamedTuple):
    """Which template of which profile of which account."""

    account_id: int
    sender_key: str
    code: str


class Handed(NamedTuple):
    """What a desk is handed for review."""

    profile: Profile
    template: Template
    image: Image | None


async def create(
    context: Context, place: Place, design: Design, image: Image | None, deed: Deed | None = None
) -> Template:
    """Keep a new template, registered; a relay hears of it when its review is requested.

    Raises Refused: SENDER_NOT_FOUND, CATEGORY_NOT_FOUND, DUPLICATE.
    """
    await _check_category(context, design)
    return await context.store.write(audit_log.along, deed, _create, place, design, image, context.world.now())


async def update(
    context: Context, place: Place, design: Design, image: Image | None, deed: Deed | None = None
) -> Template:
    """Give a template a new text; one that was approved stays in use until the new one is.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, CATEGORY_NOT_FOUND, INVALID_STATE under review.
    """
    await _check_category(context, design)
    return await context.store.write(audit_log.along, deed, _update, place, design, image, context.world.now())


async def request(context: Context, place: Place, deed: Deed | None = None) -> Template:
    """Have a template reviewed.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE for one that is not newly written, and
    whatever a relay says; then it stays registered.
    """
    profile, template, image = await context.store.read(_handed, place)
    desk = context.provider_of(profile)
    review = await desk.submit_template(place.sender_key, place.code, template.design, image)
    return await context.store.write(
        audit_log.along, deed, _request, place, template.design, review, context.world.now()
    )


async def delete(context: Context, place: Place, deed: Deed | None = None) -> None:
    """Delete a template, first at its relay if that keeps it.

    Raises Refused: SENDER_NOT_FOUND, TEMPLATE_NOT_FOUND, INVALID_STATE for an approved one or under review, and
    whatever a relay says; then it stays.
    """
    template = await context.store.read(_deletable, place)
    relay = context.relays.get(template.carrier or "")
    if relay is not None:
        await relay.delete_template(place.sender_key, place.code)
    await context.store.write(audit_log.along, deed, _delete, place)


def decide(tx: Tx, template_id: int, review: Review, now: Instant) -> Template:
    """Approve or reject a template that is under review.

    Raises Refused: TEMPLATE_NOT_FOUND, INVALID_STATE, also where a relay's review decides.
    """
    template = templates.by_id(tx, template_id)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND)
    if template.carrier is not None:
        detail = Words(
            f"통신사 {template.carrier}의 검수가 결정합니다.", f"The review of {template.carrier} decides on it."
        )
        raise Refused(Code.INVALID_STATE, detail=detail)
    if template.status is not TemplateStatus.INSPECTING:
        raise _wrong_state(template)
    return _decided(tx, template, review, now)


def _create(tx: Tx, place: Place, design: Design, image: Image | None, now: Instant) -> Template:
    profile = _profile(tx, place)
    if templates.get(tx, profile.id, place.code):
        raise Refused(Code.DUPLICATE, "templateCode")
    return _by_id(tx, templates.add(tx, place.account_id, profile.id, place.code, design, image, now))


def _update(tx: Tx, place: Place, design: Design, image: Image | None, now: Instant) -> Template:
    template = _find(tx, place)
    if template.status not in EDITABLE:
        raise _wrong_state(template)
    templates.edit(tx, template.id, design, image, now)
    return _by_id(tx, template.id)


def _request(tx: Tx, place: Place, design: Design, review: Review | None, now: Instant) -> Template:
    template = _find(tx, place)
    _check_requestable(template)
    if template.design != design:  # edited while the reviewer read it
        raise _wrong_state(template)
    templates.set_status(tx, template.id, TemplateStatus.INSPECTING, None, now)
    return _decided(tx, template, review, now) if review else _by_id(tx, template.id)


def _handed(tx: Tx, place: Place) -> Handed:
    template = _find(tx, place)
    _check_requestable(template)
    return Handed(_profile(tx, place), template, templates.image(tx, template.id))


def _deletable(tx: Tx, place: Place) -> Template:
    template = _find(tx, place)
    if not template.is_deletable:
        raise _wrong_state(template)
    return template


def _delete(tx: Tx, place: Place) -> None:
    templates.delete(tx, _deletable(tx, place).id)


def _decided(tx: Tx, template: Template, review: Review, now: Instant) -> Template:
    status = TemplateStatus.APPROVED if review.is_approved else TemplateStatus.REJECTED
    templates.set_status(tx, template.id, status, review.comment, now)
    return _by_id(tx, template.id)


async def _check_category(context: Context, design: Design) -> None:
    if design.category not in await categories.of_templates(context):
        raise Refused(Code.CATEGORY_NOT_FOUND, "category")


def _check_requestable(template: Template) -> None:
    if template.status is not TemplateStatus.REGISTERED:
        raise _wrong_state(template)


def _profile(tx: Tx, place: Place) -> Profile:
    profile = profiles.by_sender_key(tx, place.account_id, place.sender_key)
    if profile is None:
        raise Refused(Code.SENDER_NOT_FOUND, "senderKey")
    return profile


def _find(tx: Tx, place: Place) -> Template:
    template = templates.get(tx, _profile(tx, place).id, place.code)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND, "templateCode")
    return template


def _by_id(tx: Tx, template_id: int) -> Template:
    template = templates.by_id(tx, template_id)
    assert template is not None
    return template


def _wrong_state(template: Template) -> Refused:
    label = template.status.label
    return Refused(Code.INVALID_STATE, "templateCode", Words(f"지금 상태: {label.ko}.", f"It is: {label.en}."))

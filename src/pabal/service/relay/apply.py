"""Applies the state of profiles and templates at a relay to ours."""

from typing import NamedTuple

from pabal.carriers.provider import RelayProvider, RemoteTemplate
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.kakao.profile import Profile, Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates

SETTLING_MS = 2 * MINUTE
"""How long a submitted template may be missing from a relay's lists before it counts as missing."""


class TemplateState(NamedTuple):
    """The state of a template after applying the relay's."""

    latest: TemplateContent
    approved: TemplateContent | None
    status: TemplateStatus
    comment: str | None
    suspension: Suspension | None


def apply_profile(tx: Tx, profile: Profile, category: str, suspension: Suspension | None, now: Instant) -> bool:
    """Apply the relay's state to a profile; return whether it is still the profile the relay was asked about."""
    known = profiles.get_by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id or known.sender_key != profile.sender_key:
        return False
    profiles.apply_remote(tx, known.id, category, suspension, now)
    return True


def merge_template(
    relay: RelayProvider,
    template: Template,
    remote: RemoteTemplate,
    remote_change: RemoteTemplate | None,
    now: Instant,
) -> TemplateState:
    """Return the new state of a template, from the relay's state of it and of its latest change.

    Content that was not submitted yet stays as it is, and so does submitted content for SETTLING_MS.
    """
    approved = template.approved
    if remote.status is TemplateStatus.APPROVED and not _same(relay, approved, remote.content):
        approved = _ours_if_same(relay, template.latest, remote.content)
    newest = (
        remote_change
        if remote_change is not None and _same(relay, template.latest, remote_change.content)
        else remote
    )
    if newest.status is TemplateStatus.APPROVED and not relay.is_same_content(newest.content, remote.content):
        newest = newest._replace(status=TemplateStatus.INSPECTING)  # the list does not show it yet
    is_ours = relay.is_same_content(template.latest, newest.content)
    is_unheard = template.status is TemplateStatus.REGISTERED
    is_settling = template.status is TemplateStatus.INSPECTING and now < template.changed_at + SETTLING_MS
    if not is_ours and (is_unheard or is_settling):
        return TemplateState(template.latest, approved, template.status, template.comment, remote.suspension)
    content = template.latest if is_ours else newest.content
    return TemplateState(content, approved, newest.status, newest.comment, remote.suspension)


def apply_template(
    tx: Tx,
    relay: RelayProvider,
    template: Template,
    remote: RemoteTemplate,
    remote_change: RemoteTemplate | None,
    now: Instant,
) -> bool:
    """Apply the relay's state to a template; return whether anything changed."""
    known = templates.get_by_id(tx, template.id)
    if known is None or known.changed_at != template.changed_at:
        return False  # changed meanwhile: the next round compares again
    new = merge_template(relay, known, remote, remote_change, now)
    if new == (known.latest, known.approved, known.status, known.comment, known.suspension):
        return False
    templates.apply_remote(tx, known.id, *new, now)
    return True


def is_missing(template: Template, now: Instant) -> bool:
    """Return whether a template that its relay does not have should be there."""
    if template.suspension is Suspension.GONE:
        return False
    if template.status is TemplateStatus.INSPECTING:
        return now >= template.changed_at + SETTLING_MS
    return template.status is not TemplateStatus.REGISTERED or template.approved is not None


def mark_template_gone(tx: Tx, template: Template, now: Instant) -> bool:
    """Suspend a template that its relay no longer has; one under review can be submitted again."""
    known = templates.get_by_id(tx, template.id)
    if known is None or known.changed_at != template.changed_at or known.suspension is Suspension.GONE:
        return False
    is_lost = known.status is TemplateStatus.INSPECTING
    status = TemplateStatus.REGISTERED if is_lost else known.status
    templates.apply_remote(tx, known.id, known.latest, known.approved, status, known.comment, Suspension.GONE, now)
    return True


def add_template(tx: Tx, profile: Profile, remote: RemoteTemplate, now: Instant) -> bool:
    """Store a template that was created at the relay."""
    known = profiles.get_by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id or templates.get(tx, profile.id, remote.code):
        return False
    added = templates.add(tx, profile.account_id, profile.id, remote.code, remote.content, None, now)
    approved = remote.content if remote.status is TemplateStatus.APPROVED else None
    templates.apply_remote(
        tx, added, remote.content, approved, remote.status, remote.comment, remote.suspension, now
    )
    return True


def _same(relay: RelayProvider, ours: TemplateContent | None, theirs: TemplateContent) -> bool:
    return ours is not None and relay.is_same_content(ours, theirs)


def _ours_if_same(relay: RelayProvider, ours: TemplateContent, theirs: TemplateContent) -> TemplateContent:
    """Return our content where it equals the relay's, which cannot store all of it."""
    return ours if relay.is_same_content(ours, theirs) else theirs

"""Follows a relay: what each of its templates and profiles, as it has them now, makes of ours."""

from typing import NamedTuple

from pabal.carriers.provider import RelayProvider, RemoteTemplate
from pabal.domain.dates import MINUTE, Instant
from pabal.domain.profile import Profile
from pabal.domain.suspension import Bar
from pabal.domain.template import Design, Template, TemplateStatus
from pabal.store import profiles, templates
from pabal.store.engine.base import Tx

SETTLING = 2 * MINUTE
"""How long what was handed in may be missing from a relay's lists before they are believed."""


class Followed(NamedTuple):
    """What the relay's word makes of a template."""

    design: Design
    in_use: Design | None
    status: TemplateStatus
    comment: str | None
    bar: Bar | None


def follow_profile(tx: Tx, profile: Profile, category: str, bar: Bar | None, now: Instant) -> bool:
    """Let a profile be as its relay has it; say whether it is still the one that the relay was asked about."""
    known = profiles.by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id or known.sender_key != profile.sender_key:
        return False
    profiles.follow(tx, known.id, category, bar, now)
    return True


def followed(
    relay: RelayProvider, template: Template, sheet: RemoteTemplate, change: RemoteTemplate | None, now: Instant
) -> Followed:
    """Return what a template is to be, by what its relay says of it and of the newest change of it.

    A text that was not handed in yet stays as it is. One that was, but is missing at the relay, is given a while.
    """
    in_use = template.in_use
    if sheet.status is TemplateStatus.APPROVED and not _same(relay, in_use, sheet.design):
        in_use = _ours_if_same(relay, template.design, sheet.design)
    newest = change if change is not None and _same(relay, template.design, change.design) else sheet
    if newest.status is TemplateStatus.APPROVED and not relay.is_same_design(newest.design, sheet.design):
        newest = newest._replace(status=TemplateStatus.INSPECTING)  # the list does not show it yet
    is_ours = relay.is_same_design(template.design, newest.design)
    is_unheard = template.status is TemplateStatus.REGISTERED
    is_settling = template.status is TemplateStatus.INSPECTING and now < template.changed_at + SETTLING
    if not is_ours and (is_unheard or is_settling):
        return Followed(template.design, in_use, template.status, template.comment, sheet.suspension)
    design = template.design if is_ours else newest.design
    return Followed(design, in_use, newest.status, newest.comment, sheet.suspension)


def follow_template(
    tx: Tx,
    relay: RelayProvider,
    template: Template,
    sheet: RemoteTemplate,
    change: RemoteTemplate | None,
    now: Instant,
) -> bool:
    """Let a template be as its relay has it; say whether anything changed."""
    known = templates.by_id(tx, template.id)
    if known is None or known.changed_at != template.changed_at:
        return False  # the next round sees both as they are then
    new = followed(relay, known, sheet, change, now)
    if new == (known.design, known.in_use, known.status, known.comment, known.bar):
        return False
    templates.follow(tx, known.id, *new, now)
    return True


def is_missed(template: Template, now: Instant) -> bool:
    """Say whether a template that is not at its relay should be there."""
    if template.bar is Bar.GONE:
        return False
    if template.status is TemplateStatus.INSPECTING:
        return now >= template.changed_at + SETTLING
    return template.status is not TemplateStatus.REGISTERED or template.in_use is not None


def miss_template(tx: Tx, template: Template, now: Instant) -> bool:
    """Put a template out of use that its relay has no more; one under review can be handed in again."""
    known = templates.by_id(tx, template.id)
    if known is None or known.changed_at != template.changed_at or known.bar is Bar.GONE:
        return False
    is_lost = known.status is TemplateStatus.INSPECTING
    status = TemplateStatus.REGISTERED if is_lost else known.status
    templates.follow(tx, known.id, known.design, known.in_use, status, known.comment, Bar.GONE, now)
    return True


def add_template(tx: Tx, profile: Profile, sheet: RemoteTemplate, now: Instant) -> bool:
    """Keep a template that was made at the relay."""
    known = profiles.by_channel(tx, profile.account_id, profile.channel_id)
    if known is None or known.id != profile.id or templates.get(tx, profile.id, sheet.code):
        return False
    added = templates.add(tx, profile.account_id, profile.id, sheet.code, sheet.design, None, now)
    in_use = sheet.design if sheet.status is TemplateStatus.APPROVED else None
    templates.follow(tx, added, sheet.design, in_use, sheet.status, sheet.comment, sheet.suspension, now)
    return True


def _same(relay: RelayProvider, ours: Design | None, theirs: Design) -> bool:
    return ours is not None and relay.is_same_design(ours, theirs)


def _ours_if_same(relay: RelayProvider, ours: Design, theirs: Design) -> Design:
    """Return the design as we have it, where that says the same: some of it has no place at the relay."""
    return ours if relay.is_same_design(ours, theirs) else theirs

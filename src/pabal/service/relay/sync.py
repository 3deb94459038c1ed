"""Synchronizes sender profiles and templates with the relays that have them."""

import logging
from typing import NamedTuple

from pabal.carriers.provider import ProviderUnavailable, RelayProvider, RemoteProfile, RemoteTemplate
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import DAY, HOUR, MINUTE, Instant
from pabal.domain.kakao.profile import AuthStatus, Profile, Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import categories, mappings
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from pabal.store.people import opt_outs

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


SYNC_INTERVAL_S = 30.0
CATEGORIES_INTERVAL_MS = 1 * HOUR
MAX_MISSING_PER_ROUND = 50
"""Templates missing from a list that are queried one by one per round."""
MAX_QUERIED_PER_ROUND = 10
"""Templates of a profile that are queried one by one per round, to see whether they are blocked."""
MAX_FAILURES_PER_ROUND = 3
"""Failing profiles after which a round ends."""

log = logging.getLogger("pabal.relay_sync")


class RelaySync:
    """Synchronizes with each relay in turn."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._categories_refreshed_at: dict[str, Instant] = {}
        self._failing: set[tuple[str, str]] = set()
        self._rounds = 0

    async def run(self) -> None:
        """Synchronize with every relay once; a failure of one part does not stop the others."""
        for carrier, relay in self._context.relays.items():
            for what, look in (
                ("profiles", self._sync_profiles),
                ("categories", self._refresh_categories),
                ("mapped templates", self._sync_mappings),
            ):
                try:
                    await look(carrier, relay)
                except Refused as refusal:
                    self._report(carrier, what, getattr(refusal, "reason", refusal.problems[0].message("en")))
                else:
                    self._report(carrier, what, "")

    def _report(self, carrier: str, what: str, failure: str) -> None:
        """Log a failure, and its end, once."""
        if failure and (carrier, what) not in self._failing:
            log.warning(
                "cannot read the %s of a relay; retrying every 30 s",
                what,
                extra={"carrier": carrier, "reason": failure},
            )
            self._failing.add((carrier, what))
        elif not failure and (carrier, what) in self._failing:
            log.info("can read the %s of a relay again", what, extra={"carrier": carrier})
            self._failing.discard((carrier, what))

    async def _sync_profiles(self, carrier: str, relay: RelayProvider) -> None:
        ours = await self._context.store.read(profiles.list_by_carrier, carrier)
        if not ours:
            return
        theirs = [each for each in await relay.list_profiles() if each.sender_key is not None]
        by_key = {each.sender_key: each for each in theirs}
        failures: list[Refused] = []
        for profile in self._rotate(ours):
            if profile.status is AuthStatus.WAITING:
                continue
            try:
                await self._sync_profile(relay, profile, by_key.get(profile.sender_key))
            except ProviderUnavailable:
                raise
            except Refused as failure:  # one failing profile must not delay the others
                failures.append(failure)
                if len(failures) == MAX_FAILURES_PER_ROUND:
                    break
        if failures:
            raise failures[0]

    def _rotate(self, ours: list[Profile]) -> list[Profile]:
        """Start each round at another profile, so that none starves behind failing ones."""
        self._rounds += 1
        first = self._rounds * MAX_FAILURES_PER_ROUND % len(ours)
        return ours[first:] + ours[:first]

    async def _sync_profile(self, relay: RelayProvider, profile: Profile, standing: RemoteProfile | None) -> None:
        assert profile.sender_key is not None
        if standing is None and profile.suspension is not Suspension.GONE:
            standing = await relay.get_profile(profile.sender_key)
        await self._apply_profile(profile, standing)
        if standing is not None:
            await self._sync_templates(relay, profile, profile.sender_key)

    async def _refresh_categories(self, carrier: str, relay: RelayProvider) -> None:
        now = self._context.world.now()
        if now - self._categories_refreshed_at.get(carrier, 0) >= CATEGORIES_INTERVAL_MS:
            await categories.refresh(self._context, carrier, relay)
            self._categories_refreshed_at[carrier] = now

    async def _sync_mappings(self, carrier: str, relay: RelayProvider) -> None:
        await mappings.sync_mappings(self._context, carrier, relay)

    async def _apply_profile(self, profile: Profile, standing: RemoteProfile | None) -> None:
        suspension = standing.suspension if standing else Suspension.GONE
        category = standing.category or profile.category if standing else profile.category
        if (profile.category, profile.suspension) == (category, suspension):
            return
        now = self._context.world.now()
        if await self._context.store.write(apply_profile, profile, category, suspension, now):
            self._context.new_events.set()
            log.info(
                "applied a profile's state at its relay",
                extra={"profile": profile.id, "state": suspension.code if suspension else "active"},
            )

    async def _sync_templates(self, relay: RelayProvider, profile: Profile, sender_key: str) -> None:
        store, world = self._context.store, self._context.world
        before = {each.code for each in await store.read(templates.list_by_profile, profile.id)}
        sheets = {each.code: each for each in await relay.list_templates(sender_key)}
        ours = await store.read(templates.list_by_profile, profile.id)
        there = [each for each in ours if each.code in sheets]
        closely = self._templates_to_query(there)
        for template in there:
            sheet = sheets[template.code]
            if template.id in closely:
                sheet = await relay.get_template(sender_key, template.code) or sheet
            await self._apply_template(relay, template, sheet)
        for code in (
            sheets.keys() - {each.code for each in ours} - before
        ):  # codes in `before` were deleted meanwhile
            if await store.write(add_template, profile, sheets[code], world.now()):
                self._context.new_events.set()
                log.info(
                    "added a template that was created at the relay", extra={"profile": profile.id, "code": code}
                )
        missing = [each for each in ours if each.code not in sheets and is_missing(each, world.now())]
        for template in missing[:MAX_MISSING_PER_ROUND]:
            await self._handle_missing(relay, template)

    def _templates_to_query(self, there: list[Template]) -> set[int]:
        """Return the templates to query one by one, since lists do not show what is blocked.

        These are the templates known as blocked or dormant, and a few of the rest, in turn.
        """
        barred = {each.id for each in there if each.suspension in (Suspension.BLOCKED, Suspension.DORMANT)}
        used = [each.id for each in there if each.approved is not None]
        first = self._rounds * MAX_QUERIED_PER_ROUND % max(len(used), 1)
        return barred | set((used[first:] + used[:first])[:MAX_QUERIED_PER_ROUND])

    async def _apply_template(self, relay: RelayProvider, template: Template, sheet: RemoteTemplate) -> None:
        change = None
        is_changing = sheet.status is TemplateStatus.APPROVED and not relay.is_same_content(
            template.latest, sheet.content
        )
        if is_changing and template.status is TemplateStatus.INSPECTING:
            change = await relay.get_template_change(template.sender_key, template.code)
        now = self._context.world.now()
        new = merge_template(relay, template, sheet, change, now)
        if new != (template.latest, template.approved, template.status, template.comment, template.suspension):
            await self._context.store.write(apply_template, relay, template, sheet, change, now)
            self._context.new_events.set()

    async def _handle_missing(self, relay: RelayProvider, template: Template) -> None:
        """Query a template that a list lacks, and suspend it only where the relay says it does not exist."""
        if await relay.get_template(template.sender_key, template.code) is not None:
            return
        if await self._context.store.write(mark_template_gone, template, self._context.world.now()):
            self._context.new_events.set()
            log.info("suspended a template that is gone at the relay", extra={"template": template.id})


OPT_OUT_INTERVAL_S = 30.0
"""Pause between two rounds."""
BATCH = 200
"""Changes that one round tells at a time."""
MAX_AGE_MS = 7 * DAY
"""How long a change is retried while the relay is away."""


async def tell_relays(context: Context) -> None:
    """Tell every relay with a list of its own what has changed; what one cannot be told now waits for all."""
    before = context.world.now() - MAX_AGE_MS
    while await context.store.write(opt_outs.delete_old_changes, before, BATCH):
        pass
    relays = [each for each in context.carriers.values() if each.keeps_opt_outs]
    while found := await context.store.read(opt_outs.list_changes, BATCH):
        done = len(found)
        for relay in relays:
            done = min(done, len(await relay.update_opt_outs([each.change for each in found])))
        await context.store.write(opt_outs.delete_changes, [each.id for each in found[:done]])
        if done < len(found):
            return

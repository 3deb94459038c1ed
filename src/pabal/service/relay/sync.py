"""Synchronizes sender profiles and templates with the relays that have them."""

import asyncio
import logging

from pabal.carriers.provider import ProviderUnavailable, RelayProvider, RemoteProfile, RemoteTemplate
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import DAY, HOUR, Instant
from pabal.domain.kakao.profile import AuthStatus, Profile, Suspension
from pabal.domain.kakao.template import Template, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import apply, categories, mappings
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.engine.base import StoreUnavailable
from pabal.store.kakao import profiles, templates
from pabal.store.people import opt_outs

SYNC_INTERVAL_S = 30.0
CATEGORIES_INTERVAL_MS = 1 * HOUR
MAX_MISSING_PER_ROUND = 50
"""Templates missing from a list that are queried one by one per round."""
MAX_QUERIED_PER_ROUND = 10
"""Templates of a profile that are queried one by one per round, to see whether they are blocked."""
MAX_FAILURES_PER_ROUND = 3
"""Failing profiles after which a round ends."""

log = logging.getLogger("pabal.relay_sync")


async def run_sync(context: Context) -> None:
    """Synchronize forever; an unavailable relay or store only delays it."""
    sync = RelaySync(context)
    while context.relays:
        if HOUSEKEEPING_SLOT in context.slots.held:
            try:
                await sync.sync_once()
            except StoreUnavailable:
                log.warning("relay sync waits for the store")
        await asyncio.sleep(SYNC_INTERVAL_S)


class RelaySync:
    """Synchronizes with each relay in turn."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._categories_refreshed_at: dict[str, Instant] = {}
        self._failing: set[tuple[str, str]] = set()
        self._rounds = 0

    async def sync_once(self) -> None:
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
        if await self._context.store.write(apply.apply_profile, profile, category, suspension, now):
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
            if await store.write(apply.add_template, profile, sheets[code], world.now()):
                self._context.new_events.set()
                log.info(
                    "added a template that was created at the relay", extra={"profile": profile.id, "code": code}
                )
        missing = [each for each in ours if each.code not in sheets and apply.is_missing(each, world.now())]
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
        new = apply.merge_template(relay, template, sheet, change, now)
        if new != (template.latest, template.approved, template.status, template.comment, template.suspension):
            await self._context.store.write(apply.apply_template, relay, template, sheet, change, now)
            self._context.new_events.set()

    async def _handle_missing(self, relay: RelayProvider, template: Template) -> None:
        """Query a template that a list lacks, and suspend it only where the relay says it does not exist."""
        if await relay.get_template(template.sender_key, template.code) is not None:
            return
        if await self._context.store.write(apply.mark_template_gone, template, self._context.world.now()):
            self._context.new_events.set()
            log.info("suspended a template that is gone at the relay", extra={"template": template.id})


INTERVAL_S = 30.0
"""Pause between two rounds."""
BATCH = 200
"""Changes that one round tells at a time."""
MAX_AGE_MS = 7 * DAY
"""How long a change is retried while the relay is away."""

opt_out_log = logging.getLogger("pabal.relay")


async def run_opt_out_sync(context: Context) -> None:
    """Tell relays what has changed, again and again; one process does it for all."""
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            if HOUSEKEEPING_SLOT in context.slots.held:
                await tell_relays(context)
        except StoreUnavailable:
            opt_out_log.debug("store unavailable; telling relays about opt-outs later")


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

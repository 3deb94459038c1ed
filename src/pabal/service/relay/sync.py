"""Keeps sender profiles and templates in step with the relays that keep them, whose consoles may change them."""

import asyncio
import logging

from pabal.carriers.provider import ProviderUnavailable, RelayProvider, RemoteProfile, RemoteTemplate
from pabal.domain.codes import Refused
from pabal.domain.dates import HOUR, Instant
from pabal.domain.profile import AuthStatus, Profile
from pabal.domain.suspension import Suspension
from pabal.domain.template import Template, TemplateStatus
from pabal.service.context import Context
from pabal.service.relay import apply, categories
from pabal.service.upkeep.housekeeping import HOUSEKEEPING_SLOT
from pabal.store import profiles, templates
from pabal.store.engine.base import StoreUnavailable

SYNC_INTERVAL_S = 30.0
CATEGORIES_INTERVAL_MS = 1 * HOUR
MAX_MISSING_PER_ROUND = 50
"""How many templates that a list lacks are asked for one by one in a round: the rest waits for the next."""
MAX_QUERIED_PER_ROUND = 10
"""How many templates of a profile are asked for one by one in a round, to see whether they are blocked."""
MAX_FAILURES_PER_ROUND = 3
"""How many profiles may give trouble in a round before it is ended."""

log = logging.getLogger("pabal.relay_sync")


async def run_sync(context: Context) -> None:
    """Look round for good; a relay or the store being away only delays it."""
    looker = RelaySync(context)
    while context.relays:
        if HOUSEKEEPING_SLOT in context.slots.held:
            try:
                await looker.sync_once()
            except StoreUnavailable:
                log.warning("keeping in step with relays waits for the store")
        await asyncio.sleep(SYNC_INTERVAL_S)


class RelaySync:
    """Looks at each relay; remembers when it was asked for its categories, and whether it answered."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._categories_refreshed_at: dict[str, Instant] = {}
        self._failing: set[tuple[str, str]] = set()
        self._rounds = 0

    async def sync_once(self) -> None:
        """Look at every relay once; that one thing cannot be seen does not keep the other from being looked at."""
        for carrier, relay in self._context.relays.items():
            for what, look in (("profiles", self._sync_profiles), ("categories", self._refresh_categories)):
                try:
                    await look(carrier, relay)
                except Refused as refusal:
                    self._report(carrier, what, getattr(refusal, "reason", refusal.problems[0].message("en")))
                else:
                    self._report(carrier, what, "")

    def _report(self, carrier: str, what: str, trouble: str) -> None:
        """Tell the operator of trouble, and of its end, once."""
        if trouble and (carrier, what) not in self._failing:
            log.warning("a relay does not show its %s", what, extra={"carrier": carrier, "reason": trouble})
            self._failing.add((carrier, what))
        elif not trouble and (carrier, what) in self._failing:
            log.info("a relay shows its %s again", what, extra={"carrier": carrier})
            self._failing.discard((carrier, what))

    async def _sync_profiles(self, carrier: str, relay: RelayProvider) -> None:
        ours = await self._context.store.read(profiles.list_by_carrier, carrier)
        if not ours:
            return
        theirs = [each for each in await relay.list_profiles() if each.sender_key is not None]
        by_key = {each.sender_key: each for each in theirs}
        troubles: list[Refused] = []
        for profile in self._rotate(ours):
            if profile.status is AuthStatus.WAITING:
                continue
            try:
                await self._sync_profile(relay, profile, by_key.get(profile.sender_key))
            except ProviderUnavailable:
                raise
            except Refused as trouble:  # what is odd about one need not hold up the others
                troubles.append(trouble)
                if len(troubles) == MAX_FAILURES_PER_ROUND:
                    break
        if troubles:
            raise troubles[0]

    def _rotate(self, ours: list[Profile]) -> list[Profile]:
        """Begin with another one each time, so that no one waits for ever behind others that give trouble."""
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

    async def _apply_profile(self, profile: Profile, standing: RemoteProfile | None) -> None:
        bar = standing.suspension if standing else Suspension.GONE
        category = standing.category or profile.category if standing else profile.category
        if (profile.category, profile.suspension) == (category, bar):
            return
        now = self._context.world.now()
        if await self._context.store.write(apply.apply_profile, profile, category, bar, now):
            log.info(
                "a profile follows its relay",
                extra={"profile": profile.id, "state": bar.word if bar else "in use"},
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
        for code in sheets.keys() - {each.code for each in ours} - before:  # what was there before was just deleted
            if await store.write(apply.add_template, profile, sheets[code], world.now()):
                log.info("a template was made at the relay", extra={"profile": profile.id, "code": code})
        missing = [each for each in ours if each.code not in sheets and apply.is_missing(each, world.now())]
        for template in missing[:MAX_MISSING_PER_ROUND]:
            await self._handle_missing(relay, template)

    def _templates_to_query(self, there: list[Template]) -> set[int]:
        """Return the templates to ask for one by one: lists do not say what is blocked, or is so no more.

        Those that are said to be so, and of the rest a few each time, in turn.
        """
        barred = {each.id for each in there if each.suspension in (Suspension.BLOCKED, Suspension.DORMANT)}
        used = [each.id for each in there if each.approved is not None]
        first = self._rounds * MAX_QUERIED_PER_ROUND % max(len(used), 1)
        return barred | set((used[first:] + used[:first])[:MAX_QUERIED_PER_ROUND])

    async def _apply_template(self, relay: RelayProvider, template: Template, sheet: RemoteTemplate) -> None:
        change = None
        is_changing = sheet.status is TemplateStatus.APPROVED and not relay.is_same_design(
            template.latest, sheet.design
        )
        if is_changing and template.status is TemplateStatus.INSPECTING:
            change = await relay.get_template_change(template.sender_key, template.code)
        now = self._context.world.now()
        new = apply.merge_template(relay, template, sheet, change, now)
        if new != (template.latest, template.approved, template.status, template.comment, template.suspension):
            await self._context.store.write(apply.apply_template, relay, template, sheet, change, now)

    async def _handle_missing(self, relay: RelayProvider, template: Template) -> None:
        """Ask for what a list lacks: only what the relay says it does not have is out of use."""
        if await relay.get_template(template.sender_key, template.code) is not None:
            return
        if await self._context.store.write(apply.mark_template_gone, template, self._context.world.now()):
            log.info("a template is gone at the relay", extra={"template": template.id})

"""NHN Cloud's quotas: texts of an organisation a month, messages of a sender profile a day, and calls."""

from pabal.carriers.base import NotSent
from pabal.carriers.nhncloud.client import NhnCloudClient, Throttled
from pabal.carriers.nhncloud.lookup import SEOUL
from pabal.carriers.nhncloud.profile_quotas import ProfileQuotas
from pabal.carriers.relay.notices import Notices
from pabal.carriers.relay.quotas import Quotas
from pabal.domain.base import dates
from pabal.domain.base.dates import SECOND
from pabal.world import World

THROTTLED_S = 60.0
"""How long an operator is told of throttled calls after the last."""
CALL_QUOTA_WAIT_S = 60.0
"""How long messages wait after the gateway said that the quota of calls is used up."""
TEXTS, PROFILES, CALLS, CALL_RATE = "texts_per_month", "messages_per_day", "calls", "calls_per_second"


class NhnCloudQuotas:
    """Which quotas are used up, and what may be submitted."""

    def __init__(self, world: World, notices: Notices) -> None:
        self._world = world
        self._notices = notices
        self._quotas = Quotas(world, notices)
        self._profiles = ProfileQuotas(world, notices)

    @property
    def exhausted(self) -> dict[str, int]:
        """How many holders have used up each quota, of those that are."""
        throttled = sum(subject.startswith(CALL_RATE) for subject in self._notices.shown)
        counts = {**self._quotas.exhausted, PROFILES: self._profiles.exhausted, CALL_RATE: throttled}
        return {name: count for name, count in counts.items() if count}

    def take(self, service: str, sender_key: str | None) -> NotSent | None:
        """Count a message that is about to be submitted; return the verdict if a quota does not allow it."""
        if (verdict := self._quotas.check(CALLS, service)) is not None:
            return verdict
        return self._quotas.check(TEXTS) if service == "sms" else self._profiles.take(service, sender_key or "")

    def exhaust_texts(self) -> NotSent:
        """Record that the organisation may send no more texts this month; return the verdict."""
        now = self._world.now()
        resets_after_s = ((dates.month_of(now, SEOUL).end or now) - now) / SECOND
        text = "the organisation has used up its monthly quota of texts (-2052); NHN Cloud's support can raise it"
        return self._quotas.exhaust(TEXTS, text, resets_after_s)

    def note_throttled(self, service: str, throttled: Throttled) -> NotSent:
        """Record an HTTP 429; return the verdict."""
        if throttled.is_quota:
            return self._quotas.exhaust(CALLS, str(throttled), CALL_QUOTA_WAIT_S, service)
        text = "too many calls a second (HTTP 429); calls go more slowly"
        self._notices.set(f"{CALL_RATE} {service}", text, THROTTLED_S)
        return NotSent()

    def note_answered(self, service: str) -> None:
        """Record that the gateway let a call pass."""
        self._quotas.restore(CALLS, service)

    def note_accepted(self, service: str) -> None:
        """Record that messages were accepted."""
        if service == "sms":
            self._quotas.restore(TEXTS)

    async def run(self, client: NhnCloudClient, timeout_s: float) -> None:
        """Read the quotas of sender profiles until cancelled."""
        await self._profiles.run(client, timeout_s)

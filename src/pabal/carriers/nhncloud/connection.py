"""The clients of NHN Cloud's two APIs, the problems of the services behind them, and their quotas."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from pabal.carriers.base import NotSent
from pabal.carriers.nhncloud.calls import ProductEndpoint
from pabal.carriers.nhncloud.client import (
    SEOUL,
    ErrorResponse,
    NhnCloudClient,
    NoResponse,
    NotProcessed,
    Throttled,
    expect_documented_shape,
)
from pabal.carriers.relay.refusals import PROBE_INTERVAL_S, Notices, Quotas
from pabal.carriers.relay.submission import Submission
from pabal.domain.base import dates
from pabal.domain.base.dates import SECOND
from pabal.world import World

THROTTLED_S = 60.0
"""How long a notice of throttled calls is shown after the last one."""
CALL_QUOTA_WAIT_S = 60.0
"""How long messages wait after the gateway said that the quota of calls is used up."""
TEXTS, PROFILES, CALLS, CALL_RATE = "texts_per_month", "messages_per_day", "calls", "calls_per_second"
READ_INTERVAL_S = 60.0
"""How often the quotas are read."""
SHOWN_KEY_CHARACTERS = 8
_PATH = "/alimtalk/v2.3/appkeys/{appkey}/senders"


class _Usage(msgspec.Struct):
    dailyMaxCount: int | None = None
    """0: no limit."""
    sentCount: int | None = None


class _Profile(msgspec.Struct):
    plusFriendId: str
    senderKey: str | None = None
    alimtalk: _Usage | None = None
    friendtalk: _Usage | None = None


class _Key(NamedTuple):
    service: str
    sender_key: str


class ProfileQuotas:
    """Counts down the daily quota of each profile that has one, by service; others are not limited.

    What was read is up to a minute old, and other processes send too: a few messages may exceed a quota.
    """

    def __init__(self, world: World, notices: Notices) -> None:
        self._world = world
        self._notices = notices
        self._left: dict[_Key, int] = {}
        self._texts: dict[_Key, str] = {}

    @property
    def exhausted(self) -> int:
        """How many quotas are used up."""
        return sum(left <= 0 for left in self._left.values())

    def take(self, service: str, sender_key: str) -> NotSent | None:
        """Count a message that is about to be submitted; return the verdict if the quota does not allow it."""
        key = _Key(service, sender_key)
        if key not in self._left:
            return None
        if self._left[key] > 0:
            self._left[key] -= 1
            return None
        self._show(key)
        return NotSent(retry_after_s=min(_until_midnight_s(self._world) + READ_INTERVAL_S, PROBE_INTERVAL_S))

    async def run(self, client: NhnCloudClient, timeout_s: float) -> None:
        """Read the quotas until cancelled; a failure leaves what was read last."""
        while True:
            with contextlib.suppress(NotProcessed, NoResponse, Throttled, ErrorResponse):  # told by other calls
                await self._read(client, timeout_s)
            await asyncio.sleep(READ_INTERVAL_S)

    async def _read(self, client: NhnCloudClient, timeout_s: float) -> None:
        left: dict[_Key, int] = {}
        texts: dict[_Key, str] = {}
        async for rows in client.pages(_PATH, ("", "senders"), {}, lambda: timeout_s):
            with expect_documented_shape():
                page = msgspec.convert(rows, list[_Profile])
            for key, usage, text in _limits(page):
                left[key] = (usage.dailyMaxCount or 0) - (usage.sentCount or 0)
                texts[key] = text
        for key in self._left:
            self._notices.clear(_subject(key))
        self._left, self._texts = left, texts
        for key in [key for key, count in left.items() if count <= 0]:
            self._show(key)

    def _show(self, key: _Key) -> None:
        self._notices.set(_subject(key), self._texts[key], READ_INTERVAL_S * 2)


def _limits(profiles: list[_Profile]) -> Iterator[tuple[_Key, _Usage, str]]:
    """Yield the quotas of profiles that have some, with what an operator is told when they are used up."""
    for profile in profiles:
        for service, usage in (("alimtalk", profile.alimtalk), ("friendtalk", profile.friendtalk)):
            if profile.senderKey and usage and usage.dailyMaxCount:
                text = f"{profile.plusFriendId} has used up its daily quota of {usage.dailyMaxCount} ({service})"
                what = f"{text}; its messages wait until midnight, and NHN Cloud's support can raise it"
                yield _Key(service, profile.senderKey), usage, what


def _until_midnight_s(world: World) -> float:
    now = world.now()
    return ((dates.day_of(now, SEOUL).end or now) - now) / SECOND


def _subject(key: _Key) -> str:
    return f"daily quota {key.service} {key.sender_key}"


class NhnCloudQuotas:
    """Which quotas are used up, and what may be submitted."""

    def __init__(self, world: World, notices: Notices) -> None:
        self._world = world
        self._notices = notices
        self._quotas = Quotas(world, notices)
        self.profiles = ProfileQuotas(world, notices)

    @property
    def exhausted(self) -> dict[str, int]:
        """How many holders have used up each quota, of those that are."""
        throttled = sum(subject.startswith(CALL_RATE) for subject in self._notices.shown)
        counts = {**self._quotas.exhausted, CALL_RATE: throttled}
        counts[PROFILES] = counts.get(PROFILES, 0) + self.profiles.exhausted
        return {name: count for name, count in counts.items() if count}

    def take(self, service: str, sender_key: str | None) -> NotSent | None:
        """Count a message that is about to be submitted; return the verdict if a quota does not allow it."""
        if (verdict := self._quotas.check(CALLS, service)) is not None:
            return verdict
        if service == "sms":
            return self._quotas.check(TEXTS)
        verdict = self._quotas.check(PROFILES, f"{service} {sender_key}")
        return verdict or self.profiles.take(service, sender_key or "")

    def exhaust_texts(self) -> NotSent:
        """Record that the organisation may send no more texts this month; return the verdict."""
        now = self._world.now()
        resets_after_s = ((dates.month_of(now, SEOUL).end or now) - now) / SECOND
        text = "the organisation has used up its monthly quota of texts (-2052); NHN Cloud's support can raise it"
        return self._quotas.exhaust(TEXTS, text, resets_after_s)

    def exhaust_profile(self, service: str, sender_key: str | None) -> NotSent:
        """Record that a sender profile may send no more messages today; return the verdict."""
        text = (
            f"the sender profile {(sender_key or '')[:SHOWN_KEY_CHARACTERS]}… has used up its daily quota (-1017,"
            f" {service}); its messages wait until midnight, and NHN Cloud's support can raise it"
        )
        return self._quotas.exhaust(PROFILES, text, _until_midnight_s(self._world), f"{service} {sender_key}")

    def note_throttled(self, service: str, throttled: Throttled) -> NotSent:
        """Record an HTTP 429; return the verdict."""
        if throttled.is_quota:
            return self._quotas.exhaust(CALLS, str(throttled), CALL_QUOTA_WAIT_S, service)
        text = "too many calls a second (HTTP 429); calls go more slowly"
        self._notices.set(f"{CALL_RATE} {service}", text, THROTTLED_S)
        return NotSent()

    def note_answered(self, service: str) -> None:
        """Record that a call passed the gateway."""
        self._quotas.restore(CALLS, service)

    def note_accepted(self, service: str, sender_key: str | None) -> None:
        """Record that messages were accepted."""
        if service == "sms":
            self._quotas.restore(TEXTS)
        else:
            self._quotas.restore(PROFILES, f"{service} {sender_key}")


class Connection:
    """Gives each endpoint its client, and knows which services have a problem."""

    def __init__(
        self, sms: NhnCloudClient | None, talk: NhnCloudClient | None, max_timeout_s: float, world: World
    ) -> None:
        self._sms = sms
        self._talk = talk
        self._max_timeout_s = max_timeout_s
        self.problems: dict[str, str] = {}
        """What is wrong with each service, by its name; empty if all is well."""
        self.notices = Notices(world)
        """What is wrong while services are reachable."""
        self.quotas = NhnCloudQuotas(world, self.notices)

    @property
    def described_problems(self) -> list[str]:
        """What is wrong, without repetition; with the names of the services where others work."""
        has_working = not all(self.problems.values())
        by_problem: dict[str, list[str]] = {}
        for service, problem in self.problems.items():
            if problem:
                by_problem.setdefault(problem, []).append(service)
        return [
            f"{', '.join(services)}: {problem}" if has_working else problem
            for problem, services in by_problem.items()
        ]

    def set_problem(self, endpoint: ProductEndpoint, problem: Exception | str) -> None:
        """Record what is wrong with the service of an endpoint; empty if all is well."""
        is_empty = isinstance(problem, str)
        self.problems[endpoint.service] = str(problem) or ("" if is_empty else type(problem).__name__)

    def note_unanswered(self, endpoint: ProductEndpoint, error: NoResponse) -> None:
        """Show why a call that submits messages was not answered, although the service may be reachable."""
        self.notices.set(f"{endpoint.service} calls", f"calls that submit messages are not answered: {error}")

    def note_answered(self, endpoint: ProductEndpoint) -> None:
        """Record that a call that submits messages was answered."""
        self.set_problem(endpoint, "")
        self.notices.clear(f"{endpoint.service} calls")
        self.quotas.note_answered(endpoint.service)

    def client(self, endpoint: ProductEndpoint) -> NhnCloudClient:
        client = self._sms if endpoint.is_text else self._talk
        assert client is not None
        return client

    def timeout_s(self, submission: Submission) -> float:
        """Return how long the next call of a submission may take."""
        return submission.timeout_s(self._max_timeout_s)

    @contextlib.contextmanager
    def errors_left_in_doubt(self, endpoint: ProductEndpoint) -> Iterator[None]:
        """Ignore that the calls in the block fail: the messages that they are about stay in doubt."""
        try:
            with expect_documented_shape():
                yield
        except (NotProcessed, NoResponse, Throttled, ErrorResponse) as error:
            if isinstance(error, NotProcessed):
                self.set_problem(endpoint, error)

    async def close(self) -> None:
        """Close both clients."""
        for client in filter(None, (self._sms, self._talk)):
            await client.close()

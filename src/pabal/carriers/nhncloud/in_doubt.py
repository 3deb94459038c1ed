"""Finds out whether NHN Cloud has messages whose submission got no answer."""

import asyncio
import itertools
from collections.abc import Sequence

from pabal.carriers.base import Rejected, Unknown, Verdict
from pabal.carriers.nhncloud.calls import ProductEndpoint
from pabal.carriers.nhncloud.connection import Connection
from pabal.carriers.nhncloud.lookup import MessageLookup
from pabal.carriers.relay.submission import Submission, UnansweredMessages
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

LIST_LAG_S = 20.0
"""A message that the lists still lack this long after the end of its call does not exist there."""
MAX_LOOKUPS = 10
"""How many groups of messages are looked up at once."""
MIN_LOOKUP_S = 20.0
"""With less time left no lookup is begun: messages that are missing must still be submitted."""


class InDoubtResolver:
    """Looks up messages in doubt and reports those that NHN Cloud has."""

    def __init__(
        self, connection: Connection, unanswered: UnansweredMessages, lookup_after_s: float, world: World
    ) -> None:
        """`lookup_after_s` is how long a call without an answer may run: before that, no list can tell."""
        self._connection = connection
        self._lookup_after_s = lookup_after_s
        self._unanswered = unanswered
        self._world = world
        self._lookups = asyncio.Semaphore(MAX_LOOKUPS)

    def unknown(self, attempt: Attempt) -> Unknown:
        """Return the verdict on a message in doubt, with the time when it can be looked up."""
        age_s = self._unanswered.age_s(attempt.message_id, self._world.monotonic())
        if (early_s := self._lookup_after_s - age_s) > 0:
            return Unknown(retry_after_s=early_s)
        return Unknown(retry_after_s=max(0.0, early_s + LIST_LAG_S) or None)

    def report_unknown(self, attempts: Sequence[Attempt], submission: Submission) -> None:
        """Report messages without a verdict as unknown."""
        submission.report([(attempt, self.unknown(attempt)) for attempt in attempts])

    async def resolve(
        self, endpoint: ProductEndpoint, attempts: Sequence[Attempt], submission: Submission
    ) -> list[Attempt]:
        """Report what is known about messages in doubt; return those that NHN Cloud certainly does not have.

        Nothing is asked while a call with a message may still run. Those that are missing and past their deadline
        end here: they are not sent again.
        """
        self._unanswered.add_missing(attempts)
        now = self._world.monotonic()
        due = [one for one in attempts if self._unanswered.age_s(one.message_id, now) >= self._lookup_after_s]
        ids = {one.message_id for one in due}
        self.report_unknown([one for one in attempts if one.message_id not in ids], submission)
        return await self._resolve_due(endpoint, due, submission) if due else []

    async def _resolve_due(
        self, endpoint: ProductEndpoint, attempts: Sequence[Attempt], submission: Submission
    ) -> list[Attempt]:
        lookup = self._lookup(endpoint, attempts)
        missing_after_s = self._lookup_after_s + LIST_LAG_S
        groups = await asyncio.gather(*(self._find_missing(lookup, group, submission) for group in lookup.groups))
        missing: list[Attempt] = []
        verdicts: list[tuple[Attempt, Verdict]] = []
        for asked_at, attempt in itertools.chain.from_iterable(groups):
            verdict = lookup.verdict(attempt)  # the lookup of another group may have found it
            if verdict is None and self._unanswered.age_s(attempt.message_id, asked_at) >= missing_after_s:
                if attempt.expires_at is not None and attempt.expires_at <= self._world.now():
                    verdicts.append((attempt, Rejected(Outcome.EXPIRED)))
                else:
                    missing.append(attempt)
            else:
                verdicts.append((attempt, verdict or self.unknown(attempt)))
        submission.report(verdicts)
        return missing

    async def report_found(
        self, endpoint: ProductEndpoint, attempts: Sequence[Attempt], submission: Submission
    ) -> None:
        """Report the messages that NHN Cloud has, and all others as unknown.

        Raises what NhnCloudClient.request raises.
        """
        lookup = self._lookup(endpoint, attempts)
        for group in lookup.groups:
            self.report_unknown(await self._look_up(lookup, group, submission), submission)

    async def _find_missing(
        self, lookup: MessageLookup, group: Sequence[Attempt], submission: Submission
    ) -> list[tuple[float, Attempt]]:
        """Report the messages of a group that are found; return the others, and when they were looked up."""
        async with self._lookups:
            if submission.remaining_s >= MIN_LOOKUP_S:
                with self._connection.errors_left_in_doubt(lookup.endpoint):
                    asked_at = self._world.monotonic()
                    missing = await self._look_up(lookup, group, submission)
                    self._connection.set_problem(lookup.endpoint, "")
                    return [(asked_at, attempt) for attempt in missing]
        submission.report_all(group, Unknown())
        return []

    async def _look_up(
        self, lookup: MessageLookup, group: Sequence[Attempt], submission: Submission
    ) -> list[Attempt]:
        """Report the messages of a group that are found; return the others."""
        found = await lookup.find(group, lambda: self._connection.timeout_s(submission))
        submission.report(
            [(attempt, found[attempt.message_id]) for attempt in group if attempt.message_id in found]
        )
        self._unanswered.discard(found)
        return [attempt for attempt in group if attempt.message_id not in found]

    def _lookup(self, endpoint: ProductEndpoint, attempts: Sequence[Attempt]) -> MessageLookup:
        return MessageLookup(endpoint, self._connection.client(endpoint), attempts, self._world)

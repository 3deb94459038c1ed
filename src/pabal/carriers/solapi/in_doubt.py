"""Finds out whether Solapi has messages whose submission got no answer."""

import asyncio
from collections.abc import Callable, Sequence

from pabal.carriers.base import Rejected, Unknown, Verdict
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.submission import Submission
from pabal.carriers.relay.unanswered import UnansweredMessages
from pabal.carriers.solapi.client import SolapiClient
from pabal.carriers.solapi.lookup import SolapiLookup
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

MAX_LOOKUPS = 10
"""How many messages are looked up at once."""
MIN_LOOKUP_S = 15.0
"""With less time left no lookup is begun: messages that are missing must still be submitted."""


class SolapiResolver:
    """Looks up messages in doubt and reports those that Solapi has.

    A message that its lists do not show `doubt_s` after the doubt began is sent again if `resends` is true, else it
    stays in doubt: the documents do not say how late a list may show a message.
    """

    def __init__(
        self,
        client: SolapiClient,
        unanswered: UnansweredMessages,
        world: World,
        on_problem: Callable[[str], None],
        *,
        resends: bool,
        doubt_s: float,
        max_timeout_s: float,
    ) -> None:
        self._client = client
        self._unanswered = unanswered
        self._world = world
        self._on_problem = on_problem
        self._resends = resends
        self._doubt_s = doubt_s
        self._max_timeout_s = max_timeout_s
        self._lookups = asyncio.Semaphore(MAX_LOOKUPS)

    async def resolve(self, attempts: Sequence[Attempt], submission: Submission) -> list[Attempt]:
        """Report what is known about messages in doubt; return those to send again.

        Those of them that are past their deadline end here: they are not sent again.
        """
        self._unanswered.add_missing(attempts)
        lookup = SolapiLookup(self._client, attempts, self._world)
        looked_up_at = await asyncio.gather(*(self._look_up(lookup, each, submission) for each in attempts))
        missing: list[Attempt] = []
        verdicts: list[tuple[Attempt, Verdict]] = []
        for attempt, at in zip(attempts, looked_up_at, strict=True):
            verdict = lookup.verdict(attempt)
            if verdict is not None:
                self._unanswered.discard([attempt.message_id])
                verdicts.append((attempt, verdict))
            elif at is None or not self._is_missing(attempt, at):
                verdicts.append((attempt, Unknown()))
            elif attempt.expires_at is not None and attempt.expires_at <= self._world.now():
                verdicts.append((attempt, Rejected(Outcome.EXPIRED)))
            else:
                missing.append(attempt)
        submission.report(verdicts)
        return missing

    def _is_missing(self, attempt: Attempt, at: float) -> bool:
        """Say whether a message that the lists did not show at a time may be sent again."""
        return self._resends and self._unanswered.age_s(attempt.message_id, at) >= self._doubt_s

    async def _look_up(self, lookup: SolapiLookup, attempt: Attempt, submission: Submission) -> float | None:
        """Return when a message was looked up; None if that could not be done."""
        async with self._lookups:
            if lookup.verdict(attempt) is None and submission.remaining_s < MIN_LOOKUP_S:
                return None
            at = self._world.monotonic()
            try:
                await lookup.find(attempt, lambda: min(self._max_timeout_s, max(0.1, submission.remaining_s)))
            except NotProcessed as error:
                self._on_problem(str(error))
                return None
            except (NoResponse, Throttled, ErrorAnswer):
                return None
            return at

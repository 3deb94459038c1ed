"""Looks up in NHN Cloud's lists which messages it has, and resolves those whose submission got no answer."""

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pabal.carriers.base import Accepted, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud.calls import ProductEndpoint, group_by_request, may_share_call
from pabal.carriers.nhncloud.client import SEOUL, NhnCloudClient, expect_documented_shape
from pabal.carriers.nhncloud.codes import outcome_of_row, own_code_of
from pabal.carriers.nhncloud.connection import Connection
from pabal.carriers.relay.submission import Submission, UnansweredMessages
from pabal.domain.base import dates, identifiers
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

MAX_LOOK_BACK_MS = 28 * DAY
"""The lists go back a month at most."""

NextTimeout = Callable[[], float]
"""Returns how long the next call may take."""
ListRow = Mapping[str, Any]


class MessageLookup:
    """A lookup of messages in doubt, in groups: the messages of a request, or one that may have shared a call.

    All groups share what any of them finds, so that most messages need no call of their own.
    """

    def __init__(
        self, endpoint: ProductEndpoint, client: NhnCloudClient, attempts: Sequence[Attempt], world: World
    ) -> None:
        self.endpoint = endpoint
        self.groups = _groups(attempts)
        self._client = client
        self._world = world
        self._wanted = {each.message_id.hex(): each.message_id for each in attempts}
        self._found: dict[bytes, Verdict] = {}
        self._calls: set[str] = set()
        """The calls that were searched, by their requestId at NHN Cloud."""

    def verdict(self, attempt: Attempt) -> Verdict | None:
        """Return the verdict on a message that was found by any group."""
        return self._found.get(attempt.message_id)

    async def find(self, group: Sequence[Attempt], next_timeout: NextTimeout) -> dict[bytes, Verdict]:
        """Return the verdicts on those messages of a group that NHN Cloud has, by message id.

        Raises what NhnCloudClient.request raises.
        """
        first = group[0].message_id
        if not all(may_share_call(each.message_id) for each in group):
            request_id = identifiers.request_id_of(first)
            await self._search({"senderGroupingKey": request_id.hex()} | self._dates(request_id), next_timeout)
        for each in group:
            message_id = each.message_id
            if message_id in self._found or not may_share_call(message_id):
                continue
            query = {"recipientGroupingKey": message_id.hex()} | self._dates(message_id)
            for row in await self._search(query, next_timeout):
                await self._search_call(str(row["requestId"]), next_timeout)
        ids = [each.message_id for each in group]
        return {message_id: self._found[message_id] for message_id in ids if message_id in self._found}

    async def _search_call(self, call: str, next_timeout: NextTimeout) -> None:
        """Search all messages of a call: others of them may be in doubt too."""
        if call not in self._calls and len(self._found) < len(self._wanted):
            self._calls.add(call)
            await self._search({"requestId": call}, next_timeout)

    async def _search(self, query: Mapping[str, str | int], next_timeout: NextTimeout) -> list[ListRow]:
        """Record the messages in doubt that the lists show, and return their rows.

        One-time codes may have gone by the ordinary line, too, if the line for codes did not accept them.
        """
        rows = await self._search_list(self.endpoint, query, next_timeout)
        if self.endpoint.is_for_codes:
            rows += await self._search_list(self.endpoint.ordinary, query, next_timeout)
        return rows

    async def _search_list(
        self, endpoint: ProductEndpoint, query: Mapping[str, str | int], next_timeout: NextTimeout
    ) -> list[ListRow]:
        path, place = endpoint.value, ("body", "data")
        if not endpoint.is_text:
            path, place = f"{path}/messages", ("messageSearchResultResponse", "messages")
        ours: list[ListRow] = []
        async for rows in self._client.pages(path, place, query, next_timeout, may_be_null=False):
            with expect_documented_shape():
                for row in rows:
                    if (message_id := self._wanted.get(str(row.get("recipientGroupingKey")))) is not None:
                        self._found.setdefault(message_id, _verdict(self.endpoint, row))
                        ours.append(row)
        return ours

    def _dates(self, message_id: bytes) -> dict[str, str | int]:
        now = self._world.now()
        since = max(identifiers.requested_at(message_id) - DAY, now - MAX_LOOK_BACK_MS)
        field = "RequestDate" if self.endpoint is ProductEndpoint.BRAND else "CreateDate"
        return {
            f"start{field}": _date(self.endpoint, since),
            f"end{field}": _date(self.endpoint, now + DAY),
        }


def _groups(attempts: Sequence[Attempt]) -> list[Sequence[Attempt]]:
    """Group messages that went with their request's id; keep those apart that may have shared a call."""
    found: list[Sequence[Attempt]] = []
    for some in group_by_request(attempts).values():
        is_apart = all(may_share_call(each.message_id) for each in some)
        found += [[each] for each in some] if is_apart else [some]
    return found


def make_reference(request_id: Any, sequence: Any) -> str:
    """Return the reference that matches a message with its result: requestId and recipientSeq."""
    if "\x00" in (reference := f"{request_id}.{sequence}"):
        raise ValueError("a reference with a NUL, which cannot be stored")
    return reference


def _verdict(endpoint: ProductEndpoint, row: Mapping[str, Any]) -> Verdict:
    """Return the verdict for a row of a list; final if it has a result, as old results are not reported again."""
    if outcome := outcome_of_row(row, is_text=endpoint.is_text):
        code = own_code_of(row)
        return Accepted(None, code=code) if outcome is Outcome.DELIVERED else Rejected(outcome, code)
    return Accepted(make_reference(row["requestId"], row["recipientSeq"]))


def _date(endpoint: ProductEndpoint, at: Instant) -> str:
    """Return a date in the format of the lists: with seconds for SMS, without for the others."""
    return dates.format_timestamp(at, SEOUL) if endpoint.is_text else dates.format_timestamp(at, SEOUL)[:16]


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
        found: list[tuple[Attempt, Verdict | None]] = []
        for asked_at, attempt in itertools.chain.from_iterable(groups):
            verdict = lookup.verdict(attempt)  # the lookup of another group may have found it
            is_missing = self._unanswered.age_s(attempt.message_id, asked_at) >= missing_after_s
            found.append((attempt, verdict or (None if is_missing else self.unknown(attempt))))
        return submission.report_looked_up(found)

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

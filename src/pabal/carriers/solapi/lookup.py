"""Looks up in Solapi's lists which messages it has and how they ended, and resolves those in doubt."""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import msgspec

from pabal.carriers.base import Accepted, OnReceipts, ReadBody, Receipt, Rejected, Unknown, Verdict
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.result_poller import ResultCursor, ResultPoller, ResultSource
from pabal.carriers.relay.submission import Submission
from pabal.carriers.solapi.client import (
    ListedMessage,
    ListedPage,
    SolapiClient,
    SolapiConnection,
    SolapiError,
    format_date,
)
from pabal.carriers.solapi.codes import closes_account, is_pending, outcome_of, verdict_for, was_refused
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.settings.relays import SolapiSettings
from pabal.world import World

log = logging.getLogger("pabal.solapi")

LIST_PATH = "/messages/v4/list"
PAGE_SIZE = 500
CLOCK_MARGIN_MS = 1 * HOUR
"""How far the clocks may differ."""

NextTimeout = Callable[[], float]
"""Returns how long the next call may take."""
MAX_LOOKUPS = 10
"""How many messages are looked up at once."""
MIN_LOOKUP_S = 15.0
"""With less time left no lookup is begun: messages that are missing must still be submitted."""


class SolapiLookup:
    """A lookup of messages in doubt, by their receivers; all share what any of them finds.

    Solapi cannot search for a field of ours, but its lists show it. A message that is found also tells its group:
    the messages of the same call, which are read together.
    """

    def __init__(self, client: SolapiClient, attempts: Sequence[Attempt], world: World) -> None:
        self._client = client
        self._world = world
        self._wanted = {each.message_id.hex(): each.message_id for each in attempts}
        self._found: dict[bytes, Verdict] = {}
        self._refused: dict[bytes, Verdict] = {}
        """Messages that a call did not accept, for a reason that does not change; another call may have them."""
        self._groups: set[str] = set()
        self._group_lock = asyncio.Lock()

    def verdict(self, attempt: Attempt) -> Verdict | None:
        """Return the verdict on a message that was found."""
        return self._found.get(attempt.message_id) or self._refused.get(attempt.message_id)

    async def find(self, attempt: Attempt, next_timeout: NextTimeout) -> None:
        """Look for a message; `verdict` then tells whether Solapi has it.

        Raises what SolapiClient.request raises.
        """
        async with self._group_lock:  # a group that is being read may contain it
            pass
        if attempt.message_id not in self._found:
            created = identifiers.requested_at(attempt.message_id)
            query = {
                "to": attempt.receiver,
                "dateType": "CREATED",
                "startDate": format_date(max(created - CLOCK_MARGIN_MS, 0)),
                "endDate": format_date(self._world.now() + CLOCK_MARGIN_MS),
            }
            for group in {row.groupId async for row in self._search(query, next_timeout) if row.groupId}:
                await self._search_group(group, next_timeout)

    async def _search_group(self, group: str, next_timeout: NextTimeout) -> None:
        async with self._group_lock:
            if group not in self._groups and len(self._found) < len(self._wanted):
                self._groups.add(group)
                async for _ in self._search({"groupId": group}, next_timeout):
                    pass

    async def _search(
        self, query: Mapping[str, str | int], next_timeout: NextTimeout
    ) -> AsyncIterator[ListedMessage]:
        """Record the messages in doubt that a list shows, and yield their rows."""
        async for page in read_pages(self._client, query, next_timeout):
            for row in page:
                if (message_id := self._wanted.get(row.own_id or "")) is not None:
                    self._record(message_id, row)
                    yield row

    def _record(self, message_id: bytes, row: ListedMessage) -> None:
        """Record what a row says; a message that was refused for now is not there."""
        code = row.statusCode or ""
        if is_pending(code):
            self._found.setdefault(message_id, Accepted(row.messageId))
        elif not was_refused(code):
            outcome = outcome_of(code)
            ended = Accepted(None, code=code) if outcome is Outcome.DELIVERED else Rejected(outcome, code)
            self._found.setdefault(message_id, ended)  # final, as old results are not reported again
        elif isinstance(verdict := verdict_for(code), Rejected):
            self._refused.setdefault(message_id, verdict)


async def read_pages(
    client: SolapiClient, query: Mapping[str, str | int], next_timeout: NextTimeout, limit: int = PAGE_SIZE
) -> AsyncIterator[Sequence[ListedMessage]]:
    """Yield the pages of a list of messages.

    Raises what SolapiClient.request raises.
    """
    async for page in client.pages(LIST_PATH, ListedPage, {**query, "limit": limit}, next_timeout):
        yield list(page.messageList.values())


def updated_between(start: Instant, end: Instant) -> dict[str, str | int]:
    """Return the query for messages that were updated between two times; dates have seconds."""
    return {"dateType": "UPDATED", "startDate": format_date(start), "endDate": format_date(end + SECOND)}


class SolapiResolver:
    """Looks up messages in doubt and reports those that Solapi has.

    A message that its lists do not show `doubt_s` after the doubt began is sent again if `resends` is true, else it
    stays in doubt: the documents do not say how late a list may show a message.
    """

    def __init__(self, connection: SolapiConnection, *, resends: bool, doubt_s: float) -> None:
        self._connection = connection
        self._resends = resends
        self._doubt_s = doubt_s
        self._lookups = asyncio.Semaphore(MAX_LOOKUPS)

    async def resolve(self, attempts: Sequence[Attempt], submission: Submission) -> list[Attempt]:
        """Report what is known about messages in doubt; return those to send again.

        Those of them that are past their deadline end here: they are not sent again.
        """
        self._connection.unanswered.add_missing(attempts)
        lookup = SolapiLookup(self._connection.client, attempts, self._connection.world)
        looked_up_at = await asyncio.gather(*(self._look_up(lookup, each, submission) for each in attempts))
        found: list[tuple[Attempt, Verdict | None]] = []
        for attempt, at in zip(attempts, looked_up_at, strict=True):
            verdict = lookup.verdict(attempt)
            if verdict is not None:
                self._connection.unanswered.discard([attempt.message_id])
            is_missing = at is not None and self._is_missing(attempt, at)
            found.append((attempt, verdict or (None if is_missing else Unknown())))
        return submission.report_looked_up(found)

    def _is_missing(self, attempt: Attempt, at: float) -> bool:
        """Return whether a message that the lists did not show at a time may be sent again."""
        return self._resends and self._connection.unanswered.age_s(attempt.message_id, at) >= self._doubt_s

    async def _look_up(self, lookup: SolapiLookup, attempt: Attempt, submission: Submission) -> float | None:
        """Return when a message was looked up; None if that could not be done."""
        async with self._lookups:
            if lookup.verdict(attempt) is None and submission.remaining_s < MIN_LOOKUP_S:
                return None
            at = self._connection.world.monotonic()
            try:
                await lookup.find(attempt, lambda: submission.timeout_s(self._connection.max_timeout_s))
            except NotProcessed as error:
                self._connection.on_problem(str(error))
                return None
            except (NoResponse, Throttled, ErrorAnswer):
                return None
            return at


WEBHOOK_POLL_S = 60.0
"""How often results are polled if there are webhooks: these may get lost."""
SERVICE = "messages"
SECRET_HEADER, EVENT_HEADER = "x-solapi-secret", "x-solapi-event-name"
RESULT_EVENT = "SINGLE-REPORT"


class _Source(ResultSource):
    """The list of messages, by when they were updated."""

    name = SERVICE

    def __init__(self, client: SolapiClient, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    @property
    def server_time(self) -> Instant | None:
        return self._client.server_time

    def is_closed_by(self, error: ErrorAnswer) -> bool:
        assert isinstance(error, SolapiError)
        return closes_account(error)

    async def check(self, now: Instant) -> None:
        query = updated_between(now - MINUTE, now)
        async for _ in read_pages(self._client, query, lambda: self._timeout_s, limit=1):
            return

    async def read(self, start: Instant, end: Instant) -> AsyncIterator[Sequence[Receipt]]:
        async for page in read_pages(self._client, updated_between(start, end), lambda: self._timeout_s):
            yield _receipts(page)


class SolapiResults:
    """Reads the results of our messages; an account may have others."""

    def __init__(self, settings: SolapiSettings, connection: SolapiConnection, cursor: ResultCursor) -> None:
        secret = settings.webhook_secret
        digest = hashlib.sha1(secret.encode(), usedforsecurity=False).hexdigest()  # Solapi's choice
        self._secrets = (digest.encode(), secret.encode()) if secret else ()
        self.poller = ResultPoller(
            settings.name,
            [_Source(connection.client, connection.max_timeout_s)],
            cursor,
            connection.world,
            lambda _, problem: connection.on_problem(problem),
            log,
            round_s=settings.poll_seconds,
            poll_s=WEBHOOK_POLL_S if secret else settings.poll_seconds,
        )

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        """Store the results in a webhook call, whose messages may each be inside an event; ignore other events.

        Raises Refused: NOT_FOUND if webhooks are not configured, UNAUTHORIZED, INVALID_JSON.
        """
        if not self._secrets:
            raise Refused(Code.NOT_FOUND)
        given = headers.get(SECRET_HEADER, "").encode("utf-8", "replace")
        matches = [hmac.compare_digest(given, secret) for secret in self._secrets]
        if not any(matches):
            raise Refused(Code.UNAUTHORIZED)
        body = await read_body()
        if headers.get(EVENT_HEADER, RESULT_EVENT) != RESULT_EVENT:
            return
        try:
            reports = msgspec.json.decode(body, type=list[dict[str, Any]])
            rows = msgspec.convert([each.get("data", each) for each in reports], type=list[ListedMessage])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Refused(Code.INVALID_JSON) from None
        await self.poller.store_new(_receipts(rows), on_receipts)


def _receipts(rows: Sequence[ListedMessage]) -> list[Receipt]:
    """Return the results of those rows that have one and are ours."""
    return [
        Receipt(row.messageId, outcome_of(row.statusCode or ""), code=row.statusCode)
        for row in rows
        if not is_pending(row.statusCode) and identifiers.parse_message_id(row.own_id or "") is not None
    ]

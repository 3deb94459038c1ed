"""Looks up in Solapi's lists which messages it has."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.carriers.relay.http import NoResponse
from pabal.carriers.solapi.client import SolapiClient, format_date
from pabal.carriers.solapi.codes import is_pending, outcome_of, verdict_for, was_refused
from pabal.carriers.solapi.wire import ListedMessage, ListedPage
from pabal.domain.base import identifiers
from pabal.domain.base.dates import HOUR, SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

LIST_PATH = "/messages/v4/list"
PAGE_SIZE = 500
MAX_PAGES = 10_000
CLOCK_MARGIN_MS = 1 * HOUR
"""How far the clocks may differ."""

NextTimeout = Callable[[], float]
"""Returns how long the next call may take."""


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
    start: dict[str, str] = {}
    for _ in range(MAX_PAGES):
        page = await client.request(
            "GET", LIST_PATH, ListedPage, timeout_s=next_timeout(), query={**query, "limit": limit, **start}
        )
        yield list(page.messageList.values())
        if not page.nextKey or page.nextKey == start.get("startKey"):
            return
        start = {"startKey": page.nextKey}
    raise NoResponse("a list does not end")


def updated_between(start: Instant, end: Instant) -> dict[str, str | int]:
    """Return the query for messages that were updated between two times; dates have seconds."""
    return {"dateType": "UPDATED", "startDate": format_date(start), "endDate": format_date(end + SECOND)}

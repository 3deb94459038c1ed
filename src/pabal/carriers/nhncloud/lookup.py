"""Looks up in NHN Cloud's lists which messages it has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.carriers.nhncloud.calls import ProductEndpoint, group_by_request, may_share_call
from pabal.carriers.nhncloud.client import NhnCloudClient, expect_documented_shape
from pabal.carriers.nhncloud.codes import outcome_of_row, own_code_of
from pabal.domain.base import dates, identifiers
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

SEOUL = ZoneInfo("Asia/Seoul")
"""The time zone of all dates in NHN Cloud's APIs."""
PAGE_SIZE = 1000
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
        """Record the messages in doubt that a list shows, and return their rows."""
        path = self.endpoint.value if self.endpoint.is_text else f"{self.endpoint.value}/messages"
        ours: list[ListRow] = []
        page = 1
        while True:
            paged = {**query, "pageSize": PAGE_SIZE, "pageNum": page}
            answer = await self._client.request("GET", path, query=paged, timeout_s=next_timeout())
            with expect_documented_shape():
                rows = _rows(self.endpoint, answer)
                for row in rows:
                    if (message_id := self._wanted.get(str(row.get("recipientGroupingKey")))) is not None:
                        self._found.setdefault(message_id, _verdict(self.endpoint, row))
                        ours.append(row)
            if len(rows) < PAGE_SIZE:
                return ours
            page += 1

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


def _rows(endpoint: ProductEndpoint, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of one page; the total is not needed."""
    if endpoint.is_text:
        return list(answer["body"]["data"])
    return list(answer["messageSearchResultResponse"]["messages"])

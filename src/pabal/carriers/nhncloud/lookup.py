"""Asks NHN Cloud which messages it has, for those whose answer was lost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.carriers.nhncloud.calls import ProductEndpoint, by_request, goes_with_others
from pabal.carriers.nhncloud.client import NhnCloudClient, read_as_documented
from pabal.carriers.nhncloud.codes import outcome_of
from pabal.domain import dates, identifiers
from pabal.domain.dates import DAY, Instant
from pabal.domain.message import Attempt, Outcome
from pabal.world import World

SEOUL = ZoneInfo("Asia/Seoul")
"""The zone of every date in its interfaces."""
PAGE = 1000
FURTHEST_BACK = 28 * DAY
"""Its lists go back a month at most."""
FAILED_TEXT = ("0", "4", "5", "6")
FAILED_TALK = ("FAILED", "CANCEL")

Within = Callable[[], float]
"""Says how long the next call may take."""
ListRow = Mapping[str, Any]


class MessageLookup:
    """A search for messages in doubt, in portions: those of a request, or one that may have gone with others.

    Whatever is found on the way is known to all portions, so that most need not be asked for.
    """

    def __init__(
        self, door: ProductEndpoint, client: NhnCloudClient, attempts: Sequence[Attempt], world: World
    ) -> None:
        self.door = door
        self.portions = _portions(attempts)
        self._client = client
        self._world = world
        self._wanted = {each.message_id.hex(): each.message_id for each in attempts}
        self._found: dict[bytes, Verdict] = {}
        self._calls: set[str] = set()
        """The calls that were looked at, by the names they have there."""

    def verdict(self, attempt: Attempt) -> Verdict | None:
        """Return what it says to a message that was found by now, by whichever portion."""
        return self._found.get(attempt.message_id)

    async def find(self, portion: Sequence[Attempt], within: Within) -> dict[bytes, Verdict]:
        """Return what it says to those messages of a portion that it has, by their ids.

        Raises what Client.ask raises.
        """
        first = portion[0].message_id
        if not all(goes_with_others(each.message_id) for each in portion):
            request_id = identifiers.request_id_of(first)
            await self._look({"senderGroupingKey": request_id.hex()} | self._dates(request_id), within)
        for each in portion:
            one = each.message_id
            if one in self._found or not goes_with_others(one):
                continue
            for row in await self._look({"recipientGroupingKey": one.hex()} | self._dates(one), within):
                await self._look_around(str(row["requestId"]), within)
        return {one: self._found[one] for each in portion if (one := each.message_id) in self._found}

    async def _look_around(self, call: str, within: Within) -> None:
        """Look at all that went in one call: others of it may be in doubt too."""
        if call not in self._calls and len(self._found) < len(self._wanted):
            self._calls.add(call)
            await self._look({"requestId": call}, within)

    async def _look(self, query: Mapping[str, str | int], within: Within) -> list[ListRow]:
        """Note what a list shows of the messages that are looked for, and return those rows."""
        path = self.door.value if self.door.is_text else f"{self.door.value}/messages"
        ours: list[ListRow] = []
        page = 1
        while True:
            paged = {**query, "pageSize": PAGE, "pageNum": page}
            answer = await self._client.ask("GET", path, query=paged, within_s=within())
            with read_as_documented():
                rows = _rows(self.door, answer)
                for row in rows:
                    if (one := self._wanted.get(str(row.get("recipientGroupingKey")))) is not None:
                        self._found.setdefault(one, _verdict(self.door, row))
                        ours.append(row)
            if len(rows) < PAGE:
                return ours
            page += 1

    def _dates(self, name: bytes) -> dict[str, str | int]:
        now = self._world.now()
        return {
            "startCreateDate": _date(self.door, max(identifiers.requested_at(name) - DAY, now - FURTHEST_BACK)),
            "endCreateDate": _date(self.door, now + DAY),
        }


def _portions(attempts: Sequence[Attempt]) -> list[Sequence[Attempt]]:
    """Return together what may have gone under its request's name, and one by one what may not."""
    found: list[Sequence[Attempt]] = []
    for some in by_request(attempts).values():
        is_apart = all(goes_with_others(each.message_id) for each in some)
        found += [[each] for each in some] if is_apart else [some]
    return found


def reference_of(call: Any, place: Any) -> str:
    """Return the name by which a message's answer and its result meet: its call's there, and its place in that."""
    if "\x00" in (name := f"{call}.{place}"):
        raise ValueError("a name with a NUL in it, which no store keeps")
    return name


def _verdict(door: ProductEndpoint, row: Mapping[str, Any]) -> Verdict:
    """Return what a row of a list says: how its message has ended, if it has; results of old are not told again."""
    if code := row.get("resultCode"):
        outcome = outcome_of(str(code), is_text=door.is_text)
        return Accepted(None) if outcome is Outcome.DELIVERED else Rejected(outcome)
    if str(row.get("msgStatus")) in FAILED_TEXT or row.get("messageStatus") in FAILED_TALK:
        return Rejected(Outcome.UNDELIVERABLE)
    return Accepted(reference_of(row["requestId"], row["recipientSeq"]))


def _date(door: ProductEndpoint, at: Instant) -> str:
    """Return a date as its lists want it: to the second for texts, to the minute for the others."""
    return dates.format_timestamp(at, SEOUL) if door.is_text else dates.format_timestamp(at, SEOUL)[:16]


def _rows(door: ProductEndpoint, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one page of a list; how many there are in all need not be told, and is not asked."""
    if door.is_text:
        return list(answer["body"]["data"])
    return list(answer["messageSearchResultResponse"]["messages"])

"""Asks NHN Cloud which messages it has, for those whose answer was lost."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pabal.carriers.base import Rejected, Taken, Verdict
from pabal.carriers.nhncloud.calls import Door, by_request
from pabal.carriers.nhncloud.client import Client, read_as_documented
from pabal.carriers.nhncloud.codes import outcome_of
from pabal.domain import identity, when
from pabal.domain.message import Attempt, Outcome
from pabal.domain.when import DAY, Instant
from pabal.world import World

SEOUL = ZoneInfo("Asia/Seoul")
"""The zone of every date in its interfaces."""
PAGE = 1000
FURTHEST_BACK = 28 * DAY
"""Its lists go back a month at most."""
AT_ONCE = 10
FAILED_TEXT = "0"
FAILED_TALK = ("FAILED", "CANCEL")


class Asker:
    """Looks messages up by the names they were given."""

    def __init__(self, texts: Client | None, talk: Client | None, world: World) -> None:
        self._texts = texts
        self._talk = talk
        self._world = world
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def find(self, door: Door, attempts: Sequence[Attempt], within_s: float) -> dict[bytes, Verdict]:
        """Return what it says to those messages that it has, by their ids.

        Messages of one request are looked for together; what is not found so, by itself: it may have gone
        together with others. Raises what Client.ask raises.
        """
        found: dict[bytes, Verdict] = {}
        wanted = {each.message_id for each in attempts}
        for request_id, some in by_request(attempts).items():
            if len(some) > 1:
                found |= await self._listed(door, "senderGroupingKey", request_id, wanted, within_s)
        left = sorted(wanted - set(found))
        for each in await asyncio.gather(
            *(self._listed(door, "recipientGroupingKey", one, {one}, within_s) for one in left)
        ):
            found |= each
        return found

    async def _listed(
        self, door: Door, key: str, name: bytes, wanted: Iterable[bytes], within_s: float
    ) -> dict[bytes, Verdict]:
        client = self._texts if door.is_text else self._talk
        assert client is not None
        now = self._world.now()
        query: dict[str, str | int] = {
            "startCreateDate": _date(door, max(identity.requested_at(name) - DAY, now - FURTHEST_BACK)),
            "endCreateDate": _date(door, now + DAY),
            key: name.hex(),
            "pageSize": PAGE,
        }
        path = door.value if door.is_text else f"{door.value}/messages"
        names = {one.hex(): one for one in wanted}
        found: dict[bytes, Verdict] = {}
        page = 1
        while True:
            async with self._turns:
                answer = await client.ask("GET", path, query=query | {"pageNum": page}, within_s=within_s)
            with read_as_documented():
                rows, total = _rows(door, answer)
                for row in rows:
                    if (one := names.get(str(row.get("recipientGroupingKey")))) is not None:
                        found.setdefault(one, _verdict(door, row))
            if page * PAGE >= total or not rows:
                return found
            page += 1


def reference_of(row: Mapping[str, Any]) -> str:
    """Return the name by which a message's answer and its result meet."""
    return f"{row['requestId']}.{row['recipientSeq']}"


def _verdict(door: Door, row: Mapping[str, Any]) -> Verdict:
    """Return what a row of a list says: how its message has ended, if it has; results of old are not told again."""
    if code := row.get("resultCode"):
        outcome = outcome_of(str(code), is_text=door.is_text)
        return Taken(None) if outcome is Outcome.DELIVERED else Rejected(outcome)
    if str(row.get("msgStatus")) == FAILED_TEXT or row.get("messageStatus") in FAILED_TALK:
        return Rejected(Outcome.UNDELIVERABLE)
    return Taken(reference_of(row))


def _date(door: Door, at: Instant) -> str:
    """Return a date as its lists want it: to the second for texts, to the minute for the others."""
    return when.stamp(at, SEOUL) if door.is_text else when.stamp(at, SEOUL)[:16]


def _rows(door: Door, answer: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    if door.is_text:
        body = answer["body"]
        return list(body["data"]), int(body["totalCount"])
    body = answer["messageSearchResultResponse"]
    return list(body["messages"]), int(body.get("totalCount") or 0)

"""Reads who has opted out at NHN Cloud by calling an 080 number, from its webhook and its block service."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from pabal.carriers.base import Inbox, RelayOptOut
from pabal.carriers.nhncloud.client import NhnCloudClient, expect_documented_shape
from pabal.carriers.nhncloud.lookup import SEOUL
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.result_poller import ResultCursor
from pabal.domain import dates, phone
from pabal.domain.codes import Refused
from pabal.domain.dates import HOUR, Instant
from pabal.domain.opt_out import OptOutChange
from pabal.world import World

OPT_OUT_EVENT = "UNSUBSCRIBE"
"""The event of the webhook (SMS ko/webhook.md, "광고 문자 수신 번호 등록")."""
FIRST_READ_S = 60.0
"""Pause before the first read, so that a service that starts and stops makes no calls for it."""
READ_INTERVAL_S = 600.0
"""How often the block service is read: webhooks may get lost, or are not configured."""
OVERLAP_MS = 1 * HOUR
"""How far a read goes back behind the one before; what is known already changes nothing."""
PAGE_SIZE = 1000
MAX_RECIPIENTS = 10
"""Receivers in one call: the "최대 길이" of recipientNoList."""
UPDATE_USER = "pabal"
"""Who removes receivers, for the relay's records."""
_PATH = "/sms/v3.0/appKeys/{appkey}/blockservice/recipients"
_CURSOR = "block service"

log = logging.getLogger("pabal.nhncloud")


def parse_opt_outs(rows: Sequence[Mapping[str, Any]]) -> list[RelayOptOut]:
    """Return the opt-outs in rows of the webhook or of the block service, but for numbers that cannot be ours.

    Raises KeyError, TypeError for another shape.
    """
    found = []
    for row in rows:
        recipient, number = str(row["recipientNo"]), str(row["unsubscribeNo"])
        try:
            found.append(RelayOptOut(phone.parse_mobile(recipient), phone.parse_opt_out(number)))
        except Refused:
            log.warning("the relay reports an opt-out with an unknown kind of number; it is ignored")
    return found


def _group(changes: Sequence[OptOutChange]) -> list[list[OptOutChange]]:
    """Return the changes in calls: neighbours of the same kind and number, as many as a call takes."""
    groups: list[list[OptOutChange]] = []
    for each in changes:
        last = groups[-1] if groups else []
        is_alike = bool(last) and last[0][1:] == each[1:] and each not in last
        if is_alike and len(last) < MAX_RECIPIENTS:
            last.append(each)
        else:
            groups.append([each])
    return groups


class BlockList:
    """The block service: read again and again by one process for all, and told what changes here."""

    def __init__(
        self, carrier: str, client: NhnCloudClient, cursor: ResultCursor, world: World, timeout_s: float
    ) -> None:
        self._carrier = carrier
        self._client = client
        self._cursor = cursor
        self._world = world
        self._timeout_s = timeout_s
        self._logged = ""

    async def run(self, inbox: Inbox) -> None:
        """Read until cancelled; a read that fails is repeated."""
        await asyncio.sleep(FIRST_READ_S)
        while True:
            if self._cursor.is_ours:
                await self._try_to_read(inbox)
            await asyncio.sleep(READ_INTERVAL_S)

    async def update(self, changes: Sequence[OptOutChange]) -> list[OptOutChange]:
        """Add and remove receivers there, in order; return those that are done, or that it refuses for good."""
        done: list[OptOutChange] = []
        for alike in _group(changes):
            try:
                await self._update(alike)
            except (NotProcessed, NoResponse, Throttled) as error:
                log.warning(
                    "the relay was not told about opt-outs; retrying",
                    extra={"carrier": self._carrier, "reason": str(error) or type(error).__name__},
                )
                break
            except ErrorAnswer as error:
                log.warning(
                    "the relay refuses opt-outs; they are kept here only",
                    extra={"carrier": self._carrier, "reason": str(error)},
                )
            done += alike
        return done

    async def _update(self, alike: Sequence[OptOutChange]) -> None:
        """Add or remove receivers of one number for opting out."""
        number, phones = alike[0].opt_out_number, [each.phone for each in alike]
        if alike[0].is_removed:
            query = {"unsubscribeNo": number, "updateUser": UPDATE_USER, "recipientNoList": ",".join(phones)}
            await self._client.request("DELETE", f"{_PATH}/removes", query=query, timeout_s=self._timeout_s)
        else:
            body = {"unsubscribeNo": number, "recipientNoList": phones}
            await self._client.request("POST", _PATH, body=body, timeout_s=self._timeout_s)

    async def _try_to_read(self, inbox: Inbox) -> None:
        problem = ""
        try:
            await self._read_new(inbox)
        except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
            problem = str(error) or type(error).__name__
        if problem and problem != self._logged:
            log.warning(
                "the relay's opt-outs cannot be read; retrying",
                extra={"carrier": self._carrier, "reason": problem},
            )
        self._logged = problem

    async def _read_new(self, inbox: Inbox) -> None:
        """Store the opt-outs since the last read; the first read gets all."""
        now = self._client.server_time or self._world.now()
        since = await self._cursor.get(_CURSOR)
        async for rows in self._pages(None if since is None else since - OVERLAP_MS):
            with expect_documented_shape():
                found = parse_opt_outs(rows)
            if found:
                await inbox.on_opt_outs(found)
        await self._cursor.put(_CURSOR, now)

    async def _pages(self, start: Instant | None) -> AsyncIterator[list[Mapping[str, Any]]]:
        number = 1
        while True:
            query: dict[str, str | int] = {"pageNum": number, "pageSize": PAGE_SIZE}
            if start is not None:
                query["startRequestDate"] = dates.format_timestamp(start, SEOUL)
            answer = await self._client.request("GET", _PATH, query=query, timeout_s=self._timeout_s)
            rows: list[Mapping[str, Any]] = []
            with expect_documented_shape():
                rows = list((answer["body"] or {})["data"] or ())
            yield rows
            if len(rows) < PAGE_SIZE:
                return
            number += 1

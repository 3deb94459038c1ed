"""Reads the results of messages, by polling and from webhooks."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from pabal.carriers.base import OnReceipts, ReadBody, Receipt
from pabal.carriers.nhncloud.client import (
    ErrorResponse,
    NhnCloudClient,
    NoResponse,
    NotProcessed,
    Throttled,
    expect_documented_shape,
)
from pabal.carriers.nhncloud.codes import ErrorKind, error_kind_of, outcome_of
from pabal.carriers.nhncloud.lookup import SEOUL, make_reference
from pabal.domain import dates
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import DAY, HOUR, MINUTE, SECOND, Instant
from pabal.domain.message import Product
from pabal.settings.carriers import TEXT_PRODUCTS, NhnCloudSettings
from pabal.world import World

PAGE_SIZE = 1000
FIRST_LOOK_BACK_MS = 1 * HOUR
"""How far the first round reads back, when there is no cursor."""
OVERLAPS = ((0.0, 15 * SECOND), (60.0, 2 * MINUTE), (600.0, 15 * MINUTE))
"""How many seconds apart a round overlaps the one before, and by how many milliseconds.

A result that is written late may have been missed. What overlaps is read again, so most rounds overlap little.
"""
MAX_OVERLAP_MS = max(overlap for _, overlap in OVERLAPS)
MAX_REMEMBERED = 500_000
"""How many results are remembered, so that they are not reported again; a duplicate does no harm."""
WEBHOOK_POLL_S = 60.0
"""How often results are polled if there are webhooks: these may get lost."""
CLOCK_TOLERANCE_MS = 10 * SECOND
"""A smaller difference between the clocks is ignored."""
MAX_POLL_FRACTION = 3
"""Calls take at most one part in this many of the time."""
SIGNATURE_HEADER = "x-toast-webhook-signature"
RESULT_EVENT = "MESSAGE_RESULT_UPDATE"

log = logging.getLogger("pabal.nhncloud")

OnServiceProblem = Callable[[str, str], None]
"""Called after every call with the name of a service and its problem; empty if all is well."""


class ResultCursor(Protocol):
    """How far results have been read; stored, and shared by all processes. One process reads for all."""

    @property
    def is_ours(self) -> bool:
        """Whether this process reads."""

    async def get(self, source: str) -> Instant | None:
        """Return until when the results of a source have been read."""

    async def put(self, source: str, at: Instant) -> None:
        """Store until when the results of a source have been read."""


class _Source(NamedTuple):
    name: str
    client: NhnCloudClient
    path: str
    is_text: bool


class ResultReader:
    """Reads the results of every service in use."""

    def __init__(
        self,
        settings: NhnCloudSettings,
        world: World,
        cursor: ResultCursor,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        on_problem: OnServiceProblem,
    ) -> None:
        self._settings = settings
        self._world = world
        self._cursor = cursor
        self._on_problem = on_problem
        self._sources = list(_sources(settings, sms_client, talk_client))
        self._reported: dict[Instant, set[int]] = {}
        """Hashes of the references that were reported, by the minute."""
        self._poll_interval_s = WEBHOOK_POLL_S if settings.webhook_signature else settings.poll_seconds
        self._next_poll = world.monotonic()
        self._next_overlaps = [self._next_poll for _ in OVERLAPS]
        self._calls_s = 0.0
        """How long the calls of this round took."""
        self.read_problems: dict[str, str] = {}
        """Why the results of a service that is reachable cannot be read, by its name."""
        self._clock_ahead_ms: dict[str, int] = {}
        """By how much the clock of each service is ahead of ours."""

    @property
    def services(self) -> list[str]:
        """The names of the services in use."""
        return [source.name for source in self._sources]

    async def run(self, on_receipts: OnReceipts) -> None:
        """Read results until cancelled; if another process reads them, only check that services are reachable."""
        while True:
            began, self._calls_s = self._world.monotonic(), 0.0
            is_polling = self._cursor.is_ours and began >= self._next_poll
            if is_polling:
                self._next_poll = began + self._poll_interval_s
            overlap = self._overlap(began) if is_polling else 0
            for source in self._sources:
                await self._poll(source, on_receipts if is_polling else None, overlap)
            took_s = self._world.monotonic() - began
            await asyncio.sleep(max(self._settings.poll_seconds - took_s, self._calls_s * (MAX_POLL_FRACTION - 1)))

    def _overlap(self, now: float) -> int:
        """Return by how much this round overlaps the one before."""
        longest = 0
        for index, (interval_s, overlap) in enumerate(OVERLAPS):
            if now >= self._next_overlaps[index]:
                self._next_overlaps[index] = now + interval_s
                longest = max(longest, overlap)
        return longest

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        """Store the results in a webhook call.

        Raises Refused: NOT_FOUND if webhooks are not configured, UNAUTHORIZED, INVALID_JSON.
        """
        signature = self._settings.webhook_signature
        if not signature:
            raise Refused(Code.NOT_FOUND)
        given = headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), signature.encode()):
            raise Refused(Code.UNAUTHORIZED)
        body = await read_body()
        try:
            receipts = self._parse_webhook(body)
        except (msgspec.DecodeError, RecursionError, KeyError, TypeError, ValueError, AttributeError):
            raise Refused(Code.INVALID_JSON) from None
        if receipts:
            await on_receipts(receipts)
            self._remember(receipts)

    def _parse_webhook(self, body: bytes) -> list[Receipt]:
        """Return the results in a webhook call; other events are ignored."""
        event = msgspec.json.decode(body)
        if event["event"] != RESULT_EVENT:
            return []
        app_key = str(event["appKey"])
        if not app_key or app_key not in (self._settings.sms_app_key, self._settings.talk_app_key):
            raise Refused(Code.UNAUTHORIZED)
        return self._receipts(list(event["hooks"]), is_text=app_key == self._settings.sms_app_key)

    async def _poll(self, source: _Source, on_receipts: OnReceipts | None, overlap: int) -> None:
        problem = read_problem = ""
        try:
            if on_receipts:
                await self._read_new(source, on_receipts, overlap)
            else:
                now = self._server_now(source)
                await self._page(source, now - MINUTE, now, 1, 1)
        except Throttled:
            pass
        except (NotProcessed, NoResponse) as error:
            problem = str(error)
        except ErrorResponse as error:
            is_closed = error_kind_of(error.code, is_text=source.is_text) is ErrorKind.ACCOUNT_CLOSED
            problem, read_problem = (str(error), "") if is_closed else ("", f"results cannot be read: {error}")
        self._on_problem(source.name, problem)
        if read_problem and read_problem != self.read_problems.get(source.name):
            log.warning(
                "results cannot be read; retrying", extra={"carrier": self._settings.name, "reason": read_problem}
            )
        self.read_problems[source.name] = read_problem

    async def _read_new(self, source: _Source, on_receipts: OnReceipts, overlap: int) -> None:
        """Store all results since the last round."""
        now = self._server_now(source)
        cursor = await self._cursor.get(source.name)
        since = now - FIRST_LOOK_BACK_MS if cursor is None else min(cursor, now)
        until = 0
        while until < now:
            until = min(since + DAY - HOUR, now)
            await self._read_between(source, since - overlap, until, on_receipts)
            await self._cursor.put(source.name, until)
            since = until
        self._forget_old()

    def _server_now(self, source: _Source) -> Instant:
        """Return the time by the server's clock, by which results are listed."""
        return self._world.now() + self._clock_ahead_ms.get(source.name, 0)

    async def _read_between(self, source: _Source, start: Instant, end: Instant, on_receipts: OnReceipts) -> None:
        number = 1
        while True:
            rows = await self._page(source, start, end + MINUTE, number, PAGE_SIZE)
            with expect_documented_shape():
                receipts = self._receipts(rows, is_text=source.is_text)
            if receipts:
                await on_receipts(receipts)
                self._remember(receipts)
            if len(rows) < PAGE_SIZE:
                return
            number += 1

    async def _page(
        self, source: _Source, start: Instant, end: Instant, number: int, size: int
    ) -> list[dict[str, Any]]:
        """Return one page of results that were updated between two times."""
        digits = 19 if source.is_text else 16  # SMS takes seconds, the others minutes
        began = self._world.monotonic()
        answer = await source.client.request(
            "GET",
            source.path,
            query={
                "startUpdateDate": dates.format_timestamp(start, SEOUL)[:digits],
                "endUpdateDate": dates.format_timestamp(end, SEOUL)[:digits],
                "pageNum": number,
                "pageSize": size,
            },
            timeout_s=self._settings.timeout_seconds,
        )
        self._calls_s += self._world.monotonic() - began
        ahead = (source.client.server_time or self._world.now()) - self._world.now()
        self._clock_ahead_ms[source.name] = ahead if abs(ahead) > CLOCK_TOLERANCE_MS else 0
        return _rows(answer, is_text=source.is_text)

    def _receipts(self, rows: Sequence[Mapping[str, Any]], *, is_text: bool) -> list[Receipt]:
        """Return the final results in rows, without those reported before."""
        ended = [
            Receipt(
                make_reference(row["requestId"], row["recipientSeq"]),
                outcome_of(str(row["resultCode"]), is_text=is_text),
            )
            for row in rows
            if row.get("resultCode")
        ]
        return [each for each in ended if not self._is_reported(each)]

    def _is_reported(self, receipt: Receipt) -> bool:
        digest = hash(receipt.reference)
        return any(digest in some for some in self._reported.values())

    def _remember(self, receipts: Sequence[Receipt]) -> None:
        some = self._reported.setdefault(self._world.now() // MINUTE, set())
        some.update(hash(each.reference) for each in receipts)
        self._forget_old()

    def _forget_old(self) -> None:
        oldest = (self._world.now() - MAX_OVERLAP_MS) // MINUTE - 2
        for minute in [minute for minute in self._reported if minute < oldest]:
            del self._reported[minute]
        while sum(map(len, self._reported.values())) > MAX_REMEMBERED and len(self._reported) > 1:
            del self._reported[min(self._reported)]


def _sources(
    settings: NhnCloudSettings, sms: NhnCloudClient | None, talk: NhnCloudClient | None
) -> Sequence[_Source]:
    found = []
    if sms and any(product in TEXT_PRODUCTS for product in settings.products):
        found.append(_Source("sms", sms, "/sms/v3.0/appKeys/{appkey}/message-results", True))
    if talk and Product.ALIMTALK in settings.products:
        found.append(_Source("alimtalk", talk, "/alimtalk/v2.3/appkeys/{appkey}/message-results", False))
    if talk and any(product not in (*TEXT_PRODUCTS, Product.ALIMTALK) for product in settings.products):
        found.append(_Source("friendtalk", talk, "/friendtalk/v2.4/appkeys/{appkey}/message-results", False))
    return found


def _rows(answer: Mapping[str, Any], *, is_text: bool) -> list[dict[str, Any]]:
    """Return the results in an answer; the documentation of one interface shows two shapes.

    Raises NoResponse.
    """
    found: Any = ()
    with expect_documented_shape():
        if is_text:
            data = answer["body"]["data"]
            found = data["resultUpdateList"] if isinstance(data, dict) else data
        elif "messageSearchResultResponse" in answer:
            found = answer["messageSearchResultResponse"]["messages"]
        else:
            found = answer["messages"]
    return list(found or ())

"""How messages ended: asked for again and again, and told by webhooks."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from pabal.carriers.base import OnReceipts, ReadBody, Receipt
from pabal.carriers.nhncloud.client import NhnCloudClient, NoAnswer, NotReached, Said, Throttled, read_as_documented
from pabal.carriers.nhncloud.codes import ErrorKind, outcome_of, refusal_of
from pabal.carriers.nhncloud.lookup import SEOUL, reference_of
from pabal.domain import dates
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import DAY, HOUR, MINUTE, SECOND, Instant
from pabal.domain.message import Product
from pabal.settings.carriers import TEXT_PRODUCTS, NhnCloudSettings
from pabal.world import World

PAGE_SIZE = 1000
FIRST_LOOK_BACK = 1 * HOUR
LOOK_BACKS = ((0.0, 15 * SECOND), (60.0, 2 * MINUTE), (600.0, 15 * MINUTE))
"""Every so many seconds a round goes so far behind the one before: what was just written may have been missed.

What is looked back on is read again, so most rounds look back little.
"""
FURTHEST_BACK = max(back for _, back in LOOK_BACKS)
MOST_SEEN = 500_000
"""How many results are remembered, so that none is handed on again; more than once does no harm."""
WITH_WEBHOOKS_S = 60.0
"""How often results are asked for where webhooks tell them: those may get lost."""
SLIGHTLY = 10 * SECOND
"""By how much two clocks may differ without anyone minding."""
SHARE = 3
"""Asking takes one part of the time in so many at most."""
SIGNATURE_HEADER = "x-toast-webhook-signature"
RESULT_EVENT = "MESSAGE_RESULT_UPDATE"

log = logging.getLogger("pabal.nhncloud")

Heard = Callable[[str, str], None]
"""Told, after every call, what is wrong with a service, by its name; nothing, if it is well."""


class ResultCursor(Protocol):
    """How far results have been read, kept where everything is kept; one process reads them for all."""

    @property
    def is_ours(self) -> bool:
        """Whether it is this process that reads."""

    async def get(self, source: str) -> Instant | None: ...
    async def put(self, source: str, at: Instant) -> None: ...


class _Source(NamedTuple):
    name: str
    client: NhnCloudClient
    path: str
    is_text: bool


class ResultReader:
    """Reads results of every interface that something is carried by."""

    def __init__(
        self,
        settings: NhnCloudSettings,
        world: World,
        cursor: ResultCursor,
        texts: NhnCloudClient | None,
        talk: NhnCloudClient | None,
        heard: Heard,
    ) -> None:
        self._settings = settings
        self._world = world
        self._cursor = cursor
        self._heard = heard
        self._sources = list(_sources(settings, texts, talk))
        self._seen: dict[Instant, set[int]] = {}
        """Hashes of what was handed on, by the minute it was."""
        self._round_s = WITH_WEBHOOKS_S if settings.webhook_signature else settings.poll_seconds
        self._next_round = world.monotonic()
        self._next_looks = [self._next_round for _ in LOOK_BACKS]
        self._asked_s = 0.0
        """How long it took to ask, in this round."""
        self.unread: dict[str, str] = {}
        """Why the results of a service cannot be read although it can be reached."""
        self._ahead: dict[str, int] = {}
        """By how much each service's clock is ahead of ours."""

    @property
    def services(self) -> list[str]:
        """The names of the services that something is carried by."""
        return [source.name for source in self._sources]

    async def run(self, on_receipts: OnReceipts) -> None:
        """Read results for good; where another process does, only see whether the interfaces can be reached."""
        while True:
            began, self._asked_s = self._world.monotonic(), 0.0
            is_round = self._cursor.is_ours and began >= self._next_round
            if is_round:
                self._next_round = began + self._round_s
            look_back = self._look_back(began) if is_round else 0
            for source in self._sources:
                await self._try(source, on_receipts if is_round else None, look_back)
            took_s = self._world.monotonic() - began
            await asyncio.sleep(max(self._settings.poll_seconds - took_s, self._asked_s * (SHARE - 1)))

    def _look_back(self, now: float) -> int:
        """Return how far this round goes behind the one before."""
        furthest = 0
        for place, (every_s, back) in enumerate(LOOK_BACKS):
            if now >= self._next_looks[place]:
                self._next_looks[place] = now + every_s
                furthest = max(furthest, back)
        return furthest

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        """Hand on what a webhook tells.

        Raises Refused: NOT_FOUND where none is expected, UNAUTHORIZED, INVALID_JSON.
        """
        signature = self._settings.webhook_signature
        if not signature:
            raise Refused(Code.NOT_FOUND)
        given = headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), signature.encode()):
            raise Refused(Code.UNAUTHORIZED)
        body = await read_body()
        try:
            receipts = self._told(body)
        except (msgspec.DecodeError, RecursionError, KeyError, TypeError, ValueError, AttributeError):
            raise Refused(Code.INVALID_JSON) from None
        if receipts:
            await on_receipts(receipts)
            self._note_seen(receipts)

    def _told(self, body: bytes) -> list[Receipt]:
        """Return the results that a webhook tells of; other events are no matter of ours."""
        told = msgspec.json.decode(body)
        if told["event"] != RESULT_EVENT:
            return []
        app_key = str(told["appKey"])
        if not app_key or app_key not in (self._settings.sms_app_key, self._settings.talk_app_key):
            raise Refused(Code.UNAUTHORIZED)
        return self._receipts(list(told["hooks"]), is_text=app_key == self._settings.sms_app_key)

    async def _try(self, source: _Source, hand_on: OnReceipts | None, look_back: int) -> None:
        trouble = unread = ""
        try:
            if hand_on:
                await self._read(source, hand_on, look_back)
            else:
                now = self._their_now(source)
                await self._page(source, now - MINUTE, now, 1, 1)
        except Throttled:
            pass
        except (NotReached, NoAnswer) as wrong:
            trouble = str(wrong)
        except Said as said:
            is_closed = refusal_of(said.code, is_text=source.is_text) is ErrorKind.CLOSED
            trouble, unread = (str(said), "") if is_closed else ("", f"results cannot be read: {said}")
        self._heard(source.name, trouble)
        if unread and unread != self.unread.get(source.name):
            log.warning("results cannot be read", extra={"carrier": self._settings.name, "reason": unread})
        self.unread[source.name] = unread

    async def _read(self, source: _Source, hand_on: OnReceipts, look_back: int) -> None:
        """Hand on all results since the last time."""
        now = self._their_now(source)
        kept = await self._cursor.get(source.name)
        since = now - FIRST_LOOK_BACK if kept is None else min(kept, now)
        until = 0
        while until < now:
            until = min(since + DAY - HOUR, now)
            await self._read_between(source, since - look_back, until, hand_on)
            await self._cursor.put(source.name, until)
            since = until
        self._forget_seen()

    def _their_now(self, source: _Source) -> Instant:
        """Return the time by the relay's clock: results are asked for by it, and ours may be wrong by more."""
        return self._world.now() + self._ahead.get(source.name, 0)

    async def _read_between(self, source: _Source, start: Instant, end: Instant, hand_on: OnReceipts) -> None:
        number = 1
        while True:
            rows = await self._page(source, start, end + MINUTE, number, PAGE_SIZE)
            with read_as_documented():
                receipts = self._receipts(rows, is_text=source.is_text)
            if receipts:
                await hand_on(receipts)
                self._note_seen(receipts)
            if len(rows) < PAGE_SIZE:
                return
            number += 1

    async def _page(
        self, source: _Source, start: Instant, end: Instant, number: int, size: int
    ) -> list[dict[str, Any]]:
        """Return one page of results that were updated between two times."""
        digits = 19 if source.is_text else 16  # seconds there, minutes elsewhere
        began = self._world.monotonic()
        answer = await source.client.ask(
            "GET",
            source.path,
            query={
                "startUpdateDate": dates.format_timestamp(start, SEOUL)[:digits],
                "endUpdateDate": dates.format_timestamp(end, SEOUL)[:digits],
                "pageNum": number,
                "pageSize": size,
            },
            within_s=self._settings.timeout_seconds,
        )
        self._asked_s += self._world.monotonic() - began
        ahead = (source.client.date or self._world.now()) - self._world.now()
        self._ahead[source.name] = ahead if abs(ahead) > SLIGHTLY else 0
        return _rows(answer, is_text=source.is_text)

    def _receipts(self, rows: Sequence[Mapping[str, Any]], *, is_text: bool) -> list[Receipt]:
        """Return what rows tell of messages that have ended, but for what was told before."""
        ended = [
            Receipt(
                reference_of(row["requestId"], row["recipientSeq"]),
                outcome_of(str(row["resultCode"]), is_text=is_text),
            )
            for row in rows
            if row.get("resultCode")
        ]
        return [each for each in ended if not self._is_seen(each)]

    def _is_seen(self, receipt: Receipt) -> bool:
        one = hash(receipt.reference)
        return any(one in some for some in self._seen.values())

    def _note_seen(self, receipts: Sequence[Receipt]) -> None:
        some = self._seen.setdefault(self._world.now() // MINUTE, set())
        some.update(hash(each.reference) for each in receipts)
        self._forget_seen()

    def _forget_seen(self) -> None:
        oldest = (self._world.now() - FURTHEST_BACK) // MINUTE - 2
        for minute in [minute for minute in self._seen if minute < oldest]:
            del self._seen[minute]
        while sum(map(len, self._seen.values())) > MOST_SEEN and len(self._seen) > 1:
            del self._seen[min(self._seen)]


def _sources(
    settings: NhnCloudSettings, texts: NhnCloudClient | None, talk: NhnCloudClient | None
) -> Sequence[_Source]:
    found = []
    if texts and any(product in TEXT_PRODUCTS for product in settings.products):
        found.append(_Source("sms", texts, "/sms/v3.0/appKeys/{appkey}/message-results", True))
    if talk and Product.ALIMTALK in settings.products:
        found.append(_Source("alimtalk", talk, "/alimtalk/v2.3/appkeys/{appkey}/message-results", False))
    if talk and any(product not in (*TEXT_PRODUCTS, Product.ALIMTALK) for product in settings.products):
        found.append(_Source("friendtalk", talk, "/friendtalk/v2.4/appkeys/{appkey}/message-results", False))
    return found


def _rows(answer: Mapping[str, Any], *, is_text: bool) -> list[dict[str, Any]]:
    """Return the results in an answer; the documentation of one interface shows two shapes of it.

    Raises NoAnswer.
    """
    found: Any = ()
    with read_as_documented():
        if is_text:
            data = answer["body"]["data"]
            found = data["resultUpdateList"] if isinstance(data, dict) else data
        elif "messageSearchResultResponse" in answer:
            found = answer["messageSearchResultResponse"]["messages"]
        else:
            found = answer["messages"]
    return list(found or ())

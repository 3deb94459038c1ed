"""Reads the results of messages, by polling and from webhooks, and how often those of templates were read."""

import hmac
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.base import Inbox, OnReceipts, ReadBody, Receipt, RelayOptOut, TemplateReads
from pabal.carriers.nhncloud.block_list import OPT_OUT_EVENT, parse_opt_outs
from pabal.carriers.nhncloud.client import PAGE_SIZE, SEOUL, ErrorResponse, NhnCloudClient, expect_documented_shape
from pabal.carriers.nhncloud.codes import ErrorKind, error_kind_of, outcome_of_row, own_code_of
from pabal.carriers.nhncloud.lookup import make_reference
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.result_poller import OnServiceProblem, ResultCursor, ResultPoller, ResultSource
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.sends.message import Product
from pabal.settings.carriers import TEXT_PRODUCTS
from pabal.settings.relays import NhnCloudSettings
from pabal.world import World

WEBHOOK_POLL_S = 60.0
"""How often results are polled if there are webhooks: these may get lost."""
SIGNATURE_HEADER = "x-toast-webhook-signature"
MAX_VERIFICATION_BYTES = 1024
"""The longest call without a signature that is read: the console verifies an address by an undocumented call."""
RESULT_EVENT = "MESSAGE_RESULT_UPDATE"

log = logging.getLogger("pabal.nhncloud")


class _Source(ResultSource):
    """The results of one service."""

    def __init__(self, name: str, client: NhnCloudClient, path: str, is_text: bool, timeout_s: float) -> None:
        self.name = name
        self._client = client
        self._path = path
        self._is_text = is_text
        self._timeout_s = timeout_s

    @property
    def server_time(self) -> Instant | None:
        return self._client.server_time

    def is_closed_by(self, error: ErrorAnswer) -> bool:
        assert isinstance(error, ErrorResponse)
        return error_kind_of(error.code, is_text=self._is_text) is ErrorKind.ACCOUNT_CLOSED

    async def check(self, now: Instant) -> None:
        async for _ in self._pages(now - MINUTE, now, 1):
            return

    async def read(self, start: Instant, end: Instant) -> AsyncIterator[Sequence[Receipt]]:
        async for rows in self._pages(start, end + MINUTE, PAGE_SIZE):
            with expect_documented_shape():
                receipts = _receipts(rows, is_text=self._is_text)
            yield receipts

    def _pages(self, start: Instant, end: Instant, size: int) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the pages of results that were updated between two times."""
        digits = 19 if self._is_text else 16  # SMS takes seconds, the others minutes
        query = {
            "startUpdateDate": dates.format_timestamp(start, SEOUL)[:digits],
            "endUpdateDate": dates.format_timestamp(end, SEOUL)[:digits],
        }
        place = ("body", "data") if self._is_text else ("messageSearchResultResponse", "messages")
        return self._client.pages(self._path, place, query, lambda: self._timeout_s, size)


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
        self._sources = _sources(settings, sms_client, talk_client)
        self.poller = ResultPoller(
            settings.name,
            self._sources,
            cursor,
            world,
            on_problem,
            log,
            round_s=settings.poll_seconds,
            poll_s=WEBHOOK_POLL_S if settings.webhook_signature else settings.poll_seconds,
        )

    @property
    def services(self) -> list[str]:
        """The names of the services in use."""
        return [source.name for source in self._sources]

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts, inbox: Inbox | None
    ) -> None:
        """Store the results, or the opt-outs, in a webhook call.

        Raises Refused: NOT_FOUND if webhooks are not configured, UNAUTHORIZED, INVALID_JSON.
        """
        signature = self._settings.webhook_signature
        if not signature:
            raise Refused(Code.NOT_FOUND)
        given = headers.get(SIGNATURE_HEADER)
        is_signed = hmac.compare_digest((given or "").encode("utf-8", "replace"), signature.encode())
        if not is_signed and (given is not None or not _is_short(headers)):
            raise Refused(Code.UNAUTHORIZED)
        body = await read_body()
        opt_outs: list[RelayOptOut] = []
        try:
            receipts = self._parse_webhook(body, opt_outs) if is_signed else _check_verification(body)
        except (msgspec.DecodeError, RecursionError, KeyError, TypeError, ValueError, AttributeError):
            raise Refused(Code.INVALID_JSON) from None
        await self.poller.store_new(receipts, on_receipts)
        if opt_outs and inbox:
            await inbox.on_opt_outs(opt_outs)

    def _parse_webhook(self, body: bytes, opt_outs: list[RelayOptOut]) -> list[Receipt]:
        """Return the results in a webhook call, and add its opt-outs; other events, and none, are ignored."""
        event = msgspec.json.decode(body or b"{}")
        if event.get("event") not in (RESULT_EVENT, OPT_OUT_EVENT):
            return []
        app_key = str(event["appKey"])
        if not app_key or app_key not in (self._settings.sms_app_key, self._settings.talk_app_key):
            raise Refused(Code.UNAUTHORIZED)
        if event["event"] == OPT_OUT_EVENT:
            opt_outs += parse_opt_outs(list(event["hooks"]))
            return []
        hooks = list(event["hooks"])  # both services may have one app key, where the relay is another Pabal
        is_talk = app_key != self._settings.sms_app_key or any("kakaoMessageType" in each for each in hooks)
        return _receipts(hooks, is_text=not is_talk)


def _is_short(headers: Mapping[str, str]) -> bool:
    """Return whether a call without a signature may be read to see that it carries no event."""
    size = headers.get("content-length", "0")
    is_counted = "transfer-encoding" not in headers and size.isascii() and size.isdigit()
    return is_counted and int(size) <= MAX_VERIFICATION_BYTES


def _check_verification(body: bytes) -> list[Receipt]:
    """Return that a call without a signature reports nothing: the console verifies an address by such a call.

    Raises Refused(UNAUTHORIZED) if it has an event.
    """
    call = msgspec.json.decode(body or b"{}")
    if "event" in call or "hooks" in call:
        raise Refused(Code.UNAUTHORIZED)
    return []


def _receipts(rows: Sequence[Mapping[str, Any]], *, is_text: bool) -> list[Receipt]:
    """Return the final results in rows."""
    return [
        Receipt(make_reference(row["requestId"], row["recipientSeq"]), outcome, code=own_code_of(row))
        for row in rows
        if (outcome := outcome_of_row(row, is_text=is_text))
    ]


def _sources(settings: NhnCloudSettings, sms: NhnCloudClient | None, talk: NhnCloudClient | None) -> list[_Source]:
    products = settings.products
    services = (
        ("sms", sms, "/sms/v3.0/appKeys", any(product in TEXT_PRODUCTS for product in products)),
        ("alimtalk", talk, "/alimtalk/v2.3/appkeys", Product.ALIMTALK in products),
        ("brand", talk, "/brand-message/v1.0/appkeys", settings.sends_brand_messages),
        ("friendtalk", talk, "/friendtalk/v2.4/appkeys", settings.sends_compatible_friend_talk),
    )
    return [
        _Source(name, client, f"{base}/{{appkey}}/message-results", name == "sms", settings.timeout_seconds)
        for name, client, base, is_used in services
        if client and is_used
    ]


PATH = "/common/v2.2/appkeys/{{appkey}}/kakao-statistics/template-statistics/{}"
ALIMTALK, BRAND = ("ALIMTALK", "alimtalkTemplateStatistics"), ("BRANDMESSAGE", "brandmessageTemplateStatistics")
TEMPLATES_PER_PAGE = 1000
MAX_PAGES = 100
MIN_COUNTED = 11
"""Fewer have no figures (ko/common-api-guide.md: "발송 성공 건수가 10건 이하이면 … 제공하지 않습니다")."""


class ReadQuery(NamedTuple):
    """The days of a sender profile that are asked for."""

    sender_key: str
    first: date
    last: date


async def list_reads(
    client: NhnCloudClient, kind: tuple[str, str], query: ReadQuery, timeout_s: float
) -> list[TemplateReads]:
    """Return the figures of every template and day that has some.

    Raises what NhnCloudClient.request raises.
    """
    path, name = kind
    found: list[TemplateReads] = []
    for page in range(MAX_PAGES):
        answer = await client.request(
            "GET",
            PATH.format(path),
            query={
                "senderKey": query.sender_key,
                "periodType": "DAILY",
                "startDate": query.first.isoformat(),
                "endDate": query.last.isoformat(),
                "limit": TEMPLATES_PER_PAGE,
                "offset": page * TEMPLATES_PER_PAGE,
            },
            timeout_s=timeout_s,
        )
        rows: Sequence[Mapping[str, Any]] = ()
        total = 0
        with expect_documented_shape():
            rows, total = list(answer[name] or ()), int(answer["totalCount"])
            found += [_parse(row) for row in rows if _has_figures(row)]
        if not rows or (page + 1) * TEMPLATES_PER_PAGE >= total:
            break
    return found


def _has_figures(row: Mapping[str, Any]) -> bool:
    return int(row["totalSendSuccessCount"]) >= MIN_COUNTED and row["validReadCount"] is not None


def _parse(row: Mapping[str, Any]) -> TemplateReads:
    return TemplateReads(
        str(row["date"]), str(row["templateCode"]), int(row["validReadCount"]), int(row["totalClickCount"] or 0)
    )

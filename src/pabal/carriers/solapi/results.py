"""Reads the results of messages, by polling and from webhooks."""

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from pabal.carriers.base import OnReceipts, ReadBody, Receipt
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.result_poller import OnServiceProblem, ResultCursor, ResultPoller, ResultSource
from pabal.carriers.solapi.client import ListedMessage, SolapiClient, SolapiError
from pabal.carriers.solapi.codes import closes_account, is_pending, outcome_of
from pabal.carriers.solapi.lookup import read_pages, updated_between
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import MINUTE, Instant
from pabal.settings.relays import SolapiSettings
from pabal.world import World

WEBHOOK_POLL_S = 60.0
"""How often results are polled if there are webhooks: these may get lost."""
SERVICE = "messages"
SECRET_HEADER, EVENT_HEADER = "x-solapi-secret", "x-solapi-event-name"
RESULT_EVENT = "SINGLE-REPORT"

log = logging.getLogger("pabal.solapi")


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

    def __init__(
        self,
        settings: SolapiSettings,
        client: SolapiClient,
        world: World,
        cursor: ResultCursor,
        on_problem: OnServiceProblem,
    ) -> None:
        secret = settings.webhook_secret
        digest = hashlib.sha1(secret.encode(), usedforsecurity=False).hexdigest()  # Solapi's choice
        self._secrets = (digest.encode(), secret.encode()) if secret else ()
        self.poller = ResultPoller(
            settings.name,
            [_Source(client, settings.timeout_seconds)],
            cursor,
            world,
            on_problem,
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

"""A caller's server that fails at times, and a caller that reads results by cursor: both remember what they saw."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pabal.domain.sends.message import Status
from pabal.webhooks.poster import PostError, PostResult
from tests.fixtures import status_checker
from tests.fixtures.virtual import Caller

WEBHOOK_SECRET = b"s" * 32
OK = PostResult(200, b"", 5)
_FAILURES = (PostResult(500, b"", 5), PostResult(None, b"", 5, PostError.TIMEOUT, "no answer"))


@dataclass
class ReceiverLog:
    """What callers were told; it survives crashes of the service."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    """The body of each post by its id."""
    posted: Counter[str] = field(default_factory=Counter)
    """How many different posts with each event the receiver has taken."""
    listed: Counter[str] = field(default_factory=Counter)
    """How often each message was listed along the chain of cursors."""
    cursor: str | None = None
    violations: list[str] = field(default_factory=list)
    """What a post must not be; the service would take an exception for a failure of the receiver."""


class UnreliableReceiver:
    """Answers posts, some of them with a failure after it has taken them; all well in a calm run.

    One that is out of order answers all of them with a failure.
    """

    def __init__(
        self, log: ReceiverLog, folder: Path, random: Random, *, is_calm: bool, is_out_of_order: bool = False
    ) -> None:
        self._log = log
        self._folder = folder
        self._random = random
        self._is_calm = is_calm
        self._is_out_of_order = is_out_of_order

    async def post(self, url: str, account: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        post_id = headers["webhook-id"]
        if self._log.bodies.get(post_id, body) != body:
            self._log.violations.append(f"{post_id} was repeated with another body")
        items = json.loads(body)["data"]["items"]
        self._check_durable(items)
        await asyncio.sleep(self._random.random() * 0.5)
        roll = 1.0 if self._is_calm else self._random.random() * (0.2 if self._is_out_of_order else 1)
        if roll < 0.1:
            return self._random.choice(_FAILURES)
        if post_id not in self._log.bodies:
            self._log.bodies[post_id] = body
            self._log.posted.update(item["messageId"] for item in items)
        await asyncio.sleep(self._random.random() * 0.5)
        return self._random.choice(_FAILURES) if roll < 0.2 else OK

    def calm_down(self) -> None:
        """Fail no more."""
        self._is_calm = True

    async def close(self) -> None:
        """Do nothing."""

    def _check_durable(self, items: list[dict[str, Any]]) -> None:
        """Check that another connection to the store sees the end of each message."""
        connection = status_checker.connect(self._folder)
        for item in items:
            shown = "%s" if hasattr(connection, "info") else "?"
            sql = f"select status from messages where id = {shown}"
            row = connection.execute(sql, (bytes.fromhex(item["messageId"]),)).fetchone()
            if row is None or row[0] < Status.COMPLETED.number:
                self._log.violations.append(f"{item['messageId']} was announced before its end was durable")
        connection.close()


async def read_results(call: Caller, log: ReceiverLog) -> None:
    """Read what has ended since the last call; a call that fails is repeated later with the same cursor."""
    while True:
        query = {"limit": 20, **({"cursor": log.cursor} if log.cursor else {})}
        answer = await call("message/results", query=query)
        if answer.result != "SUCCESS":
            assert answer.result in ("SERVICE_UNAVAILABLE", "RATE_LIMITED"), answer.body
            return
        log.listed.update(item["messageId"] for item in answer.items)
        log.cursor = answer.item["nextCursor"]
        if not answer.items:
            return

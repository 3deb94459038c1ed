"""What callers are told while services are killed, by posts to webhooks and by cursor, compared with the store."""

import asyncio
import contextlib
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.fixtures import status_checker
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.live import run
from tests.fixtures.webhooks import TlsServer

TOLD_TIMEOUT_S = 120
"""How long nothing more may be told until what is missing counts as lost.

A post whose second try has failed, as one of a process that was paused may, is tried again after 48 to 72 s.
"""
POLL_INTERVAL_S = 0.05
CALL_TIMEOUT_S = 30
HOOK = "/hook"


def webhook_settings(port: int) -> dict[str, Any]:
    """Return the settings of a service that may post to a port of this machine."""
    return {"webhook_allow": f"acme@localhost:{port}", "webhook_tls_ca": str(AUTHORITY)}


def create_webhook(data: Path, port: int, path: str = HOOK) -> str:
    """Create a webhook of the account `acme` for the ends of messages; return its secret."""
    words = (
        "webhook",
        "create",
        f"https://localhost:{port}{path}",
        "--account",
        "acme",
        "--event",
        "message.result",
    )
    created = run(*words, data=data, **webhook_settings(port))
    assert created.returncode == 0, created.stderr
    secret: str = created.stdout.split()[-1]
    return secret


class ResultsReader:
    """A caller that reads what has ended by cursor, and repeats a call that fails; it outlives the services."""

    def __init__(self, key: str) -> None:
        self.listed: Counter[str] = Counter()
        """How often each message was listed along the chain of cursors."""
        self._key = key
        self._cursor: str | None = None

    async def keep_reading(self, base_urls: Sequence[str]) -> None:
        """Read until cancelled, from one service after the other."""
        for base_url in itertools.cycle(base_urls):
            with contextlib.suppress(httpx.TransportError):
                await self._read(base_url)
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _read(self, base_url: str) -> None:
        """Read until there is nothing more, or the service is unavailable."""
        async with httpx.AsyncClient(
            base_url=base_url, headers={"apiKey": self._key}, timeout=CALL_TIMEOUT_S
        ) as client:
            while True:
                query = {"cursor": self._cursor} if self._cursor else {}
                answer = (await client.get("/api/message/results.v1.0", params=query)).json()
                if answer["result"] != "SUCCESS":
                    assert answer["result"] in ("SERVICE_UNAVAILABLE", "RATE_LIMITED"), answer
                    return
                self.listed.update(item["messageId"] for item in answer["items"])
                self._cursor = answer["item"]["nextCursor"]
                if not answer["items"]:
                    return


class Posts:
    """What a receiver was posted, read as it comes: to read everything each time would keep it from answering."""

    def __init__(self, receiver: TlsServer) -> None:
        self._receiver = receiver
        self._read = 0
        self._bodies: dict[tuple[str, str], bytes] = {}
        self._found: dict[str, Counter[str]] = defaultdict(Counter)

    def found(self) -> dict[str, Counter[str]]:
        """Return for each path in how many different posts each message was; repeated posts must be the same."""
        new = self._receiver.requests[self._read :]
        self._read += len(new)
        for head, body in new:
            lines = head.decode().split("\r\n")
            path = lines[0].split()[1]
            post_id = next(line.split(": ")[1] for line in lines if line.lower().startswith("webhook-id:"))
            if (path, post_id) in self._bodies:
                assert self._bodies[path, post_id] == body, "a repeated post differs"
                continue
            self._bodies[path, post_id] = body
            self._found[path].update(item["messageId"] for item in json.loads(body)["data"]["items"])
        return self._found


async def wait_until_all_told(
    data: Path,
    receiver: TlsServer,
    reader: ResultsReader,
    base_urls: Sequence[str],
    paths: Sequence[str] = (HOOK,),
) -> None:
    """Wait until every end was posted to these paths and read by cursor, then check that each was told once."""
    ended = Counter(ended_messages(data))
    posts = Posts(receiver)
    reading = asyncio.create_task(reader.keep_reading(base_urls))
    with contextlib.suppress(TimeoutError):  # the checks say what is missing
        async with asyncio.timeout(TOLD_TIMEOUT_S) as limit:
            told = 0
            while not (reading.done() or _is_told(ended, posts, reader, paths)):
                before, told = told, len(reader.listed) + sum(map(len, posts.found().values()))
                if told > before:
                    limit.reschedule(asyncio.get_running_loop().time() + TOLD_TIMEOUT_S)
                await asyncio.sleep(POLL_INTERVAL_S)
    reading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await reading
    found = posts.found()
    for path in paths:
        _compare(found[path], ended, f"posted to {path}")
    _compare(reader.listed, ended, "listed")


def ended_messages(data: Path) -> list[str]:
    """Return the ids of all messages that have ended."""
    with contextlib.closing(status_checker.connect(data)) as connection:
        return [bytes(row[0]).hex() for row in connection.execute("select id from messages where status >= 2")]


def _is_told(ended: Mapping[str, int], posts: Posts, reader: ResultsReader, paths: Sequence[str]) -> bool:
    found = posts.found()
    return len(reader.listed) >= len(ended) and all(len(found[path]) >= len(ended) for path in paths)


def _compare(told: Counter[str], ended: Counter[str], words: str) -> None:
    assert not ended - told, f"{len(ended - told)} ends were not {words}"
    assert not told - ended, f"{len(told - ended)} ends were {words} twice, or before they were stored"


def count_failed_tries(data: Path) -> int:
    """Return how many tries of posts had no answer."""
    sql = "select count(*) from webhook_deliveries where status is null"
    with contextlib.closing(status_checker.connect(data)) as connection:
        row: tuple[Any, ...] = connection.execute(sql).fetchone()
        return int(row[0])

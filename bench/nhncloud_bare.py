"""How fast a small client makes the calls that messages take at NHN Cloud, with nothing behind it.

It runs in a process of its own (`python -m bench.nhncloud_bare PORT`) and writes messages a second to standard
output.
"""

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec
import uvloop

from bench.bodies import ONE_TEXT
from bench.figures import middle
from bench.fill import REQUEST_RECEIVERS
from bench.server import DoesNotWork, say
from tests.fakes.nhncloud import subprocess_server
from tests.fakes.nhncloud.channel import SENDER, SENDER_KEY, TEMPLATE, TEMPLATE_CODE

ROUNDS = 2
REQUESTS = 50
"""Of texts, and as many of Alimtalk."""
AT_ONCE = 8
PAGE = 1000
LOOK_EVERY_S = 0.5
DONE_WITHIN_S = 120.0
SEOUL_H = 9
TEXTS, TALK = "/sms/v3.0/appKeys/smsAppKey0123456", "/alimtalk/v2.3/appkeys/talkAppKey012345"
JSON = {"Content-Type": "application/json;charset=UTF-8"}


def measure() -> float:
    """Return how many messages a second it hands over and learns the results of."""
    found = []
    for _ in range(ROUNDS):
        with subprocess_server.running() as relay:
            done = subprocess.run(
                [sys.executable, "-m", "bench.nhncloud_bare", str(relay.port)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise DoesNotWork(done.stderr)
            seen = relay.stats()
        found.append(float(done.stdout))
        cpu_us = seen.cpu_s / seen.messages * 1e6
        say(f"  bare calls: {found[-1]:,.0f} messages/s, {cpu_us:.0f} µs CPU at the server")
    return middle(found)


def _text(place: int) -> dict[str, Any]:
    recipients = [
        {"recipientNo": f"010{2000 + place}{one:04}", "recipientGroupingKey": f"a{place:015x}{one:016x}"}
        for one in range(REQUEST_RECEIVERS)
    ]
    return {"body": ONE_TEXT, "sendNo": SENDER, "senderGroupingKey": f"{place:026x}", "recipientList": recipients}


def _talk(place: int) -> dict[str, Any]:
    recipients = [
        {
            "recipientNo": f"010{2000 + place}{one:04}",
            "content": TEMPLATE.replace("#{name}", f"손님{one}"),
            "resendParameter": {"isResend": False},
            "recipientGroupingKey": f"b{place:015x}{one:016x}",
        }
        for one in range(REQUEST_RECEIVERS)
    ]
    shared = {"senderKey": SENDER_KEY, "templateCode": TEMPLATE_CODE, "senderGroupingKey": f"{place:026x}"}
    return {**shared, "recipientList": recipients}


async def _run(port: int) -> float:
    made = [msgspec.json.encode(make(place)) for place in range(REQUESTS) for make in (_text, _talk)]
    turns = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:

        async def give(place: int, body: bytes) -> None:
            is_text = place % 2 == 0
            path = f"{TEXTS}/sender/sms" if is_text else f"{TALK}/raw-messages"
            async with turns:
                answer = await client.post(path, content=body, headers=JSON | _secret(is_text=is_text))
            assert msgspec.json.decode(answer.content)["header"]["isSuccessful"]

        began = time.perf_counter()
        await asyncio.gather(*(give(place, body) for place, body in enumerate(made)))
        messages = len(made) * REQUEST_RECEIVERS
        async with asyncio.timeout(DONE_WITHIN_S):
            for is_text in (True, False):
                while await _results(client, is_text=is_text) < messages // 2:  # noqa: ASYNC110 - told by nobody
                    await asyncio.sleep(LOOK_EVERY_S)
        return messages / (time.perf_counter() - began)


async def _results(client: httpx.AsyncClient, *, is_text: bool) -> int:
    """Return how many results there are, having read them all."""
    now = datetime.now(UTC) + timedelta(hours=SEOUL_H)
    spelling = "%Y-%m-%d %H:%M:%S" if is_text else "%Y-%m-%d %H:%M"
    query: dict[str, str | int] = {
        "startUpdateDate": (now - timedelta(minutes=5)).strftime(spelling),
        "endUpdateDate": (now + timedelta(minutes=1)).strftime(spelling),
        "pageSize": PAGE,
    }
    count, number = 0, 1
    while True:
        path = f"{TEXTS if is_text else TALK}/message-results"
        answer = await client.get(path, params=query | {"pageNum": number}, headers=_secret(is_text=is_text))
        said = msgspec.json.decode(answer.content)
        rows = said["body"]["data"] if is_text else said["messages"]
        count += len(rows)
        if len(rows) < PAGE:
            return count
        number += 1


def _secret(*, is_text: bool) -> dict[str, str]:
    return {"X-Secret-Key": "smsSecret" if is_text else "talkSecret"}


if __name__ == "__main__":
    sys.stdout.write(str(uvloop.run(_run(int(sys.argv[1])))))

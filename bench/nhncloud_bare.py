"""How fast a minimal client makes the NHN Cloud calls that messages need.

It runs as a separate process (`python -m bench.nhncloud_bare PORT`) and writes messages per second to standard
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
from bench.figures import median_of
from bench.fill import REQUEST_RECEIVERS
from bench.server import BenchmarkFailed, report_progress
from tests.fakes.nhncloud import subprocess_server
from tests.fakes.nhncloud.channel import SENDER, SENDER_KEY, TEMPLATE, TEMPLATE_CODE

ROUNDS = 2
REQUESTS = 50
"""Requests of texts, and as many of Alimtalk."""
MAX_PARALLEL_CALLS = 8
PAGE_SIZE = 1000
POLL_INTERVAL_S = 0.5
RESULTS_TIMEOUT_S = 120.0
SEOUL_UTC_OFFSET_H = 9
TEXTS, TALK = "/sms/v3.0/appKeys/smsAppKey0123456", "/alimtalk/v2.3/appkeys/talkAppKey012345"
JSON = {"Content-Type": "application/json;charset=UTF-8"}


def measure() -> float:
    """Return how many messages per second are submitted and have their results fetched."""
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
                raise BenchmarkFailed(done.stderr)
            seen = relay.stats()
        found.append(float(done.stdout))
        cpu_us = seen.cpu_s / seen.messages * 1e6
        report_progress(f"  bare calls: {found[-1]:,.0f} messages/s, {cpu_us:.0f} µs CPU at the server")
    return median_of(found)


def _text_body(number: int) -> dict[str, Any]:
    recipients = [
        {"recipientNo": f"010{2000 + number}{one:04}", "recipientGroupingKey": f"a{number:015x}{one:016x}"}
        for one in range(REQUEST_RECEIVERS)
    ]
    return {"body": ONE_TEXT, "sendNo": SENDER, "senderGroupingKey": f"{number:026x}", "recipientList": recipients}


def _alimtalk_body(number: int) -> dict[str, Any]:
    recipients = [
        {
            "recipientNo": f"010{2000 + number}{one:04}",
            "content": TEMPLATE.replace("#{name}", f"손님{one}"),
            "resendParameter": {"isResend": False},
            "recipientGroupingKey": f"b{number:015x}{one:016x}",
        }
        for one in range(REQUEST_RECEIVERS)
    ]
    shared = {"senderKey": SENDER_KEY, "templateCode": TEMPLATE_CODE, "senderGroupingKey": f"{number:026x}"}
    return {**shared, "recipientList": recipients}


async def _run(port: int) -> float:
    made = [
        msgspec.json.encode(make(number)) for number in range(REQUESTS) for make in (_text_body, _alimtalk_body)
    ]
    turns = asyncio.Semaphore(MAX_PARALLEL_CALLS)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:

        async def give(number: int, body: bytes) -> None:
            is_text = number % 2 == 0
            path = f"{TEXTS}/sender/sms" if is_text else f"{TALK}/raw-messages"
            async with turns:
                answer = await client.post(path, content=body, headers=JSON | _secret_header(is_text=is_text))
            assert msgspec.json.decode(answer.content)["header"]["isSuccessful"]

        began = time.perf_counter()
        await asyncio.gather(*(give(number, body) for number, body in enumerate(made)))
        messages = len(made) * REQUEST_RECEIVERS
        async with asyncio.timeout(RESULTS_TIMEOUT_S):
            for is_text in (True, False):
                while await _count_results(client, is_text=is_text) < messages // 2:  # noqa: ASYNC110 - no event to await
                    await asyncio.sleep(POLL_INTERVAL_S)
        return messages / (time.perf_counter() - began)


async def _count_results(client: httpx.AsyncClient, *, is_text: bool) -> int:
    """Fetch all results and return their number."""
    now = datetime.now(UTC) + timedelta(hours=SEOUL_UTC_OFFSET_H)
    spelling = "%Y-%m-%d %H:%M:%S" if is_text else "%Y-%m-%d %H:%M"
    query: dict[str, str | int] = {
        "startUpdateDate": (now - timedelta(minutes=5)).strftime(spelling),
        "endUpdateDate": (now + timedelta(minutes=1)).strftime(spelling),
        "pageSize": PAGE_SIZE,
    }
    count, number = 0, 1
    while True:
        path = f"{TEXTS if is_text else TALK}/message-results"
        answer = await client.get(path, params=query | {"pageNum": number}, headers=_secret_header(is_text=is_text))
        content = msgspec.json.decode(answer.content)
        rows = content["body"]["data"] if is_text else content["messages"]
        count += len(rows)
        if len(rows) < PAGE_SIZE:
            return count
        number += 1


def _secret_header(*, is_text: bool) -> dict[str, str]:
    return {"X-Secret-Key": "smsSecret" if is_text else "talkSecret"}


if __name__ == "__main__":
    sys.stdout.write(str(uvloop.run(_run(int(sys.argv[1])))))

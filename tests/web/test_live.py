"""The real process over real HTTP: start message, every endpoint, graceful stop, and refusals to start."""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.engines import sqlite_only
from tests.fixtures.live import LiveService, run, serving, wait_until
from tests.fixtures.web import (
    PHONE,
    receivers_of,
    sms_body,
)

pytestmark = pytest.mark.slow
BUSY_AT_FIRST = "010-0000-0005"
"""It takes seconds to be reached: what is sent to it is surely under way when the service stops."""
RECEIVERS = [*[PHONE] * 24, BUSY_AT_FIRST]
ENOUGH = 25


def _call(client: httpx.Client, operation: str, body: Any = None, **query: Any) -> Any:
    """Call an operation, expect SUCCESS, and return the answer."""
    path = f"/api/{operation}.v1.0"
    method = next(endpoint.method for endpoint in ENDPOINTS if endpoint.path == path)
    answer = client.request(method, path, json=body, params=query)
    said = answer.json()
    assert (answer.status_code, said["result"]) == (200, "SUCCESS"), said
    return said


def _run_as_printed(line: str) -> Any:
    if shutil.which("curl"):
        done = subprocess.run(line, shell=True, capture_output=True, check=True, timeout=30)  # noqa: S602 - as printed
        return json.loads(done.stdout)
    words = shlex.split(line)
    url = next(word for word in words if word.startswith("http"))
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    if "-d" not in words:
        return httpx.get(url, headers=headers).json()
    return httpx.post(url, headers=headers, content=words[words.index("-d") + 1].encode()).json()


def test_commands_printed_at_start_work_exactly_as_printed(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as live:
        send, look_up, look_at_phone = live.example_commands

        sent = _run_as_printed(send)
        listed = wait_until(
            lambda: _run_as_printed(look_up), lambda seen: seen["items"][0]["sendingStatus"]["value"] == "completed"
        )
        on_phone = _run_as_printed(look_at_phone)

        assert sent["result"] == "SUCCESS"
        assert listed["items"][0]["requestId"] == sent["item"]["requestId"]
        assert listed["items"][0]["content"] == "홍길동님, 파발입니다."
        assert on_phone["items"][0]["content"] == "홍길동님, 파발입니다."
        assert live.stop() == 0
    with serving(tmp_path / "data") as again:
        assert "apiKey" not in again.greeting
        assert again.example_commands == []


@sqlite_only
def test_first_start_prints_a_user_who_can_sign_in_unless_one_exists(tmp_path: Path) -> None:
    run("user", "create", "admin", "--role", "operator", data=tmp_path / "known")
    with serving(tmp_path / "new") as live, serving(tmp_path / "known") as known:
        (password,) = re.findall(r"password  +(\S+)", live.greeting)
        with httpx.Client(base_url=live.base_url, timeout=30) as client:
            (secret, *_) = re.findall(r'name="csrf" value="(\w+)"', client.get("/console/login").text)
            fields = {"csrf": secret, "name": "admin", "password": password}
            signed_in = client.post("/console/login", data=fields)

        assert signed_in.status_code == 303
        assert "pabal_session" in signed_in.cookies
        assert known.key
        assert "password" not in known.greeting


@sqlite_only
def test_start_without_a_first_account_prints_the_commands_that_make_one(tmp_path: Path) -> None:
    with serving(tmp_path / "data", first_account=False) as live:
        printed = re.findall(r"^  \S+ (key create .+|user create .+)$", live.greeting, re.MULTILINE)
        for words in printed:
            assert run(*shlex.split(words.partition(" --data")[0]), data=live.data).returncode == 0

        assert [each.split()[0] for each in printed] == ["key", "user"]
        assert not re.search(r"pb_|password", live.greeting)
    with serving(tmp_path / "data", first_account=False) as again:
        assert "no account" not in again.greeting


def test_answer_of_the_api_to_head_has_no_body_and_names_no_server(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as live, live.client() as client:
        head = client.head("/api/message/sendSMS.v1.0")

        assert (head.status_code, head.content) == (405, b"")
        assert "server" not in head.headers


@pytest.mark.first_case
def test_stop_during_sends_loses_nothing_and_next_start_sends_the_rest(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, key_rate=0) as live:
        key = live.key
        answered = asyncio.run(_send_until_stopped(live))
        status = live.process.wait(60)
        log = live.log.read_text(encoding="utf-8")
    with serving(data) as again, again.client(key) as client:

        def unfinished() -> list[str]:
            items = [_call(client, "message/request", requestId=each)["item"] for each in answered]
            return [item["requestId"] for item in items if item["counts"]["completed"] != len(RECEIVERS)]

        left = unfinished()
        wait_until(unfinished, lambda seen: not seen)
        held = [_call(client, "simulator/phone", phoneNumber=each)["totalCount"] for each in (PHONE, BUSY_AT_FIRST)]
        assert again.stop() == 0

    assert status == 0
    assert '"error"' not in log
    assert len(answered) >= ENOUGH
    assert left
    assert held[0] == 24 * held[1]
    assert held[1] >= len(answered)


async def _send_until_stopped(live: LiveService) -> list[str]:
    """Send from several clients at once, stop the service midway, and return the answers."""
    answered: list[str] = []
    refused: list[str] = []

    async def keep_sending(client: httpx.AsyncClient) -> None:
        body = sms_body(receivers=receivers_of(*RECEIVERS))
        while not refused:
            try:
                said = (await client.post("/api/message/sendSMS.v1.0", json=body)).json()
            except httpx.TransportError as gone:
                refused.append(type(gone).__name__)
                return
            if said["result"] == "SUCCESS":
                answered.append(said["item"]["requestId"])
            else:
                assert said["result"] == "SERVICE_UNAVAILABLE", said
                refused.append(said["result"])
            if len(answered) == ENOUGH:
                live.process.terminate()

    headers = {"apiKey": live.key}
    async with httpx.AsyncClient(base_url=live.base_url, headers=headers, timeout=30) as client:
        await asyncio.gather(*(keep_sending(client) for _ in range(6)))
    return answered

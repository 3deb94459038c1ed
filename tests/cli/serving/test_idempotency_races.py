"""One Idempotency-Key sent to several processes at once: one request is accepted, whatever the others carry."""

import asyncio
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.fixtures import postgres
from tests.fixtures.live import LiveService, serving
from tests.fixtures.processes import free_ports

pytestmark = pytest.mark.slow

ROUNDS = 100 if os.environ.get("PABAL_TORTURE") else 2
SAME, OTHER, LARGE = "같은 글", "다른 글", "많은 수신자"
LARGE_RECEIVERS = 300
SENDS = re.compile(r'^pabal_http_requests_total\{path="/api/message/send[SL]MS\.v1\.0",result="\w+"\} (\S+)$', re.M)


class Answer(NamedTuple):
    """What one of several equal keys got: the path and text it came with, and the answer."""

    path: str
    text: str
    result: str
    request_id: str


def _body(text: str) -> bytes:
    count = LARGE_RECEIVERS if text == LARGE else 1
    receivers = [{"phoneNumber": f"0101234{number:04}"} for number in range(count)]
    return json.dumps({"content": text, "sender": "02-1234-5678", "receivers": receivers}).encode()


async def _send(live: LiveService, key: str, path: str, text: str) -> Answer:
    """Send over a connection of its own, so that any of the processes may answer."""
    headers = {"apiKey": live.key, "Idempotency-Key": key, "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=live.base_url, headers=headers, timeout=60) as client:
        said: Any = (await client.post(f"/api/message/{path}.v1.0", content=_body(text))).json()
    if said["result"] != "SUCCESS":
        assert [each["field"] for each in said["errors"]] == ["Idempotency-Key"], said
    return Answer(path, text, said["result"], said.get("item", {}).get("requestId", ""))


async def _race(live: LiveService, key: str, *texts: str) -> list[Answer]:
    """Send one key with these texts at once, the last of them also at another endpoint if there are several."""
    calls = [("sendSMS", text) for text in texts]
    if len(set(texts)) > 1:
        calls.append(("sendLMS", texts[-1]))
    return list(await asyncio.gather(*(_send(live, key, path, text) for path, text in calls)))


def _check_race(answers: list[Answer]) -> Answer:
    """Check that one request was accepted, equal ones got its answer, and others were refused; return the first."""
    accepted = [each for each in answers if each.result == "SUCCESS"]
    assert len({each.request_id for each in accepted}) == 1, answers
    winner = accepted[0]
    for each in answers:
        is_equal = (each.path, each.text) == (winner.path, winner.text)
        assert each.result == ("SUCCESS" if is_equal else "DUPLICATE"), answers
    return winner


def _count_sends(port: int) -> float:
    shown = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    return sum(float(each) for each in SENDS.findall(shown))


@pytest.mark.first_case
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_one_key_at_several_processes_is_accepted_once(tmp_path: Path, engine: str) -> None:
    ports = free_ports(3)
    settings: dict[str, Any] = {"work_port": ports, "key_rate": 0}
    if engine == "postgresql":
        settings["store"] = postgres.empty_database()

    async def race_all(live: LiveService) -> list[Answer]:
        winners: list[Answer] = []
        for number in range(ROUNDS):
            winners.append(_check_race(await _race(live, f"equal {number}", *[SAME] * 6)))
            winners.append(_check_race(await _race(live, f"mixed {number}", *[SAME, OTHER] * 3)))
            winners.append(_check_race(await _race(live, f"large {number}", *[LARGE, SAME] * 2)))
        again = [await _send(live, "equal 0", "sendSMS", SAME), await _send(live, "equal 0", "sendSMS", OTHER)]
        assert [each.result for each in again] == ["SUCCESS", "DUPLICATE"]
        assert again[0].request_id == winners[0].request_id
        return winners

    with serving(tmp_path / "data", "--processes", "3", **settings) as live:
        winners = asyncio.run(race_all(live))
        sends = [_count_sends(ports + number) for number in range(3)]
        with live.client() as client:
            stored = Counter(_count_receivers(client, each.request_id) for each in winners)
            listed = [_list_requests(client, number) for number in (0, LARGE_RECEIVERS - 1)]

    assert len({each.request_id for each in winners}) == 3 * ROUNDS
    assert stored == Counter(LARGE_RECEIVERS if each.text == LARGE else 1 for each in winners)
    assert listed == [
        {each.request_id for each in winners},
        {each.request_id for each in winners if each.text == LARGE},
    ], "and no other"
    assert sum(count > 0 for count in sends) >= 2, "several processes have answered"


def _count_receivers(client: httpx.Client, request_id: str) -> int:
    said = client.get("/api/message/request.v1.0", params={"requestId": request_id}).json()
    return int(said["item"]["totalCount"])


def _list_requests(client: httpx.Client, number: int) -> set[str]:
    """Return the requests that have a message to one of the receivers."""
    wanted = {"receivers": f"0101234{number:04}", "pageSize": 1000}
    return {each["requestId"] for each in client.post("/api/message/list.v1.0", json=wanted).json()["items"]}

"""An SMSC that is killed repeatedly under load: no message is lost, and few or none are sent twice."""

import asyncio
import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw
import httpx
import pytest

from pabal.domain.sends.message import Status
from tests.fakes.smsc.peer import Peer, PeerEvent, running_peer
from tests.fixtures.live import LiveService
from tests.fixtures.smpp_live import SENDER, serve_with_smsc, wait_until

KILLS = 6 if os.environ.get("PABAL_TORTURE") else 1
WINDOW = 50
CLIENTS = 4
SINGLES = 75
"""How many one-receiver sends each client makes for every kill."""
CAMPAIGN = 1000
MAX_ANSWERS_BEFORE_KILL = 800
MAX_RESENDS = KILLS
"""A message may be in flight at every crash; with fewer resends it would be held in the end."""
UNANSWERED = WINDOW // 2
"""How many submits at least have no response when the SMSC is killed."""

Phones = Iterator[str]


class CarrierBehavior(NamedTuple):
    """How messages in doubt are treated, and whether receipts name their message."""

    on_doubt: str
    echoes_reference: bool


class DeliveryResult(NamedTuple):
    """What the service stored and what the SMSC accepted, by receiver; no two messages share a receiver."""

    statuses: dict[int, Status]
    submitted_per_run: list[list[int]]
    in_doubt: int

    @property
    def submit_counts(self) -> Counter[int]:
        return Counter(itertools.chain.from_iterable(self.submitted_per_run))

    def receivers_with(self, status: Status) -> set[int]:
        return {receiver for receiver, each in self.statuses.items() if each is status}


@pytest.mark.torture
@pytest.mark.slow
def test_unanswered_messages_are_resent_when_smsc_crashes(tmp_path: Path) -> None:
    seen = _run_with_crashes(tmp_path, CarrierBehavior("resend", echoes_reference=False))

    assert seen.receivers_with(Status.COMPLETED) == set(seen.statuses) == set(seen.submit_counts)
    assert 0 < seen.in_doubt <= WINDOW * KILLS
    assert all(len(set(run)) == len(run) for run in seen.submitted_per_run), (
        "no message is submitted twice on one connection"
    )
    twice = {receiver for receiver, times in seen.submit_counts.items() if times > 1}
    assert twice <= _last_before_crash(seen.submitted_per_run), "only messages in flight are sent twice"


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("is_echoed", [False, True])
def test_held_messages_are_never_sent_twice_when_smsc_crashes(tmp_path: Path, is_echoed: bool) -> None:
    seen = _run_with_crashes(tmp_path, CarrierBehavior("hold", is_echoed))

    held = seen.receivers_with(Status.SENDING)
    assert set(seen.submit_counts.values()) == {1}
    assert seen.receivers_with(Status.COMPLETED) | held == set(seen.statuses)
    assert seen.receivers_with(Status.COMPLETED) <= set(seen.submit_counts)
    assert 0 < seen.in_doubt <= WINDOW * KILLS
    if is_echoed:
        assert not held & set(seen.submit_counts), "a receipt that names its message ends the doubt"
    else:
        assert len(held) == seen.in_doubt
        assert held & set(seen.submit_counts) <= _last_before_crash(seen.submitted_per_run)


def _last_before_crash(runs: list[list[int]]) -> set[int]:
    """Return the receivers whose submits may lack a response: the last of each run, since they come in order."""
    return {receiver for run in runs[:-1] for receiver in run[-WINDOW:]}


def _run_with_crashes(folder: Path, behavior: CarrierBehavior) -> DeliveryResult:
    """Run a load while the SMSC is killed and restarted, and return the result."""
    log = folder / "smsc.log"
    rng = Random(7)
    answers = [rng.randint(1, MAX_ANSWERS_BEFORE_KILL) for _ in range(KILLS)]
    with (
        running_peer(log=str(log), echo_reference=behavior.echoes_reference, silent_after=answers[0]) as peer,
        serve_with_smsc(peer, folder, window=WINDOW, on_doubt=behavior.on_doubt, max_resends=MAX_RESENDS) as live,
    ):
        sent = asyncio.run(_send_during_crashes(live, peer, answers))
        wait_until(lambda: count_unsent(live), 0)
        wait_for_all_receipts(peer, log)
        in_doubt = _count_unknown(live)
        assert live.stop() == 0
    status = statuses(folder / "data" / "pabal.db")
    assert len(status) == sent, "every accepted message is stored"
    return DeliveryResult(status, _submitted_per_run(log), in_doubt)


async def _send_during_crashes(live: LiveService, peer: Peer, answers: list[int]) -> int:
    """Kill the SMSC after so many answers of each of its runs; return how many messages were sent."""
    phones = (f"010-{number // 10_000:04}-{number % 10_000:04}" for number in itertools.count(20_000_000))
    headers = {"apiKey": live.key}
    async with httpx.AsyncClient(base_url=live.base_url, headers=headers, timeout=30) as client:
        submits = 0
        for answered, answered_next in zip(answers, [*answers[1:], None], strict=True):
            async with asyncio.TaskGroup() as group:
                group.create_task(_send(client, phones, CAMPAIGN))
                for _ in range(CLIENTS):
                    group.create_task(_keep_sending(client, phones))
                enough = submits + answered + UNANSWERED
                killed = group.create_task(asyncio.to_thread(_kill_and_restart, peer, enough, answered_next))
            submits = killed.result()
    return KILLS * (CAMPAIGN + CLIENTS * SINGLES)


async def _keep_sending(client: httpx.AsyncClient, phones: Phones) -> None:
    for _ in range(SINGLES):
        await _send(client, phones, 1)


async def _send(client: httpx.AsyncClient, phones: Phones, count: int) -> None:
    receivers = [{"phoneNumber": phone} for phone in itertools.islice(phones, count)]
    body = {"content": "파발이 달립니다", "sender": SENDER, "receivers": receivers}
    answer = (await client.post("/api/message/sendSMS.v1.0", json=body)).json()
    assert answer["result"] == "SUCCESS", answer


def _kill_and_restart(peer: Peer, enough: int, silent_after: int | None) -> int:
    """Kill the SMSC once it has seen `enough` submits; return how many it had seen."""
    peer.wait_for_many("submit_sm", enough)
    peer.kill()
    seen = len(peer.events("submit_sm"))
    peer.start(silent_after=silent_after)
    return seen


def count_unsent(live: LiveService) -> float:
    """Return how many messages wait or are in flight, according to the service's metrics."""
    depths = _read_metric(live, r"pabal_queue_jobs\{carrier=\"telco\",lane=\"(?:small|campaign)\"\}")
    assert len(depths) == 2, depths
    return sum(depths)


def _count_unknown(live: LiveService) -> int:
    """Return how often the service did not know whether the SMSC had accepted a message."""
    return int(sum(_read_metric(live, r"pabal_carrier_verdicts_total\{carrier=\"telco\",verdict=\"unknown\"\}")))


def _read_metric(live: LiveService, name: str) -> list[float]:
    page = httpx.get(f"{live.base_url}/metrics").text
    return [float(value) for value in re.findall(rf"^{name} (\S+)$", page, re.MULTILINE)]


def wait_for_all_receipts(peer: Peer, log: Path) -> None:
    """Return once the service has acknowledged a receipt for every message that the SMSC accepted."""
    unacknowledged = {event["message_id"] for event in read_smsc_log(log) if event["event"] == "submit_sm"}

    def is_last(event: PeerEvent) -> bool:
        if event["event"] == "deliver_sm_resp" and event["status"] == 0:
            unacknowledged.discard(event["message_id"])
        return not unacknowledged

    peer.wait_for(is_last)


def statuses(path: Path) -> dict[int, Status]:
    """Return the stored status of each receiver's message."""
    by_number = {status.number: status for status in Status}
    connection = apsw.Connection(str(path))
    rows: list[Any] = connection.execute("select receiver, status from messages").fetchall()
    connection.close()
    return {receiver: by_number[status] for receiver, status in rows}


def read_smsc_log(log: Path) -> list[PeerEvent]:
    """Return every event of the SMSC; it writes its log before it responds, so a kill loses none."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def _submitted_per_run(log: Path) -> list[list[int]]:
    """Return the receivers of accepted messages, in order, for each run of the SMSC."""
    runs: list[list[int]] = []
    for event in read_smsc_log(log):
        if event["event"] == "listening":
            runs.append([])
        if event["event"] == "submit_sm":
            runs[-1].append(int(event["destination"]))
    assert len(runs) == KILLS + 1
    return runs

"""The service, killed during calls to a relay that loses answers: no message is lost, duplicated or stuck."""

import asyncio
import itertools
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pabal.domain.sends.message import Status
from pabal.settings.settings import load
from pabal.store.open_store import open_store
from pabal.world import RealWorld
from tests.crash.clients import wait_until_idle
from tests.fakes.nhncloud import channel, subprocess_server
from tests.fakes.nhncloud.subprocess_server import ServerProcess, ServerStats
from tests.fixtures import status_checker
from tests.fixtures.live import prepare_store, serving

KILLS = 6 if os.environ.get("PABAL_TORTURE") else 2
CAMPAIGNS, CAMPAIGN = 3, 400
SINGLES = 30
MESSAGES_PER_RUN = 2 * (CAMPAIGNS * CAMPAIGN + SINGLES)
"""How many messages are sent before each kill, half of them texts."""
SENDS_BEFORE_KILL = 700
ACCOUNT = "acme"
SLOW_S = 3.0
TIMEOUT_S = 4
END_TIMEOUT_S = 300.0
SENDS = ("/sender/sms", "/raw-messages")
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "lose answer", "passed": 2},
    {"kind": "slow", "passed": 1, "seconds": SLOW_S},
    {"kind": "system error accepted", "passed": 3},
    {"kind": "lose request", "passed": 4},
)

Phones = Iterator[str]


@pytest.mark.torture
@pytest.mark.slow
@pytest.mark.parametrize(
    "has_webhooks",
    [pytest.param(False, id="polling"), pytest.param(True, id="webhooks", marks=pytest.mark.torture)],
)
def test_nothing_is_lost_or_duplicated_when_killed_during_relay_calls(tmp_path: Path, has_webhooks: bool) -> None:
    data, config = tmp_path / "data", tmp_path / "pabal.toml"
    signature = "a signature nobody guesses"
    key = prepare_store(data)
    asyncio.run(open_channel(data))
    phones = (f"010-{number // 10_000:04}-{number % 10_000:04}" for number in itertools.count(20_000_000))
    sent: list[str] = []

    with subprocess_server.running() as relay:
        times = {"poll_seconds": 1, "timeout_seconds": TIMEOUT_S, "lookup_after_seconds": TIMEOUT_S + 1}
        options = {"webhook_signature": signature} if has_webhooks else {}
        config.write_text(f"check_sender_numbers = false\n{relay.settings(**times, **options)}", "utf-8")
        for _ in range(KILLS):
            with serving(data, config=config, key_rate=0) as live:
                if has_webhooks:
                    relay.stats(webhook=(f"{live.base_url}/hooks/{subprocess_server.RELAY}", signature))
                _inject_faults(relay)
                before = relay.stats().messages
                sent += asyncio.run(send_all(live.base_url, key, phones))
                relay.wait_until_accepted(before + SENDS_BEFORE_KILL)
                live.process.kill()
                live.process.wait()
        with serving(data, config=config, key_rate=0) as live:
            if has_webhooks:
                relay.stats(webhook=(f"{live.base_url}/hooks/{subprocess_server.RELAY}", signature))
            asyncio.run(wait_until_all_ended(live.base_url))
            assert live.stop() == 0
        seen = relay.stats(includes_keys=True)

    in_doubt = check_results(data, sent, KILLS * MESSAGES_PER_RUN, seen)
    assert len(sent) == KILLS * 2 * (CAMPAIGNS + SINGLES)
    kinds = len(FAULTS) * len(SENDS)
    assert all(sum(seen.fault_counts[kind::kinds]) for kind in range(kinds)), "every fault was injected"
    assert len(in_doubt) > CAMPAIGN, "all messages of a call were in doubt"


def _inject_faults(relay: ServerProcess) -> None:
    relay.stats(faults=[{**fault, "on": path} for fault in FAULTS for path in SENDS])


async def open_channel(data: Path) -> None:
    """Add the channel of the fake relays to the account."""
    world = RealWorld()
    store = open_store(load({}, None, data=data), world)
    await store.write(channel.add_to_store, ACCOUNT, world.now())
    await store.close()


async def send_all(
    base: str, key: str, phones: Phones, campaigns: int = CAMPAIGNS, singles: int = SINGLES
) -> list[str]:
    """Send campaigns and single messages, as texts and as Alimtalk, all at once; return the requests' ids."""
    async with httpx.AsyncClient(base_url=base, headers={"apiKey": key}, timeout=60) as client:
        sizes = [CAMPAIGN] * campaigns + [1] * singles
        return await asyncio.gather(
            *(send(client, [*itertools.islice(phones, count)]) for count in sizes for send in (_text, _talk))
        )


async def _text(client: httpx.AsyncClient, phones: list[str]) -> str:
    receivers = [{"phoneNumber": phone} for phone in phones]
    body = {"content": "파발이 달립니다", "sender": channel.SENDER, "receivers": receivers}
    return await _accepted(client, "sendSMS", body)


async def _talk(client: httpx.AsyncClient, phones: list[str]) -> str:
    receivers = [{"phoneNumber": phone, "templateData": {"name": phone[-4:]}} for phone in phones]
    body = {"senderKey": channel.SENDER_KEY, "templateCode": channel.TEMPLATE_CODE, "receivers": receivers}
    return await _accepted(client, "sendAlimtalk", body)


async def _accepted(client: httpx.AsyncClient, operation: str, body: dict[str, Any]) -> str:
    answer = (await client.post(f"/api/message/{operation}.v1.0", json=body)).json()
    assert answer["result"] == "SUCCESS", answer
    return str(answer["item"]["requestId"])


async def wait_until_all_ended(base: str) -> None:
    """Wait until no message is on its way."""
    async with asyncio.timeout(END_TIMEOUT_S):
        await wait_until_idle(base)


def check_results(data: Path, sent: Collection[str], messages: int, seen: ServerStats) -> set[str]:
    """Check that each message of the sent requests was received and completed once; return which were in doubt."""
    statuses, completions, in_doubt = read_results(data)
    assert {message_id[:26] for message_id in statuses} == set(sent), "every accepted request is stored"
    assert len(statuses) == messages
    assert seen.duplicates == {}
    assert set(seen.keys or ()) == set(statuses), "the relay received each message"
    assert set(statuses.values()) == {Status.COMPLETED.number}
    assert set(completions.values()) == {1}, "no message completed twice"
    return in_doubt


def read_results(data: Path) -> tuple[dict[str, int], Counter[str], set[str]]:
    """Return each message's status by id, how often each completed, and which were in doubt."""
    connection = status_checker.connect(data)
    rows = connection.execute("select id, status from messages").fetchall()
    completed = connection.execute("select id from status_changes where after > 1").fetchall()
    in_doubt = connection.execute("select distinct message_id from attempts where verdict = 'unknown'").fetchall()
    connection.close()
    return (
        {bytes(message_id).hex(): status for message_id, status in rows},
        Counter(bytes(message_id).hex() for (message_id,) in completed),
        {bytes(message_id).hex() for (message_id,) in in_doubt},
    )

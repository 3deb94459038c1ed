"""Several processes share the rate of a carrier, and small sends go before campaigns."""

import dataclasses
from pathlib import Path

import pytest

from pabal.domain.base import identifiers
from pabal.service.delivery.carrier.flow_control import MAX_BACKLOG_S
from pabal.service.delivery.carrier.rate_shares import RECLAIM_S
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.settings.settings import Settings
from pabal.store.queue.queue import CAMPAIGN_SHARE
from tests.carriers.pace_fixture import accepted_messages, max_within
from tests.fixtures.campaigns import phones
from tests.fixtures.cluster import Process, open_cluster
from tests.fixtures.service import DEFAULT_CARRIER, message_id_of, sms
from tests.fixtures.slot_sharing import REBALANCE_S, SLOTS, leave_slot
from tests.fixtures.virtual import settings_for

pytestmark = pytest.mark.slow

RATE, SMALL_RATE = 50, 16
"""Messages a second that the carrier takes, and how many of them are small sends."""
ROUND_S = MAX_BACKLOG_S * CAMPAIGN_SHARE / (CAMPAIGN_SHARE - 1)
"""What a round of claims takes of the rate for campaigns: with each small send, and when it is their turn."""
MAX_WAIT_S = (MAX_BACKLOG_S + MAX_BACKLOG_S / CAMPAIGN_SHARE + ROUND_S) / (1 - SMALL_RATE / RATE)
"""What the carrier has, the claim under way and a round, during which more small sends come: 1.9 s."""


def settings_with_rate(folder: Path, rate: int) -> Settings:
    """Return settings whose simulator accepts this many messages a second."""
    carriers: dict[str, CarrierSettings] = {DEFAULT_CARRIER: SimulatorSettings(name=DEFAULT_CARRIER, rate=rate)}
    return dataclasses.replace(settings_for(folder, max_receivers=100_000), carriers=carriers)


async def send_in_every_slot(process: Process, count: int) -> set[bytes]:
    """Send campaigns of `count` messages until each slot has one; return the ids of the requests."""
    slot_by_request: dict[bytes, int] = {}
    while len(set(slot_by_request.values())) < SLOTS:
        request_id = await process.env.send(sms(*phones(count)))
        slot_by_request[request_id] = identifiers.slot_of(request_id)
        await leave_slot(process)
    return set(slot_by_request)


@pytest.mark.parametrize("rate", [30, pytest.param(400, marks=pytest.mark.torture)])
async def test_processes_together_keep_to_the_rate_while_some_start_stop_and_die(tmp_path: Path, rate: int) -> None:
    async with open_cluster(tmp_path, settings=settings_with_rate(tmp_path, rate)) as cluster:
        one = await cluster.start_process("one")
        await send_in_every_slot(one, 3 * rate)
        await cluster.wait(4)
        two = await cluster.start_process("two")
        await cluster.wait(2.5)
        three = await cluster.start_process("three")
        await cluster.wait(5)
        await two.leave()
        await cluster.wait(4)
        four = await cluster.start_process("four")
        await cluster.wait(3)
        await one.die()
        await cluster.wait(9)
        await four.leave()
        await cluster.wait(3)

        times = [at for at, _ in await accepted_messages(cluster.store)]
        assert three.held == tuple(range(SLOTS))
        assert max_within([(at, 1) for at in times], 10.0) <= 1.02 * 10 * rate
        assert max_within([(at, 1) for at in times], 1.0) <= 1.1 * rate + 1
        assert len(times) >= 0.8 * 30 * rate  # the share of a dead process is unused until its eviction


async def test_a_single_process_uses_the_whole_rate_from_its_first_heartbeat(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, settings=settings_with_rate(tmp_path, 50)) as cluster:
        one = await cluster.start_process("one")
        await send_in_every_slot(one, 25)
        await cluster.wait(5)

        times = [
            at for at, _ in await accepted_messages(cluster.store) if at < 5
        ]  # on Citus, sending takes time too
        assert 0.94 * 50 * 5 <= len(times) <= 50 * 5 + 5


@pytest.mark.parametrize("number", [2, pytest.param(4, marks=pytest.mark.torture)])
async def test_one_large_request_gets_most_of_the_rate_that_others_do_not_use(tmp_path: Path, number: int) -> None:
    async with open_cluster(tmp_path, settings=settings_with_rate(tmp_path, RATE)) as cluster:
        processes = [await cluster.start_process(f"host:{each}") for each in range(number)]
        await cluster.wait(REBALANCE_S)
        began = cluster.world.monotonic()
        await processes[0].env.send(sms(*phones(RATE * 30)))
        await cluster.wait(25)

        times = [at for at, _ in await accepted_messages(cluster.store)]
        later = [at for at in times if began + 5 <= at < began + 25]
        assert len(later) >= 0.78 * RATE * 20
        assert max_within([(at, 1) for at in times], 10.0) <= 1.02 * 10 * RATE
        assert max_within([(at, 1) for at in times], 1.0) <= 1.1 * RATE + 1


async def test_who_has_lent_sends_at_once_and_soon_at_the_whole_share_again(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, settings=settings_with_rate(tmp_path, RATE)) as cluster:
        processes = [await cluster.start_process(f"host:{each}") for each in range(2)]
        await cluster.wait(REBALANCE_S)
        await processes[0].env.send(sms(*phones(RATE * 60)))
        await cluster.wait(10)
        asked = cluster.world.monotonic()
        small = await send_in_every_slot(processes[0], 1)
        await cluster.wait(RECLAIM_S)
        await send_in_every_slot(processes[0], 3 * RATE)
        await cluster.wait(16)

        accepted = await accepted_messages(cluster.store)
        times = [at for at, _ in accepted]
        waits = [at - asked for at, one in accepted if identifiers.request_id_of(one) in small]
        late = [one for at, one in accepted if at >= times[-1] - 8]
        by_first = sum(identifiers.slot_of(one) in processes[0].held for one in late)
        assert len(waits) == len(small)
        assert max(waits) <= RECLAIM_S  # what the worker has kept is enough for them
        assert max_within([(at, 1) for at in times], 10.0) <= 1.02 * 10 * RATE
        assert max_within([(at, 1) for at in times], 1.0) <= 1.1 * RATE + 1
        assert 0.4 * 8 * RATE <= by_first <= 0.6 * 8 * RATE
        assert 0.4 * 8 * RATE <= len(late) - by_first <= 0.6 * 8 * RATE


@pytest.mark.first_case
@pytest.mark.parametrize("number", [1, 2])
async def test_small_sends_do_not_wait_for_campaigns_in_other_slots_nor_starve_them(
    tmp_path: Path, number: int
) -> None:
    async with open_cluster(tmp_path, settings=settings_with_rate(tmp_path, RATE)) as cluster:
        processes = [await cluster.start_process(f"host:{each}") for each in range(number)]
        await cluster.wait(REBALANCE_S)
        campaigns = await send_in_every_slot(processes[0], 60)
        await cluster.wait(2)
        sent = {}
        for _ in range(80):  # most slots always have one due
            sent[message_id_of(await processes[0].env.send(sms()))] = cluster.world.monotonic()
            await cluster.wait(1 / SMALL_RATE)
        await cluster.wait(3)

        accepted_at = {message_id: at for at, message_id in await accepted_messages(cluster.store)}
        assert max(accepted_at[message_id] - at for message_id, at in sent.items()) <= MAX_WAIT_S
        started = {identifiers.request_id_of(message_id) for message_id in accepted_at} & campaigns
        assert len({identifiers.slot_of(each) for each in started}) == SLOTS
        campaign_messages = sum(1 for message_id in accepted_at if message_id not in sent)
        assert campaign_messages >= 0.9 * RATE * 10 - len(sent)

"""A carrier's rate, kept by several processes together; and who waits for whom where it is slow."""

import dataclasses
from bisect import bisect_left
from pathlib import Path

import pytest

from pabal.domain import identifiers
from pabal.domain.dates import SECOND
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.settings.settings import Settings
from pabal.store.engine.base import Tx
from tests.fixtures.cluster import Cluster, Process, run_scenario
from tests.fixtures.service import DEFAULT_CARRIER, message_id_of, send, sms
from tests.fixtures.virtual import NOON, settings_for

pytestmark = pytest.mark.slow

SETTLED_S = 3.5


def at_rate(folder: Path, rate: int) -> Settings:
    carriers: dict[str, CarrierSettings] = {DEFAULT_CARRIER: SimulatorSettings(name=DEFAULT_CARRIER, rate=rate)}
    return dataclasses.replace(settings_for(folder, max_receivers=100_000), carriers=carriers)


def phones(count: int) -> list[str]:
    return [f"010{number:08}" for number in range(10_000, 10_000 + count)]


async def send_in_every_slot(process: Process, slots: int, count: int) -> set[bytes]:
    """Send campaigns of so many until there is one in each slot; return the ids of the requests."""
    found: dict[bytes, int] = {}
    while len(set(found.values())) < slots:
        request = await send(process.env, sms(*phones(count)))
        found[request] = identifiers.slot_of(request)
    return set(found)


async def taken(crowd: Cluster) -> list[tuple[float, bytes]]:
    """Return when the simulator took each message, and which, in order."""

    def look(tx: Tx) -> list[tuple[int, bytes]]:
        return [
            (row[0], row[1])
            for row in tx.fetch_all("select accepted_at, message_id from simulated_messages order by accepted_at")
        ]

    return [((at - NOON) / SECOND, one) for at, one in await crowd.store.read(look)]


def most_within(times: list[float], seconds: float) -> int:
    """Return how many went in the worst stretch of so many seconds."""
    return max(bisect_left(times, start + seconds) - index for index, start in enumerate(times))


@pytest.mark.parametrize("rate", [30, pytest.param(400, marks=pytest.mark.torture)])
def test_while_processes_come_and_go_all_of_them_together_keep_to_the_rate(tmp_path: Path, rate: int) -> None:
    async def scenario(crowd: Cluster) -> None:
        one = await crowd.start_process("one")
        await send_in_every_slot(one, 8, 3 * rate)
        await crowd.wait(4)
        two = await crowd.start_process("two")
        await crowd.wait(2.5)
        three = await crowd.start_process("three")
        await crowd.wait(5)
        await two.leave()
        await crowd.wait(4)
        four = await crowd.start_process("four")
        await crowd.wait(3)
        await one.die()
        await crowd.wait(9)
        await four.leave()
        await crowd.wait(3)

        times = [at for at, _ in await taken(crowd)]
        assert three.held == tuple(range(8))
        assert most_within(times, 10.0) <= 1.02 * 10 * rate
        assert most_within(times, 1.0) <= 1.1 * rate + 1
        assert len(times) >= 0.8 * 30 * rate  # one that is dead sends nothing until it is missed

    run_scenario(tmp_path, scenario, settings=at_rate(tmp_path, rate))


def test_one_that_is_alone_has_all_of_the_rate_from_its_first_beat_on(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one = await crowd.start_process("one")
        await send_in_every_slot(one, 8, 25)
        await crowd.wait(5)

        times = [at for at, _ in await taken(crowd)]
        assert 0.94 * 50 * 5 <= len(times) <= 50 * 5 + 5

    run_scenario(tmp_path, scenario, settings=at_rate(tmp_path, 50))


@pytest.mark.parametrize("number", [1, 2])
def test_a_small_send_does_not_wait_for_campaigns_in_other_slots_and_they_are_not_starved(
    tmp_path: Path, number: int
) -> None:
    async def scenario(crowd: Cluster) -> None:
        every = [await crowd.start_process(f"host:{each}") for each in range(number)]
        await crowd.wait(SETTLED_S)
        campaigns = await send_in_every_slot(every[0], 8, 60)
        await crowd.wait(2)
        sent = {}
        for _ in range(80):  # about 16 a second: in most slots there always is one
            sent[message_id_of(await send(every[0].env, sms()))] = crowd.world.monotonic()
            await crowd.wait(0.061)
        await crowd.wait(3)

        went = {one: at for at, one in await taken(crowd)}
        assert max(went[one] - at for one, at in sent.items()) <= 2.3
        moving = {identifiers.request_id_of(one) for one in went} & campaigns
        assert len({identifiers.slot_of(each) for each in moving}) == 8
        of_campaigns = sum(1 for one in went if one not in sent)
        assert of_campaigns >= 0.9 * 50 * 10 - len(sent)

    run_scenario(tmp_path, scenario, settings=at_rate(tmp_path, 50))


def test_a_flood_of_small_sends_leaves_campaigns_in_other_slots_their_part(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one = await crowd.start_process("one")
        await crowd.wait(1)
        campaign = await send(one.env, sms(*phones(500)))
        for _ in range(40):  # more than the rate, all the time
            for _ in range(15):
                await send(one.env, sms())
            await crowd.wait(0.25)

        went = [identifiers.request_id_of(each) for _, each in await taken(crowd)]
        assert went.count(campaign) >= 0.1 * len(went)
        assert len(went) >= 0.94 * 50 * 10

    run_scenario(tmp_path, scenario, settings=at_rate(tmp_path, 50))

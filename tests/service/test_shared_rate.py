"""A carrier's rate, kept by several processes together; and who waits for whom where it is slow."""

import dataclasses
from bisect import bisect_left
from pathlib import Path

import pytest

from pabal.carrier_settings import CarrierSettings, SimulatorSettings
from pabal.config import Settings
from pabal.domain import identity
from pabal.domain.when import SECOND
from pabal.store.base import Tx
from tests.service.acting import POST, send, sms
from tests.service.crowd import Crowd, Process, play
from tests.virtual import NOON, settings_for

SETTLED_S = 3.5


def at_rate(folder: Path, rate: int) -> Settings:
    carriers: dict[str, CarrierSettings] = {POST: SimulatorSettings(name=POST, rate=rate)}
    return dataclasses.replace(settings_for(folder, max_receivers=100_000), carriers=carriers)


def phones(count: int) -> list[str]:
    return [f"010{number:08}" for number in range(10_000, 10_000 + count)]


async def send_in_every_slot(process: Process, slots: int, count: int) -> set[bytes]:
    """Send campaigns of so many until there is one in each slot; return the ids of the requests."""
    found: dict[bytes, int] = {}
    while len(set(found.values())) < slots:
        request = await send(process.town, sms(*phones(count)))
        found[request] = identity.slot_of(request)
    return set(found)


async def taken(crowd: Crowd) -> list[tuple[float, bytes]]:
    """Return when the simulator took each message, and which, in order."""

    def look(tx: Tx) -> list[tuple[int, bytes]]:
        return [(row[0], row[1]) for row in tx.rows("select taken_at, message_id from simulated order by taken_at")]

    return [((at - NOON) / SECOND, one) for at, one in await crowd.store.read(look)]


def most_within(times: list[float], seconds: float) -> int:
    """Return how many went in the worst stretch of so many seconds."""
    return max(bisect_left(times, start + seconds) - index for index, start in enumerate(times))


@pytest.mark.parametrize("rate", [50, 400])
def test_while_processes_come_and_go_all_of_them_together_keep_to_the_rate(tmp_path: Path, rate: int) -> None:
    async def scene(crowd: Crowd) -> None:
        one = await crowd.join("one")
        await send_in_every_slot(one, 8, 8 * rate)
        await crowd.wait(6)
        two = await crowd.join("two")
        await crowd.wait(4)
        three = await crowd.join("three")
        await crowd.wait(8)
        await two.leave()
        await crowd.wait(5)
        four = await crowd.join("four")
        await crowd.wait(5)
        await one.die()
        await crowd.wait(12)
        await four.leave()
        await crowd.wait(5)

        times = [at for at, _ in await taken(crowd)]
        print([most_within(times, s) / rate / s for s in (1, 2, 5, 10)], len(times) / rate / 45)
        assert three.held == tuple(range(8))
        assert most_within(times, 10.0) <= 1.02 * 10 * rate
        assert most_within(times, 1.0) <= 1.1 * rate + 1

    play(tmp_path, scene, settings=at_rate(tmp_path, rate))

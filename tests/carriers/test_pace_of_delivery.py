"""The rate of a carrier, through the whole service."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.store.engine.base import Tx
from tests.carriers.pace_fixture import max_within
from tests.fixtures.service import DEFAULT_CARRIER, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, build_environment, settings_for, settings_of

RATE = 50


@pytest.fixture
def env(tmp_path: Path, request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Environment]:
    """An environment whose simulator has the rate of the test's mark."""
    return running(tmp_path, **settings_of(request))


@asynccontextmanager
async def running(folder: Path, rate: int = RATE) -> AsyncIterator[Environment]:
    carriers: dict[str, CarrierSettings] = {DEFAULT_CARRIER: SimulatorSettings(name=DEFAULT_CARRIER, rate=rate)}
    settings = dataclasses.replace(settings_for(folder, max_receivers=100_000), carriers=carriers)
    env = await build_environment(folder, settings=settings)
    try:
        yield env
    finally:
        await env.service.stop()


async def list_accepted(env: Environment) -> list[tuple[float, bytes]]:
    """Return time and id of each message that the simulator accepted, in order."""

    def look(tx: Tx) -> list[tuple[int, bytes]]:
        return [
            (row[0], row[1])
            for row in tx.fetch_all("select accepted_at, message_id from simulated_messages order by id")
        ]

    return [((at - NOON) / SECOND, one) for at, one in await env.store.read(look)]


def phones(count: int) -> list[str]:
    return [f"010{number:08}" for number in range(10_000, 10_000 + count)]


@pytest.mark.first_case
@pytest.mark.parametrize(
    "rate", [pytest.param(each, marks=pytest.mark.settings(rate=each)) for each in (5, 50, 200)]
)
async def test_campaign_goes_out_evenly_at_the_carriers_rate(rate: int, env: Environment) -> None:
    campaign = await env.send(sms(*phones(12 * rate)))
    await env.wait(11)
    times = [at for at, _ in await list_accepted(env)]
    by_half_a_second = [sum(1 for at in times if half / 2 <= at < half / 2 + 0.5) for half in range(2, 22)]

    assert 0.96 * 10 * rate <= sum(1 for at in times if 1 <= at < 11) <= 10 * rate + 1
    assert max_within([(at, 1) for at in times], 1.0) <= 1.1 * rate + 1
    assert max(by_half_a_second) - min(by_half_a_second) <= 0.1 * rate + 1
    await env.wait(3)
    assert await env.outcomes_of(campaign) == [(Status.COMPLETED, Outcome.DELIVERED)] * (12 * rate)
    assert env.metric_value("pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 0


async def test_messages_go_out_in_the_order_of_their_request(env: Environment) -> None:
    campaign = await env.send(sms(*phones(200)))
    await env.wait(10)

    went = [one for _, one in await list_accepted(env)]
    assert went == [message_id_of(campaign, number) for number in range(1, 201)]


async def test_small_send_during_a_campaign_is_submitted_within_two_seconds(env: Environment) -> None:
    campaign = await env.send(sms(*phones(2000)))
    await env.wait(3)
    sent = {}
    for _ in range(20):
        sent[message_id_of(await env.send(sms()))] = (env.world.now() - NOON) / SECOND
        await env.wait(0.37)
    await env.wait(3)

    went = {one: at for at, one in await list_accepted(env)}
    assert max(went[one] - at for one, at in sent.items()) <= 2
    of_campaign = [one for one in went if identifiers.request_id_of(one) == campaign]
    assert len(of_campaign) < 2000  # the campaign was still running
    assert len(went) >= 0.96 * 50 * 13

"""The rate of a carrier, through the whole service."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from pabal.domain.sends.message import Outcome, Status
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from tests.carriers.pace_fixture import accepted_messages, max_within
from tests.fixtures.campaigns import phones
from tests.fixtures.service import DEFAULT_CARRIER, message_id_of, sms
from tests.fixtures.virtual import Environment, build_environment, settings_for, settings_of

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


@pytest.mark.first_case
@pytest.mark.parametrize(
    "rate", [pytest.param(each, marks=pytest.mark.settings(rate=each)) for each in (5, 50, 200)]
)
async def test_campaign_goes_out_evenly_at_the_carriers_rate(rate: int, env: Environment) -> None:
    campaign = await env.send(sms(*phones(12 * rate)))
    await env.wait(11)
    times = [at for at, _ in await accepted_messages(env.store)]
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

    went = [one for _, one in await accepted_messages(env.store)]
    assert went == [message_id_of(campaign, number) for number in range(1, 201)]

"""A message costs what the carrier charges that took it; the cost is stored when the message ends."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from pabal.carriers.base import Accepted, Declined, Rejected, Verdict
from pabal.domain.sends.message import Attempt, Outcome
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.store.engine.base import Tx
from tests.fixtures.delivery import disconnected_carrier, reference_of
from tests.fixtures.service import FakeCarrier, alimtalk, sms
from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time, settings_for


@asynccontextmanager
async def open_with_prices(folder: Path, *carriers: FakeCarrier, **of_first: Any) -> AsyncIterator[Environment]:
    """Open an environment with carriers of which the first charges 9 won a text, and the others 12.5."""
    names = [each.name for each in carriers]
    prices = [{"sms": Decimal(9), "alimTalk": Decimal("7.5")}] + [{"sms": Decimal("12.5")}] * (len(names) - 1)
    configured: dict[str, CarrierSettings] = {
        name: SimulatorSettings(name=name, prices=each, **(of_first if name == names[0] else {}))
        for name, each in zip(names, prices, strict=True)
    }
    routes = dict.fromkeys(("sms", "lms", "alimTalk"), names)
    settings = dataclasses.replace(settings_for(folder), carriers=configured, routes=routes)
    env = await build_environment(folder, carriers={each.name: each for each in carriers}, settings=settings)
    try:
        yield env
    finally:
        await env.service.stop()


async def costs_of(env: Environment, request_id: bytes) -> list[int | None]:
    def read(tx: Tx) -> list[int | None]:
        rows = tx.fetch_all("select cost from messages where id > ? order by id", (request_id,))
        return [row[0] for row in rows]

    return await env.store.read(read)


async def test_delivered_message_costs_the_price_of_its_product(tmp_path: Path) -> None:
    carrier = FakeCarrier("post")
    async with open_with_prices(tmp_path, carrier) as env:
        request_id = await env.send(sms())
        await env.wait(1)
        assert await costs_of(env, request_id) == [None]
        await carrier.report((reference_of(request_id), Outcome.DELIVERED))

        assert await costs_of(env, request_id) == [900]


async def test_message_that_no_carrier_took_costs_nothing(tmp_path: Path) -> None:
    carrier = FakeCarrier("post", lambda attempt: Rejected(Outcome.SPAM))
    async with open_with_prices(tmp_path, carrier, charges_failed=True) as env:
        rejected = await env.send(sms())
        await env.wait(1)
        assert await costs_of(env, rejected) == [0]


async def test_expired_message_costs_nothing(tmp_path: Path) -> None:
    carrier = disconnected_carrier()
    carrier.name = "post"
    async with open_with_prices(tmp_path, carrier, charges_failed=True) as env:
        request_id = await env.send(sms(expire_minutes=1))
        await env.wait(90)
        assert await costs_of(env, request_id) == [0]


async def test_carrier_that_took_the_message_decides_the_cost(tmp_path: Path) -> None:
    first = FakeCarrier("first", lambda attempt: Declined(Outcome.SPAM))
    second = FakeCarrier("second", lambda attempt: Accepted(None))
    async with open_with_prices(tmp_path, first, second) as env:
        request_id = await env.send(sms())
        await env.wait(1)
        assert await costs_of(env, request_id) == [1250]


async def test_fallback_has_a_cost_of_its_own(tmp_path: Path) -> None:

    def answer(attempt: Attempt) -> Verdict:
        return Accepted(None) if attempt.product.is_text else Accepted(attempt.message_id.hex())

    carrier = FakeCarrier("post", answer)
    async with open_with_prices(tmp_path, carrier) as env:
        request_id = await env.send(alimtalk(await env.add_profile()))
        await env.wait(1)
        await carrier.report((reference_of(request_id), Outcome.NOT_A_USER))
        await env.wait(1)

        assert await costs_of(env, request_id) == [0, 900]


def test_nothing_is_stored_without_prices(tmp_path: Path) -> None:
    carrier = FakeCarrier("post", lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        request_id = await env.send(sms())
        await env.wait(1)
        assert await costs_of(env, request_id) == [None]

    async def run_and_stop() -> None:
        settings = dataclasses.replace(settings_for(tmp_path), routes={"sms": ["post"]})
        env = await build_environment(tmp_path, carriers={"post": carrier}, settings=settings)
        try:
            await scenario(env)
        finally:
            await env.service.stop()

    run_in_virtual_time(run_and_stop())

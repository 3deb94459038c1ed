"""Budgets: the first carrier's price is reserved at acceptance, and corrected when messages end."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Rejected
from pabal.domain.base.codes import Refused
from pabal.domain.sends.limits import AccountLimits, Limit
from pabal.domain.sends.message import Outcome
from pabal.service.sending.cancel import cancel_request
from pabal.service.upkeep.housekeeping import run_round
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.store.accounts import account_limits
from tests.fixtures.service import FakeCarrier, account_id_of, alimtalk, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, build_environment, settings_for

CHEAP, DEAR = 9_00, 12_50


@asynccontextmanager
async def open_with_prices(
    folder: Path, carriers: dict[str, FakeCarrier], *, charges_failed: bool = False, **settings: Any
) -> AsyncIterator[Environment]:
    """Open an environment with the carriers `cheap` and, for Kakao messages, `dear`."""
    prices = {"cheap": {"sms": Decimal("9.00")}, "dear": {"alimTalk": Decimal("12.50")}}
    configured: dict[str, CarrierSettings] = {
        name: SimulatorSettings(name=name, prices=prices[name], charges_failed=charges_failed) for name in carriers
    }
    routes = {"sms": ["cheap"], "lms": ["cheap"], "alimTalk": ["dear"]}

    base = settings_for(folder, **settings)
    env = await build_environment(
        folder, carriers=carriers, settings=dataclasses.replace(base, carriers=configured, routes=routes)
    )
    try:
        account_id = await account_id_of(env)
        await env.store.write(account_limits.save, account_id, AccountLimits(budget_per_month=1000))
        yield env
    finally:
        await env.service.stop()


async def used(env: Environment) -> int:
    """Return what is used of the budget, in hundredths of a won, after corrections and without unused shares."""
    await env.context.limiter.give_back()
    await run_round(env.context)
    assert await count_rows(env, "budget_corrections") == 0
    usage = await env.store.read(account_limits.list_usage, [await account_id_of(env)])
    return sum(each.used for each in usage if each.limit is Limit.BUDGET)


def carriers(**answers: Any) -> dict[str, FakeCarrier]:
    return {name: FakeCarrier(name, **answers) for name in ("cheap", "dear")}


async def test_budget_refuses_what_would_cost_more(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers()) as env:
        await env.send(sms(*["01012345678"] * 110))  # 990 won
        try:
            await env.send(sms("01012345678", "01012345678"))
        except Refused as refused:
            problem = refused.problems[0]
        assert problem.field == "budget_per_month"
        assert "limit 1,000, used 990, this request 18" in problem.message("en")

        await env.send(sms())
        assert await used(env) == 111 * CHEAP


@pytest.mark.parametrize(("charges_failed", "cost"), [(False, CHEAP), (True, 2 * CHEAP)])
async def test_failed_messages_are_given_back_unless_they_are_charged(
    tmp_path: Path, charges_failed: bool, cost: int
) -> None:
    both = carriers()
    async with open_with_prices(tmp_path, both, charges_failed=charges_failed) as env:
        await env.send(sms("01012345678", "01087654321"))
        await env.wait(1)
        delivered, failed = (each.hex() for each in both["cheap"].ids)
        await both["cheap"].report((delivered, Outcome.DELIVERED), (failed, Outcome.PHONE_OFF))

        assert await used(env) == cost


async def test_rejected_and_cancelled_messages_cost_nothing(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers(answer=lambda attempt: Rejected(Outcome.NO_SUBSCRIBER))) as env:
        await env.send(sms())
        later = await env.send(sms(scheduled_at=NOON + 3_600_000))
        await env.wait(1)
        assert await used(env) == CHEAP

        await cancel_request(env.context, await account_id_of(env), later, None)

        assert await used(env) == 0


async def test_fallback_has_its_own_cost(tmp_path: Path) -> None:
    both = carriers()
    async with open_with_prices(tmp_path, both) as env:
        await env.send(alimtalk(await env.add_profile()))
        await env.wait(1)
        assert await used(env) == DEAR
        await both["dear"].report((both["dear"].ids[0].hex(), Outcome.NOT_A_USER))
        await env.wait(1)
        await both["cheap"].report((both["cheap"].ids[0].hex(), Outcome.DELIVERED))

        assert await used(env) == CHEAP


async def test_dropped_duplicates_cost_nothing(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers(), duplicate_minutes=5, duplicate_action="drop") as env:
        await env.send(sms())
        await env.send(sms("01012345678", "01087654321"))

        assert await used(env) == 2 * CHEAP

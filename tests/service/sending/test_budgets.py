"""Budgets: the most that messages and their fallbacks cost is reserved, and corrected when both have ended."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Rejected
from pabal.domain.base.codes import Refused
from pabal.domain.sends.account import AccountLimits, Limit
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.sending.waiting import cancel_request
from pabal.service.upkeep.housekeeping import run_round
from pabal.settings.carriers import CarrierSettings, SimulatorSettings
from pabal.store.accounts import account_limits
from pabal.store.accounts.account_limits import BudgetCorrection, EndedGroup
from pabal.store.engine.base import Tx
from tests.fixtures.cluster import open_cluster
from tests.fixtures.service import FakeCarrier, account_id_of, alimtalk, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, build_environment, settings_for

CHEAP, DEAR, LONG = 9_00, 12_50, 30_00
BUDGET = 1000_00
LONG_TEXT = "가" * 46
ROUTES = {"sms": ["cheap"], "lms": ["cheap"], "alimTalk": ["dear"]}


def configured_carriers(*, charges_failed: bool = False, factor: int = 1) -> dict[str, CarrierSettings]:
    """Return the settings of the carriers `cheap`, for texts, and `dear`, for Kakao messages."""
    prices = {
        "cheap": {"sms": Decimal("9.00") * factor, "lms": Decimal("30.00") * factor},
        "dear": {"alimTalk": Decimal("12.50") * factor},
    }
    return {
        name: SimulatorSettings(name=name, prices=each, charges_failed=charges_failed)
        for name, each in prices.items()
    }


@asynccontextmanager
async def open_with_prices(
    folder: Path,
    carriers: dict[str, FakeCarrier],
    *,
    charges_failed: bool = False,
    factor: int = 1,
    **settings: Any,
) -> AsyncIterator[Environment]:
    """Open an environment with the carriers `cheap` and, for Kakao messages, `dear`."""
    configured = configured_carriers(charges_failed=charges_failed, factor=factor)
    base = settings_for(folder, **settings)
    env = await build_environment(
        folder, carriers=carriers, settings=dataclasses.replace(base, carriers=configured, routes=ROUTES)
    )
    try:
        account_id = await account_id_of(env)
        await env.store.write(account_limits.save, account_id, AccountLimits(budget_per_month=BUDGET // 100))
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


async def test_rejected_and_cancelled_messages_cost_nothing(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers(answer=lambda attempt: Rejected(Outcome.NO_SUBSCRIBER))) as env:
        await env.send(sms())
        later = await env.send(sms(scheduled_at=NOON + 3_600_000))
        await env.wait(1)
        assert await used(env) == CHEAP

        await cancel_request(env.context, await account_id_of(env), later, None)

        assert await used(env) == 0


async def fill_budget(env: Environment, sending: Sending) -> int:
    """Send the same again until the budget refuses it; return how often it was accepted."""
    for accepted in range(1000):
        try:
            await env.send(sending)
        except Refused:
            return accepted
    raise AssertionError("nothing was refused")


async def end_all(env: Environment, carrier: FakeCarrier, outcome: Outcome) -> None:
    """Have a carrier report the same outcome of all messages that it has got."""
    await env.wait(1)
    await carrier.report(*[(one.hex(), outcome) for one in carrier.ids])


@pytest.mark.parametrize(("text", "charged", "reserved"), [
    pytest.param("", False, DEAR, id="short"),
    pytest.param("", True, DEAR + CHEAP, id="short-charged"),
    pytest.param(LONG_TEXT, False, LONG, id="long"),
    pytest.param(LONG_TEXT, True, DEAR + LONG, id="long-charged"),
])  # fmt: skip
@pytest.mark.parametrize("outcomes", [
    pytest.param((Outcome.DELIVERED, None), id="delivered"),
    pytest.param((Outcome.NOT_A_USER, Outcome.DELIVERED), id="replaced"),
    pytest.param((Outcome.NOT_A_USER, Outcome.PHONE_OFF), id="failed"),
    pytest.param((Outcome.EXPIRED, None), id="expired"),
])  # fmt: skip
async def test_messages_and_fallbacks_together_keep_to_the_budget(
    tmp_path: Path, text: str, charged: bool, reserved: int, outcomes: tuple[Outcome, Outcome | None]
) -> None:
    both = carriers(window=1000)
    async with open_with_prices(tmp_path, both, charges_failed=charged) as env:
        accepted = await fill_budget(env, alimtalk(await env.add_profile(), fallback_text=text))
        assert accepted == BUDGET // reserved
        assert await used(env) == accepted * reserved

        await end_all(env, both["dear"], outcomes[0])
        if outcomes[1]:
            assert await used(env) == accepted * reserved  # not before the later of the two has ended
            await end_all(env, both["cheap"], outcomes[1])

        assert await used(env) == await paid(env) <= BUDGET


async def paid(env: Environment) -> int:
    """Return what all messages have cost."""

    def add_up(tx: Tx) -> int:
        assert tx.fetch_one("select count(*) from messages where completed_at is null") == (0,)
        return int(tx.fetch_all("select coalesce(sum(cost), 0) from messages")[0][0])

    return await env.store.read(add_up)


async def test_each_fallback_is_priced_by_its_own_length(tmp_path: Path) -> None:
    both = carriers()
    receivers = [Receiver("01012345678", (value,)) for value in ("안녕", LONG_TEXT, "짧음", "가" * 1001, "😀")]
    async with open_with_prices(tmp_path, both) as env:
        profile_id = await env.add_profile()
        await env.send(alimtalk(profile_id, fallback_text="#{text}", receivers=receivers, variables=("text",)))
        assert await used(env) == 4 * DEAR + LONG  # the last two cannot be sent as text

        await env.wait(1)
        await both["dear"].report((both["dear"].ids[1].hex(), Outcome.DELIVERED))
        assert await used(env) == 5 * DEAR
        await both["dear"].report(*[(one.hex(), Outcome.NOT_A_USER) for one in both["dear"].ids])
        await end_all(env, both["cheap"], Outcome.DELIVERED)

        assert await used(env) == await paid(env) == DEAR + 2 * CHEAP


async def test_cancelled_fallback_gives_back_what_was_reserved(tmp_path: Path) -> None:
    both = carriers()
    both["cheap"].is_connected = False
    async with open_with_prices(tmp_path, both, charges_failed=True) as env:
        request_id = await env.send(alimtalk(await env.add_profile(), fallback_text=LONG_TEXT))
        await end_all(env, both["dear"], Outcome.NOT_A_USER)
        assert await used(env) == DEAR + LONG

        assert (await cancel_request(env.context, await account_id_of(env), request_id, None)).canceled == 1

        assert await used(env) == DEAR


async def test_correction_uses_what_was_reserved_although_prices_have_changed(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers(is_connected=False)) as env:
        request_id = await env.send(alimtalk(await env.add_profile(), fallback_text=LONG_TEXT))
        await env.send(sms())

    async with open_with_prices(tmp_path, carriers(is_connected=False), factor=3) as env:
        await cancel_request(env.context, await account_id_of(env), request_id, None)

        assert await used(env) == CHEAP


async def test_messages_of_a_version_that_stored_no_amounts_are_corrected(tmp_path: Path) -> None:
    """It reserved the price of the message alone, and corrected each of the two by itself."""
    both = carriers()
    async with open_with_prices(tmp_path, both) as env:
        await env.send(alimtalk(await env.add_profile(), fallback_text="짧음"))
        await env.store.write(lambda tx: tx.execute("update requests set reserved = null"))
        await end_all(env, both["dear"], Outcome.NOT_A_USER)
        assert await used(env) == 0
        await end_all(env, both["cheap"], Outcome.DELIVERED)
        assert await used(env) == CHEAP

        old = EndedGroup(Product.LMS, True, "cheap", Outcome.DELIVERED, 2)
        correction = BudgetCorrection(await account_id_of(env), NOON, None, old)
        await env.store.write(account_limits.add, [correction])

        assert await used(env) == CHEAP + 2 * LONG


async def test_message_accepted_without_a_budget_gives_nothing_back(tmp_path: Path) -> None:
    both = carriers()
    async with open_with_prices(tmp_path, both) as env:
        account_id = await account_id_of(env)
        await env.store.write(account_limits.save, account_id, AccountLimits())
        await env.send(sms("01012345678", "01087654321"))
        await env.store.write(account_limits.save, account_id, AccountLimits(budget_per_month=1000))
        await env.send(sms())
        await env.wait(1)
        first, second, _ = (one.hex() for one in both["cheap"].ids)
        await both["cheap"].report((first, Outcome.PHONE_OFF), (second, Outcome.DELIVERED))

        assert await used(env) == 2 * CHEAP  # the one that was delivered, and the one that is reserved


async def test_processes_keep_to_a_budget_together(tmp_path: Path) -> None:
    settings = dataclasses.replace(settings_for(tmp_path), carriers=configured_carriers(), routes=ROUTES)
    async with open_cluster(tmp_path, settings=settings, carriers=carriers) as cluster:
        envs = [(await cluster.start_process(name)).env for name in ("one", "two", "three")]
        await envs[0].store.write(account_limits.save, await account_id_of(envs[0]), AccountLimits(0, 0, 0, 1000))
        sending = alimtalk(await envs[0].add_profile(), fallback_text=LONG_TEXT)

        for outcome in (Outcome.NOT_A_USER, Outcome.DELIVERED):  # of the texts: the first round costs it all
            await asyncio.gather(*(fill_budget(env, sending) for env in envs))
            await cluster.wait(1)
            for name in ("dear", "cheap"):
                for process in cluster.processes:
                    carrier = process.carriers[name]
                    assert isinstance(carrier, FakeCarrier)
                    await end_all(process.env, carrier, Outcome.NOT_A_USER if name == "dear" else outcome)
            assert await paid(envs[0]) <= BUDGET
            for env in envs:
                await env.context.limiter.give_back()
            assert await used(envs[0]) == await paid(envs[0])


async def test_dropped_duplicates_cost_nothing(tmp_path: Path) -> None:
    async with open_with_prices(tmp_path, carriers(), duplicate_minutes=5, duplicate_action="drop") as env:
        await env.send(sms())
        await env.send(sms("01012345678", "01087654321"))

        assert await used(env) == 2 * CHEAP

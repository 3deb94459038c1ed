"""Stops and crashes: what becomes of the messages in flight."""

import asyncio

import pytest

from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Status
from pabal.store.engine.base import Tx
from tests.fixtures.delivery import accept_without_receipt, disconnected_carrier
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    later,
    message_id_of,
    messages_of,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, DONE = Status.WAITING, Status.COMPLETED


def test_stop_finishes_messages_in_flight_and_leaves_the_rest(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(window=10, delay_s=5, answer=accept_without_receipt)
    sent: list[bytes] = []

    async def stop_in_between(env: Environment) -> None:
        sent.append(await send(env, sms(*[PHONE] * 30)))
        await env.wait(1)

    async def check_after_restart(env: Environment) -> None:
        statuses = [each.status for each in await messages_of(env, sent[0])]
        assert statuses == [DONE] * 10 + [WAITING] * 20

    run_scenario(stop_in_between, carriers={DEFAULT_CARRIER: carrier})
    assert len(carrier.submitted) == 10
    run_scenario(check_after_restart, carriers={DEFAULT_CARRIER: disconnected_carrier()}, world=VirtualWorld(1))


@pytest.mark.parametrize("turns", range(6))
def test_verdicts_that_arrive_during_a_stop_are_stored(run_scenario: RunScenario, turns: int) -> None:
    carrier = FakeCarrier(delay_s=1, answer=accept_without_receipt)

    async def stop_at_once(env: Environment) -> None:
        await send(env, sms())
        await env.wait(0.9)
        await send(env, sms())
        for _ in range(turns):  # so that the stop hits every step of a claim
            await asyncio.sleep(0)

    run_scenario(stop_at_once, carriers={DEFAULT_CARRIER: carrier})
    submitted = set(carrier.ids)

    async def check_after_restart(env: Environment) -> None:
        def completed(tx: Tx) -> set[bytes]:
            return {row[0] for row in tx.fetch_all("select id from messages where status = ?", (DONE.number,))}

        assert await env.store.read(completed) == submitted

    run_scenario(check_after_restart, carriers={DEFAULT_CARRIER: disconnected_carrier()}, world=VirtualWorld(1))


def test_stop_does_not_wait_longer_than_its_limit(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=10_000, timeout_s=9_000)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        started_at = env.world.now()

        await env.service.stop()

        assert env.world.now() - started_at <= 20 * SECOND
        assert carrier.ids == [message_id_of(request_id)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, stop_seconds=20)


def test_messages_in_flight_at_a_crash_are_submitted_again_at_the_next_start(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=1000, timeout_s=900)

    async def crash(env: Environment) -> None:
        await send(env, sms())
        await env.wait(1)

    async def next_start(env: Environment) -> None:
        await env.wait(0.5)

        assert [attempt.number for _, attempt in next_carrier.submitted] == [2]

    next_carrier = FakeCarrier(timeout_s=900)
    run_scenario(crash, carriers={DEFAULT_CARRIER: carrier}, stop_seconds=1)
    run_scenario(next_start, carriers={DEFAULT_CARRIER: next_carrier}, world=VirtualWorld(1, later(NOON, 2)))

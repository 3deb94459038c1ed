"""Retention looks at the queue, and no message leaves without its number or its text."""

import logging

import pytest

from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.sending import Receiver
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.people import personal_data
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    add_profile,
    alimtalk,
    count_rows,
    message_id_of,
    message_of,
    messages_of,
    outcomes_of,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

AHEAD = 100 * DAY
"""When the scheduled message is due: allowed when it was accepted, beyond the retention since."""
SHORT = {"retention_days": 70}


def world_after(milliseconds: int) -> VirtualWorld:
    return VirtualWorld(1, NOON + milliseconds)


@sqlite_only
def test_scheduled_message_is_not_erased_before_it_has_ended(run_scenario: RunScenario) -> None:
    early, late = FakeCarrier(), FakeCarrier()
    sent: list[bytes] = []

    async def begin(env: Environment) -> None:
        sent.append(await send(env, sms(scheduled_at=NOON + AHEAD)))
        sent.append(await send(env, sms(content="지금")))
        await env.wait(5)
        await early.report((message_id_of(sent[1]).hex(), Outcome.DELIVERED))

    async def when_the_retention_is_over(env: Environment) -> None:
        await env.wait(1)
        assert (await message_of(env, sent[0])).receiver == PHONE
        assert (await message_of(env, sent[1])).receiver == ""

    async def when_it_is_due(env: Environment) -> None:
        await env.wait(70)
        assert [(attempt.receiver, attempt.content) for _, attempt in late.submitted] == [(PHONE, "안녕하세요")]
        await late.report((message_id_of(sent[0]).hex(), Outcome.DELIVERED))
        await run_round(env.context)
        assert (await message_of(env, sent[0])).receiver == ""
        assert await outcomes_of(env, sent[0]) == [(Status.COMPLETED, Outcome.DELIVERED)]
        assert await count_rows(env, "pending_erasures") == 0

    run_scenario(begin, carriers={DEFAULT_CARRIER: early})
    run_scenario(
        when_the_retention_is_over,
        carriers={DEFAULT_CARRIER: FakeCarrier()},
        world=world_after(AHEAD - DAY),
        **SHORT,
    )
    run_scenario(when_it_is_due, carriers={DEFAULT_CARRIER: late}, world=world_after(AHEAD - MINUTE), **SHORT)


@sqlite_only
def test_request_is_erased_only_when_its_last_message_has_ended(run_scenario: RunScenario) -> None:
    """A message that waits for its receipt, or for its fallback, keeps the texts that it shares with others."""
    carrier = FakeCarrier()
    sent: list[bytes] = []

    async def begin(env: Environment) -> None:
        profile = await add_profile(env)
        both = [Receiver(PHONE), Receiver("01000000001")]
        sent.append(await send(env, alimtalk(profile, receivers=both, scheduled_at=NOON + AHEAD)))

    async def when_it_is_due(env: Environment) -> None:
        await env.wait(70)
        one, two = (message_id_of(sent[0], number).hex() for number in (1, 2))
        await carrier.report((one, Outcome.DELIVERED))
        await run_round(env.context)
        assert {each.receiver for each in await messages_of(env, sent[0])} == {PHONE, "01000000001"}

        await carrier.report((two, Outcome.NOT_A_USER))  # its fallback is sent now
        await run_round(env.context)
        assert len({each.receiver for each in await messages_of(env, sent[0])}) == 2
        await env.wait(5)
        await carrier.report((message_id_of(sent[0], 4).hex(), Outcome.DELIVERED))
        await run_round(env.context)

        assert {each.receiver for each in await messages_of(env, sent[0])} == {""}

    run_scenario(begin, carriers={DEFAULT_CARRIER: FakeCarrier()})
    run_scenario(when_it_is_due, carriers={DEFAULT_CARRIER: carrier}, world=world_after(AHEAD - MINUTE), **SHORT)


def test_erased_message_never_leaves(run_scenario: RunScenario, caplog: pytest.LogCaptureFixture) -> None:
    carrier = FakeCarrier()

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        whole = await send(env, sms(scheduled_at=NOON + MINUTE))
        one = await send(env, alimtalk(profile, PHONE, "01000000001", scheduled_at=NOON + MINUTE))
        await env.store.write(personal_data.erase_request, whole)
        await env.store.write(personal_data.erase_messages, [message_id_of(one)])
        with caplog.at_level(logging.ERROR, "pabal"):
            await env.wait(70)

        assert carrier.ids == [message_id_of(one, 2)]
        assert await outcomes_of(env, whole) == [(Status.FAIL, Outcome.UNDELIVERABLE)]
        assert (await messages_of(env, one))[0].outcome is Outcome.UNDELIVERABLE
        assert len(await messages_of(env, one)) == 2  # nobody is left to send a fallback to
        failed = [record for record in caplog.records if "could not be composed" in record.message]
        assert [record.__dict__["error"] for record in failed] == ["ErasedMessage"] * 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})

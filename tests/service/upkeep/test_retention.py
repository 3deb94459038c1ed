"""Retention looks at the queue, and no message leaves without its number or its text."""

import logging

import pytest

from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.sending import Receiver
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.people import personal_data
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import PHONE, FakeCarrier, Start, alimtalk, count_rows, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

AHEAD = 100 * DAY
"""When the scheduled message is due: allowed when it was accepted, beyond the retention since."""
SHORT = {"retention_days": 70}


@sqlite_only
async def test_scheduled_message_is_not_erased_before_it_has_ended(start: Start) -> None:
    early, late = FakeCarrier(), FakeCarrier()
    sent: list[bytes] = []
    env = await start(early)
    sent.append(await env.send(sms(scheduled_at=NOON + AHEAD)))
    sent.append(await env.send(sms(content="지금")))
    await env.wait(5)
    await early.report((message_id_of(sent[1]).hex(), Outcome.DELIVERED))

    env = await start(FakeCarrier(), world=VirtualWorld(1, NOON + AHEAD - DAY), **SHORT)
    await env.wait(1)
    assert (await env.message_of(sent[0])).receiver == PHONE
    assert (await env.message_of(sent[1])).receiver == ""

    env = await start(late, world=VirtualWorld(1, NOON + AHEAD - MINUTE), **SHORT)
    await env.wait(70)
    assert [(attempt.receiver, attempt.content) for _, attempt in late.submitted] == [(PHONE, "안녕하세요")]
    await late.report((message_id_of(sent[0]).hex(), Outcome.DELIVERED))
    await run_round(env.context)
    assert (await env.message_of(sent[0])).receiver == ""
    assert await env.outcomes_of(sent[0]) == [(Status.COMPLETED, Outcome.DELIVERED)]
    assert await count_rows(env, "pending_erasures") == 0


@sqlite_only
async def test_request_is_erased_only_when_its_last_message_has_ended(start: Start) -> None:
    """A message that waits for its receipt, or for its fallback, keeps the texts that it shares with others."""
    carrier = FakeCarrier()
    env = await start(FakeCarrier())
    profile = await env.add_profile()
    both = [Receiver(PHONE), Receiver("01000000001")]
    sent = await env.send(alimtalk(profile, receivers=both, scheduled_at=NOON + AHEAD))

    env = await start(carrier, world=VirtualWorld(1, NOON + AHEAD - MINUTE), **SHORT)
    await env.wait(70)
    one, two = (message_id_of(sent, number).hex() for number in (1, 2))
    await carrier.report((one, Outcome.DELIVERED))
    await run_round(env.context)
    assert {each.receiver for each in await env.messages_of(sent)} == {PHONE, "01000000001"}

    await carrier.report((two, Outcome.NOT_A_USER))  # its fallback is sent now
    await run_round(env.context)
    assert len({each.receiver for each in await env.messages_of(sent)}) == 2
    await env.wait(5)
    await carrier.report((message_id_of(sent, 4).hex(), Outcome.DELIVERED))
    await run_round(env.context)

    assert {each.receiver for each in await env.messages_of(sent)} == {""}


async def test_erased_message_never_leaves(
    env: Environment, carrier: FakeCarrier, caplog: pytest.LogCaptureFixture
) -> None:
    profile = await env.add_profile()
    whole = await env.send(sms(scheduled_at=NOON + MINUTE))
    one = await env.send(alimtalk(profile, PHONE, "01000000001", scheduled_at=NOON + MINUTE))
    await env.store.write(personal_data.erase_request, whole)
    await env.store.write(personal_data.erase_messages, [message_id_of(one)])
    with caplog.at_level(logging.ERROR, "pabal"):
        await env.wait(70)

    assert carrier.ids == [message_id_of(one, 2)]
    assert await env.outcomes_of(whole) == [(Status.FAIL, Outcome.UNDELIVERABLE)]
    assert (await env.messages_of(one))[0].outcome is Outcome.UNDELIVERABLE
    assert len(await env.messages_of(one)) == 2  # nobody is left to send a fallback to
    failed = [record for record in caplog.records if "could not be composed" in record.message]
    assert [record.__dict__["error"] for record in failed] == ["ErasedMessage"] * 2

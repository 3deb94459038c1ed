"""Housekeeping: every message ends, and old data is deleted."""

import pytest

from pabal.carriers.base import Accepted, Busy
from pabal.domain.base.dates import DAY, HOUR, MINUTE
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Registration
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Receiver
from pabal.service.history import history
from pabal.service.relay.profiles import register
from pabal.service.upkeep.housekeeping import run_round
from pabal.service.upkeep.retention import ERASE_BATCH
from pabal.store.messages import images, requests
from pabal.store.messages.history import MessageFilter
from pabal.store.queue import cursors
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import (
    PHONE,
    FakeCarrier,
    Start,
    account_id_of,
    alimtalk,
    count_rows,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL


def after(milliseconds: int) -> VirtualWorld:
    """Return a world this long after the first scenario, for a service that starts then."""
    return VirtualWorld(1, NOON + milliseconds)


@pytest.mark.parametrize(("product", "hours"), [(Product.SMS, 25), (Product.LMS, 80), (Product.ALIMTALK, 80)])
async def test_message_without_a_receipt_fails_after_the_timeout(
    start: Start, product: Product, hours: int
) -> None:
    env = await start(FakeCarrier())
    profile = await env.add_profile()
    sending = sms() if product.is_text else alimtalk(profile)
    sent = await env.send(sending._replace(product=product))
    await env.wait(1)

    env = await start(FakeCarrier(), world=after(hours * HOUR - MINUTE))
    await env.wait(5)
    assert await env.outcomes_of(sent) == [(SENDING, None)]

    env = await start(FakeCarrier(), world=after(hours * HOUR + MINUTE))
    await env.wait(5)
    message = await env.message_of(sent)
    assert (message.status, message.outcome) == (FAILED, Outcome.TIMED_OUT)
    assert message.completed_at is not None
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0
    assert env.metric_value("pabal_messages_ended_total", product=product.code, code="2000") == 1


async def test_messages_beyond_one_batch_all_time_out(start: Start) -> None:
    env = await start(FakeCarrier(window=2000))
    sent = await env.send(sms(*[PHONE] * 1200))
    await env.wait(5)

    env = await start(FakeCarrier(), world=after(26 * HOUR))
    await env.wait(1)
    assert await env.outcomes_of(sent) == [(FAILED, Outcome.TIMED_OUT)] * 1200


async def test_tokens_are_deleted_when_they_no_longer_count(start: Start) -> None:
    env = await start()
    await register(env.context, await account_id_of(env), Registration("@shop", "00100010001", PHONE))

    for wait_ms, left in ((HOUR + 30 * MINUTE, 1), (3 * HOUR, 0)):
        env = await start(world=after(wait_ms))
        await env.wait(1)
        assert await count_rows(env, "tokens") == left


@sqlite_only
async def test_numbers_and_texts_are_blanked_after_retention_and_counts_stay(start: Start) -> None:
    old: list[bytes] = []
    young: list[bytes] = []
    picture = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff")
    env = await start()
    receivers = [Receiver(PHONE, ("길동",), None, "ref"), Receiver("01000000001", ("길순",), "따로", None)]
    old.append(
        await env.send(
            sms(
                content="#{name}님",
                subject="제목",
                variables=("name",),
                receivers=receivers,
                images=(picture,),
                product=Product.MMS,
            ),
        )
    )
    old.extend([await env.send(sms()) for _ in range(ERASE_BATCH + 5)])
    await env.wait(5)

    env = await start(world=after(DAY))
    young.append(await env.send(sms(content="새 글")))
    await env.wait(5)

    env = await start(world=VirtualWorld(2, NOON + 180 * DAY - MINUTE))
    await env.wait(1)
    assert (await env.messages_of(old[0]))[0].receiver == PHONE

    env = await start(world=VirtualWorld(3, NOON + 180 * DAY + MINUTE))
    await env.wait(1)
    owner = await account_id_of(env)

    assert [
        (each.receiver, each.values, each.content, each.reference) for each in await env.messages_of(old[0])
    ] == [("", (), None, None)] * 2
    for request_id in old:
        kept = (await env.store.read(requests.get, [request_id]))[request_id]
        assert (kept.content, kept.subject, kept.sender, kept.variables) == ("", None, "", ())
        assert await env.store.read(images.get, request_id) == ()
    outlook = await history.get_request_details(env.context, owner, old[0], 1, 10)
    assert outlook.counts == {DONE: 1, FAILED: 1}
    found = await history.find_messages(env.context, MessageFilter(owner, receiver=PHONE), 1, 100)
    assert [message.id for message, _ in found.found] == [message_id_of(young[0])]
    assert (await env.store.read(requests.get, young))[young[0]].content == "새 글"


@sqlite_only
async def test_blanked_requests_are_not_processed_again(start: Start) -> None:
    env = await start()
    await env.send(sms())
    await env.wait(5)

    env = await start(world=after(181 * DAY))
    await env.wait(1)
    before = await env.store.read(cursors.get, "blanked")
    await run_round(env.context)

    assert before is not None
    assert before == await env.store.read(cursors.get, "blanked")


@pytest.mark.settings(simulator_messages=25)
async def test_simulator_is_trimmed_but_pending_receipts_stay(env: Environment) -> None:
    for _ in range(4):
        await env.send(sms(*[PHONE] * 10))
    await env.wait(30)
    assert (
        await count_rows(env, "simulated_messages") == 40
    )  # the row stays for a while, to recognize a repeated submit

    await env.wait(60)

    assert await count_rows(env, "simulated_messages") == 25


async def test_jobs_of_a_removed_carrier_move_to_the_first_of_their_route(start: Start) -> None:
    old, new = FakeCarrier("old", lambda attempt: Busy()), FakeCarrier("new", lambda attempt: Accepted(None))
    sent: list[bytes] = []
    env = await start(old)
    sent.append(await env.send(sms(*[PHONE] * 600)))
    sent.append(await env.send(sms(scheduled_at=NOON + 2 * HOUR)))
    await env.wait(0.5)

    env = await start(new, world=after(HOUR))
    await env.wait(60)

    assert await env.outcomes_of(sent[0]) == [(DONE, Outcome.DELIVERED)] * 600
    assert await env.outcomes_of(sent[1]) == [(WAITING, None)]
    assert {attempt.tries for _, attempt in new.submitted} == {0}


async def test_jobs_of_a_removed_carrier_without_a_route_are_undeliverable(start: Start) -> None:
    old = FakeCarrier("old", lambda attempt: Busy())
    env = await start(old)
    sent = await env.send(sms(scheduled_at=NOON + 2 * HOUR))

    env = await start(FakeCarrier("new"), routes={"lms": ["new"]}, world=after(HOUR))
    assert await env.outcomes_of(sent) == [(FAILED, Outcome.UNDELIVERABLE)]
    assert await count_rows(env, "jobs") == 0
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="3018") == 1


async def test_messages_accepted_by_a_removed_carrier_time_out_without_resend(start: Start) -> None:
    old, new = FakeCarrier("old"), FakeCarrier("new", lambda attempt: Accepted(None))
    env = await start(old)
    sent = await env.send(sms())
    await env.wait(1)

    env = await start(new, world=after(HOUR))
    await env.wait(60)
    assert new.submitted == []
    assert await env.outcomes_of(sent) == [(SENDING, None)]

    env = await start(new, world=VirtualWorld(2, NOON + 26 * HOUR))
    await env.wait(60)
    assert new.submitted == []
    assert await env.outcomes_of(sent) == [(FAILED, Outcome.TIMED_OUT)]
    assert await count_rows(env, "receipts") == 0

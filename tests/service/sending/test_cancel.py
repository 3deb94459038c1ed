"""Cancelling: a message that was reported as cancelled is never submitted."""

import asyncio

import pytest

from pabal.carriers.base import Accepted, Busy
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import DAY, HOUR
from pabal.domain.sends.message import Status
from pabal.service.relay.profiles import delete
from pabal.service.sending.accept import accept
from pabal.service.sending.waiting import SWEEP_BATCH_REQUESTS, CancelResult, cancel_request
from tests.fixtures.service import (
    PHONE,
    FakeCarrier,
    Start,
    account_id_of,
    alimtalk,
    count_rows,
    later,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, SENDING, DONE, CANCEL = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.CANCEL
LATER = later(NOON, 3600)


async def cancel(env: Environment, request_id: bytes | None, message_id: bytes | None = None) -> CancelResult:
    return await cancel_request(env.context, await account_id_of(env), request_id, message_id)


async def test_waiting_messages_are_cancelled_and_never_submitted(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(PHONE, PHONE, scheduled_at=LATER))
    await env.wait(60)

    assert await cancel(env, request_id) == CancelResult(2, 2)

    for message in await env.messages_of(request_id):
        assert (message.status, message.outcome, message.completed_at) == (CANCEL, None, env.world.now())
    assert await count_rows(env, "jobs") == 0
    await env.jump(2 * 3600)
    assert carrier.submitted == []
    assert env.metric_value("pabal_messages_cancelled_total") == 2


async def test_single_message_can_be_cancelled(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(PHONE, PHONE, scheduled_at=LATER))

    assert await cancel(env, request_id, message_id_of(request_id, 2)) == CancelResult(1, 1)

    assert [status for status, _ in await env.outcomes_of(request_id)] == [WAITING, CANCEL]
    assert await cancel(env, request_id, message_id_of(request_id, 2)) == CancelResult(1, 0)
    assert await cancel(env, request_id) == CancelResult(2, 1)


@pytest.mark.carrier(answer=lambda attempt: Busy())
async def test_message_once_in_flight_is_not_cancelled(env: Environment) -> None:
    request_id = await env.send(sms())
    await env.wait(1)  # the carrier answered busy, and the message is not in flight

    assert await cancel(env, request_id) == CancelResult(1, 0)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]


async def test_unknown_or_foreign_message_cannot_be_cancelled(env: Environment, carrier: FakeCarrier) -> None:
    mine = await env.send(sms(scheduled_at=LATER))
    foreign = await accept(env.context, await account_id_of(env, "other"), sms(scheduled_at=LATER))

    for request_id, message_id in (
        (None, None),
        (bytes(13), None),
        (foreign, None),
        (foreign, message_id_of(foreign)),
        (mine, message_id_of(foreign)),
        (mine, message_id_of(mine, 2)),
    ):
        with pytest.raises(Refused) as refusal:
            await cancel(env, request_id, message_id)
        assert refusal.value.code is Code.REQUEST_NOT_FOUND
    assert await env.outcomes_of(foreign) == [(WAITING, None)]
    assert await env.outcomes_of(mine) == [(WAITING, None)]


@pytest.mark.parametrize("turns", range(8))
@pytest.mark.carrier(window=3, answer=lambda attempt: Accepted(None))
async def test_first_commit_wins_between_cancel_and_claim(
    env: Environment, carrier: FakeCarrier, turns: int
) -> None:
    request_id = await env.send(sms(*[PHONE] * 8))
    for _ in range(turns):
        await asyncio.sleep(0)

    done = await cancel(env, request_id)
    await env.wait(60)

    handed = set(carrier.ids)
    cancelled = {each.id for each in await env.messages_of(request_id) if each.status is CANCEL}
    assert len(cancelled) == done.canceled
    assert handed.isdisjoint(cancelled)
    assert len(handed) + len(cancelled) == 8


async def test_concurrent_cancels_cancel_each_message_once(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(*[PHONE] * 5, scheduled_at=LATER))

    done = await asyncio.gather(*(cancel(env, request_id) for _ in range(4)))

    assert sorted(each.canceled for each in done) == [0, 0, 0, 5]


async def test_deleting_a_profile_cancels_only_its_waiting_messages(env: Environment, carrier: FakeCarrier) -> None:
    profile, other = await env.add_profile(), await env.add_profile("@other")
    soon = NOON + HOUR
    doomed = [await env.send(alimtalk(profile, scheduled_at=soon)) for _ in range(SWEEP_BATCH_REQUESTS + 5)]
    doomed += [await env.send(alimtalk(profile, scheduled_at=soon + day * DAY)) for day in range(30)]
    kept = await env.send(alimtalk(other, scheduled_at=soon))
    a_text = await env.send(sms(scheduled_at=soon))

    await delete(env.context, await account_id_of(env), f"{profile:040x}", None)

    for request_id in doomed:
        assert await env.outcomes_of(request_id) == [(CANCEL, None)]
    await env.jump(3700)
    assert sorted(carrier.ids) == sorted([message_id_of(kept), message_id_of(a_text)])


async def test_housekeeping_finishes_a_cancel_interrupted_by_a_crash(start: Start) -> None:
    sent: list[bytes] = []
    env = await start(FakeCarrier())
    profile = await env.add_profile()
    sent.extend([await env.send(alimtalk(profile, scheduled_at=NOON + DAY)) for _ in range(50)])
    deleting = asyncio.ensure_future(delete(env.context, await account_id_of(env), f"{profile:040x}", None))
    while await count_rows(env, "profiles where deleted_at is not null") == 0:
        pass  # each query yields to the event loop, so the deletion proceeds
    deleting.cancel()
    await asyncio.gather(deleting, return_exceptions=True)
    assert (WAITING, None) in [(await env.outcomes_of(request_id))[0] for request_id in sent]

    env = await start(FakeCarrier(), world=VirtualWorld(1, later(NOON, 60)))
    await env.wait(1)

    assert {(await env.outcomes_of(request_id))[0] for request_id in sent} == {(CANCEL, None)}
    assert await count_rows(env, "profiles where is_swept = 0") == 0

"""Cancelling: a message that was reported as cancelled is never submitted."""

import asyncio

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.base.dates import DAY, HOUR
from pabal.domain.sends.message import Status
from pabal.service.relay.profiles import delete
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

WAITING, CANCEL = Status.WAITING, Status.CANCEL
LATER = later(NOON, 3600)


async def cancel(env: Environment, request_id: bytes | None, message_id: bytes | None = None) -> CancelResult:
    return await cancel_request(env.context, await account_id_of(env), request_id, message_id)


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

"""Lifetime: a message that no carrier has taken by its deadline ends as 9004 and is never sent."""

import pytest

from pabal.carriers.base import Accepted, Busy, NotSent, Rejected, Unknown, Verdict
from pabal.domain.base.dates import MINUTE, SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome, Product, Status
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.sending.waiting import send_now
from pabal.service.upkeep.deadline_sweep import DeadlineSweep, expire_request
from pabal.service.upkeep.housekeeping import ROUND_INTERVAL_S
from pabal.store.messages import requests
from tests.fixtures.delivery import at, disconnected_carrier, friendtalk_ad, reference_of
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    Start,
    account_id_of,
    alimtalk,
    answer_in_order,
    count_rows,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
EXPIRED = Outcome.EXPIRED
ROUND_MS = round(ROUND_INTERVAL_S * SECOND)


async def deadline_stored(env: Environment, request_id: bytes) -> Instant | None:
    return (await env.store.read(requests.get, [request_id]))[request_id].expires_at


@pytest.mark.carrier(is_connected=False)
async def test_password_is_not_sent_when_its_carrier_comes_back_too_late(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(content="인증번호 123456", expire_minutes=3))
    await env.wait(10 * 60)
    carrier.is_connected = True
    await env.wait(60)

    assert carrier.submitted == []
    message = await env.message_of(request_id)
    assert (message.status, message.outcome) == (FAILED, EXPIRED)
    assert message.completed_at is not None
    assert 3 * MINUTE <= message.completed_at - env.world.starts_at <= 3 * MINUTE + 2 * ROUND_MS
    assert await count_rows(env, "jobs") == 0
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="9004") == 1


@pytest.mark.carrier(answer=lambda attempt: NotSent())
async def test_message_that_is_never_transmitted_ends_at_its_deadline(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(expire_minutes=2))
    await env.wait(119)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]
    assert max(carrier.times) <= 120
    assert await count_rows(env, "jobs") == 0


@pytest.mark.parametrize(
    ("product", "hours"), [(Product.SMS, 24), (Product.LMS, 24), (Product.MMS, 24), (Product.ALIMTALK, 72)]
)
@pytest.mark.carrier(is_connected=False)
async def test_default_lifetime_is_a_day_for_texts_and_three_days_for_others(
    env: Environment, product: Product, hours: int
) -> None:
    profile = await env.add_profile()
    sending = (sms() if product.is_text else alimtalk(profile))._replace(product=product)
    request_id = await env.send(sending)
    await env.wait(120)

    assert await deadline_stored(env, request_id) == env.world.starts_at + hours * 60 * MINUTE


async def test_operator_sets_the_default_lifetime_of_a_product(start: Start) -> None:
    env = await start(disconnected_carrier(), expire_minutes={"sms": 2})
    by_default = await env.send(sms())
    own = await env.send(sms(expire_minutes=10))
    await env.wait(150)

    assert await env.outcomes_of(by_default) == [(FAILED, EXPIRED)]
    assert await env.outcomes_of(own) == [(WAITING, None)]


@pytest.mark.carrier(is_connected=False)
async def test_lifetime_is_counted_from_the_scheduled_time(env: Environment) -> None:
    request_id = await env.send(sms(expire_minutes=1, scheduled_at=env.world.now() + 10 * MINUTE))
    await env.wait(10 * 60 + 30)
    assert await env.outcomes_of(request_id) == [(WAITING, None)]
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]


async def test_message_with_a_carrier_does_not_expire(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(expire_minutes=1))
    await env.wait(180)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    await carrier.report((reference_of(request_id), Outcome.DELIVERED))

    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)]


@pytest.mark.parametrize("stays_away", [False, True])
async def test_message_in_doubt_is_not_expired_but_not_sent_again_either(start: Start, stays_away: bool) -> None:
    carrier = FakeCarrier()

    def leave_in_doubt_then_go_away(attempt: Attempt) -> Verdict:
        carrier.is_connected = False
        return Unknown()

    carrier.answer = leave_in_doubt_then_go_away
    env = await start(carrier)
    request_id = await env.send(sms(expire_minutes=1))
    await env.wait(30 if stays_away else 61)
    carrier.is_connected = not stays_away
    await env.wait(90)

    assert len(carrier.submitted) == 1
    assert await env.outcomes_of(request_id) == [(SENDING, None)]

    env = await start(disconnected_carrier(), world=VirtualWorld(1, NOON + 26 * 60 * MINUTE))
    await env.wait(5)
    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.UNKNOWN)]


async def test_busy_message_is_tried_until_its_deadline_and_not_after(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(Busy())
    request_id = await env.send(sms(expire_minutes=1))
    await env.wait(600)

    assert 4 <= len(carrier.submitted) <= 7
    assert max(carrier.times) <= 60
    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]


@pytest.mark.carrier(delay_s=25, is_connected=False)
async def test_attempt_in_flight_at_the_deadline_is_left_to_its_verdict(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(NotSent(), Accepted(None))
    request_id = await env.send(sms(expire_minutes=1, scheduled_at=env.world.now() + 1))
    carrier.is_connected = False
    await env.wait(50)
    carrier.is_connected = True
    await env.wait(20)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    await env.wait(30)

    assert len(carrier.submitted) == 1  # settled as not sent after the deadline
    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]


@pytest.mark.carrier(is_connected=False)
async def test_expired_message_gets_no_fallback(env: Environment) -> None:
    request_id = await env.send(alimtalk(await env.add_profile(), expire_minutes=1))
    await env.wait(300)

    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]


async def test_fallback_has_the_deadline_of_its_original(start: Start) -> None:
    talk, post = FakeCarrier("talk", lambda attempt: Rejected(Outcome.NOT_A_USER)), disconnected_carrier()
    post.name = "post"
    env = await start(talk, post, routes={"alimTalk": ["talk"], "sms": ["post"]})
    request_id = await env.send(alimtalk(await env.add_profile(), expire_minutes=2))
    await env.wait(100)
    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER), (WAITING, None)]
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER), (FAILED, EXPIRED)]


async def test_no_fallback_is_made_after_the_deadline(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(alimtalk(await env.add_profile(), expire_minutes=2))
    await env.wait(121)
    await carrier.report((reference_of(request_id), Outcome.NOT_A_USER))

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER)]


async def test_advertisement_moved_to_the_morning_lives_from_then_on(start: Start) -> None:
    carrier = disconnected_carrier()
    env = await start(carrier, world=VirtualWorld(starts_at=at(20, 40)))
    ad = await env.send(friendtalk_ad(await env.add_profile())._replace(expire_minutes=60, fallback=None))
    await env.wait(15 * 60)  # 20:55: the carrier comes back at night
    carrier.is_connected = True
    await env.wait(5)
    carrier.is_connected = False
    assert await deadline_stored(env, ad) == at(8) + 25 * 60 * MINUTE
    await env.wait(120)
    assert await env.outcomes_of(ad) == [(WAITING, None)]

    env = await start(carrier, world=VirtualWorld(1, at(9) + 24 * 60 * MINUTE))
    await env.wait(5)
    assert await env.outcomes_of(ad) == [(FAILED, EXPIRED)]
    assert carrier.submitted == []


@pytest.mark.carrier(is_connected=False)
async def test_claim_and_housekeeping_end_a_message_only_once(env: Environment) -> None:
    request_id = await env.send(alimtalk(await env.add_profile(), expire_minutes=1))
    late = env.world.now() + MINUTE
    asked = ClaimRequest(0, DEFAULT_CARRIER, 10, 10 * SECOND)
    policy = env.context.policy
    claimed = await env.store.write(claim, asked, policy, late)
    ended, _ = await env.store.write(expire_request, request_id, b"", frozenset(), policy, late)

    assert claimed.leased == []
    assert claimed.finished.ended == [(Product.ALIMTALK, EXPIRED)]
    assert ended.ended == []
    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]


@pytest.mark.carrier(is_connected=False)
async def test_message_claimed_just_before_its_deadline_is_not_ended_by_housekeeping(env: Environment) -> None:
    request_id = await env.send(sms(expire_minutes=1))
    late, policy = env.world.now() + MINUTE, env.context.policy
    asked = ClaimRequest(0, DEFAULT_CARRIER, 10, 10 * SECOND)
    claimed = await env.store.write(claim, asked, policy, late - 1)
    ended, _ = await env.store.write(expire_request, request_id, b"", frozenset(), policy, late)

    assert [attempt.expires_at for _, _, attempt in claimed.leased] == [late]
    assert ended.ended == []
    assert await env.outcomes_of(request_id) == [(SENDING, None)]


@pytest.mark.carrier(is_connected=False)
async def test_large_requests_expire_as_a_whole_and_others_stay(env: Environment) -> None:
    phones = [f"010{number:08}" for number in range(1200)]
    short = await env.send(sms(*phones, expire_minutes=1))
    long = await env.send(sms(*phones[:20], expire_minutes=10))
    await env.wait(90)

    assert set(await env.outcomes_of(short)) == {(FAILED, EXPIRED)}
    assert set(await env.outcomes_of(long)) == {(WAITING, None)}
    assert await deadline_stored(env, short) is None
    assert await count_rows(env, "jobs") == 20


async def test_deadlines_are_watched_only_while_messages_wait(env: Environment, carrier: FakeCarrier) -> None:
    delivered = await env.send(sms(expire_minutes=5))
    later = await env.send(sms(scheduled_at=env.world.now() + 30 * MINUTE))
    await env.wait(120)

    assert await deadline_stored(env, delivered) is None
    assert await deadline_stored(env, later) is None
    assert await env.job_of(message_id_of(later)) is not None


@pytest.mark.carrier(is_connected=False)
async def test_walk_of_a_lane_goes_on_where_the_last_one_ended(env: Environment) -> None:
    at_once = env.world.now() + MINUTE  # many jobs are due at the same time
    sent = [await env.send(sms(PHONE, PHONE, PHONE, scheduled_at=at_once)) for _ in range(5)]
    await env.wait(81)
    expirer = DeadlineSweep(env.context, page=2, max_pages=2)
    for _ in range(4):
        await expirer.run()

    assert {await deadline_stored(env, each) for each in sent} == {at_once + 24 * 60 * MINUTE}


@pytest.mark.carrier(is_connected=False)
async def test_request_sent_now_lives_from_then_on(env: Environment) -> None:
    request_id = await env.send(sms(expire_minutes=5, scheduled_at=env.world.now() + 60 * MINUTE))
    await env.wait(60)
    await send_now(env.context, await account_id_of(env), request_id)
    await env.wait(4 * 60)
    assert await env.outcomes_of(request_id) == [(WAITING, None)]
    await env.wait(90)

    assert await env.outcomes_of(request_id) == [(FAILED, EXPIRED)]

"""Delivering: the attempt is written first, a refusal for now is tried again, and nothing is sent too early."""

import asyncio
import itertools
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Unknown, Verdict
from pabal.domain import retry
from pabal.domain.dates import HOUR, SECOND
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.domain.sending import Receiver, Sending
from pabal.service.delivery.claim import LEASE_MARGIN_MS, lease_duration_ms
from pabal.service.delivery.deliver import OFFLINE_CHECK_INTERVAL_S
from pabal.service.delivery.settle import BatchVerdicts, settle
from pabal.service.relay.profiles import delete
from pabal.service.sending.cancel import cancel_request
from pabal.store import queue
from pabal.store.engine.base import Tx
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    account_id_of,
    add_profile,
    alimtalk,
    answer_in_order,
    job_of,
    later,
    message_id_of,
    message_of,
    messages_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
SEOUL = ZoneInfo("Asia/Seoul")


def at(hour: int, minute: int = 0) -> int:
    """Return a time of day as an instant, on the day that tests begin on."""
    return round(datetime(2026, 11, 15, hour, minute, tzinfo=SEOUL).timestamp() * 1000)


def away() -> FakeCarrier:
    """Return a carrier that is not connected."""
    post = FakeCarrier()
    post.is_connected = False
    return post


def test_the_attempt_is_written_before_the_carrier_is_called(run_scenario: RunScenario) -> None:
    class Nosy(FakeCarrier):
        seen: tuple[Status, int] | None = None

        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            request_id = attempts[0].message_id[:13]
            found = await job_of(self.env, attempts[0].message_id)
            assert found is not None
            self.seen = (await message_of(self.env, request_id)).status, found[3]
            return await super().send(attempts)

        env: Environment

    post = Nosy()

    async def scenario(env: Environment) -> None:
        post.env = env
        await send(env, sms())
        await env.wait(1)

        assert post.seen == (SENDING, 1)
        assert post.submitted[0][1].number == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_carrier_is_handed_the_message_as_its_receiver_gets_it(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(content="안녕"))
        await env.wait(1)

        (_, attempt), *_ = post.submitted
        assert attempt == Attempt(
            message_id_of(request_id), 1, 1, Product.SMS, PHONE, "0212345678", None, "안녕", tries=0
        )

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize(
    ("verdict", "end"),
    [
        (Accepted(None), (DONE, Outcome.DELIVERED)),
        (Accepted("reference"), (SENDING, None)),
        (Rejected(Outcome.SPAM), (FAILED, Outcome.SPAM)),
        (Busy(), (SENDING, None)),
        (Unknown(), (SENDING, None)),
    ],
)
def test_a_carriers_word_decides(
    run_scenario: RunScenario, verdict: Verdict, end: tuple[Status, Outcome | None]
) -> None:
    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(0.5)

        assert await outcomes_of(env, request_id) == [end]
        assert (
            metric_value(env, "pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict=verdict.label) == 1
        )

    run_scenario(scenario, carriers={DEFAULT_CARRIER: FakeCarrier(answer=lambda attempt: verdict)})


def test_what_a_carrier_has_taken_is_not_handed_to_it_again(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(3600)

        assert len(post.submitted) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_carrier_that_does_not_answer_in_time_leaves_the_outcome_unknown_and_is_asked_again(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(delay_s=1000, timeout_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(4.9)
        held = await job_of(env, message_id_of(request_id))
        assert held is not None
        assert held[2] > env.world.now()  # still leased: nobody else may have it
        await env.wait(0.5)
        assert metric_value(env, "pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 1

        post.delay_s = 0
        await env.wait(6)

        assert [attempt.number for _, attempt in post.submitted] == [1, 2]
        assert 5.8 <= post.times[1] - post.times[0] <= 6.3
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_carrier_that_raises_leaves_the_outcome_unknown_and_is_asked_again(run_scenario: RunScenario) -> None:
    class Clumsy(FakeCarrier):
        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            said = await super().send(attempts)
            if len(self.submitted) == 1:
                raise ConnectionResetError
            return said

    post = Clumsy()

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(3)

        assert [(attempt.number, attempt.tries) for _, attempt in post.submitted] == [(1, 0), (2, 1)]
        assert metric_value(env, "pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_message_that_cannot_be_put_together_fails_alone(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        spoiled = [Receiver(PHONE, ("값",)), Receiver(PHONE, ("하나", "둘이나")), Receiver(PHONE, ("값",))]
        request_id = await send(env, sms(content="#{x}", variables=("x",), receivers=spoiled))
        other = await send(env, sms())
        await env.wait(5)

        well, ill = (DONE, Outcome.DELIVERED), (FAILED, Outcome.UNDELIVERABLE)
        assert await outcomes_of(env, request_id) == [well, ill, well]
        assert await outcomes_of(env, other) == [well]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_batch_that_a_carrier_answers_by_halves_counts_as_unknown(run_scenario: RunScenario) -> None:
    class Careless(FakeCarrier):
        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            said = await super().send(attempts)
            return said[1:] if len(self.submitted) == 2 else said

    post = Careless(answer=lambda attempt: Accepted(None), timeout_s=2)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, PHONE))
        await env.wait(60)

        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)] * 2
        assert [attempt.number for _, attempt in post.submitted] == [1, 1, 2, 2]
        assert metric_value(env, "pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_lease_outlasts_the_carriers_time_to_answer() -> None:
    assert lease_duration_ms(FakeCarrier(timeout_s=2)) == 2 * SECOND + LEASE_MARGIN_MS
    assert LEASE_MARGIN_MS == 10 * SECOND


@pytest.mark.parametrize(("verdict", "outcome"), [(Busy(), Outcome.CARRIER_ERROR), (Unknown(), Outcome.UNKNOWN)])
def test_a_refusal_for_now_is_tried_again_after_1_2_4_seconds_ten_times_in_all(
    run_scenario: RunScenario, verdict: Verdict, outcome: Outcome
) -> None:
    post = FakeCarrier(answer=lambda attempt: verdict)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(3600)

        pauses = [after - before for before, after in itertools.pairwise(post.times)]
        assert len(post.submitted) == retry.MAX_TRIES == 10
        for number, pause in enumerate(pauses):
            assert 0.79 * 2**number <= pause <= 1.21 * 2**number
        assert [attempt.tries for _, attempt in post.submitted] == list(range(10))
        assert await outcomes_of(env, request_id) == [(FAILED, outcome)]
        assert await job_of(env, message_id_of(request_id)) is None

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_message_keeps_one_of_its_tries_noted_for_each_attempt_without_yes_or_no(
    run_scenario: RunScenario,
) -> None:
    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(10)

        def noted(tx: Tx) -> list[tuple[int, str]]:
            return [
                (row[0], row[1]) for row in tx.fetch_all("select number, verdict from attempts order by number")
            ]

        assert await env.store.read(noted) == [(1, "busy"), (2, "unknown")]
        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)]

    run_scenario(
        scenario, carriers={DEFAULT_CARRIER: FakeCarrier(answer=answer_in_order(Busy(), Unknown(), Accepted(None)))}
    )


def test_after_the_last_try_the_next_carrier_of_the_route_gets_it(tmp_path: Path) -> None:
    one = FakeCarrier("one", lambda attempt: Busy(), failover_after_s=3600)
    two = FakeCarrier("two", lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(3600)

        assert (len(one.submitted), len(two.submitted)) == (10, 1)
        assert two.submitted[0][1].number == 11
        assert two.submitted[0][1].tries == 0
        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


def test_when_no_carrier_of_the_route_takes_it_the_last_ones_word_is_the_end(tmp_path: Path) -> None:
    one = FakeCarrier("one", lambda attempt: Busy(), failover_after_s=3600)
    two = FakeCarrier("two", lambda attempt: Unknown())

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(3600)

        assert (len(one.submitted), len(two.submitted)) == (10, 10)
        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNKNOWN)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


def test_a_final_refusal_is_not_tried_elsewhere(tmp_path: Path) -> None:
    one, two = FakeCarrier("one", lambda attempt: Rejected(Outcome.SPAM)), FakeCarrier("two")

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(60)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.SPAM)]
        assert two.submitted == []

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


def test_a_stalled_carrier_delays_nobody_else(tmp_path: Path) -> None:
    stalled, well = (
        FakeCarrier("stalled", delay_s=25, window=1),
        FakeCarrier("well", lambda attempt: Accepted(None)),
    )

    async def scenario(env: Environment) -> None:
        for _ in range(20):
            await send(env, sms())
        request_id = await send(env, sms(product=Product.LMS))
        await env.wait(1)

        assert len(stalled.submitted) == 1
        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)]

    run_scenario_with(tmp_path, scenario, {"stalled": stalled, "well": well}, {"sms": ["stalled"], "lms": ["well"]})


def test_a_carrier_that_is_not_connected_is_given_nothing_and_it_costs_no_try(run_scenario: RunScenario) -> None:
    post = away()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(300)
        assert post.submitted == []
        assert await outcomes_of(env, request_id) == [(WAITING, None)]

        post.is_connected = True
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.1)

        assert [(attempt.number, attempt.tries) for _, attempt in post.submitted] == [(1, 0)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_word_on_an_attempt_that_is_no_longer_the_current_one_changes_nothing(run_scenario: RunScenario) -> None:
    post = FakeCarrier(delay_s=1000, timeout_s=900)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, "01099998888"))
        await env.wait(1)
        old = [attempt for _, attempt in post.submitted]
        lease_ends = env.world.now() + lease_duration_ms(post)
        await env.store.write(queue.claim, [each.message_id for each in old], lease_ends, lease_ends + HOUR)
        before = [await job_of(env, each.message_id) for each in old]

        for verdict in (Accepted(None), Accepted("r"), Rejected(Outcome.SPAM), Busy(), Unknown()):
            said = BatchVerdicts(DEFAULT_CARRIER, [(each, verdict) for each in old])
            finished = await env.store.write(settle, said, env.context.policy, 0.5, env.world.now())
            assert finished.ended == []

        assert [await job_of(env, each.message_id) for each in old] == before
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, stop_seconds=1)


def test_a_window_is_never_exceeded_and_always_used(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=7, delay_s=1, answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 70))
        await env.wait(10.5)

        assert post.max_in_flight == 7
        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)] * 70

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_small_send_does_not_wait_behind_a_campaign(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=20, delay_s=0.5, answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        campaign = await send(env, sms(*[PHONE] * 5000))
        await env.wait(5)
        begun = asyncio.get_running_loop().time()

        small = await send(env, sms("01099998888"))
        await env.wait(2)

        waited = post.times[post.ids.index(message_id_of(small))] - begun
        assert waited <= 1
        assert WAITING in [each.status for each in await messages_of(env, campaign)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_campaign_goes_on_under_a_stream_of_small_sends(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=20, delay_s=1, answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        campaign = await send(env, sms(*[PHONE] * 100))
        for _ in range(60):
            await send(env, sms(*["01099998888"] * 10))
        await env.wait(5.5)

        of_campaign = [one for one in post.ids if one[:13] == campaign]
        assert len(of_campaign) >= 5 * 20 // 4
        assert len(of_campaign) < len(post.ids) / 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_nothing_is_sent_before_its_time_and_all_of_it_then(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        due_at = later(NOON, 3600)
        request_id = await send(env, sms(scheduled_at=due_at))
        await env.wait(3599.9)
        assert post.submitted == []
        assert await outcomes_of(env, request_id) == [(WAITING, None)]

        await env.wait(0.2)

        assert len(post.submitted) == 1
        assert NOON + post.times[0] * SECOND >= due_at
        assert await outcomes_of(env, request_id) == [(DONE, Outcome.DELIVERED)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_stopping_finishes_what_is_in_hand_and_leaves_the_rest(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=10, delay_s=5, answer=lambda attempt: Accepted(None))
    sent: list[bytes] = []

    async def stop_amidst(env: Environment) -> None:
        sent.append(await send(env, sms(*[PHONE] * 30)))
        await env.wait(1)

    async def look(env: Environment) -> None:
        statuses = [each.status for each in await messages_of(env, sent[0])]
        assert statuses == [DONE] * 10 + [WAITING] * 20

    run_scenario(stop_amidst, carriers={DEFAULT_CARRIER: post})
    assert len(post.submitted) == 10
    run_scenario(look, carriers={DEFAULT_CARRIER: away()}, world=VirtualWorld(1))


@pytest.mark.parametrize("turns", range(6))
def test_what_a_carrier_took_while_the_service_stopped_is_known_after_it(
    run_scenario: RunScenario, turns: int
) -> None:
    post = FakeCarrier(delay_s=1, answer=lambda attempt: Accepted(None))

    async def stop_at_once(env: Environment) -> None:
        await send(env, sms())
        await env.wait(0.9)
        await send(env, sms())
        for _ in range(turns):  # so that the stop falls into every moment of a claim
            await asyncio.sleep(0)

    run_scenario(stop_at_once, carriers={DEFAULT_CARRIER: post})
    handed = set(post.ids)

    async def look(env: Environment) -> None:
        def completed(tx: Tx) -> set[bytes]:
            return {row[0] for row in tx.fetch_all("select id from messages where status = ?", (DONE.number,))}

        assert await env.store.read(completed) == handed

    run_scenario(look, carriers={DEFAULT_CARRIER: away()}, world=VirtualWorld(1))


def test_stopping_does_not_wait_for_ever(run_scenario: RunScenario) -> None:
    post = FakeCarrier(delay_s=10_000, timeout_s=9_000)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        began = env.world.now()

        await env.service.stop()

        assert env.world.now() - began <= 20 * SECOND
        assert post.ids == [message_id_of(request_id)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, stop_seconds=20)


def test_what_was_in_hand_at_a_crash_is_handed_over_again_at_the_next_start(run_scenario: RunScenario) -> None:
    post = FakeCarrier(delay_s=1000, timeout_s=900)

    async def crash(env: Environment) -> None:
        await send(env, sms())
        await env.wait(1)

    async def next_start(env: Environment) -> None:
        await env.wait(0.5)

        assert [attempt.number for _, attempt in again.submitted] == [2]

    again = FakeCarrier(timeout_s=900)
    run_scenario(crash, carriers={DEFAULT_CARRIER: post}, stop_seconds=1)
    run_scenario(next_start, carriers={DEFAULT_CARRIER: again}, world=VirtualWorld(1, later(NOON, 2)))


def test_the_waiting_messages_of_a_deleted_profile_are_cancelled_when_they_come_due(
    run_scenario: RunScenario,
) -> None:
    post = away()

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        request_id = await send(env, alimtalk(profile))
        await delete(env.context, await account_id_of(env), f"{profile:040x}", None)
        post.is_connected = True
        await env.wait(60)

        assert post.submitted == []
        assert await outcomes_of(env, request_id) == [(Status.CANCEL, None)]
        assert (await message_of(env, request_id)).completed_at is not None
        assert await job_of(env, message_id_of(request_id)) is None

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_deleted_profiles_message_that_a_carrier_refused_for_now_fails_and_nothing_stands_in_for_it(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Busy())

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        request_id = await send(env, alimtalk(profile, fallback_text="대신"))
        await env.wait(0.1)
        await delete(env.context, await account_id_of(env), f"{profile:040x}", None)
        handed_before = len(post.submitted)
        await env.wait(60)

        assert len(post.submitted) == handed_before
        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNDELIVERABLE)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def friendtalk_ad(profile_id: int) -> Sending:
    return alimtalk(profile_id, product=Product.FRIENDTALK_TEXT, is_ad=True, content="(광고) 할인")


def test_an_advertisement_that_comes_due_at_night_is_not_sent_but_a_notice_is(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted(None))

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        ad = await send(env, friendtalk_ad(profile)._replace(scheduled_at=at(20, 50)))
        notice = await send(env, alimtalk(profile, scheduled_at=at(20, 50)))
        await env.wait(600)

        assert post.ids == [message_id_of(notice)]
        assert await outcomes_of(env, ad) == [(WAITING, None)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, world=VirtualWorld(0, at(20, 49)))


def test_an_advertisement_of_the_night_goes_out_at_eight_and_may_be_cancelled_until_then(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted(None))
    begins_at = at(7, 55)

    async def scenario(env: Environment) -> None:
        profile = await add_profile(env)
        kept, dropped = await send(env, friendtalk_ad(profile)), await send(env, friendtalk_ad(profile))
        await env.wait(60)
        cancelled = await cancel_request(env.context, await account_id_of(env), dropped, None)
        assert cancelled == (1, 1)
        await env.wait(300)

        assert post.ids == [message_id_of(kept)]
        assert at(8) <= begins_at + post.times[0] * SECOND <= at(8) + SECOND

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, world=VirtualWorld(0, begins_at))


def test_an_advertisement_of_the_day_goes_out_at_once(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        await send(env, friendtalk_ad(await add_profile(env)))
        await env.wait(1)

        assert len(post.submitted) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})

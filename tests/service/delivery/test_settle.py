"""Settling: what each verdict leads to, and what becomes of a message that a carrier may or may not have."""

import itertools
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.dates import SECOND
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.domain.retry import MAX_TRIES
from pabal.service.delivery.claim import lease_duration_ms
from pabal.service.upkeep.housekeeping import UNMATCHED_RECEIPT_RETENTION_MS
from pabal.store.engine.base import Tx
from pabal.store.queue import Lane
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    add_profile,
    alimtalk,
    answer_in_order,
    count_rows,
    doubt_name_of,
    job_of,
    later,
    message_id_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF
SPAM = Outcome.SPAM


def taking(attempt: Attempt) -> Verdict:
    return Accepted(None)


def declining(attempt: Attempt) -> Verdict:
    return Declined(SPAM)


def doubting(attempt: Attempt) -> Verdict:
    return Unknown()


async def noted(env: Environment) -> list[tuple[int, str, str]]:
    """Return number, carrier and verdict of the attempts that ended in neither yes nor no."""

    def look(tx: Tx) -> list[tuple[int, str, str]]:
        rows = tx.fetch_all("select number, carrier, verdict from attempts order by message_id, number")
        return [(number, carrier, verdict) for number, carrier, verdict in rows]

    return await env.store.read(look)


# What a carrier does not carry.


def test_what_one_carrier_declines_goes_to_the_next_at_once_and_is_not_tried_again_there(tmp_path: Path) -> None:
    one, two = FakeCarrier("one", declining), FakeCarrier("two", answer_in_order(Busy(), Accepted(None)))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(0.3)
        assert len(two.submitted) == 1
        await env.wait(5)

        assert len(one.submitted) == 1
        assert [(attempt.number, attempt.tries) for _, attempt in two.submitted] == [(2, 0), (3, 1)]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert await noted(env) == [(1, "one", "declined"), (2, "two", "busy")]
        assert metric_value(env, "pabal_carrier_verdicts_total", carrier="one", verdict="declined") == 1

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


def test_what_the_only_carrier_declines_ends_with_its_word(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=declining)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(60)

        assert len(post.submitted) == 1
        assert await outcomes_of(env, request_id) == [(FAILED, SPAM)]
        assert await count_rows(env, "jobs") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_what_every_carrier_of_the_route_declines_ends_with_the_last_ones_word(tmp_path: Path) -> None:
    posts = {name: FakeCarrier(name, declining) for name in ("one", "two", "three")}
    posts["three"].answer = lambda attempt: Declined(BAD)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(5)

        assert [len(post.submitted) for post in posts.values()] == [1, 1, 1]
        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]

    run_scenario_with(tmp_path, scenario, posts, {"sms": list(posts)})


def test_what_is_declined_goes_rather_to_a_carrier_that_is_not_set_aside(tmp_path: Path) -> None:
    posts = {name: FakeCarrier(name, taking, failover_after_s=5) for name in ("one", "two", "three")}
    posts["one"].answer = declining
    posts["two"].is_connected = False

    async def scenario(env: Environment) -> None:
        await env.wait(10)
        request_id = await send(env, sms())
        await env.wait(0.5)

        assert [len(post.submitted) for post in posts.values()] == [1, 0, 1]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario_with(tmp_path, scenario, posts, {"sms": list(posts)})


def test_in_one_batch_each_message_goes_its_own_way(tmp_path: Path) -> None:
    words: dict[str, Verdict] = {
        "01000000011": Accepted(None),
        "01000000012": Rejected(BAD),
        "01000000013": Declined(SPAM),
        "01000000014": Busy(),
        "01000000015": NotSent(),
        "01000000016": Unknown(),
    }
    one, two = FakeCarrier("one", lambda attempt: words[attempt.receiver]), FakeCarrier("two", taking)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*words))
        await env.wait(0.5)

        well, ill, on = (DONE, GOOD), (FAILED, BAD), (SENDING, None)
        assert await outcomes_of(env, request_id) == [well, ill, well, on, on, on]
        assert [attempt.receiver for _, attempt in two.submitted] == ["01000000013"]
        left = [await job_of(env, message_id_of(request_id, number)) for number in (4, 5, 6)]
        assert [(each[0], each[1], each[4]) for each in left if each] == [
            ("one", Lane.SMALL, 1),
            ("one", Lane.SMALL, 0),
            ("one", Lane.SMALL, 1),
        ]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


# What never left our hands.


def test_what_never_left_our_hands_comes_back_after_a_second_and_costs_no_try(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(*[NotSent()] * (MAX_TRIES + 5), Busy(), Accepted(None)))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(MAX_TRIES + 5.5)
        pauses = [after - before for before, after in itertools.pairwise(post.times)]
        assert all(1 <= pause <= 1.1 for pause in pauses)
        assert {attempt.tries for _, attempt in post.submitted} == {0}
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert [attempt.tries for _, attempt in post.submitted[-2:]] == [0, 1]
        assert [verdict for _, _, verdict in await noted(env)] == ["busy"]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_what_never_left_our_hands_does_not_begin_its_tries_anew(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Busy(), Busy(), NotSent(), NotSent(), Busy(), Accepted(None)))

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(20)

        assert [attempt.tries for _, attempt in post.submitted] == [0, 1, 2, 2, 2, 3]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


# What is in doubt.


def test_a_message_in_doubt_waits_where_the_carrier_holds_doubt_and_is_never_handed_over_again(
    tmp_path: Path,
) -> None:
    one, two = FakeCarrier("one", doubting, holds_in_doubt=True), FakeCarrier("two")

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1800)

        assert (len(one.submitted), len(two.submitted)) == (1, 0)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        found = await job_of(env, message_id_of(request_id))
        assert found is not None
        assert found[:2] == ("one", Lane.AWAITING_RECEIPT)
        assert await noted(env) == [(1, "one", "unknown")]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, {"sms": ["one", "two"]})


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
def test_a_receipt_that_names_the_message_in_doubt_ends_it(
    run_scenario: RunScenario, outcome: Outcome, status: Status
) -> None:
    post = FakeCarrier(answer=doubting, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(60)

        await post.report(("never heard of", outcome, doubt_name_of(message_id_of(request_id))))

        assert await outcomes_of(env, request_id) == [(status, outcome)]
        assert await count_rows(env, "jobs") == 0
        assert await count_rows(env, "receipts") == 0
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 0
        await post.report(("never heard of", BAD, doubt_name_of(message_id_of(request_id))))
        assert await outcomes_of(env, request_id) == [(status, outcome)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
def test_a_receipt_that_is_here_before_its_message_is_in_doubt_ends_it_once_it_is(
    run_scenario: RunScenario, outcome: Outcome, status: Status
) -> None:
    post = FakeCarrier(answer=doubting, delay_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        opposite = BAD if outcome is GOOD else GOOD
        await post.report(
            ("a", outcome, doubt_name_of(message_id_of(request_id))),
            ("b", opposite, doubt_name_of(message_id_of(request_id))),
        )  # the first counts
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(status, outcome)]
        assert await count_rows(env, "jobs") == 0
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
        await env.wait(UNMATCHED_RECEIPT_RETENTION_MS / SECOND + 120)
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_that_is_here_before_a_crash_ends_its_message_at_the_next_start(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(delay_s=1000, timeout_s=900, holds_in_doubt=True)
    sent: list[bytes] = []

    async def scenario(env: Environment) -> None:
        sent.append(await send(env, sms()))
        await env.wait(1)
        await post.report(("x", GOOD, doubt_name_of(message_id_of(sent[0]))))

    async def next_start(env: Environment) -> None:
        await env.wait(20)

        assert await outcomes_of(env, sent[0]) == [(DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, stop_seconds=1)
    again = FakeCarrier(holds_in_doubt=True)
    run_scenario(next_start, carriers={DEFAULT_CARRIER: again}, world=VirtualWorld(1, later(NOON, 3 * 3600)))
    assert again.submitted == []


def test_an_early_receipt_that_has_a_reference_and_a_name_ends_a_message_that_is_taken_as_usual(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(delay_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await post.report((message_id_of(request_id).hex(), BAD, doubt_name_of(message_id_of(request_id))))
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code=str(BAD.number)) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_that_names_another_message_leaves_the_one_in_doubt_alone(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=doubting, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id, other = await send(env, sms()), await send(env, sms("01099998888"))
        await env.wait(60)

        await post.report(
            ("a", GOOD),
            ("b", GOOD, doubt_name_of(message_id_of(request_id), "01000000000")),
            ("c", GOOD, doubt_name_of(message_id_of(request_id, 2))),
            ("d", GOOD, doubt_name_of(message_id_of(other), "01099998888")),
        )

        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        assert await outcomes_of(env, other) == [(DONE, GOOD)]
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 3

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_without_a_receipt_what_is_in_doubt_ends_as_unknown_and_what_was_taken_as_timed_out(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(
        answer=lambda attempt: Unknown() if attempt.receiver == PHONE else Accepted("r"), holds_in_doubt=True
    )

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, "01099998888"))
        await env.wait(3600 - 20)
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 2

        await env.wait(40)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNKNOWN), (FAILED, Outcome.TIMED_OUT)]
        assert await count_rows(env, "receipts") == 0
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="9001") == 1
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="2000") == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, sms_timeout_hours=1)


def test_a_carrier_that_does_not_answer_at_all_leaves_the_whole_batch_in_doubt(run_scenario: RunScenario) -> None:
    post = FakeCarrier(delay_s=1000, timeout_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 3))
        await env.wait(600)
        assert len(post.submitted) == 3

        await post.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))

        assert await outcomes_of(env, request_id) == [(SENDING, None), (DONE, GOOD), (SENDING, None)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, stop_seconds=1)


def test_a_failed_alimtalk_that_was_in_doubt_has_its_text_stand_in_for_it(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown()), holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env), fallback_text="대신"))
        await env.wait(1)
        post.answer = taking

        await post.report(("x", Outcome.NOT_A_USER, doubt_name_of(message_id_of(request_id))))
        await env.wait(1)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


class Careless(FakeCarrier):
    """A carrier that forgets to answer one of the first batch, so that all of it is left to its lease."""

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        is_first = not self.submitted
        said = await super().send(attempts)
        return said[1:] if is_first else said


@pytest.mark.parametrize("holds", [True, False])
def test_a_lease_that_ran_out_leaves_its_message_in_doubt(run_scenario: RunScenario, holds: bool) -> None:
    post = Careless(answer=taking, timeout_s=2, holds_in_doubt=holds)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, PHONE))
        await env.wait(lease_duration_ms(post) / SECOND + 1)
        other = await send(env, sms())
        await env.wait(60)

        assert await outcomes_of(env, other) == [(DONE, GOOD)]
        if not holds:
            assert [attempt.number for _, attempt in post.submitted] == [1, 1, 2, 2, 1]
            assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 2
            return
        assert post.ids == [message_id_of(request_id, 1), message_id_of(request_id, 2), message_id_of(other)]
        await post.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))
        await env.wait(3600)
        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNKNOWN), (DONE, GOOD)]
        assert len(post.submitted) == 3

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, sms_timeout_hours=1)


def test_an_advertisement_in_doubt_is_held_at_night_too_and_not_sent_again_in_the_morning(
    run_scenario: RunScenario,
) -> None:
    evening = round(datetime(2026, 11, 15, 20, 49, 55, tzinfo=ZoneInfo("Asia/Seoul")).timestamp() * 1000)
    post = Careless(answer=taking, timeout_s=2, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        ad = alimtalk(await add_profile(env), product=Product.FRIENDTALK_TEXT, is_ad=True, content="(광고) 할인")
        request_id = await send(env, ad)
        await env.wait(60)

        assert post.ids == [message_id_of(request_id)]
        found = await job_of(env, message_id_of(request_id))
        assert found is not None
        assert found[1] == Lane.AWAITING_RECEIPT

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, world=VirtualWorld(0, evening))


# A crash with a full window.


def crash(run_scenario: RunScenario, post: FakeCarrier, messages: int, **settings: Any) -> bytes:
    """Send more than a carrier's window holds, and let the service die while it is full."""
    sent: list[bytes] = []

    async def scenario(env: Environment) -> None:
        sent.append(await send(env, sms(*[PHONE] * messages)))
        await env.wait(1)
        assert len(post.submitted) == post.window

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, stop_seconds=1, **settings)
    return sent[0]


@pytest.mark.parametrize("pause_s", [2, 3600], ids=["within the lease", "long after it"])
def test_after_a_crash_the_window_is_handed_over_again_where_the_carrier_does_not_hold_doubt(
    run_scenario: RunScenario, pause_s: int
) -> None:
    request_id = crash(run_scenario, FakeCarrier(window=10, delay_s=1000, timeout_s=900), 25)
    again = FakeCarrier(answer=taking, window=10, timeout_s=900)

    async def next_start(env: Environment) -> None:
        await env.wait(900 + 60)

        assert len(again.submitted) == len(set(again.ids)) == 25
        assert sorted(attempt.number for _, attempt in again.submitted) == [1] * 15 + [2] * 10
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 25

    run_scenario(next_start, carriers={DEFAULT_CARRIER: again}, world=VirtualWorld(1, later(NOON, pause_s)))


@pytest.mark.parametrize("pause_s", [2, 1800], ids=["within the lease", "long after it"])
def test_after_a_crash_the_window_is_held_where_the_carrier_holds_doubt_and_the_rest_is_sent(
    run_scenario: RunScenario, pause_s: int
) -> None:
    post = FakeCarrier(window=10, delay_s=1000, timeout_s=900, holds_in_doubt=True)
    request_id = crash(run_scenario, post, 25, sms_timeout_hours=1)
    again = FakeCarrier(answer=taking, window=10, timeout_s=900, holds_in_doubt=True)

    async def next_start(env: Environment) -> None:
        await env.wait(60)
        assert set(again.ids).isdisjoint(post.ids)
        assert len(again.submitted) == len(set(again.ids)) == 15
        statuses = [status for status, _ in await outcomes_of(env, request_id)]
        assert (statuses.count(SENDING), statuses.count(DONE)) == (10, 15)

        await again.report(*((f"r{number}", GOOD, doubt_name_of(one)) for number, one in enumerate(post.ids[:4])))
        await env.wait(3600)

        assert len(again.submitted) == 15
        outcomes = [outcome for _, outcome in await outcomes_of(env, request_id)]
        assert (outcomes.count(GOOD), outcomes.count(Outcome.UNKNOWN)) == (19, 6)
        assert await count_rows(env, "jobs") == 0
        assert await count_rows(env, "receipts") == 0

    world = VirtualWorld(1, later(NOON, pause_s))
    run_scenario(next_start, carriers={DEFAULT_CARRIER: again}, world=world, sms_timeout_hours=1)


def test_more_than_one_round_of_messages_in_doubt_are_all_held(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=1200, delay_s=1000, timeout_s=900, holds_in_doubt=True)
    request_id = crash(run_scenario, post, 1200, max_receivers=2000)
    again = FakeCarrier(window=1200, holds_in_doubt=True)

    async def next_start(env: Environment) -> None:
        await env.wait(60)

        assert again.submitted == []
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 1200

    run_scenario(next_start, carriers={DEFAULT_CARRIER: again}, world=VirtualWorld(1, later(NOON, 2)))

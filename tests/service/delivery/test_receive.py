"""Receipts: the first counts, whenever its answer comes, and it is kept before the carrier is thanked."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Receipt, Rejected, Unknown
from pabal.domain.dates import SECOND
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.service.delivery.receive import store_receipts
from pabal.service.upkeep.housekeeping import UNMATCHED_RECEIPT_RETENTION_MS, run_round
from pabal.store.engine.base import Store, StoreUnavailable
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    answer_in_order,
    count_rows,
    later,
    message_id_of,
    message_of,
    messages_of,
    metric_value,
    outcomes_of,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, open_store

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


def reference(request_id: bytes) -> str:
    return message_id_of(request_id).hex()


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED), (Outcome.SPAM, FAILED)])
def test_a_receipt_ends_its_message(run_scenario: RunScenario, outcome: Outcome, status: Status) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        await env.wait(60)

        await post.report((reference(request_id), outcome))

        message = await message_of(env, request_id)
        assert (message.status, message.outcome, message.completed_at) == (status, outcome, env.world.now())
        assert await count_rows(env, "jobs") == 0
        assert await count_rows(env, "receipts") == 0
        code = str(outcome.number)
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code=code) == 1
        assert metric_value(env, "pabal_receipts_total", carrier=DEFAULT_CARRIER) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_receipts_are_kept_when_handing_them_on_returns(run_scenario: RunScenario) -> None:
    post = FakeCarrier()
    sent: list[bytes] = []

    async def scenario(env: Environment) -> None:
        sent.append(await send(env, sms()))
        await env.wait(1)

        await post.report((reference(sent[0]), GOOD))
        await env.store.close()  # not a moment later

    async def look(env: Environment) -> None:
        assert await outcomes_of(env, sent[0]) == [(DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})
    run_scenario(look, carriers={DEFAULT_CARRIER: FakeCarrier()}, world=VirtualWorld(1))


def test_a_receipt_that_is_here_before_the_answer_waits_for_it(run_scenario: RunScenario) -> None:
    post = FakeCarrier(delay_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await post.report((reference(request_id), BAD))
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 1

        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_that_is_here_before_the_answer_counts_even_if_a_second_one_says_the_opposite(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(delay_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await post.report((reference(request_id), GOOD))
        await post.report((reference(request_id), BAD))
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize("again", [GOOD, BAD])
def test_a_second_receipt_changes_nothing_whatever_it_says(run_scenario: RunScenario, again: Outcome) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await post.report((reference(request_id), GOOD))
        before = await messages_of(env, request_id)
        await env.wait(10)

        await post.report((reference(request_id), again))
        await post.report((reference(request_id), again))

        assert await messages_of(env, request_id) == before
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="1000") == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_of_two_receipts_in_one_hand_the_first_counts(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)

        await post.report((reference(request_id), BAD), (reference(request_id), GOOD))

        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_after_a_final_refusal_changes_nothing(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Rejected(Outcome.SPAM))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)

        await post.report((reference(request_id), GOOD))

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.SPAM)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_of_unknown_reference_is_counted_kept_for_an_hour_and_forgotten(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        await post.report(("nobody", GOOD))
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 1
        assert await count_rows(env, "receipts") == 1
        await env.wait(UNMATCHED_RECEIPT_RETENTION_MS / SECOND - 60)
        assert await count_rows(env, "receipts") == 1

        await env.wait(180)

        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_stray_receipt_of_hours_ago_does_not_end_a_message_that_is_given_its_reference(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("used again"))

    async def scenario(env: Environment) -> None:
        await post.report(("used again", BAD))
        await env.wait(2 * UNMATCHED_RECEIPT_RETENTION_MS / SECOND)
        request_id = await send(env, sms())
        await env.wait(1)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        await post.report(("used again", GOOD))

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_reference_given_twice_is_the_later_messages_also_when_the_earlier_one_ends(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("same"))

    async def scenario(env: Environment) -> None:
        earlier = await send(env, sms())
        await env.wait(1800)
        later_one = await send(env, sms())
        await env.wait(1800 + 20)
        assert await outcomes_of(env, earlier) == [(FAILED, Outcome.TIMED_OUT)]

        await post.report(("same", GOOD))

        assert await outcomes_of(env, later_one) == [(DONE, GOOD)]
        assert await outcomes_of(env, earlier) == [(FAILED, Outcome.TIMED_OUT)]
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, sms_timeout_hours=1)


def test_a_carrier_that_gives_many_messages_one_reference_is_handed_each_once_all_the_same(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("same"))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 20))
        await env.wait(3600)

        assert len(post.submitted) == 20
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 20

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_receipt_of_another_carrier_ends_nothing(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)

        await store_receipts(env.context, "another", [Receipt(reference(request_id), GOOD)])

        assert await outcomes_of(env, request_id) == [(SENDING, None)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_the_receipt_of_an_attempt_in_doubt_finds_its_message_by_the_reference_of_a_later_one(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown(), Accepted("same")))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(0.5)
        await post.report(("same", GOOD))  # of the first attempt, whose answer was lost
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert len(post.submitted) == 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_message_in_parts_is_completed_when_every_part_is(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("a", ("b", "c")))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(product=Product.LMS))
        await env.wait(1)
        await post.report(("a", GOOD), ("a", GOOD))
        await post.report(("c", GOOD))
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        await post.report(("b", GOOD))

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert await count_rows(env, "receipts") == 0
        assert metric_value(env, "pabal_messages_ended_total", product="lms", code="1000") == 1
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize(
    "further", [("a", "a"), ("a", "b"), ("b", "a", "b")], ids=["all alike", "two alike", "by turns"]
)
def test_parts_that_are_answered_with_the_same_id_are_one(
    run_scenario: RunScenario, further: tuple[str, ...]
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("a", further))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(product=Product.LMS))
        await env.wait(1)
        for each in ("a", "b") if "b" in further else ("a",):
            assert await outcomes_of(env, request_id) == [(SENDING, None)]
            await post.report((each, GOOD))

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_message_in_parts_fails_when_one_part_does_and_the_others_change_nothing(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("a", ("b", "c")))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(product=Product.LMS))
        await env.wait(1)
        await post.report(("a", GOOD))

        await post.report(("b", BAD))

        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]
        assert await count_rows(env, "receipts") == 0
        await post.report(("c", GOOD), ("a", GOOD), ("b", GOOD))
        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_receipts_of_parts_that_are_here_before_the_answer_wait_for_it(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("a", ("b",)), delay_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(product=Product.LMS))
        await env.wait(1)
        await post.report(("b", GOOD))
        await env.wait(5)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        await post.report(("a", GOOD))

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_a_message_of_which_one_part_is_never_reported_fails_when_its_time_is_out(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=lambda attempt: Accepted("a", ("b", "c")))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await post.report(("a", GOOD), ("b", GOOD))
        await env.wait(3600 + 20)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.TIMED_OUT)]
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, sms_timeout_hours=1)


def test_a_thousand_receipts_at_once_end_a_thousand_messages(run_scenario: RunScenario) -> None:
    post = FakeCarrier(window=1000)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 1000))
        await env.wait(1)

        await post.report(*((one.hex(), GOOD) for one in post.ids))

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 1000
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="1000") == 1000

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


class Unreliable:
    """A store that is away while it is told to be."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.is_away:
            raise StoreUnavailable("told to be")
        return await self._store.write(work, *args, **kwargs)

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._store.read(work, *args, **kwargs)

    async def write_relaxed(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        await self._store.close()


def test_a_store_that_is_away_only_delays_the_simulators_receipts(run_scenario: RunScenario, tmp_path: Any) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(0.1)
        store.is_away = True
        await env.wait(30)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        store.is_away = False
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario(scenario, world=world, store=store)


def test_a_carrier_is_not_thanked_for_receipts_before_they_are_kept(
    run_scenario: RunScenario, tmp_path: Any
) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        store.is_away = True

        thanks = asyncio.create_task(post.report((reference(request_id), GOOD)))
        await env.wait(60)
        assert not thanks.done()
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        store.is_away = False
        await thanks
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert metric_value(env, "pabal_receipts_total", carrier=DEFAULT_CARRIER) == 1

    run_scenario(scenario, world=world, store=store, carriers={DEFAULT_CARRIER: post})


def test_a_delivery_whose_verdict_cannot_be_kept_at_once_is_kept_when_the_store_is_back(
    run_scenario: RunScenario, tmp_path: Any
) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))

    class Saboteur(FakeCarrier):
        def send_away(self, attempt: Attempt) -> Accepted:
            store.is_away = True
            return Accepted(None)

    post = Saboteur()
    post.answer = post.send_away

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(3)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]

        store.is_away = False
        await env.wait(2)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert len(post.submitted) == 1

    run_scenario(scenario, world=world, store=store, carriers={DEFAULT_CARRIER: post})


def test_a_session_that_breaks_off_for_the_store_is_held_again(run_scenario: RunScenario) -> None:
    class Fragile(FakeCarrier):
        sessions = 0

        async def run(self, hand_on: Any) -> None:
            self.sessions += 1
            if self.sessions == 1:
                raise StoreUnavailable("gone")
            await super().run(hand_on)

    post = Fragile()

    async def scenario(env: Environment) -> None:
        await env.wait(2)

        assert post.sessions == 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_housekeeping_forgets_unmatched_receipts_also_after_a_restart(run_scenario: RunScenario) -> None:
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        await post.report(("nobody", GOOD))

    async def much_later(env: Environment) -> None:
        await run_round(env.context)

        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})
    run_scenario(
        much_later, carriers={DEFAULT_CARRIER: FakeCarrier()}, world=VirtualWorld(1, later(NOON, 3600 + 60))
    )

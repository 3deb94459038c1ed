"""A carrier that can find out about messages in doubt: it is told of them, and nobody else gets them meanwhile."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Busy, Carrier, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.dates import HOUR, MINUTE, SECOND
from pabal.domain.message import Attempt, Outcome, Status
from pabal.domain.retry import MAX_DELAY_MS, MAX_TRIES
from pabal.service.delivery.claim import lease_duration_ms
from pabal.service.delivery.settle import MAX_LOOKUPS
from pabal.store.engine.base import Tx
from tests.fixtures import cluster
from tests.fixtures.cluster import Cluster
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    FakeCarrier,
    RunScenario,
    answer_in_order,
    job_of,
    message_id_of,
    message_of,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import (
    NOON,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    run_in_virtual_time,
    settings_for,
)

DELIVERED, SENDING = (Status.COMPLETED, Outcome.DELIVERED), (Status.SENDING, None)
ONE_TWO = {"sms": ["one", "two"]}


def taking(attempt: Attempt) -> Verdict:
    return Accepted(None)


def doubts(post: FakeCarrier) -> list[bool]:
    """Return of each attempt that a carrier was handed whether it was told that it may have the message."""
    return [attempt.is_in_doubt for _, attempt in post.submitted]


async def noted(env: Environment) -> list[tuple[int, str, str]]:
    """Return number, carrier and verdict of the attempts that ended in neither yes nor no."""

    def look(tx: Tx) -> list[tuple[int, str, str]]:
        return list(tx.fetch_all("select number, carrier, verdict from attempts order by message_id, number"))

    return [(number, carrier, verdict) for number, carrier, verdict in await env.store.read(look)]


async def asked_before(env: Environment, times: int) -> None:
    """Have the one message be as if it had been asked about so often already."""
    await env.store.write(lambda tx: tx.execute("update jobs set tries = ?", (times,)))


# What it is told.


def test_an_attempt_that_nobody_knows_the_end_of_is_in_doubt_from_then_on(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Busy(), Unknown(), Busy(), Accepted(None)), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(30)

        assert doubts(post) == [False, False, True, True]
        assert await noted(env) == [
            (1, DEFAULT_CARRIER, "busy"),
            (2, DEFAULT_CARRIER, "unknown"),
            (3, DEFAULT_CARRIER, "busy"),
        ]
        assert await outcomes_of(env, sent) == [DELIVERED]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize("verdict", [Busy(), NotSent()])
def test_what_it_surely_did_not_take_is_in_no_doubt(run_scenario: RunScenario, verdict: Verdict) -> None:
    post = FakeCarrier(answer=answer_in_order(verdict, verdict, Accepted(None)), can_look_up=True)

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(30)

        assert doubts(post) == [False, False, False]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_one_that_cannot_ask_is_told_of_no_doubt(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown(), Accepted(None)))

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(30)

        assert doubts(post) == [False, False]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_only_those_of_a_batch_are_in_doubt_that_nobody_knows_of(run_scenario: RunScenario) -> None:
    words: dict[str, Verdict] = {"01000000011": Busy(), "01000000012": Unknown(), "01000000013": NotSent()}
    post = FakeCarrier(
        answer=lambda attempt: words[attempt.receiver] if attempt.number == 1 else Accepted(None), can_look_up=True
    )

    async def scenario(env: Environment) -> None:
        await send(env, sms(*words))
        await env.wait(30)

        again = {attempt.receiver: attempt.is_in_doubt for _, attempt in post.submitted if attempt.number > 1}
        assert again == {"01000000011": False, "01000000012": True, "01000000013": False}

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_doubt_is_of_one_carrier_only(tmp_path: Path) -> None:
    one, two = (
        FakeCarrier("one", answer_in_order(Unknown(), Declined(Outcome.SPAM)), can_look_up=True),
        FakeCarrier("two", taking, can_look_up=True),
    )

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(30)

        assert (doubts(one), doubts(two)) == ([False, True], [False])
        assert await outcomes_of(env, sent) == [DELIVERED]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, ONE_TWO)


# Where it goes.


def test_what_is_in_doubt_goes_to_no_other_carrier_however_often_it_is_asked(tmp_path: Path) -> None:
    one, two = FakeCarrier("one", lambda _: Unknown(), can_look_up=True), FakeCarrier("two", taking)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(0.5)
        await asked_before(env, MAX_TRIES)
        await env.wait(2 * MAX_DELAY_MS / SECOND)

        assert one.submitted[-1][1].tries > MAX_TRIES
        assert two.submitted == []
        assert await outcomes_of(env, sent) == [SENDING]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, ONE_TWO)


def test_what_is_in_doubt_stays_when_its_carrier_is_gone_and_the_others_move_on(tmp_path: Path) -> None:
    one, two = (
        FakeCarrier("one", answer_in_order(Unknown(), Accepted(None)), can_look_up=True, failover_after_s=60),
        FakeCarrier("two", taking),
    )

    async def scenario(env: Environment) -> None:
        doubtful = await send(env, sms())
        await env.wait(0.5)
        one.is_connected = False
        sure = await send(env, sms("01087654321"))
        await env.wait(600)

        assert [attempt.receiver for _, attempt in two.submitted] == ["01087654321"]
        assert (await outcomes_of(env, sure), await outcomes_of(env, doubtful)) == ([DELIVERED], [SENDING])
        one.is_connected = True
        await env.wait(60)
        assert await outcomes_of(env, doubtful) == [DELIVERED]
        assert doubts(one) == [False, True]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, ONE_TWO)


def test_what_is_in_doubt_stays_though_a_carrier_set_aside_says_it_has_not_left_our_hands_again(
    tmp_path: Path,
) -> None:
    """That it has not left them this time says nothing of the time before."""
    one = FakeCarrier(
        "one", answer_in_order(Unknown(), *[NotSent()] * 500, Accepted(None)), can_look_up=True, failover_after_s=5
    )
    two = FakeCarrier("two", taking)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(120)

        assert len(one.submitted) > 10
        assert two.submitted == []
        assert await outcomes_of(env, sent) == [SENDING]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, ONE_TWO)


def test_what_it_surely_does_not_have_goes_to_the_next_carrier(tmp_path: Path) -> None:
    one, two = FakeCarrier("one", answer_in_order(Unknown(), Busy()), can_look_up=True), FakeCarrier("two", taking)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(0.5)
        await asked_before(env, MAX_TRIES)
        await env.wait(3)

        assert (doubts(one), len(two.submitted)) == ([False, True], 1)
        assert await outcomes_of(env, sent) == [DELIVERED]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, ONE_TWO)


# How it ends.


def test_after_so_many_questions_it_ends_as_unknown(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda _: Unknown(), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(0.5)
        await asked_before(env, MAX_LOOKUPS - 2)
        await env.wait(3)
        assert await outcomes_of(env, sent) == [SENDING]
        await env.wait(MAX_DELAY_MS / SECOND)

        assert await outcomes_of(env, sent) == [(Status.FAIL, Outcome.UNKNOWN)]
        assert [attempt.tries for _, attempt in post.submitted] == [0, MAX_LOOKUPS - 2, MAX_LOOKUPS - 1]
        assert await job_of(env, message_id_of(sent)) is None

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_questions_do_not_use_up_the_tries_of_one_that_is_busy_afterwards(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown(), Busy(), Busy(), Accepted(None)), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(0.5)
        await asked_before(env, MAX_TRIES + 2)
        await env.wait(3 * MAX_DELAY_MS / SECOND)

        assert await outcomes_of(env, sent) == [DELIVERED]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_one_that_is_asked_and_busy_for_ever_ends(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=lambda attempt: Busy() if attempt.number % 2 else Unknown(), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(5)
        assert len(post.submitted) > 2
        await asked_before(env, MAX_LOOKUPS - 2)
        await env.wait(3 * MAX_DELAY_MS / SECOND)

        ((status, _),) = await outcomes_of(env, sent)
        assert status is Status.FAIL
        assert await job_of(env, message_id_of(sent)) is None

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize(
    ("word", "end"),
    [(Accepted(None), Outcome.DELIVERED), (Rejected(Outcome.PHONE_OFF), Outcome.PHONE_OFF)],
)
def test_what_it_finds_out_ends_the_message(run_scenario: RunScenario, word: Verdict, end: Outcome) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown(), word), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(5)

        assert (await message_of(env, sent)).outcome is end

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_what_it_has_is_awaited_under_the_name_it_found(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=answer_in_order(Unknown(), Accepted("found")), can_look_up=True)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms())
        await env.wait(5)
        await post.report(("found", Outcome.PHONE_OFF))

        assert (await message_of(env, sent)).outcome is Outcome.PHONE_OFF

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


# Leases that are lost.


def test_after_a_crash_what_was_in_hand_is_in_doubt_and_nothing_else(tmp_path: Path) -> None:
    async def whole() -> None:
        world = VirtualWorld()
        before = FakeCarrier(delay_s=20.0, timeout_s=30.0, can_look_up=True, window=2)
        env = await build_environment(
            tmp_path, world=world, carriers={DEFAULT_CARRIER: before}, settings=settings_for(tmp_path)
        )
        in_hand = await send(env, sms("01000000011", "01000000012"))
        await env.wait(1)
        waiting = await send(env, sms("01000000013"))
        await env.wait(1)
        assert len(before.submitted) == 2
        await killed(env)

        after = FakeCarrier(answer=taking, can_look_up=True)
        env = await build_environment(
            tmp_path,
            world=world,
            store=open_store(tmp_path, world),
            carriers={DEFAULT_CARRIER: after},
            settings=settings_for(tmp_path),
        )
        await env.wait(lease_duration_ms(after) / SECOND + 10)

        told = {attempt.receiver: (attempt.is_in_doubt, attempt.number) for _, attempt in after.submitted}
        assert told == {"01000000011": (True, 2), "01000000012": (True, 2), "01000000013": (False, 1)}
        assert await noted(env) == [(1, DEFAULT_CARRIER, "unknown"), (1, DEFAULT_CARRIER, "unknown")]
        assert await outcomes_of(env, in_hand) + await outcomes_of(env, waiting) == [DELIVERED] * 3
        await env.service.stop()

    run_in_virtual_time(whole())


def test_what_a_dead_process_had_in_hand_is_in_doubt_for_who_takes_it_over(tmp_path: Path) -> None:
    def carriers() -> Mapping[str, Carrier]:
        return {DEFAULT_CARRIER: FakeCarrier(answer=taking, can_look_up=True)}

    async def scenario(processes: Cluster) -> None:
        one = await processes.start_process("one")
        await processes.wait(3)
        post = one.carriers[DEFAULT_CARRIER]
        assert isinstance(post, FakeCarrier)
        post.delay_s = 20.0
        sent = await send(one.env, sms())
        await processes.wait(1)
        assert len(post.submitted) == 1
        two = await processes.start_process("two")
        await one.die()
        await processes.wait(60)

        other = two.carriers[DEFAULT_CARRIER]
        assert isinstance(other, FakeCarrier)
        assert doubts(other) == [True]
        assert await outcomes_of(two.env, sent) == [DELIVERED]

    cluster.run_scenario(tmp_path, scenario, carriers=carriers)


async def killed(env: Environment) -> None:
    """End a service as a killed process ends: nothing in hand is finished, nothing more is kept."""
    work = env.service._work
    assert work is not None
    tasks = [*work._tasks, *(task for each in work._deliverers for task in each._submitter._tasks)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await env.store.close()


def test_an_advertisement_in_doubt_is_so_in_the_morning_too(tmp_path: Path) -> None:
    async def whole() -> None:
        world = VirtualWorld(starts_at=NOON + 8 * HOUR + 49 * MINUTE)
        before = FakeCarrier(delay_s=20.0, timeout_s=30.0, can_look_up=True)
        settings = settings_for(tmp_path)
        env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: before}, settings=settings)
        await send(env, sms("01000000011", "01000000012")._replace(is_ad=True))
        await env.wait(1)
        assert len(before.submitted) == 2
        await killed(env)
        await asyncio.sleep(120)
        after = FakeCarrier(answer=taking, can_look_up=True)
        store = open_store(tmp_path, world)
        env = await build_environment(
            tmp_path, world=world, store=store, carriers={DEFAULT_CARRIER: after}, settings=settings
        )
        await env.wait(60)
        assert after.submitted == []
        world.starts_at += 11 * HOUR
        await env.wait(600)

        assert doubts(after) == [True, True]
        await env.service.stop()

    run_in_virtual_time(whole())

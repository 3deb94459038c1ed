"""How a carrier does: gone or failing for too long it is set aside, others do its work, and it comes back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.service.delivery.circuit_breaker import OPEN_S, CarrierStatus, CircuitBreaker
from pabal.service.delivery.deliver import OFFLINE_CHECK_INTERVAL_S, PROBE_INTERVAL_S
from pabal.store import carrier_states
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import Store, StoreUnavailable
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    add_profile,
    alimtalk,
    job_of,
    later,
    message_id_of,
    messages_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, open_store, run_in_virtual_time

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD = Outcome.DELIVERED
BOTH = {"sms": ["one", "two"]}


def taking(attempt: Attempt) -> Verdict:
    return Accepted(None)


def refusing(attempt: Attempt) -> Verdict:
    return Busy()


def two_carriers(
    first_answer: Callable[[Attempt], Verdict] = taking,
    *,
    is_up: bool = True,
    failover_after_s: float = 60,
    **more: Any,
) -> tuple[FakeCarrier, FakeCarrier]:
    """Return a first carrier that does as told, and a second that takes everything."""
    one = FakeCarrier("one", first_answer, failover_after_s=failover_after_s, **more)
    one.is_connected = is_up
    return one, FakeCarrier("two", taking)


async def told(env: Environment) -> dict[str, CarrierState]:
    """Return what the store tells operators of each carrier."""
    return {each.name: each for each in await env.store.read(carrier_states.list_all)}


def shown(env: Environment, name: str) -> tuple[float, float]:
    """Return whether the metrics show a carrier as up, and as set aside."""
    return metric_value(env, "pabal_carrier_up", carrier=name), metric_value(
        env, "pabal_carrier_circuit_open", carrier=name
    )


# The watch over one carrier.


def watched(scenario: Callable[[CircuitBreaker, FakeCarrier], Awaitable[None]]) -> None:
    """Run a scenario with a carrier that has a minute's patience, and the watch over it."""

    async def whole() -> None:
        post = FakeCarrier()
        await scenario(CircuitBreaker(post, VirtualWorld()), post)

    run_in_virtual_time(whole())


def seen(health: CircuitBreaker) -> tuple[CarrierStatus, str]:
    """Look at a carrier; return its state and the reason for it."""
    health.update()
    return health.status, health.reason


def test_a_carrier_that_is_gone_is_down_and_after_its_patience_aside_and_up_when_it_is_back() -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        assert seen(health) == (CarrierStatus.UP, "")
        post.is_connected = False
        assert seen(health) == (CarrierStatus.DOWN, "disconnected by the test")
        await asyncio.sleep(59.9)
        assert seen(health)[0] is CarrierStatus.DOWN

        await asyncio.sleep(0.2)
        assert seen(health) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")
        post.is_connected = True
        assert seen(health) == (CarrierStatus.UP, "")

    watched(scenario)


def test_each_time_a_carrier_goes_its_patience_begins_anew() -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        for _ in range(5):
            post.is_connected = False
            health.update()
            await asyncio.sleep(40)
            assert seen(health)[0] is CarrierStatus.DOWN
            post.is_connected = True
            health.update()
            await asyncio.sleep(1)

        assert health.status is CarrierStatus.UP

    watched(scenario)


@pytest.mark.parametrize("verdicts", [[Busy()], [Unknown()], [NotSent()], [Busy(), Unknown(), NotSent()]])
def test_a_carrier_that_fails_at_everything_is_aside_after_its_patience_and_then_on_trial(
    verdicts: list[Verdict],
) -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        for _ in range(59):
            health.record(verdicts)
            assert (seen(health)[0], health.allows_only_probes) == (CarrierStatus.UP, False)
            await asyncio.sleep(1)

        await asyncio.sleep(1)
        health.record(verdicts)
        assert seen(health) == (CarrierStatus.CIRCUIT_OPEN, "it takes nothing")
        assert health.allows_only_probes
        await asyncio.sleep(OPEN_S)
        assert (seen(health)[0], health.allows_only_probes) == (CarrierStatus.UP, True)
        health.record(verdicts)
        assert seen(health)[0] is CarrierStatus.CIRCUIT_OPEN

    watched(scenario)


@pytest.mark.parametrize(
    "word",
    [Accepted("r"), Accepted(None), Rejected(Outcome.SPAM), Declined(Outcome.SPAM)],
    ids=lambda word: repr(word),
)
def test_any_clear_word_shows_that_a_carrier_works(word: Verdict) -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        health.record([Busy()])
        await asyncio.sleep(60)
        health.record([Busy()])
        assert seen(health)[0] is CarrierStatus.CIRCUIT_OPEN

        health.record([Busy(), word, Unknown()])
        assert (seen(health)[0], health.allows_only_probes) == (CarrierStatus.UP, False)
        await asyncio.sleep(59)
        health.record([Busy()])
        assert seen(health)[0] is CarrierStatus.UP  # its patience begins anew

    watched(scenario)


def test_no_word_is_no_sign() -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        health.record([Busy()])
        await asyncio.sleep(60)
        health.record([])
        assert seen(health)[0] is CarrierStatus.UP
        health.record([Busy()])

        health.record([])
        assert seen(health)[0] is CarrierStatus.CIRCUIT_OPEN

    watched(scenario)


def test_a_carrier_that_is_aside_stays_so_when_it_loses_its_connection() -> None:
    async def scenario(health: CircuitBreaker, post: FakeCarrier) -> None:
        health.record([Busy()])
        await asyncio.sleep(60)
        health.record([Busy()])
        health.update()

        post.is_connected = False
        assert seen(health) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")

    watched(scenario)


# A carrier that is gone.


def test_the_due_messages_of_a_carrier_that_is_gone_for_too_long_move_to_the_next_of_their_route(
    tmp_path: Path,
) -> None:
    one, two = two_carriers(is_up=False)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 1200))
        await env.wait(59)
        assert two.submitted == []

        await env.wait(3)

        assert one.submitted == []
        assert len(two.submitted) == len(set(two.ids)) == 1200
        assert {attempt.tries for _, attempt in two.submitted} == {0}
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 1200

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH, max_receivers=2000)


def test_new_sends_go_to_the_next_carrier_at_once_while_the_first_is_aside(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False)

    async def scenario(env: Environment) -> None:
        await env.wait(70)

        request_id = await send(env, sms())
        found = await job_of(env, message_id_of(request_id))
        await env.wait(0.2)

        assert found is not None
        assert found[0] == "two"
        assert two.ids == [message_id_of(request_id)]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_what_stands_in_for_a_failed_message_goes_to_the_next_carrier_too(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False)
    talk = FakeCarrier("talk", lambda attempt: Rejected(Outcome.NOT_A_USER))

    async def scenario(env: Environment) -> None:
        await env.wait(70)

        request_id = await send(env, alimtalk(await add_profile(env), fallback_text="대신"))
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.5)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
        assert (len(one.submitted), len(two.submitted)) == (0, 1)

    routes = {"alimTalk": ["talk"], **BOTH}
    run_scenario_with(tmp_path, scenario, {"one": one, "two": two, "talk": talk}, routes)


def test_what_comes_due_while_its_carrier_is_aside_moves_then_and_not_before(tmp_path: Path) -> None:
    one, two = two_carriers()

    async def scenario(env: Environment) -> None:
        soon = await send(env, sms(scheduled_at=later(NOON, 300)))
        much_later = await send(env, sms(scheduled_at=later(NOON, 3600)))
        one.is_connected = False
        await env.wait(299)
        assert (await job_of(env, message_id_of(soon)) or ("",))[0] == "one"

        await env.wait(1 + OFFLINE_CHECK_INTERVAL_S + 0.2)

        assert two.ids == [message_id_of(soon)]
        assert (await job_of(env, message_id_of(much_later)) or ("",))[0] == "one"

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_a_carrier_that_is_back_is_used_again_and_what_had_moved_stays_where_it_went(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False)

    async def scenario(env: Environment) -> None:
        moved = await send(env, sms())
        await env.wait(70.5)
        one.is_connected = True
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.1)

        request_id = await send(env, sms())
        await env.wait(0.5)

        assert two.ids == [message_id_of(moved)]
        assert one.ids == [message_id_of(request_id)]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_a_carrier_that_is_gone_for_a_moment_keeps_its_messages(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 20))
        await env.wait(58)
        assert await outcomes_of(env, request_id) == [(WAITING, None)] * 20

        one.is_connected = True
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.5)

        assert (len(one.submitted), len(two.submitted)) == (20, 0)
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 20

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_the_patience_is_each_carriers_own(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False, failover_after_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(7)

        assert two.ids == [message_id_of(request_id)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_without_another_carrier_messages_wait_for_the_one_that_is_gone(run_scenario: RunScenario) -> None:
    post = FakeCarrier(answer=taking)
    post.is_connected = False

    async def scenario(env: Environment) -> None:
        early = await send(env, sms(*[PHONE] * 15))
        await env.wait(600)
        late = await send(env, sms())
        await env.wait(600)
        assert post.submitted == []

        post.is_connected = True
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.5)

        assert await outcomes_of(env, early) == [(DONE, GOOD)] * 15
        assert await outcomes_of(env, late) == [(DONE, GOOD)]
        assert {(attempt.number, attempt.tries) for _, attempt in post.submitted} == {(1, 0)}

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


@pytest.mark.parametrize("back", ["one", "two"])
def test_when_every_carrier_of_a_route_is_gone_the_first_to_come_back_gets_what_waits(
    tmp_path: Path, back: str
) -> None:
    posts = {name: FakeCarrier(name, taking, failover_after_s=5) for name in ("one", "two")}
    for post in posts.values():
        post.is_connected = False

    async def scenario(env: Environment) -> None:
        await env.wait(20)
        request_id = await send(env, sms())
        await env.wait(20.5)
        assert await outcomes_of(env, request_id) == [(WAITING, None)]

        posts[back].is_connected = True
        await env.wait(2 * OFFLINE_CHECK_INTERVAL_S + 0.5)

        assert [name for name, post in posts.items() if post.submitted] == [back]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario_with(tmp_path, scenario, posts, BOTH)


def test_products_without_another_carrier_stay_while_the_others_move(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False)
    three = FakeCarrier("three", taking)

    async def scenario(env: Environment) -> None:
        text, long = await send(env, sms()), await send(env, sms(product=Product.LMS))
        picture = await send(env, sms(product=Product.MMS))
        await env.wait(70.5)

        assert (two.ids, three.ids) == ([message_id_of(text)], [message_id_of(long)])
        assert await outcomes_of(env, picture) == [(WAITING, None)]
        one.is_connected = True
        await env.wait(2)
        assert one.ids == [message_id_of(picture)]
        assert await outcomes_of(env, picture) == [(DONE, GOOD)]

    routes = {"sms": ["one", "two"], "lms": ["one", "three"], "mms": ["one"]}
    run_scenario_with(tmp_path, scenario, {"one": one, "two": two, "three": three}, routes)


def test_a_carrier_that_is_aside_itself_is_passed_over(tmp_path: Path) -> None:
    posts = {name: FakeCarrier(name, taking, failover_after_s=5) for name in ("one", "two", "three")}
    posts["one"].is_connected = posts["two"].is_connected = False

    async def scenario(env: Environment) -> None:
        old = await send(env, sms())
        await env.wait(10)
        new = await send(env, sms())
        await env.wait(1)

        assert posts["three"].ids == [message_id_of(old), message_id_of(new)]

    run_scenario_with(tmp_path, scenario, posts, {"sms": list(posts)})


def test_nothing_is_sent_twice_by_moving(tmp_path: Path) -> None:
    one, two = two_carriers(window=10, delay_s=8, failover_after_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 100))
        await env.wait(1)
        assert len(one.submitted) == 10
        one.is_connected = False  # it answers what it has, and takes no more
        await env.wait(30)

        handed = one.ids + two.ids
        assert (len(one.submitted), len(two.submitted)) == (10, 90)
        assert len(handed) == len(set(handed))
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 100

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_what_a_carrier_holds_in_doubt_does_not_move(tmp_path: Path) -> None:
    one, two = two_carriers(lambda attempt: Unknown(), holds_in_doubt=True, failover_after_s=5)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 10))
        await env.wait(1)
        one.is_connected = False
        await env.wait(60)

        assert (len(one.submitted), two.submitted) == (10, [])
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 10

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


# What operators see.


def test_operators_are_told_of_a_carrier_that_is_gone_aside_and_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = two_carriers()
    caplog.set_level(logging.INFO, "pabal.deliver")

    def said() -> list[tuple[str, str, str, str]]:
        return [
            (each.levelname, each.getMessage(), vars(each)["carrier"], vars(each).get("reason", ""))
            for each in caplog.records
            if each.name == "pabal.deliver" and vars(each).get("carrier") == "one"
        ]

    async def scenario(env: Environment) -> None:
        await env.wait(0.1)
        assert (await told(env))["one"] == CarrierState("one", "up", NOON, "")
        assert shown(env, "one") == (1, 0)

        one.is_connected = False
        await env.wait(PROBE_INTERVAL_S + 0.1)
        down = (await told(env))["one"]
        assert (down.state, down.reason) == ("down", "disconnected by the test")
        assert NOON < down.since <= later(NOON, PROBE_INTERVAL_S)
        assert shown(env, "one") == (0, 0)
        assert env.context.open_circuits == set()

        await send(env, sms())
        await env.wait(60 + OFFLINE_CHECK_INTERVAL_S)
        aside = (await told(env))["one"]
        assert (aside.state, aside.reason) == ("aside", "disconnected by the test")
        assert aside.since >= later(NOON, 60)
        assert shown(env, "one") == (0, 1)
        assert env.context.open_circuits == {"one"}

        one.is_connected = True
        await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.1)
        assert (await told(env))["one"].state == "up"
        assert shown(env, "one") == (1, 0)
        assert env.context.open_circuits == set()
        assert shown(env, "two") == (1, 0)
        assert [each for each in said() if "rerouted" not in each[1]] == [
            ("WARNING", "carrier is down; its messages wait for it", "one", "disconnected by the test"),
            (
                "WARNING",
                "carrier circuit opened; its messages go to the next carrier of their route",
                "one",
                "disconnected by the test",
            ),
            ("INFO", "carrier is up", "one", ""),
        ]
        assert ("WARNING", "carrier circuit is open; messages rerouted to other carriers", "one", "") in said()

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_what_the_last_run_said_of_a_carrier_does_not_outlive_it(run_scenario: RunScenario) -> None:
    gone = FakeCarrier(failover_after_s=5)
    gone.is_connected = False

    async def until_aside(env: Environment) -> None:
        await env.wait(10)
        assert (await told(env))[DEFAULT_CARRIER].state == "aside"

    async def next_start(env: Environment) -> None:
        await env.wait(1)

        assert (await told(env))[DEFAULT_CARRIER][:4] == CarrierState(DEFAULT_CARRIER, "up", later(NOON, 60), "")[
            :4
        ]

    run_scenario(until_aside, carriers={DEFAULT_CARRIER: gone})
    run_scenario(next_start, carriers={DEFAULT_CARRIER: FakeCarrier()}, world=VirtualWorld(1, later(NOON, 60)))


class Unreliable:
    """A store that is away while it is told to be."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False
        self.read = store.read
        self.note = store.write_relaxed
        self.close = store.close

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.is_away:
            raise StoreUnavailable("told to be")
        return await self._store.write(work, *args, **kwargs)


def test_a_state_that_could_not_be_kept_is_kept_when_the_store_is_back(
    run_scenario: RunScenario, tmp_path: Path
) -> None:
    world = VirtualWorld()
    store = Unreliable(open_store(tmp_path, world))
    post = FakeCarrier()

    async def scenario(env: Environment) -> None:
        await env.wait(1)
        store.is_away = True
        post.is_connected = False
        await env.wait(20)
        assert (await told(env))[DEFAULT_CARRIER].state == "up"

        store.is_away = False
        await env.wait(2)

        assert (await told(env))[DEFAULT_CARRIER].state == "down"

    run_scenario(scenario, world=world, store=store, carriers={DEFAULT_CARRIER: post})


# A carrier that fails at everything.


@pytest.mark.parametrize("word", [Busy(), Unknown(), NotSent()])
def test_a_carrier_that_fails_at_everything_for_too_long_is_set_aside_and_the_next_one_is_used(
    tmp_path: Path, word: Verdict
) -> None:
    one, two = two_carriers(lambda attempt: word, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        sent = []
        for _ in range(60):
            sent.append(await send(env, sms()))
            await env.wait(1)

        handed_after = [at for at in one.times if at > 22]
        assert env.context.open_circuits == {"one"}
        assert (await told(env))["one"].reason == "it takes nothing"
        assert shown(env, "one") == (0, 1)
        assert len(handed_after) <= 60 / PROBE_INTERVAL_S  # a single one every so often
        await env.wait(60)  # some were to be tried again only then
        assert [await outcomes_of(env, one_sent) for one_sent in sent] == [[(DONE, GOOD)]] * 60
        assert len(two.ids) == len(set(two.ids)) == 60

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_a_carrier_that_fails_for_a_shorter_time_keeps_its_messages(tmp_path: Path) -> None:
    one, two = two_carriers(refusing, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 5))
        await env.wait(10)

        one.answer = taking
        await env.wait(60)

        assert two.submitted == []
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 5

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_a_carrier_that_fails_is_probed_with_single_messages_and_used_again_once_it_takes_one(
    tmp_path: Path,
) -> None:
    one, two = two_carriers(refusing, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        for _ in range(25):
            await send(env, sms(*[PHONE] * 10))
            await env.wait(1)
        assert env.context.open_circuits == {"one"}
        handed = len(one.submitted)
        for _ in range(round(OPEN_S) + 10):  # so that its turn comes again while it still fails
            await send(env, sms(*[PHONE] * 10))
            await env.wait(1)
        probes = one.times[handed:]
        assert 1 <= len(probes) == len(set(probes)) <= 10

        one.answer = taking
        for _ in range(round(OPEN_S) + 10):
            await send(env, sms(*[PHONE] * 10))
            await env.wait(1)

        assert env.context.open_circuits == set()
        assert (await told(env))["one"].state == "up"
        request_id = await send(env, sms(*[PHONE] * 10))
        await env.wait(0.5)
        assert one.ids[-10:] == [message_id_of(request_id, number) for number in range(1, 11)]
        assert one.batch_sizes[-1] == 10

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


@pytest.mark.parametrize("word", [Busy(), Unknown(), NotSent()])
def test_a_lone_message_does_not_wait_for_a_carrier_that_has_failed_for_too_long(
    tmp_path: Path, word: Verdict
) -> None:
    one, two = two_carriers(lambda attempt: word, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(40)

        assert one.times[-1] >= 20
        assert two.ids == [message_id_of(request_id)]
        assert two.times[0] - one.times[-1] < 0.5
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


@pytest.mark.parametrize("word", [Busy(), Unknown(), NotSent()])
def test_what_a_carrier_is_given_to_see_how_it_does_goes_on_at_once_if_it_is_not_taken(
    tmp_path: Path, word: Verdict
) -> None:
    one, two = two_carriers(lambda attempt: word, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(40)
        handed = len(one.submitted)
        await env.wait(OPEN_S)
        assert env.context.open_circuits == set()  # it is its turn again

        request_id = await send(env, sms())
        await env.wait(0.5)

        assert one.ids[handed:] == [message_id_of(request_id)]
        assert two.ids[1:] == [message_id_of(request_id)]
        assert await outcomes_of(env, request_id) == [(DONE, GOOD)]
        assert env.context.open_circuits == {"one"}

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_without_another_carrier_messages_wait_for_the_one_that_fails_and_few_of_their_tries_are_spent(
    run_scenario: RunScenario,
) -> None:
    post = FakeCarrier(answer=refusing, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 100))
        await env.wait(30)
        before = len(post.submitted)
        await env.wait(60)
        assert len(post.submitted) - before <= 60 / PROBE_INTERVAL_S + 1
        assert [each.status for each in await messages_of(env, request_id)] == [SENDING] * 100

        post.answer = taking
        await env.wait(60)

        assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 100

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})


def test_one_refusal_among_yeses_sets_nobody_aside(tmp_path: Path) -> None:
    one, two = two_carriers(
        lambda attempt: Busy() if attempt.receiver == PHONE else Accepted(None), failover_after_s=20
    )

    async def scenario(env: Environment) -> None:
        for _ in range(40):
            await send(env, sms(PHONE, "01099998888"))
            await env.wait(1)

        assert env.context.open_circuits == set()
        assert two.submitted == []

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


# A carrier that stalls.


def test_a_carrier_that_stalls_delays_nobody_else_and_is_set_aside_in_the_end(tmp_path: Path) -> None:
    stalled, two = two_carriers(delay_s=1000, timeout_s=10, window=5, failover_after_s=20)

    async def scenario(env: Environment) -> None:
        waiting = await send(env, sms(*[PHONE] * 30))
        await env.wait(0.2)
        for _ in range(10):
            other = await send(env, sms(product=Product.LMS))
            await env.wait(0.2)
            assert await outcomes_of(env, other) == [(DONE, GOOD)]
        assert len(stalled.submitted) == 5
        assert two.times[-1] - two.times[0] < 3

        await env.wait(40)

        assert env.context.open_circuits == {"one"}
        new = await send(env, sms())
        await env.wait(0.2)
        assert await outcomes_of(env, new) == [(DONE, GOOD)]
        assert stalled.max_in_flight <= 5
        await env.wait(300)
        assert await outcomes_of(env, waiting) == [(DONE, GOOD)] * 30

    routes = {"sms": ["one", "two"], "lms": ["two"]}
    run_scenario_with(tmp_path, scenario, {"one": stalled, "two": two}, routes, stop_seconds=1)


def test_while_a_silent_carrier_is_tried_out_new_sends_go_to_the_next(tmp_path: Path) -> None:
    one, two = two_carriers(lambda attempt: Unknown(), delay_s=25, failover_after_s=30)

    async def scenario(env: Environment) -> None:
        await send(env, sms())
        await env.wait(120)
        before = len(two.ids)
        slow = 0
        for _ in range(60):
            request_id = await send(env, sms())
            await env.wait(2)
            slow += message_id_of(request_id) not in two.ids
        assert len(two.ids) > before
        assert slow <= 4  # the ones it is tried out with

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)


def test_what_was_never_tried_goes_back_up_the_route_when_its_carrier_is_gone(tmp_path: Path) -> None:
    one, two = two_carriers(is_up=False, failover_after_s=10)
    two.failover_after_s = 10
    two.window = 1
    two.delay_s = 20

    async def scenario(env: Environment) -> None:
        requests = [await send(env, sms()) for _ in range(10)]
        await env.wait(15)
        one.is_connected, two.is_connected = True, False

        await env.wait(60)

        assert [await outcomes_of(env, each) for each in requests] == [[(DONE, GOOD)]] * 10
        assert len(one.ids) >= 8

    run_scenario_with(tmp_path, scenario, {"one": one, "two": two}, BOTH)

"""Messages of a carrier that fails or stalls for too long go to the next carrier of their route."""

import pytest

from pabal.carriers.base import Busy, NotSent, Unknown, Verdict
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.service.delivery.carrier.circuit_breaker import OPEN_S
from pabal.service.delivery.deliver import PROBE_INTERVAL_S
from tests.fixtures.circuit_breaker import answer_busy, stored_states, two_carriers, up_and_open_metrics
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import PHONE, FakeCarrier, Start, message_id_of, sms
from tests.fixtures.virtual import Environment

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD = Outcome.DELIVERED


@pytest.mark.first_case
@pytest.mark.parametrize("verdict", [Busy(), Unknown(), NotSent()])
async def test_messages_are_rerouted_when_a_carrier_fails_for_too_long(start: Start, verdict: Verdict) -> None:
    one, two = two_carriers(lambda attempt: verdict, failover_after_s=20, max_resends=9)
    env = await start(one, two)
    sent = []
    for _ in range(60):
        sent.append(await env.send(sms()))
        await env.wait(1)

    submitted_after = [at for at in one.times if at > 22]
    assert env.context.open_circuits == {"one"}
    assert (await stored_states(env))["one"].reason == "it takes nothing"
    assert up_and_open_metrics(env, "one") == (0, 1)
    assert len(submitted_after) <= 60 / PROBE_INTERVAL_S  # only probes
    await env.wait(60)  # the retries of some are due only then
    assert [await env.outcomes_of(request_id) for request_id in sent] == [[(DONE, GOOD)]] * 60
    assert len(two.ids) == len(set(two.ids)) == 60


async def test_a_failing_carrier_gets_single_probes_and_is_used_again_once_it_accepts_one(start: Start) -> None:
    one, two = two_carriers(answer_busy, failover_after_s=20)
    env = await start(one, two)
    for _ in range(25):
        await env.send(sms(*[PHONE] * 10))
        await env.wait(1)
    assert env.context.open_circuits == {"one"}
    count_before = len(one.submitted)
    for _ in range(round(OPEN_S) + 10):  # long enough for probes while it still fails
        await env.send(sms(*[PHONE] * 10))
        await env.wait(1)
    probes = one.times[count_before:]
    assert 1 <= len(probes) == len(set(probes)) <= 10

    one.answer = accept_without_receipt
    for _ in range(round(OPEN_S) + 10):
        await env.send(sms(*[PHONE] * 10))
        await env.wait(1)

    assert env.context.open_circuits == set()
    assert (await stored_states(env))["one"].state == "up"
    request_id = await env.send(sms(*[PHONE] * 10))
    await env.wait(0.5)
    assert one.ids[-10:] == [message_id_of(request_id, number) for number in range(1, 11)]
    assert one.batch_sizes[-1] == 10


@pytest.mark.parametrize("verdict", [Busy(), Unknown(), NotSent()])
async def test_a_single_message_and_then_a_probe_are_rerouted_when_they_are_not_accepted(
    start: Start, verdict: Verdict
) -> None:
    one, two = two_carriers(lambda attempt: verdict, failover_after_s=20, max_resends=9)
    env = await start(one, two)
    first = await env.send(sms())
    await env.wait(40)
    assert one.times[-1] >= 20
    assert two.times[0] - one.times[-1] < 0.5
    assert await env.outcomes_of(first) == [(DONE, GOOD)]
    count_before = len(one.submitted)
    await env.wait(OPEN_S + PROBE_INTERVAL_S)
    assert env.context.open_circuits == set()  # the circuit is half-open

    request_id = await env.send(sms())
    await env.wait(0.5)

    assert one.ids[count_before:] == [message_id_of(request_id)]
    assert two.ids[1:] == [message_id_of(request_id)]
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert env.context.open_circuits == {"one"}


@pytest.mark.carrier(answer=answer_busy, failover_after_s=20)
async def test_messages_wait_for_a_failing_carrier_and_use_few_tries_without_another(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(*[PHONE] * 100))
    await env.wait(30)
    before = len(carrier.submitted)
    await env.wait(60)
    assert len(carrier.submitted) - before <= 60 / PROBE_INTERVAL_S + 1
    assert [each.status for each in await env.messages_of(request_id)] == [SENDING] * 100

    carrier.answer = accept_without_receipt
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 100


async def test_a_stalled_carrier_delays_no_other_carrier_and_its_circuit_opens(start: Start) -> None:
    stalled, two = two_carriers(delay_s=1000, timeout_s=10, window=5, failover_after_s=20)
    routes = {"sms": ["one", "two"], "lms": ["two"]}
    env = await start(stalled, two, routes=routes, stop_seconds=1)
    waiting = await env.send(sms(*[PHONE] * 30))
    await env.wait(0.2)
    for _ in range(10):
        other = await env.send(sms(product=Product.LMS))
        await env.wait(0.2)
        assert await env.outcomes_of(other) == [(DONE, GOOD)]
    assert len(stalled.submitted) == 5
    assert two.times[-1] - two.times[0] < 3

    await env.wait(40)

    assert env.context.open_circuits == {"one"}
    new = await env.send(sms())
    await env.wait(0.2)
    assert await env.outcomes_of(new) == [(DONE, GOOD)]
    assert stalled.max_in_flight <= 5
    await env.wait(300)
    assert await env.outcomes_of(waiting) == [(DONE, GOOD)] * 30


async def test_new_messages_go_to_the_next_carrier_while_a_probe_is_unanswered(start: Start) -> None:
    one, two = two_carriers(lambda attempt: Unknown(), delay_s=25, failover_after_s=30)
    env = await start(one, two)
    await env.send(sms())
    await env.wait(120)
    before = len(two.ids)
    slow = 0
    for _ in range(60):
        request_id = await env.send(sms())
        await env.wait(2)
        slow += message_id_of(request_id) not in two.ids
    assert len(two.ids) > before
    assert slow <= 4  # the probes


async def test_untried_messages_return_to_an_earlier_carrier_when_theirs_goes_offline(start: Start) -> None:
    one, two = two_carriers(is_up=False, failover_after_s=10)
    two.failover_after_s = 10
    two.window = 1
    two.delay_s = 20
    env = await start(one, two)
    requests = [await env.send(sms()) for _ in range(10)]
    await env.wait(15)
    one.is_connected, two.is_connected = True, False

    await env.wait(60)

    assert [await env.outcomes_of(each) for each in requests] == [[(DONE, GOOD)]] * 10
    assert len(one.ids) >= 8

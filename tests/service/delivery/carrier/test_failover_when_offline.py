"""Messages of a carrier that is offline for too long go to the next carrier of their route."""

import pytest

from pabal.carriers.base import Rejected, Unknown
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.service.delivery.deliver import OFFLINE_CHECK_INTERVAL_S
from tests.fixtures.circuit_breaker import SMS_TO_BOTH, two_carriers
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import PHONE, FakeCarrier, Start, alimtalk, later, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment

WAITING, SENDING, DONE, FAILED = Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD = Outcome.DELIVERED


async def test_due_messages_are_rerouted_when_a_carrier_is_offline_for_too_long(start: Start) -> None:
    one, two = two_carriers(is_up=False)
    env = await start(one, two, max_receivers=2000)
    request_id = await env.send(sms(*[PHONE] * 1200))
    await env.wait(59)
    assert two.submitted == []

    await env.wait(3)

    assert one.submitted == []
    assert len(two.submitted) == len(set(two.ids)) == 1200
    assert {attempt.tries for _, attempt in two.submitted} == {0}
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 1200


async def test_fallback_messages_go_to_the_next_carrier_while_the_circuit_is_open(start: Start) -> None:
    one, two = two_carriers(is_up=False)
    talk = FakeCarrier("talk", lambda attempt: Rejected(Outcome.NOT_A_USER))
    routes = {"alimTalk": ["talk"], **SMS_TO_BOTH}
    env = await start(one, two, talk, routes=routes)
    await env.wait(70)

    request_id = await env.send(alimtalk(await env.add_profile(), fallback_text="대신"))
    await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.5)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
    assert (len(one.submitted), len(two.submitted)) == (0, 1)


async def test_scheduled_messages_are_rerouted_when_due_and_not_before(start: Start) -> None:
    one, two = two_carriers()
    env = await start(one, two)
    soon = await env.send(sms(scheduled_at=later(NOON, 300)))
    much_later = await env.send(sms(scheduled_at=later(NOON, 3600)))
    one.is_connected = False
    await env.wait(299)
    assert (await env.job_of(message_id_of(soon)) or ("",))[0] == "one"

    await env.wait(1 + OFFLINE_CHECK_INTERVAL_S + 0.2)

    assert two.ids == [message_id_of(soon)]
    assert (await env.job_of(message_id_of(much_later)) or ("",))[0] == "one"


async def test_a_reconnected_carrier_is_used_again_but_rerouted_messages_do_not_return(start: Start) -> None:
    one, two = two_carriers(is_up=False)
    env = await start(one, two)
    moved = await env.send(sms())
    await env.wait(70.5)
    one.is_connected = True
    await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.1)

    request_id = await env.send(sms())
    await env.wait(0.5)

    assert two.ids == [message_id_of(moved)]
    assert one.ids == [message_id_of(request_id)]
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]


@pytest.mark.carrier(answer=accept_without_receipt, is_connected=False)
async def test_messages_wait_for_an_offline_carrier_when_their_route_has_no_other(
    env: Environment, carrier: FakeCarrier
) -> None:
    early = await env.send(sms(*[PHONE] * 15))
    await env.wait(600)
    late = await env.send(sms())
    await env.wait(600)
    assert carrier.submitted == []

    carrier.is_connected = True
    await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.5)

    assert await env.outcomes_of(early) == [(DONE, GOOD)] * 15
    assert await env.outcomes_of(late) == [(DONE, GOOD)]
    assert {(attempt.number, attempt.tries) for _, attempt in carrier.submitted} == {(1, 0)}


@pytest.mark.parametrize("back", ["one", "two"])
async def test_when_all_carriers_are_offline_the_first_to_return_gets_the_messages(start: Start, back: str) -> None:
    carriers = {name: FakeCarrier(name, accept_without_receipt, failover_after_s=5) for name in ("one", "two")}
    for carrier in carriers.values():
        carrier.is_connected = False
    env = await start(*carriers.values(), routes=SMS_TO_BOTH)
    await env.wait(20)
    request_id = await env.send(sms())
    await env.wait(20.5)
    assert await env.outcomes_of(request_id) == [(WAITING, None)]

    carriers[back].is_connected = True
    await env.wait(2 * OFFLINE_CHECK_INTERVAL_S + 0.5)

    assert [name for name, carrier in carriers.items() if carrier.submitted] == [back]
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]


async def test_only_products_with_another_carrier_are_rerouted(start: Start) -> None:
    one, two = two_carriers(is_up=False)
    three = FakeCarrier("three", accept_without_receipt)
    routes = {"sms": ["one", "two"], "lms": ["one", "three"], "mms": ["one"]}
    env = await start(one, two, three, routes=routes)
    text, long = await env.send(sms()), await env.send(sms(product=Product.LMS))
    picture = await env.send(sms(product=Product.MMS))
    await env.wait(70.5)

    assert (two.ids, three.ids) == ([message_id_of(text)], [message_id_of(long)])
    assert await env.outcomes_of(picture) == [(WAITING, None)]
    one.is_connected = True
    await env.wait(2)
    assert one.ids == [message_id_of(picture)]
    assert await env.outcomes_of(picture) == [(DONE, GOOD)]


async def test_rerouting_skips_carriers_whose_circuit_is_open(start: Start) -> None:
    carriers = {
        name: FakeCarrier(name, accept_without_receipt, failover_after_s=5) for name in ("one", "two", "three")
    }
    carriers["one"].is_connected = carriers["two"].is_connected = False
    env = await start(*carriers.values())
    old = await env.send(sms())
    await env.wait(10)
    new = await env.send(sms())
    await env.wait(1)

    assert carriers["three"].ids == [message_id_of(old), message_id_of(new)]


async def test_rerouting_sends_no_message_twice(start: Start) -> None:
    one, two = two_carriers(window=10, delay_s=8, failover_after_s=5)
    env = await start(one, two)
    request_id = await env.send(sms(*[PHONE] * 100))
    await env.wait(1)
    assert len(one.submitted) == 10
    one.is_connected = False  # it answers what it has and gets no more
    await env.wait(30)

    all_ids = one.ids + two.ids
    assert (len(one.submitted), len(two.submitted)) == (10, 90)
    assert len(all_ids) == len(set(all_ids))
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 100


async def test_messages_held_in_doubt_are_not_rerouted(start: Start) -> None:
    one, two = two_carriers(lambda attempt: Unknown(), holds_in_doubt=True, failover_after_s=5)
    env = await start(one, two)
    request_id = await env.send(sms(*[PHONE] * 10))
    await env.wait(1)
    one.is_connected = False
    await env.wait(60)

    assert (len(one.submitted), two.submitted) == (10, [])
    assert await env.outcomes_of(request_id) == [(SENDING, None)] * 10

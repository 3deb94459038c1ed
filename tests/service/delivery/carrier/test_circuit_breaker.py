"""The circuit breaker opens for a carrier that is offline or failing for too long, and closes again."""

import asyncio

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.sends.message import Outcome
from pabal.service.delivery.carrier.circuit_breaker import OPEN_S, CarrierStatus, CircuitBreaker
from tests.fixtures.service import FakeCarrier
from tests.fixtures.virtual import VirtualWorld


def update_and_read(breaker: CircuitBreaker) -> tuple[CarrierStatus, str]:
    """Update a circuit breaker; return the carrier's status and the reason for it."""
    breaker.update()
    return breaker.status, breaker.reason


async def test_circuit_opens_after_the_failover_time_offline_and_closes_on_reconnect(carrier: FakeCarrier) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    assert update_and_read(breaker) == (CarrierStatus.UP, "")
    carrier.is_connected = False
    assert update_and_read(breaker) == (CarrierStatus.DOWN, "disconnected by the test")
    await asyncio.sleep(59.9)
    assert update_and_read(breaker)[0] is CarrierStatus.DOWN

    await asyncio.sleep(0.2)
    assert update_and_read(breaker) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")
    carrier.is_connected = True
    assert update_and_read(breaker) == (CarrierStatus.UP, "")


async def test_failover_time_restarts_at_each_disconnect(carrier: FakeCarrier) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    for _ in range(5):
        carrier.is_connected = False
        breaker.update()
        await asyncio.sleep(40)
        assert update_and_read(breaker)[0] is CarrierStatus.DOWN
        carrier.is_connected = True
        breaker.update()
        await asyncio.sleep(1)

    assert breaker.status is CarrierStatus.UP


@pytest.mark.parametrize("verdicts", [[Busy()], [Unknown()], [NotSent()], [Busy(), Unknown(), NotSent()]])
async def test_circuit_of_a_failing_carrier_opens_and_then_allows_only_probes(
    carrier: FakeCarrier, verdicts: list[Verdict]
) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    for _ in range(59):
        breaker.record(verdicts)
        assert (update_and_read(breaker)[0], breaker.allows_only_probes) == (CarrierStatus.UP, False)
        await asyncio.sleep(1)

    await asyncio.sleep(1)
    breaker.record(verdicts)
    assert update_and_read(breaker) == (CarrierStatus.CIRCUIT_OPEN, "it takes nothing")
    assert breaker.allows_only_probes
    await asyncio.sleep(OPEN_S)
    assert (update_and_read(breaker)[0], breaker.allows_only_probes) == (CarrierStatus.UP, True)
    breaker.record(verdicts)
    assert update_and_read(breaker)[0] is CarrierStatus.CIRCUIT_OPEN


@pytest.mark.parametrize(
    "verdict",
    [Accepted("r"), Accepted(None), Rejected(Outcome.SPAM), Declined(Outcome.SPAM)],
    ids=lambda verdict: repr(verdict),
)
async def test_any_acceptance_or_rejection_closes_the_circuit(carrier: FakeCarrier, verdict: Verdict) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    breaker.record([Busy()])
    await asyncio.sleep(60)
    breaker.record([Busy()])
    assert update_and_read(breaker)[0] is CarrierStatus.CIRCUIT_OPEN

    breaker.record([Busy(), verdict, Unknown()])
    assert (update_and_read(breaker)[0], breaker.allows_only_probes) == (CarrierStatus.UP, False)
    await asyncio.sleep(59)
    breaker.record([Busy()])
    assert update_and_read(breaker)[0] is CarrierStatus.UP  # the failover time starts again


async def test_an_empty_batch_of_verdicts_changes_nothing(carrier: FakeCarrier) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    breaker.record([Busy()])
    await asyncio.sleep(60)
    breaker.record([])
    assert update_and_read(breaker)[0] is CarrierStatus.UP
    breaker.record([Busy()])

    breaker.record([])
    assert update_and_read(breaker)[0] is CarrierStatus.CIRCUIT_OPEN


async def test_an_open_circuit_stays_open_when_the_carrier_disconnects(carrier: FakeCarrier) -> None:
    breaker = CircuitBreaker(carrier, VirtualWorld())
    breaker.record([Busy()])
    await asyncio.sleep(60)
    breaker.record([Busy()])
    breaker.update()

    carrier.is_connected = False
    assert update_and_read(breaker) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")

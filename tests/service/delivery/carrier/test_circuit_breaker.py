"""The circuit breaker opens for a carrier that is offline or failing for too long, and closes again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.sends.message import Outcome
from pabal.service.delivery.carrier.circuit_breaker import OPEN_S, CarrierStatus, CircuitBreaker
from tests.fixtures.service import FakeCarrier
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time


def run_with_breaker(scenario: Callable[[CircuitBreaker, FakeCarrier], Awaitable[None]]) -> None:
    """Run a scenario with a carrier that fails over after a minute, and its circuit breaker."""

    async def run() -> None:
        carrier = FakeCarrier()
        await scenario(CircuitBreaker(carrier, VirtualWorld()), carrier)

    run_in_virtual_time(run())


def update_and_read(breaker: CircuitBreaker) -> tuple[CarrierStatus, str]:
    """Update a circuit breaker; return the carrier's status and the reason for it."""
    breaker.update()
    return breaker.status, breaker.reason


def test_circuit_opens_after_the_failover_time_offline_and_closes_on_reconnect() -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
        assert update_and_read(breaker) == (CarrierStatus.UP, "")
        carrier.is_connected = False
        assert update_and_read(breaker) == (CarrierStatus.DOWN, "disconnected by the test")
        await asyncio.sleep(59.9)
        assert update_and_read(breaker)[0] is CarrierStatus.DOWN

        await asyncio.sleep(0.2)
        assert update_and_read(breaker) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")
        carrier.is_connected = True
        assert update_and_read(breaker) == (CarrierStatus.UP, "")

    run_with_breaker(scenario)


def test_failover_time_restarts_at_each_disconnect() -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
        for _ in range(5):
            carrier.is_connected = False
            breaker.update()
            await asyncio.sleep(40)
            assert update_and_read(breaker)[0] is CarrierStatus.DOWN
            carrier.is_connected = True
            breaker.update()
            await asyncio.sleep(1)

        assert breaker.status is CarrierStatus.UP

    run_with_breaker(scenario)


@pytest.mark.parametrize("verdicts", [[Busy()], [Unknown()], [NotSent()], [Busy(), Unknown(), NotSent()]])
def test_circuit_of_a_failing_carrier_opens_and_then_allows_only_probes(verdicts: list[Verdict]) -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
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

    run_with_breaker(scenario)


@pytest.mark.parametrize(
    "verdict",
    [Accepted("r"), Accepted(None), Rejected(Outcome.SPAM), Declined(Outcome.SPAM)],
    ids=lambda verdict: repr(verdict),
)
def test_any_acceptance_or_rejection_closes_the_circuit(verdict: Verdict) -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
        breaker.record([Busy()])
        await asyncio.sleep(60)
        breaker.record([Busy()])
        assert update_and_read(breaker)[0] is CarrierStatus.CIRCUIT_OPEN

        breaker.record([Busy(), verdict, Unknown()])
        assert (update_and_read(breaker)[0], breaker.allows_only_probes) == (CarrierStatus.UP, False)
        await asyncio.sleep(59)
        breaker.record([Busy()])
        assert update_and_read(breaker)[0] is CarrierStatus.UP  # the failover time starts again

    run_with_breaker(scenario)


def test_an_empty_batch_of_verdicts_changes_nothing() -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
        breaker.record([Busy()])
        await asyncio.sleep(60)
        breaker.record([])
        assert update_and_read(breaker)[0] is CarrierStatus.UP
        breaker.record([Busy()])

        breaker.record([])
        assert update_and_read(breaker)[0] is CarrierStatus.CIRCUIT_OPEN

    run_with_breaker(scenario)


def test_an_open_circuit_stays_open_when_the_carrier_disconnects() -> None:
    async def scenario(breaker: CircuitBreaker, carrier: FakeCarrier) -> None:
        breaker.record([Busy()])
        await asyncio.sleep(60)
        breaker.record([Busy()])
        breaker.update()

        carrier.is_connected = False
        assert update_and_read(breaker) == (CarrierStatus.CIRCUIT_OPEN, "disconnected by the test")

    run_with_breaker(scenario)

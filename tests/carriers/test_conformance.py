"""The conformance suite: what every kind of carrier in `adapters.ADAPTERS` must do."""

import asyncio
import logging
from bisect import bisect_left
from contextlib import AbstractAsyncContextManager

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown
from pabal.carriers.pace import CLOCK_TOLERANCE_S
from pabal.domain.sends.message import Outcome, Product, Status
from tests.carriers.adapters import ADAPTERS
from tests.carriers.conformance import BUSY_NUMBER, REJECTED_NUMBER, Adapter
from tests.carriers.harness import (
    LONG,
    REPORT_TIMEOUT_S,
    WINDOW,
    CarrierHarness,
    StoreFailed,
    attempt,
    attempts,
    references,
    running_harness,
)
from tests.fixtures.smpp import POLL_INTERVAL_S, kinds, wait_until


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test for every kind of carrier, except those in the adapter's exemptions."""
    if "adapter" in metafunc.fixturenames:
        adapters = [
            adapter_type for adapter_type in ADAPTERS if metafunc.function.__name__ not in adapter_type.exemptions
        ]
        metafunc.parametrize(
            "adapter", adapters, ids=[adapter_type.kind for adapter_type in adapters], indirect=True
        )


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> Adapter:
    adapter_type: type[Adapter] = request.param
    return adapter_type()


@pytest.fixture
def harness(adapter: Adapter) -> AbstractAsyncContextManager[CarrierHarness]:
    """A running carrier of this kind."""
    return running_harness(adapter)


@pytest.mark.parametrize("adapter_type", ADAPTERS)
def test_adapters_are_exempt_only_from_existing_tests(adapter_type: type[Adapter]) -> None:
    for name, reason in adapter_type.exemptions.items():
        assert callable(globals()[name])
        assert reason


# Submitting.


async def test_each_attempt_gets_its_verdict(harness: CarrierHarness) -> None:
    verdicts = await harness.send(
        attempt(1),
        attempt(2, REJECTED_NUMBER),
        attempt(3),
        attempt(4, BUSY_NUMBER),
        attempt(5, REJECTED_NUMBER),
        attempt(6),
    )

    assert [kind is Accepted for kind in kinds(verdicts)] == [True, False, True, False, False, True]
    assert kinds(verdicts)[3] is Busy
    for refused in (verdicts[1], verdicts[4]):
        assert isinstance(refused, Rejected | Declined)
        assert refused.outcome.status is Status.FAIL


async def test_empty_batch_takes_no_time(harness: CarrierHarness) -> None:
    began = asyncio.get_running_loop().time()

    assert await harness.send() == []
    assert asyncio.get_running_loop().time() == began


async def test_all_declared_products_are_accepted_and_reported(harness: CarrierHarness) -> None:
    products = sorted(harness.carrier.products, key=lambda product: product.number)
    verdicts = await harness.send(
        *(
            attempt(number, content=LONG if product is Product.LMS else "안녕하세요", product=product)
            for number, product in enumerate(products, 1)
        )
    )

    assert products
    assert kinds(verdicts) == [Accepted] * len(products)
    await wait_until(lambda: {each.reference for each in harness.stored} == references(verdicts))
    assert {each.outcome for each in harness.stored} == {Outcome.DELIVERED}


async def test_batches_may_be_submitted_concurrently(harness: CarrierHarness) -> None:
    batches = [attempts(20)[first : first + 4] for first in range(0, 20, 4)]
    verdicts = await asyncio.gather(*(harness.send(*batch) for batch in batches))

    assert [kinds(each) for each in verdicts] == [[Accepted] * 4] * 5
    assert len(references([one for each in verdicts for one in each])) == 20


async def test_resubmitted_message_is_deduplicated(harness: CarrierHarness) -> None:
    first = await harness.send(*attempts(3))
    again = await harness.send(*(each._replace(number=2) for each in attempts(3)))
    await asyncio.sleep(REPORT_TIMEOUT_S)

    assert first == again
    assert len(harness.stored) == 3


async def test_silence_ends_as_unknown_in_time_and_leaves_no_trace(
    adapter: Adapter, harness: CarrierHarness
) -> None:
    adapter.stop_responding()
    verdicts = await harness.send(*attempts(WINDOW))

    assert set(kinds(verdicts)) <= {Unknown, NotSent}
    assert Unknown in kinds(verdicts)
    adapter.recover()
    await wait_until(lambda: harness.carrier.is_connected)
    assert kinds(await harness.send(*attempts(WINDOW))) == [Accepted] * WINDOW


async def test_cancelled_submit_leaves_no_trace(adapter: Adapter, harness: CarrierHarness) -> None:
    adapter.stop_responding()
    sending = asyncio.create_task(harness.send(*attempts(WINDOW)))
    await asyncio.sleep(0.5)
    sending.cancel()
    await asyncio.wait([sending])
    adapter.recover()

    assert kinds(await harness.send(*attempts(WINDOW))) == [Accepted] * WINDOW


# Window and rate.


async def test_window_is_never_exceeded(adapter: Adapter, harness: CarrierHarness) -> None:
    batches = [attempts(3 * WINDOW), [attempt(99, content=LONG, product=Product.LMS)], attempts(5)]
    verdicts = await asyncio.gather(*(harness.send(*batch) for batch in batches))

    assert {kind for each in verdicts for kind in kinds(each)} == {Accepted}
    assert 1 < adapter.max_in_flight <= WINDOW


@pytest.mark.parametrize("rate", [10, 200])
async def test_rate_is_kept_evenly_without_a_burst_after_a_pause(adapter: Adapter, rate: int) -> None:
    async with running_harness(adapter, window=1000, rate=rate) as harness:
        assert harness.carrier.rate == rate
        assert harness.carrier.backlog_s == 0
        share = rate // 10
        for _ in range(2):
            batches = [asyncio.create_task(harness.send(*attempts(share))) for _ in range(15)]
            await asyncio.sleep(0.1)
            assert 1.0 <= harness.carrier.backlog_s <= 1.6
            await asyncio.wait(batches)
            await asyncio.sleep(10)

        at = adapter.submitted_at
        assert len(at) == 2 * 15 * share
        for place, began in enumerate(at):
            assert bisect_left(at, began + 1 - CLOCK_TOLERANCE_S) - place <= rate * 1.06 + 1
        assert at[15 * share - 1] - at[0] <= 1.6


# Receipts.


async def test_accepted_messages_get_receipts_with_their_references(
    adapter: Adapter, harness: CarrierHarness
) -> None:
    verdicts = await harness.send(*attempts(5), attempt(6, content=LONG, product=Product.LMS))
    await wait_until(lambda: len(harness.stored) == len(references(verdicts)), REPORT_TIMEOUT_S)

    assert {each.reference for each in harness.stored} == references(verdicts)
    assert {each.outcome for each in harness.stored} == {Outcome.DELIVERED}
    await wait_until(lambda: adapter.unacknowledged == 0)


async def test_receipt_is_acknowledged_only_after_it_is_stored(adapter: Adapter, harness: CarrierHarness) -> None:
    harness.may_store.clear()
    await harness.send(*attempts(3))
    await asyncio.sleep(100)
    assert (harness.offered > 0, harness.stored, adapter.unacknowledged) == (True, [], 3)
    assert kinds(await harness.send(attempt(4))) == [Accepted], "slow storing of receipts does not block sending"
    harness.may_store.set()
    await wait_until(lambda: adapter.unacknowledged == 0)

    assert len({each.reference for each in harness.stored}) == 4


async def test_receipt_that_failed_to_store_is_reported_again(adapter: Adapter, harness: CarrierHarness) -> None:
    harness.fails_to_store = True
    verdicts = await harness.send(*attempts(3))
    assert harness.running is not None
    with pytest.raises(StoreFailed):
        await harness.running
    assert (harness.stored, adapter.unacknowledged) == ([], 3)
    harness.fails_to_store = False
    harness.start()
    await wait_until(lambda: adapter.unacknowledged == 0)

    assert {each.reference for each in harness.stored} == references(verdicts)


async def test_receipt_that_failed_to_store_survives_a_restart(adapter: Adapter) -> None:
    async with running_harness(adapter) as first:
        first.may_store.clear()
        verdicts = await first.send(*attempts(3))
        await wait_until(lambda: first.offered)
    assert adapter.unacknowledged == 3
    async with running_harness(adapter) as second:
        await wait_until(lambda: adapter.unacknowledged == 0)

        assert {each.reference for each in second.stored} == references(verdicts)


# Unreachable peers.


async def test_nothing_is_accepted_before_run(adapter: Adapter) -> None:
    harness = CarrierHarness(adapter)

    assert not harness.carrier.is_connected
    assert " " in harness.carrier.problem
    assert kinds(await harness.send(*attempts(2))) == [NotSent, NotSent]


async def test_unreachable_carrier_says_so_sends_nothing_and_recovers(
    adapter: Adapter, harness: CarrierHarness
) -> None:
    carrier = harness.carrier
    assert (carrier.is_connected, carrier.problem) == (True, "")
    adapter.disconnect()
    await wait_until(lambda: not carrier.is_connected)
    await asyncio.sleep(60)

    assert not carrier.is_connected
    assert " " in carrier.problem, "the problem is described"
    assert (
        kinds(await harness.send(*attempts(3), attempt(4, REJECTED_NUMBER), attempt(5, BUSY_NUMBER)))
        == [NotSent] * 5
    )
    adapter.recover()
    await wait_until(lambda: carrier.is_connected)
    await wait_until(lambda: carrier.problem == "")
    assert kinds(await harness.send(*attempts(3))) == [Accepted] * 3


async def test_locked_out_carrier_says_so_without_its_secret(
    adapter: Adapter, harness: CarrierHarness, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    adapter.reject_credentials()
    await wait_until(lambda: not harness.carrier.is_connected)
    await asyncio.sleep(60)
    carrier = harness.carrier
    shown = f"{carrier!r} {carrier} {vars(carrier)} {carrier.problem}"
    assert not carrier.is_connected
    assert " " in carrier.problem
    assert kinds(await harness.send(attempt())) == [NotSent]
    adapter.recover()
    await wait_until(lambda: carrier.is_connected)

    output = shown + caplog.text + str([vars(record) for record in caplog.records])
    assert adapter.secrets
    assert not [secret for secret in adapter.secrets if secret in output]


# Shutdown.


async def test_cancellation_at_any_moment_leaves_no_task(adapter: Adapter) -> None:

    async def stop_after(after_s: float) -> None:
        before = asyncio.all_tasks()
        harness = CarrierHarness(adapter)
        harness.start()
        await wait_until(lambda: harness.carrier.is_connected)
        sending = asyncio.create_task(harness.send(*attempts(3)))
        await asyncio.sleep(after_s)
        await harness.stop()
        verdicts = await sending
        await asyncio.sleep(POLL_INTERVAL_S)

        assert set(kinds(verdicts)) <= {Accepted, Unknown, NotSent}
        assert asyncio.all_tasks() == before
        assert adapter.connections == 0

    for moment in range(10):
        await stop_after(moment * 0.05)

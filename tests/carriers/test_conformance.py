"""The conformance suite: what every kind of carrier in `conformance.ADAPTERS` must do."""

import asyncio
import logging
from bisect import bisect_left

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.pace import CLOCK_TOLERANCE_S
from pabal.domain.message import Outcome, Product, Status
from tests.carriers.conformance import ADAPTERS, BUSY, REFUSED, Adapter
from tests.carriers.stage import (
    LONG,
    REPORTS_WITHIN_S,
    SOON_S,
    WINDOW,
    Refuser,
    Scenario,
    Stage,
    at_work,
    kinds,
    references,
    text,
    texts,
    until,
)
from tests.fixtures.virtual import run_in_virtual_time


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try every property on every kind of carrier but those whose adapter says why it cannot apply."""
    if "adapter" in metafunc.fixturenames:
        shapes = [shape for shape in ADAPTERS if metafunc.function.__name__ not in shape.excused]
        metafunc.parametrize("adapter", shapes, ids=[shape.kind for shape in shapes], indirect=True)


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """A fresh far end."""
    shape: type[Adapter] = request.param
    return shape()


def run_scenario(adapter: Adapter, scenario: Scenario, *, window: int = WINDOW, rate: int = 0) -> None:
    """Run a scenario with a carrier at work."""

    async def whole() -> None:
        async with at_work(adapter, window=window, rate=rate) as stage:
            await scenario(stage)

    run_in_virtual_time(whole())


@pytest.mark.parametrize("shape", ADAPTERS)
def test_adapters_are_excused_only_from_existing_tests(shape: type[Adapter]) -> None:
    for name, reason in shape.excused.items():
        assert callable(globals()[name])
        assert reason


# Handing over.


def test_each_attempt_gets_its_verdict(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        verdicts = await stage.send(text(1), text(2, REFUSED), text(3), text(4, BUSY), text(5, REFUSED), text(6))

        assert [kind is Accepted for kind in kinds(verdicts)] == [True, False, True, False, False, True]
        assert kinds(verdicts)[3] is Busy

    run_scenario(adapter, scenario)


def test_empty_batch_takes_no_time(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        began = asyncio.get_running_loop().time()

        assert await stage.send() == []
        assert asyncio.get_running_loop().time() == began

    run_scenario(adapter, scenario)


def test_all_declared_products_are_accepted(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        products = sorted(stage.carrier.products, key=lambda product: product.number)
        verdicts = await stage.send(
            *(
                text(number, content=LONG if product is Product.LMS else "안녕하세요", product=product)
                for number, product in enumerate(products, 1)
            )
        )

        assert products
        assert kinds(verdicts) == [Accepted] * len(products)

    run_scenario(adapter, scenario)


def test_batches_may_be_submitted_concurrently(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        batches = [texts(20)[first : first + 4] for first in range(0, 20, 4)]
        verdicts = await asyncio.gather(*(stage.send(*batch) for batch in batches))

        assert [kinds(each) for each in verdicts] == [[Accepted] * 4] * 5
        assert len(references([one for each in verdicts for one in each])) == 20

    run_scenario(adapter, scenario)


def test_rejection_has_a_failure_outcome(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        (verdict,) = await stage.send(text(1, REFUSED))

        assert isinstance(verdict, Rejected | Declined)
        assert isinstance(verdict.outcome, Outcome)
        assert verdict.outcome.status is Status.FAIL

    run_scenario(adapter, scenario)


def test_temporary_refusal_is_busy(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        assert kinds(await stage.send(text(1, BUSY))) == [Busy]

    run_scenario(adapter, scenario)


def test_resubmitted_message_is_deduplicated(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        first = await stage.send(*texts(3))
        again = await stage.send(*(each._replace(number=2) for each in texts(3)))
        await asyncio.sleep(REPORTS_WITHIN_S)

        assert first == again
        assert len(stage.kept) == 3

    run_scenario(adapter, scenario)


def test_silence_ends_as_unknown_in_time_and_leaves_no_trace(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        adapter.fall_silent()
        verdicts = await stage.send(*texts(WINDOW))

        assert set(kinds(verdicts)) <= {Unknown, NotSent}
        assert Unknown in kinds(verdicts)
        adapter.come_back()
        await until(lambda: stage.carrier.is_connected)
        assert kinds(await stage.send(*texts(WINDOW))) == [Accepted] * WINDOW

    run_scenario(adapter, scenario)


def test_cancelled_submit_leaves_no_trace(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        adapter.fall_silent()
        sending = asyncio.create_task(stage.send(*texts(WINDOW)))
        await asyncio.sleep(0.5)
        sending.cancel()
        await asyncio.wait([sending])
        adapter.come_back()

        assert kinds(await stage.send(*texts(WINDOW))) == [Accepted] * WINDOW

    run_scenario(adapter, scenario)


# Window and rate.


def test_window_is_never_exceeded(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        batches = [texts(3 * WINDOW), [text(99, content=LONG, product=Product.LMS)], texts(5)]
        verdicts = await asyncio.gather(*(stage.send(*batch) for batch in batches))

        assert {kind for each in verdicts for kind in kinds(each)} == {Accepted}
        assert 1 < adapter.most_in_hand <= WINDOW

    run_scenario(adapter, scenario)


@pytest.mark.parametrize("rate", [10, 200])
def test_rate_is_kept_evenly_without_a_burst_after_a_pause(adapter: Adapter, rate: int) -> None:
    async def scenario(stage: Stage) -> None:
        assert stage.carrier.rate == rate
        assert stage.carrier.backlog_s == 0
        share = rate // 10
        for _ in range(2):
            batches = [asyncio.create_task(stage.send(*texts(share))) for _ in range(15)]
            await asyncio.sleep(0.1)
            assert 1.0 <= stage.carrier.backlog_s <= 1.6
            await asyncio.wait(batches)
            await asyncio.sleep(10)

        at = adapter.given_at
        assert len(at) == 2 * 15 * share
        for place, began in enumerate(at):
            assert bisect_left(at, began + 1 - CLOCK_TOLERANCE_S) - place <= rate * 1.06 + 1
        assert at[15 * share - 1] - at[0] <= 1.6

    run_scenario(adapter, scenario, window=1000, rate=rate)


# Receipts.


def test_accepted_messages_get_receipts_with_their_references(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        verdicts = await stage.send(*texts(5), text(6, content=LONG, product=Product.LMS))
        await until(lambda: len(stage.kept) == len(references(verdicts)), REPORTS_WITHIN_S)

        assert {each.reference for each in stage.kept} == references(verdicts)
        assert {each.outcome for each in stage.kept} == {Outcome.DELIVERED}
        await until(lambda: adapter.unacknowledged == 0)

    run_scenario(adapter, scenario)


def test_receipt_is_acknowledged_only_after_it_is_stored(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        stage.may_keep.clear()
        await stage.send(*texts(3))
        await asyncio.sleep(100)
        assert (stage.asked > 0, stage.kept, adapter.unacknowledged) == (True, [], 3)
        assert kinds(await stage.send(text(4))) == [Accepted], "who is slow to keep receipts may still send"
        stage.may_keep.set()
        await until(lambda: adapter.unacknowledged == 0)

        assert len({each.reference for each in stage.kept}) == 4

    run_scenario(adapter, scenario)


def test_receipt_that_failed_to_store_is_reported_again(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        stage.refuses = True
        verdicts = await stage.send(*texts(3))
        assert stage.running is not None
        with pytest.raises(Refuser):
            await stage.running
        assert (stage.kept, adapter.unacknowledged) == ([], 3)
        stage.refuses = False
        stage.begin()
        await until(lambda: adapter.unacknowledged == 0)

        assert {each.reference for each in stage.kept} == references(verdicts)

    run_scenario(adapter, scenario)


def test_receipt_that_failed_to_store_survives_a_restart(adapter: Adapter) -> None:
    taken: list[Verdict] = []

    async def first(stage: Stage) -> None:
        stage.may_keep.clear()
        taken.extend(await stage.send(*texts(3)))
        await until(lambda: stage.asked)

    async def second(stage: Stage) -> None:
        await until(lambda: adapter.unacknowledged == 0)

        assert {each.reference for each in stage.kept} == references(taken)

    async def whole() -> None:
        async with at_work(adapter) as stage:
            await first(stage)
        assert adapter.unacknowledged == 3
        async with at_work(adapter) as stage:
            await second(stage)

    run_in_virtual_time(whole())


# Out of reach.


def test_nothing_is_accepted_before_run(adapter: Adapter) -> None:
    async def scenario() -> None:
        stage = Stage(adapter)

        assert not stage.carrier.is_connected
        assert " " in stage.carrier.problem
        assert kinds(await stage.send(*texts(2))) == [NotSent, NotSent]

    run_in_virtual_time(scenario())


def test_unreachable_carrier_says_so_sends_nothing_and_recovers(adapter: Adapter) -> None:
    async def scenario(stage: Stage) -> None:
        carrier = stage.carrier
        assert (carrier.is_connected, carrier.problem) == (True, "")
        adapter.go_away()
        await until(lambda: not carrier.is_connected)
        await asyncio.sleep(60)

        assert not carrier.is_connected
        assert " " in carrier.problem, "in words"
        assert kinds(await stage.send(*texts(3), text(4, REFUSED), text(5, BUSY))) == [NotSent] * 5
        adapter.come_back()
        await until(lambda: carrier.is_connected)
        await until(lambda: carrier.problem == "")
        assert kinds(await stage.send(*texts(3))) == [Accepted] * 3

    run_scenario(adapter, scenario)


def test_locked_out_carrier_says_so_without_its_secret(adapter: Adapter, caplog: pytest.LogCaptureFixture) -> None:
    shown: list[str] = []

    async def scenario(stage: Stage) -> None:
        adapter.lock_out()
        await until(lambda: not stage.carrier.is_connected)
        await asyncio.sleep(60)
        carrier = stage.carrier
        shown.append(f"{carrier!r} {carrier} {vars(carrier)} {carrier.problem}")
        assert not carrier.is_connected
        assert " " in carrier.problem
        assert kinds(await stage.send(text())) == [NotSent]
        adapter.come_back()
        await until(lambda: carrier.is_connected)

    caplog.set_level(logging.DEBUG)
    run_scenario(adapter, scenario)

    told = "".join(shown) + caplog.text + str([vars(record) for record in caplog.records])
    assert adapter.secrets
    assert not [secret for secret in adapter.secrets if secret in told]


# The end.


def test_cancellation_at_any_moment_leaves_no_task(adapter: Adapter) -> None:
    async def scenario() -> None:
        for moment in range(10):
            await cut_short(moment * 0.05)

    async def cut_short(after_s: float) -> None:
        before = asyncio.all_tasks()
        stage = Stage(adapter)
        stage.begin()
        await until(lambda: stage.carrier.is_connected)
        sending = asyncio.create_task(stage.send(*texts(3)))
        await asyncio.sleep(after_s)
        await stage.end()
        verdicts = await sending
        await asyncio.sleep(SOON_S)

        assert set(kinds(verdicts)) <= {Accepted, Unknown, NotSent}
        assert asyncio.all_tasks() == before
        assert adapter.connections == 0

    run_in_virtual_time(scenario())

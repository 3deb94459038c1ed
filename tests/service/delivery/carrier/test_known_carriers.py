"""Messages of a carrier that is not configured any more: who gets them, and who never does."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pabal.carriers.base import NotSent
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Product, Status
from pabal.service.delivery.carrier.known_carriers import register_carriers
from pabal.service.delivery.workers import BATCH
from pabal.service.upkeep.housekeeping import FULL_ROUND_EVERY, ROUND_INTERVAL_S
from tests.fixtures.service import (
    FakeCarrier,
    Scenario,
    job_of,
    message_id_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Caller, Environment, VirtualWorld

LATER = NOON + 2 * HOUR


def simulator(name: str = "sim") -> FakeCarrier:
    """Return a carrier of the kind `simulator`."""
    carrier = FakeCarrier(name)
    carrier.kind = "simulator"
    return carrier


def offline(carrier: FakeCarrier) -> FakeCarrier:
    carrier.is_connected = False
    return carrier


async def register(env: Environment) -> None:
    """Register the carriers of a service, as its start does."""
    await env.store.write(register_carriers, env.context.kinds)


def run_before_and_after(
    folder: Path,
    before: FakeCarrier,
    after: Mapping[str, FakeCarrier],
    routes: Mapping[str, list[str]],
    check: Scenario,
) -> bytes:
    """Leave a message in the queue of one carrier, then run a scenario with others; return the message's id."""
    sent: list[bytes] = []

    async def leave_message(env: Environment) -> None:
        await register(env)
        sent.append(await send(env, sms()))

    async def then(env: Environment) -> None:
        await env.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S + 5)
        env.sent = sent[0]  # type: ignore[attr-defined]
        await check(env)

    run_scenario_with(folder, leave_message, {before.name: offline(before)}, {"sms": [before.name]})
    run_scenario_with(folder, then, after, routes, VirtualWorld(1, LATER))
    return message_id_of(sent[0])


def test_real_message_never_goes_to_a_simulator(tmp_path: Path) -> None:
    sim = simulator()

    async def check(env: Environment) -> None:
        assert (await outcomes_of(env, env.sent)) == [(Status.WAITING, None)]  # type: ignore[attr-defined]
        await Caller(env.service, None)("/metrics", method="GET")
        assert metric_value(env, "pabal_queue_unconfigured_jobs") == 1
        assert metric_value(env, "pabal_queue_jobs", carrier="telco", lane="small") == 1

    run_before_and_after(tmp_path, FakeCarrier("telco"), {"sim": sim}, {"sms": ["sim"]}, check)

    assert sim.ids == []


def test_simulated_message_never_goes_to_a_real_carrier(tmp_path: Path) -> None:
    telco = FakeCarrier("telco")

    async def check(env: Environment) -> None:
        assert (await outcomes_of(env, env.sent)) == [(Status.WAITING, None)]  # type: ignore[attr-defined]

    run_before_and_after(tmp_path, simulator(), {"telco": telco}, {"sms": ["telco"]}, check)

    assert telco.ids == []


def test_message_goes_to_a_carrier_of_its_own_kind(tmp_path: Path) -> None:
    telco, renamed = FakeCarrier("telco"), FakeCarrier("renamed")
    sim, other = simulator(), simulator("other")

    async def check(env: Environment) -> None:
        pass

    (tmp_path / "real").mkdir()
    (tmp_path / "simulated").mkdir()
    real = run_before_and_after(
        tmp_path / "real", telco, {"renamed": renamed, "sim": sim}, {"sms": ["sim", "renamed"]}, check
    )
    simulated = run_before_and_after(
        tmp_path / "simulated", simulator(), {"other": other}, {"sms": ["other"]}, check
    )

    assert (renamed.ids, sim.ids, other.ids) == ([real], [], [simulated])


def test_messages_that_must_wait_do_not_hold_up_others(tmp_path: Path) -> None:
    """More wait for a real route than one transaction looks at; a product that has one is moved all the same."""
    telco, new, sim = offline(FakeCarrier("telco")), FakeCarrier("new"), simulator()
    sent: list[bytes] = []

    async def leave_messages(env: Environment) -> None:
        await register(env)
        await send(env, sms(*["01012345678"] * 600))
        sent.append(await send(env, sms(product=Product.LMS)))

    async def check(env: Environment) -> None:
        await env.wait(5)

    run_scenario_with(tmp_path, leave_messages, {"telco": telco}, {"sms": ["telco"], "lms": ["telco"]})
    run_scenario_with(
        tmp_path, check, {"new": new, "sim": sim}, {"sms": ["sim"], "lms": ["new"]}, VirtualWorld(1, LATER)
    )

    assert (new.ids, sim.ids) == ([message_id_of(sent[0])], [])


def test_open_circuit_does_not_send_real_messages_to_a_simulator(tmp_path: Path) -> None:
    """The route of the product has become a simulator's while a message waited for a carrier that is down now."""
    sim = simulator()

    async def check(env: Environment) -> None:
        await env.wait(120)
        job = await job_of(env, message_id_of(env.sent))  # type: ignore[attr-defined]
        assert job is not None
        assert job[0] == "telco"

    down = FakeCarrier("telco", lambda attempt: NotSent(), failover_after_s=1)
    run_before_and_after(
        tmp_path,
        FakeCarrier("telco"),
        {"telco": offline(down), "sim": sim},
        {"sms": ["sim"], "lms": ["telco"]},
        check,
    )

    assert sim.ids == []


def test_log_tells_once_how_many_jobs_go_to_other_carriers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receivers = [f"010{number:08}" for number in range(BATCH + 100)]
    gone, telco = offline(FakeCarrier("gone")), offline(FakeCarrier("telco"))

    async def leave_messages(env: Environment) -> None:
        await register(env)
        await send(env, sms(*receivers))

    async def start(env: Environment) -> None:
        await env.wait(1)

    run_scenario_with(tmp_path, leave_messages, {"gone": gone}, {"sms": ["gone"]})
    run_scenario_with(tmp_path, start, {"telco": telco}, {"sms": ["telco"]}, VirtualWorld(1, LATER))

    told = [each for each in caplog.records if "its jobs go to other carriers" in each.message]
    assert [(each.carrier, each.jobs) for each in told] == [("gone", BATCH + 100)]  # type: ignore[attr-defined]

"""Operators see the status of each carrier in the store, the metrics and the log."""

import logging
from collections.abc import Mapping

import pytest

from pabal.service.delivery.deliver import OFFLINE_CHECK_INTERVAL_S, PROBE_INTERVAL_S
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.circuit_breaker import stored_states, two_carriers, up_and_open_metrics
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, later, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld
from tests.fixtures.web import AWAY, FailingStore


async def test_quotas_that_are_used_up_are_stored_and_cleared(start: Start) -> None:

    class Limited(FakeCarrier):
        quotas: Mapping[str, int] = {}

        @property
        def exhausted_quotas(self) -> Mapping[str, int]:
            return self.quotas

    post = Limited()
    env = await start(post)
    await env.wait(PROBE_INTERVAL_S + 0.1)
    before = (await stored_states(env))[DEFAULT_CARRIER]
    post.quotas = {"messages_per_day": 2}
    await env.send(sms())
    await env.wait(PROBE_INTERVAL_S + 0.1)
    used_up = (await stored_states(env))[DEFAULT_CARRIER]
    post.quotas = {}
    await env.send(sms())
    await env.wait(PROBE_INTERVAL_S + 0.1)

    assert before.quotas is None
    assert (used_up.quotas, used_up.state, used_up.since) == ('{"messages_per_day": 2}', "up", before.since)
    assert (await stored_states(env))[DEFAULT_CARRIER].quotas is None


async def test_status_metrics_and_log_follow_a_carrier_down_circuit_open_and_up(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = two_carriers()
    caplog.set_level(logging.INFO, "pabal.deliver")

    def log_entries() -> list[tuple[str, str, str, str]]:
        return [
            (each.levelname, each.getMessage(), vars(each)["carrier"], vars(each).get("reason", ""))
            for each in caplog.records
            if each.name == "pabal.deliver" and vars(each).get("carrier") == "one"
        ]

    env = await start(one, two)
    await env.wait(0.1)
    assert (await stored_states(env))["one"] == CarrierState("one", "up", NOON, "")
    assert up_and_open_metrics(env, "one") == (1, 0)

    one.is_connected = False
    await env.wait(PROBE_INTERVAL_S + 0.1)
    down = (await stored_states(env))["one"]
    assert (down.state, down.reason) == ("down", "disconnected by the test")
    assert NOON < down.since <= later(NOON, PROBE_INTERVAL_S)
    assert up_and_open_metrics(env, "one") == (0, 0)
    assert env.context.open_circuits == set()

    await env.send(sms())
    await env.wait(60 + OFFLINE_CHECK_INTERVAL_S)
    opened = (await stored_states(env))["one"]
    assert (opened.state, opened.reason) == ("aside", "disconnected by the test")
    assert opened.since >= later(NOON, 60)
    assert up_and_open_metrics(env, "one") == (0, 1)
    assert env.context.open_circuits == {"one"}

    one.is_connected = True
    await env.wait(OFFLINE_CHECK_INTERVAL_S + 0.1)
    assert (await stored_states(env))["one"].state == "up"
    assert up_and_open_metrics(env, "one") == (1, 0)
    assert env.context.open_circuits == set()
    assert up_and_open_metrics(env, "two") == (1, 0)
    assert [each for each in log_entries() if "rerouted" not in each[1]] == [
        ("WARNING", "carrier is down; its messages wait for it", "one", "disconnected by the test"),
        (
            "WARNING",
            "carrier circuit opened; its messages go to the next carrier of their route",
            "one",
            "disconnected by the test",
        ),
        ("INFO", "carrier is up", "one", ""),
    ]
    assert (
        "WARNING",
        "carrier circuit is open; messages rerouted to other carriers",
        "one",
        "",
    ) in log_entries()


async def test_a_restart_replaces_the_status_from_the_previous_run(start: Start) -> None:
    offline = FakeCarrier(failover_after_s=5)
    offline.is_connected = False
    env = await start(offline)
    await env.wait(10)
    assert (await stored_states(env))[DEFAULT_CARRIER].state == "aside"

    env = await start(FakeCarrier(), world=VirtualWorld(1, later(NOON, 60)))
    await env.wait(1)

    assert (await stored_states(env))[DEFAULT_CARRIER][:4] == CarrierState(
        DEFAULT_CARRIER, "up", later(NOON, 60), ""
    )[:4]


async def test_a_status_is_stored_once_the_store_is_available_again(
    failing_store: FailingStore, env: Environment, carrier: FakeCarrier
) -> None:
    await env.wait(1)
    failing_store.write_error = AWAY
    carrier.is_connected = False
    await env.wait(20)
    assert (await stored_states(env))[DEFAULT_CARRIER].state == "up"

    failing_store.write_error = None
    await env.wait(2)

    assert (await stored_states(env))[DEFAULT_CARRIER].state == "down"

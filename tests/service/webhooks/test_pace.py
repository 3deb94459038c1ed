"""Posts are made more slowly while messages are delivered, and changed webhooks are read at a limited pace."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pabal.service.webhooks.dispatch import MIN_REFRESH_PAUSE_S
from pabal.service.webhooks.pace import BUSY_EVENTS_PER_S, BUSY_IN_FLIGHT, PostPace
from tests.fixtures.interruptible_store import InterruptibleStore
from tests.fixtures.service import RunScenario
from tests.fixtures.virtual import Environment, VirtualWorld, open_store


class CountingStore(InterruptibleStore):
    """A store that counts its reads by the name of their work."""

    reads: Counter[str]

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.reads[getattr(work, "__name__", "")] += 1
        return await super().read(work, *args, **kwargs)


def test_webhooks_of_all_accounts_are_not_read_for_each_change(run_scenario: RunScenario, tmp_path: Path) -> None:
    world = VirtualWorld()
    store = CountingStore(open_store(tmp_path, world))
    store.reads = Counter()

    async def scenario(env: Environment) -> None:
        await env.wait(1)
        store.reads.clear()
        for _ in range(100):
            env.context.announce_webhooks()
            await env.wait(0.01)
        await env.wait(1)

        assert 2 <= store.reads["_list_enabled"] <= 1 / MIN_REFRESH_PAUSE_S + 2

    run_scenario(scenario, world=world, store=store)


def test_turns_are_free_unless_delivery_is_busy(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        pace, world = PostPace(env.context), env.world
        began = world.monotonic()
        for _ in range(10):
            await pace.wait()
            pace.count(400)
        assert world.monotonic() == began

        attempts = [(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)]
        env.context.in_flight.add(attempts)
        for _ in range(11):
            await pace.wait()
            pace.count(400)
        assert round(world.monotonic() - began, 3) == 4000 / BUSY_EVENTS_PER_S

        env.context.in_flight.remove(attempts)
        await pace.wait()
        pace.count(400)
        before = world.monotonic()
        await pace.wait()
        assert world.monotonic() == before

    run_scenario(scenario)

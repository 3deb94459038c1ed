"""Posts are made more slowly while messages are being delivered."""

from pabal.service.webhooks.pace import BUSY_EVENTS_PER_S, BUSY_IN_FLIGHT, PostPace
from tests.fixtures.service import RunScenario
from tests.fixtures.virtual import Environment


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

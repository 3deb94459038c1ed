"""The lag of the event loop."""

import asyncio

from pabal.service.metrics import CHECK_INTERVAL_S, watch_loop_lag
from pabal.world import RealWorld

LONG_TURN_S = 3 * CHECK_INTERVAL_S


def test_long_turn_of_the_loop_is_seen() -> None:
    async def main() -> None:
        world = RealWorld()
        lags: asyncio.Queue[float] = asyncio.Queue()
        watching = asyncio.create_task(watch_loop_lag(world, lags.put_nowait))
        await lags.get()
        ends_at = world.monotonic() + LONG_TURN_S
        while world.monotonic() < ends_at:
            pass

        assert await lags.get() > LONG_TURN_S - 2 * CHECK_INTERVAL_S
        watching.cancel()

    asyncio.run(main())

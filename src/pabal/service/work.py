"""Works: delivers for every carrier, listens to them and keeps house, until told to stop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pabal.service.context import Context
from pabal.service.delivery.deliver import Deliverer
from pabal.service.delivery.heartbeat import Holder
from pabal.service.delivery.receive import listen
from pabal.service.errors import describe_error
from pabal.service.relay.sync import keep_in_step
from pabal.service.sending.campaigns import keep_campaigns
from pabal.service.upkeep.housekeeping import keep_house, prepare

PAUSE_AFTER_FAULT_S = 1.0

log = logging.getLogger("pabal")


class Work:
    """All that goes on behind the interface, in this process."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deliverers: list[Deliverer] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._holder: Holder | None = None
        self._holding: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to deliver, to listen, to keep house and to bring campaigns on."""
        context = self._context
        if context.slots.are_shared:
            self._holder = Holder(context)
            self._holding = asyncio.create_task(_kept_going(self._holder.run))
        for slot in context.slots.held:
            await prepare(context, slot, is_orphan=True)
        for carrier in context.carriers.values():
            deliverer = Deliverer(context, carrier)
            self._deliverers.append(deliverer)
            self._keep(deliverer.run)
            self._keep(lambda carrier=carrier: listen(context, carrier))  # type: ignore[misc]
        self._keep(lambda: keep_house(context))
        self._keep(lambda: keep_campaigns(context))
        if context.relays:
            self._keep(lambda: keep_in_step(context))

    async def stop(self, within_s: float) -> None:
        """Leave to others, or to the next start, what is not in hand, and finish what is."""
        if self._holder and self._holding:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)
            await self._holder.leave()
        await asyncio.gather(*(each.stop(within_s) for each in self._deliverers))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _keep(self, loop: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(_kept_going(loop)))


async def _kept_going(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a loop for good: a fault in it is a bug, told loudly, but not the end of all delivery."""
    while True:
        try:
            await loop()
            return
        except Exception as error:
            log.error("a loop of the service failed; starting it again", extra=describe_error(error))
            await asyncio.sleep(PAUSE_AFTER_FAULT_S)

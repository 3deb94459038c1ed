"""Works: delivers for every carrier, listens to them and keeps house, until told to stop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pabal.service.context import Context
from pabal.service.delivery.deliver import Deliverer
from pabal.service.delivery.heartbeat import SlotHolder
from pabal.service.delivery.receive import run_carrier
from pabal.service.delivery.take_over import prepare_slot
from pabal.service.errors import describe_error
from pabal.service.relay.sync import run_sync
from pabal.service.sending.campaigns import run_campaigns
from pabal.service.upkeep.housekeeping import run_housekeeping

RESTART_DELAY_S = 1.0

log = logging.getLogger("pabal")


class BackgroundWork:
    """All that goes on behind the interface, in this process."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deliverers: list[Deliverer] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._slot_holder: SlotHolder | None = None
        self._slot_holder_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to deliver, to listen, to keep house and to bring campaigns on."""
        context = self._context
        if context.slots.are_shared:
            self._slot_holder = SlotHolder(context)
            self._slot_holder_task = asyncio.create_task(_run_forever(self._slot_holder.run))
        for slot in context.slots.held:
            await prepare_slot(context, slot, is_orphaned=True)
        for carrier in context.carriers.values():
            deliverer = Deliverer(context, carrier)
            self._deliverers.append(deliverer)
            self._spawn(deliverer.run)
            self._spawn(lambda carrier=carrier: run_carrier(context, carrier))  # type: ignore[misc]
        self._spawn(lambda: run_housekeeping(context))
        self._spawn(lambda: run_campaigns(context))
        if context.relays:
            self._spawn(lambda: run_sync(context))

    async def stop(self, timeout_s: float) -> None:
        """Leave to others, or to the next start, what is not in hand, and finish what is."""
        if self._slot_holder and self._slot_holder_task:
            self._slot_holder_task.cancel()
            await asyncio.gather(self._slot_holder_task, return_exceptions=True)
            await self._slot_holder.leave()
        await asyncio.gather(*(each.stop(timeout_s) for each in self._deliverers))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, loop: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(_run_forever(loop)))


async def _run_forever(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a loop for good: a fault in it is a bug, told loudly, but not the end of all delivery."""
    while True:
        try:
            await loop()
            return
        except Exception as error:
            log.error("a loop of the service failed; starting it again", extra=describe_error(error))
            await asyncio.sleep(RESTART_DELAY_S)

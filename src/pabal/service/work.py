"""The background work of a process, and what wakes it where other processes have the API."""

import asyncio
import contextlib
import dataclasses
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from pabal.service.context import Context
from pabal.service.delivery.carrier.clock import watch_clock
from pabal.service.delivery.deliver import Deliverer
from pabal.service.delivery.receipts import run_carrier
from pabal.service.delivery.workers import SlotHolder, prepare_slot
from pabal.service.events import run_numbering
from pabal.service.loops import run_forever, run_rounds
from pabal.service.notices.alerts import CARRIERS_INTERVAL_S, FAILURES_INTERVAL_S, check_carriers, check_failures
from pabal.service.notices.dispatch import MailDispatcher
from pabal.service.relay.sync import OPT_OUT_INTERVAL_S, SYNC_INTERVAL_S, RelaySync, tell_relays
from pabal.service.sending.campaigns.campaigns import WAKE_EVENT, run_campaigns
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.service.upkeep.housekeeping import run_housekeeping
from pabal.service.upkeep.privacy import VACUUM_INTERVAL_S, vacuum_erased
from pabal.service.webhooks.dispatch import WebhookDispatcher
from pabal.service.webhooks.fan_out import CUT_INTERVAL_S, cut_unused_backlogs


class BackgroundWork:
    """All loops that run behind the HTTP API."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deliverers: list[Deliverer] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._webhooks = WebhookDispatcher(context)
        self._mails = MailDispatcher(context)
        self._slot_holder: SlotHolder | None = None
        self._slot_holder_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start all loops."""
        context = self._context
        if context.slots.are_shared:
            self._slot_holder = SlotHolder(context)
            self._slot_holder_task = asyncio.create_task(run_forever(self._slot_holder.run))
        for slot in context.slots.held:
            await prepare_slot(context, slot, is_orphaned=True)
        for carrier in context.carriers.values():
            deliverer = Deliverer(context, carrier)
            self._deliverers.append(deliverer)
            self._spawn(deliverer.run)
            self._spawn(lambda carrier=carrier: run_carrier(context, carrier))  # type: ignore[misc]
        self._spawn(lambda: watch_clock(context))
        self._spawn(lambda: run_numbering(context))
        if not context.slots.are_shared:
            self._spawn(partial(run_rounds, partial(look_for_changes, context), CHECK_INTERVAL_S))
        self._spawn(self._webhooks.run)
        self._spawn(self._webhooks.run_measuring)
        self._spawn(self._mails.run)
        self._spawn(lambda: run_housekeeping(context))
        self._spawn(lambda: run_campaigns(context))
        if context.relays:
            self._spawn(partial(run_rounds, partial(do_for_all, context, RelaySync(context).run), SYNC_INTERVAL_S))
        for task, pause_s in (
            (cut_unused_backlogs, CUT_INTERVAL_S),
            (partial(check_carriers, seen={}), CARRIERS_INTERVAL_S),
            (check_failures, FAILURES_INTERVAL_S),
            (vacuum_erased, VACUUM_INTERVAL_S),
            (tell_relays, OPT_OUT_INTERVAL_S),
        ):
            run_round = partial(do_for_all, context, partial(task, context))
            self._spawn(partial(run_rounds, run_round, pause_s, begins_after_s=pause_s))

    async def stop(self, timeout_s: float) -> None:
        """Give up the slots, finish what is in flight, and stop all loops."""
        if self._slot_holder and self._slot_holder_task:
            self._slot_holder_task.cancel()
            await asyncio.gather(self._slot_holder_task, return_exceptions=True)
            await self._slot_holder.leave()
        stopping = [*(each.stop(timeout_s) for each in self._deliverers), self._webhooks.stop(timeout_s)]
        await asyncio.gather(*stopping, self._mails.stop(timeout_s))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, loop: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(run_forever(loop)))


async def do_for_all(context: Context, task: Callable[[], Awaitable[None]]) -> None:
    """Do what one process does for all of them, if this is the one: it holds the first slot."""
    if HOUSEKEEPING_SLOT in context.slots.held:
        await task()


CHECK_INTERVAL_S = 4.0
"""How often to ask the store, which reads no table for it."""


async def look_for_changes(context: Context) -> None:
    """Have everything looked at that a command may have changed: events, webhooks and the queue."""
    if await context.store.was_written_elsewhere():
        context.new_events.set()
        context.webhooks.announce_change()
        context.wake(context.carriers)


MAX_DATAGRAM_BYTES = 65_536
_SEPARATOR = "\n"
_NEW_EVENTS, _NUMBERED, _WEBHOOKS_CHANGED = "\tnew_events", "\tnumbered", "\twebhooks_changed"
"""Names of events that no carrier has."""


class RemoteEvent(asyncio.Event):
    """An event that the other process waits for: setting it here sets it there."""

    def __init__(self, wake: Callable[[str], None], name: str) -> None:
        super().__init__()
        self._wake = wake
        self._name = name

    def set(self) -> None:
        self._wake(self._name)


class WakeSocket:
    """Sends the names of events to the process that delivers, each once per iteration of the event loop.

    Nothing depends on it: that process looks by itself every few seconds. It only waits less.
    """

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._names: set[str] = set()

    def wake(self, name: str) -> None:
        """Set an event in the other process."""
        if not self._names:
            asyncio.get_running_loop().call_soon(self._send)
        self._names.add(name)

    def _send(self) -> None:
        names, self._names = self._names, set()
        with contextlib.suppress(OSError):  # it is busy, and has unread names already
            self._link.send(_SEPARATOR.join(names).encode())


def wake_through_socket(context: Context, link: socket.socket) -> Context:
    """Return the context of a process that does not deliver: its events wake the one that does."""
    wake = WakeSocket(link).wake
    return dataclasses.replace(
        context,
        wake_events={name: RemoteEvent(wake, name) for name in (*context.carriers, WAKE_EVENT)},
        new_events=RemoteEvent(wake, _NEW_EVENTS),
        webhooks=dataclasses.replace(
            context.webhooks,
            numbered=RemoteEvent(wake, _NUMBERED),
            changed=RemoteEvent(wake, _WEBHOOKS_CHANGED),
        ),
    )


def listen_for_wake_ups(context: Context, link: socket.socket) -> Callable[[], bool]:
    """Set the events of a process that delivers when the other one asks for it; return what ends that."""
    loop = asyncio.get_running_loop()
    loop.add_reader(link, _set_events, context, link)
    return lambda: loop.remove_reader(link)


def _set_events(context: Context, link: socket.socket) -> None:
    events: Mapping[str, asyncio.Event] = {
        **context.wake_events,
        _NEW_EVENTS: context.new_events,
        _NUMBERED: context.webhooks.numbered,
        _WEBHOOKS_CHANGED: context.webhooks.changed,
    }
    with contextlib.suppress(BlockingIOError):
        for name in link.recv(MAX_DATAGRAM_BYTES).decode().split(_SEPARATOR):
            if name in events:
                events[name].set()

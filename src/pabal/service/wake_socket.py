"""Wakes the process that delivers, where others on the same SQLite file have the API.

Nothing depends on it: the process that delivers looks by itself every few seconds. It only waits less.
"""

import asyncio
import contextlib
import dataclasses
import socket
from collections.abc import Callable, Mapping

from pabal.service.context import Context
from pabal.service.sending.campaigns.campaigns import WAKE_EVENT

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
    """Sends the names of events, each once per iteration of the event loop."""

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

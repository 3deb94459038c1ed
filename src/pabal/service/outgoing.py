"""What deliveries to webhooks and mails hold in memory: connections, wake-ups, times of the last tests."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pabal.domain.events.event import Event
from pabal.domain.events.webhook import WebhookFormat
from pabal.domain.kakao.profile import Category
from pabal.mail.mailer import Mailer
from pabal.store.engine.base import Tx
from pabal.store.events.events import EventData
from pabal.store.messages.history import ReadMessages
from pabal.webhooks.addresses import AddressRules
from pabal.webhooks.poster import Poster

EventItemBuilder = Callable[
    [Sequence[Event], ReadMessages, Mapping[bytes, EventData], Mapping[str, Category]], Sequence[bytes | None]
]
"""Builds the JSON of each event from its message, or from its data and the categories of sender profiles.

None: the event has no content left.
"""


class ForeignFormat(NamedTuple):
    """How deliveries of results look to programs that were written for another relay."""

    build_items: Callable[[Tx, ReadMessages], Sequence[tuple[str, bytes]]]
    """Builds the JSON of each message, after the word of the deliveries that it may be part of."""
    build_body: Callable[[str, str, Sequence[bytes]], bytes]
    """Builds a body: of deliveries of this word, with a unique id, of these items."""
    build_sample: Callable[[str], bytes]
    """Builds the body of a test, with a unique id: a result of no message."""
    headers: Callable[[str], Mapping[str, str]]
    """Says by which headers a delivery is known to come from us, who share this secret with its receiver."""


@dataclass(frozen=True)
class OutgoingWebhooks:
    """What posts to callers' servers, and what wakes the delivery to them."""

    address_rules: AddressRules
    """Where webhooks may be posted to."""
    make_poster: Callable[[], Poster]
    build_items: EventItemBuilder
    """Builds the items of webhooks' posts."""
    load_format: Callable[[WebhookFormat], ForeignFormat]
    """Says what they look like for programs of another relay."""
    numbered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when this process has given numbers to events."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when this process has added or changed a webhook."""
    last_tests: dict[int, float] = field(default_factory=dict)
    """By account, when it last tested a webhook, on the monotonic clock."""
    last_replays: dict[tuple[int, int], float] = field(default_factory=dict)
    """By account and webhook, when events were last posted again."""
    _numbered_accounts: set[int] = field(default_factory=set)

    @cached_property
    def poster(self) -> Poster:
        """Posts to callers' servers; made when it is first used."""
        return self.make_poster()

    def announce_numbered(self, accounts: Iterable[int]) -> None:
        """Tell the delivery which accounts have new events."""
        self._numbered_accounts.update(accounts)
        self.numbered.set()

    def announce_change(self) -> None:
        """Tell the delivery that a webhook was added or changed."""
        self.changed.set()
        self.numbered.set()

    def take_numbered(self) -> set[int]:
        """Return the accounts that have got new events since the last call."""
        found = set(self._numbered_accounts)
        self._numbered_accounts.clear()
        self.numbered.clear()
        return found

    async def close(self) -> None:
        """Close the connections, if any were opened."""
        if "poster" in self.__dict__:
            await self.poster.close()


@dataclass(frozen=True)
class OutgoingMails:
    """What hands mails to the mail server, and what wakes it."""

    make_mailer: Callable[[], Mailer] | None = None
    """None: no mails are sent."""
    added: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when this process has added a mail that a user waits for."""
    last_tests: dict[int, float] = field(default_factory=dict)
    """By user, when a test mail was last sent, on the monotonic clock."""

    @property
    def is_sent(self) -> bool:
        return self.make_mailer is not None

    @cached_property
    def mailer(self) -> Mailer:
        """Hands mails to the mail server, where there is one; made when it is first used."""
        assert self.make_mailer is not None
        return self.make_mailer()

    async def close(self) -> None:
        """Close the connection, if one was opened."""
        if "mailer" in self.__dict__:
            await self.mailer.close()

"""What deliveries to webhooks and mails hold in memory: connections, wake-ups, times of the last tests."""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR
from pabal.domain.base.newest import Newest
from pabal.domain.events.event import Event
from pabal.domain.events.webhook import WebhookFormat
from pabal.domain.kakao.profile import Category
from pabal.mail.mailer import Mailer
from pabal.store.engine.base import Tx
from pabal.store.events.events import EventData
from pabal.store.messages.history import ReadMessages
from pabal.webhooks.permitted_addresses import AddressRules
from pabal.webhooks.poster import Poster

EventItemBuilder = Callable[
    [Sequence[Event], ReadMessages, Mapping[bytes, EventData], Mapping[str, Category]], Sequence[bytes | None]
]
"""Builds the JSON of each event from its message, or from its data and the categories of sender profiles.

None: the event has no content left.
"""


WEBHOOK_TEST_PAUSE_S = 1.0
"""Least time between two tests of an account, so that nobody is flooded in its name."""
REPLAY_PAUSE_S = 60.0
"""Least time between two replays of a webhook: one short request makes us post a week of events."""
MAIL_PAUSE_S = 10.0
"""Least time between two mails that a user has sent at once."""
MAX_REMEMBERED = 10_000
"""Uses that are remembered; then the oldest are forgotten."""
LAST_DELAY_MS = 1 * HOUR
"""What is repeated waits so long once its first delays are over."""
_JITTER = 0.2


def choose_delay_ms(first_delays_ms: Sequence[int], tries: int, random: float) -> int:
    """Return how long after the last of these tries the next one follows."""
    delay = first_delays_ms[tries - 1] if 1 <= tries <= len(first_delays_ms) else LAST_DELAY_MS
    return round(delay * (1 + _JITTER * (2 * random - 1)))


class LastUses:
    """When something was last done, by who did it, on the monotonic clock: nobody may do it again at once."""

    def __init__(self, pause_s: float) -> None:
        self._pause_s = pause_s
        self._last: Newest[Hashable, float] = Newest(MAX_REMEMBERED)

    def check(self, key: Hashable, now: float) -> None:
        """Raise Refused(RATE_LIMITED) if that was less than a pause ago."""
        wait_s = self._last.get(key, -self._pause_s) + self._pause_s - now
        if wait_s > 0:
            raise Refused(Code.RATE_LIMITED, retry_after_s=wait_s)

    def remember(self, key: Hashable, now: float) -> None:
        """Remember that it is done now."""
        self._last[key] = now


class ForeignFormat(NamedTuple):
    """How deliveries of results look to programs that were written for another relay."""

    build_items: Callable[[Tx, ReadMessages], Sequence[tuple[str, bytes]]]
    """Builds the JSON of each message, after its group key: a delivery holds messages of one group."""
    build_body: Callable[[str, str, Sequence[bytes]], bytes]
    """Builds a body of items of one group, from their group key, a unique id and the items."""
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
    last_tests: LastUses = field(default_factory=lambda: LastUses(WEBHOOK_TEST_PAUSE_S))
    """By account, when it last tested a webhook."""
    last_replays: LastUses = field(default_factory=lambda: LastUses(REPLAY_PAUSE_S))
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
    last_tests: LastUses = field(default_factory=lambda: LastUses(MAIL_PAUSE_S))
    """By user, when a mail was last sent at once."""

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

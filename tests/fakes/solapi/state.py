"""The state of the fake Solapi: groups and messages, channels, templates and files."""

import asyncio
import heapq
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from tests.fakes.relay_server import Call

Clock = Callable[[], int]
Json = dict[str, Any]

SEOUL = timezone(timedelta(hours=9))
ACCEPTED, AT_CARRIER, DELIVERED = "2000", "3000", "4000"


class ApiError(Exception):
    """An error answer: an HTTP status, an errorCode and an errorMessage."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code
        self.message = message


@dataclass(slots=True, eq=False)
class SolapiMessage:
    message_id: str
    group_id: str
    type: str
    to: str
    sender: str | None
    text: str
    subject: str | None
    image_id: str | None
    kakao: Json | None
    custom_fields: dict[str, str]
    created_at: int
    status_code: str
    updated_at: int = 0
    reported_at: int | None = None
    shown: Json = field(default_factory=dict)
    """What an Alimtalk shows beside its text: the parts of its template, filled in."""
    position: int = 0
    """Its place among all messages."""
    update: int = 0
    """The place of its last update among all updates."""

    @property
    def is_registered(self) -> bool:
        """Whether it was accepted for sending: the codes of refused ones begin with 1."""
        return self.status_code[0] != "1"

    @property
    def status(self) -> str:
        """Its state in lists."""
        if self.status_code in (ACCEPTED, AT_CARRIER):
            return "PENDING" if self.status_code == ACCEPTED else "SENDING"
        return "COMPLETE" if self.status_code == DELIVERED else "FAILED"


@dataclass(slots=True, eq=False)
class Group:
    """A group of messages, which are sent together."""

    group_id: str
    created_at: int
    allows_duplicates: bool
    status: str = "PENDING"
    sent_at: int | None = None
    messages: list[SolapiMessage] = field(default_factory=list)
    receivers: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Channel:
    """A KakaoTalk channel that is linked to the account."""

    channel_id: str
    search_id: str
    phone: str
    category: str
    created_at: int


@dataclass(slots=True, eq=False)
class SolapiTemplate:
    """An Alimtalk template with the state of its review."""

    template_id: str
    channel_id: str
    fields: Json
    created_at: int
    status: str = "PENDING"
    comments: list[Json] = field(default_factory=list)
    decided_at: int | None = None
    """When the review is decided automatically; None: never."""
    is_hidden: bool = False


class StoredFile(NamedTuple):
    """An uploaded file."""

    file_id: str
    type: str
    name: str
    link: str | None
    body: bytes


@dataclass
class Behavior:
    """Behavior where the documents leave a choice, and delays; may be changed at any time."""

    receipt_after_s: float = 0.3
    """Delay from a message to its result."""
    review_after_s: float | None = 1.0
    """Duration of a template's review; None: a test decides."""
    lists_lag_s: float = 0.0
    """Delay until a new message appears in lists: the client's own tests wait for it."""
    max_limit: int = 500
    """The most entries of a page."""
    refusals: dict[str, str] = field(default_factory=dict)
    """Receivers that are refused, with their status code."""
    call_errors: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Receivers whose message makes the whole call an error, with its HTTP status and errorCode."""
    hides_digits: bool = False
    """Whether the list of opt-outs hides two digits of each number, as its console does."""
    max_calls_per_second: float | None = None
    subtitle_field: str = "emphasizeSubtitle"
    """What the subtitle of a template is called where one is added; the client for Node has emphasizeSubTitle."""
    wraps_reports: bool = True
    """Whether a webhook has each message inside its event, as the client for Python reads it."""
    result_copies: int = 1
    """How often a webhook repeats each result."""


class State:
    """Everything that the server knows."""

    def __init__(self, clock: Clock, seed: int | None, behavior: Behavior) -> None:
        self.clock = clock
        self.random = Random(seed)
        self.behavior = behavior
        self.api_key, self.api_secret = "NCSAPIKEY0123456", "solapiSecret0123456789"
        self.account_id = "19301859371938"
        self.balance = 1_000_000.0
        self.numbers: set[str] = set()
        self.denials: dict[tuple[str, str], int] = {}
        """When receivers opted out by an 080 number, by sender number and receiver."""
        self.groups: dict[str, Group] = {}
        self.messages: list[SolapiMessage] = []
        self.by_id: dict[str, SolapiMessage] = {}
        self.channels: dict[str, Channel] = {}
        self.pending_tokens: dict[tuple[str, str], str] = {}
        """Tokens that were sent, by channel and phone number."""
        self.templates: dict[str, SolapiTemplate] = {}
        self.files: dict[str, StoredFile] = {}
        self.calls: list[Call] = []
        self.changed = asyncio.Event()
        self.pending_hooks: list[SolapiMessage] = []
        self.has_hooks = False
        self.page_starts: dict[str, int] = {}
        """Where the pages begin whose keys were given out, among all updates."""
        self._updates: list[tuple[int, SolapiMessage]] = []
        self._scheduled: list[tuple[int, int, SolapiMessage, str]] = []
        self._count = 0

    def new_id(self, prefix: str, characters: int = 32) -> str:
        """Return an id as the documents show them: a prefix, the date and random letters."""
        at = _seoul_digits(self.clock() // 1000)
        head = prefix + (at if prefix.endswith("V") else at[2:])
        count = characters - len(head)
        return f"{head}{self.random.getrandbits(4 * count):0{count}X}"

    def add_message(self, group: Group, message: SolapiMessage) -> None:
        """Store a message in its group, refused or not."""
        message.position = len(self.messages)
        self.messages.append(message)
        self.by_id[message.message_id] = message
        group.messages.append(message)
        group.receivers.add(message.to)
        self._record_update(message, message.created_at)

    def schedule(self, message: SolapiMessage, due_at: int, code: str) -> None:
        """Schedule a change of a message's status code."""
        self._count += 1
        heapq.heappush(self._scheduled, (due_at, self._count, message, code))

    def process_due(self) -> None:
        """Apply the status codes and the reviews that are due."""
        now, scheduled = self.clock(), self._scheduled
        while scheduled and scheduled[0][0] <= now:
            due_at, _, message, code = heapq.heappop(scheduled)
            message.status_code = code
            if code != AT_CARRIER:
                message.reported_at = due_at
                if self.has_hooks:
                    self.pending_hooks.append(message)
            self._record_update(message, due_at)
        for template in self.templates.values():
            if template.status == "INSPECTING" and template.decided_at is not None and template.decided_at <= now:
                template.status = "APPROVED"

    def next_result_at(self) -> int | None:
        """Return when the next status code is due."""
        return self._scheduled[0][0] if self._scheduled else None

    def _record_update(self, message: SolapiMessage, at: int) -> None:
        at = max(at, self._updates[-1][0]) if self._updates else at
        message.updated_at, message.update = at, len(self._updates)
        self._updates.append((at, message))

    def updated_between(self, first: int, last: int, start_key: str | None = None) -> Iterator[SolapiMessage]:
        """Yield messages that were last updated in this range, both ends included, from a key on."""
        low = bisect_left(self._updates, first, key=lambda each: each[0])
        high = bisect_right(self._updates, last, key=lambda each: each[0])
        if start_key is not None:
            start = self.by_id[start_key].update if start_key in self.by_id else high
            low = start if low <= start < high else self.page_starts.get(start_key, high)
        for index in range(low, high):
            message = self._updates[index][1]
            if message.update == index:
                yield message

    def created_between(self, first: int, last: int, start_key: str | None = None) -> Iterator[SolapiMessage]:
        """Yield messages that were created in this range, both ends included, from a key on."""
        low = bisect_left(self.messages, first, key=lambda each: each.created_at)
        high = bisect_right(self.messages, last, key=lambda each: each.created_at)
        if start_key is not None:
            low = self.by_id[start_key].position if start_key in self.by_id else high
        return islice(self.messages, low, high)

    def duplicates(self, field_name: str = "pabal") -> dict[str, int]:
        """Return how often each value of a custom field was accepted, where more than once."""
        values = (each.custom_fields.get(field_name) for each in self.messages if each.is_registered)
        return {value: count for value, count in Counter(values).items() if value and count > 1}


@lru_cache(maxsize=64)
def _seoul_digits(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, SEOUL).strftime("%Y%m%d%H%M%S")


@lru_cache(maxsize=4096)
def iso(at: int | None) -> str | None:
    """Return a time as the documents show it: 2021-11-16T05:09:39.837Z."""
    if at is None:
        return None
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03}Z"


def parse_iso(given: str, what: str) -> int:
    """Return an ISO 8601 date with its zone as epoch milliseconds. Raises ApiError."""
    try:
        parsed = datetime.fromisoformat(given)
    except ValueError:
        raise ApiError(400, "ValidationError", f"{what} 의 데이터 타입은 날짜여야 됩니다.") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=SEOUL)
    return round((parsed - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))

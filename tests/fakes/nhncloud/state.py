"""The state of the server: messages and results, numbers, profiles, templates and files."""

import asyncio
import heapq
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from tests.fakes.nhncloud.answers import Json, format_seoul
from tests.fakes.relay_server import Call

Clock = Callable[[], int]

SMS, ALIMTALK, FRIENDTALK, BRAND = "sms", "alimtalk", "friendtalk", "brand-message"
DELIVERED = "1000"
IN_PROGRESS = "4161"
"""Alimtalk ko/error-code.md, "발송 결과 코드": 처리중인 메시지. A result follows."""
NO_CODE = "without a code"
"""A message that failed without a result code: the guides let `resultCode` be null, `messageStatus` not."""
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_LETTERS = 10


@dataclass(slots=True, eq=False)
class Message:
    product: str
    """sms, alimtalk or friendtalk."""
    kind: str
    """SMS, LMS, MMS, AUTH, ALIMTALK or FRIENDTALK."""
    request_id: str
    recipient_seq: int
    recipient_no: str
    sender: str
    """A number, or a sender key."""
    sender_grouping_key: str | None
    recipient_grouping_key: str | None
    content: str
    accepted_at: int
    call: Any
    """The body of its call."""
    recipient: Any
    """The entry of this recipient in the body."""
    is_ad: bool = False
    refused: int = 0
    """The code it was refused with; zero if it was accepted."""
    code: str | None = None
    """Its result, once there is one."""
    received_at: int | None = None
    updated_at: int | None = None
    resend_status: str = "RSC01"
    is_auth: bool = False
    """Whether it is an Alimtalk of the line for codes."""

    @property
    def shown_code(self) -> str | None:
        """Its result as lists and webhooks show it."""
        return None if self.code == NO_CODE else self.code

    @property
    def template_code(self) -> str | None:
        return getattr(self.call, "templateCode", None)


@dataclass(slots=True)
class SendNumber:
    """A sender number registered in the console."""

    number: str
    created_at: int
    is_used: bool = True
    block_reason: str | None = None


@dataclass(slots=True, eq=False)
class Profile:
    """A sender profile; it is registered once no token is pending."""

    channel: str
    sender_key: str
    phone: str
    category: str
    created_at: int
    token: int | None = None
    is_blocked: bool = False
    is_dormant: bool = False
    kakao_profile_status: str = "A"
    daily_limit: int = 0
    """How many messages it may send a day, Alimtalk and friend talk each; 0: any."""
    sent: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many messages it has sent, by product and day."""
    resends: bool = False
    """Whether the relay sends a text for each message that fails."""
    may_reach_others: bool = False
    """Whether brand messages may be sent to people who are not friends: targeting M and N."""

    @property
    def is_registered(self) -> bool:
        """Whether its token was verified."""
        return self.token is None


@dataclass(slots=True, eq=False)
class Draft:
    """The text of a template with the state of its review."""

    fields: Json
    created_at: int
    status: str = "TSC01"
    comments: list[Json] = field(default_factory=list)
    inspected_at: int | None = None
    decided_at: int | None = None
    """When the review is decided automatically; None: never."""
    updated_at: int | None = None
    is_active: bool = False


@dataclass(slots=True, eq=False)
class Template:
    """A template with its changes."""

    sender_key: str
    code: str
    current: Draft
    created_at: int
    changes: list[Draft] = field(default_factory=list)
    """Newest first."""
    is_blocked: bool = False
    is_dormant: bool = False
    last_request: tuple[int, str] | None = None
    """Time and request id of the last message with this template."""

    @property
    def pending_change(self) -> Draft | None:
        return next((each for each in self.changes if each.status in ("TSC01", "TSC02")), None)


class UploadedFile(NamedTuple):
    number: int
    name: str
    address: str
    body: bytes
    is_wide: bool = False
    kind: str = ""
    """The type of an image of brand messages."""
    at: int = 0
    """When it was uploaded."""


class Results:
    """Reported and scheduled results of messages."""

    def __init__(self) -> None:
        self._scheduled: list[tuple[int, int, Message, str]] = []
        self._count = 0
        self._updates: dict[str, list[tuple[int, Message]]] = defaultdict(list)
        self.pending_hooks: list[Message] = []
        """Messages whose webhook is still to be posted."""
        self.has_hooks = False

    def schedule(self, message: Message, due_at: int, code: str) -> None:
        self._count += 1
        heapq.heappush(self._scheduled, (due_at, self._count, message, code))

    def apply_due(self, now: int) -> None:
        scheduled = self._scheduled
        while scheduled and scheduled[0][0] <= now:
            due_at, _, message, code = heapq.heappop(scheduled)
            updates = self._updates[message.product]
            at = max(due_at, updates[-1][0]) if updates else due_at
            message.code, message.received_at, message.updated_at = code, due_at, at
            if code != DELIVERED and message.resend_status == "RSC02":
                message.resend_status = "RSC04"
            updates.append((at, message))
            if self.has_hooks:
                self.pending_hooks.append(message)

    def next_at(self) -> int | None:
        return self._scheduled[0][0] if self._scheduled else None

    def updated(self, product: str, first: int, last: int) -> list[Message]:
        """Return messages whose result was last updated in this range, both ends included."""
        updates = self._updates[product]
        low = bisect_left(updates, first, key=lambda each: each[0])
        high = bisect_right(updates, last, key=lambda each: each[0])
        return [message for at, message in updates[low:high] if message.updated_at == at]


@dataclass
class Behavior:
    """Behavior where the documentation leaves a choice, and delays; may be changed at any time."""

    receipt_after_s: float = 0.3
    """Delay from a message to its result."""
    review_after_s: float | None = 1.0
    """Duration of a template review; None: a test decides in the console."""
    explains_total_failure: bool = True
    """Whether -1031 comes with the result of each recipient; the guides let `message` be null."""
    refuses_whole_calls: bool = False
    """Whether one bad recipient fails the whole call, with that recipient's code."""
    refuses_excess: bool = False
    """Whether messages beyond the daily quota of a profile are refused, or accepted and then fail."""
    lists_newest_change_first: bool = False
    """In which order the changes of a template are listed."""
    measures_images: bool = False
    """Whether images are refused for their width and height."""
    lists_lag_s: float = 0.0
    """Delay until a new message appears in the lists."""
    result_copies: int = 1
    """How many times each result is reported, in lists and in webhooks."""
    shuffles_results: bool = False
    """Whether results are reported in random order."""
    texts_per_month: int | None = None
    """How many texts the organisation may send a month: SMS ko/sending-policy.md, "월 발송량 제한 안내", 5,000 at
    first."""
    results_per_page: int = 1000
    """The largest page of `message-results` of SMS and brand messages: "조회 건수(기본: 15)", without a maximum
    (SMS ko/api-guide.md, "메시지 발송 결과 업데이트 조회"; Alimtalk ko/friendtalkupgrade-api-guide.md)."""
    max_calls_per_second: float | None = None
    """Calls per second beyond this limit are answered with HTTP 429."""
    refusals: dict[str, int] = field(default_factory=dict)
    """Refusal code, by recipient."""
    outcomes: dict[tuple[str, str], tuple[tuple[float, str], ...]] = field(default_factory=dict)
    """Delay in seconds and result code, by product and recipient; the defaults are in outcomes.py."""


class State:
    """The state that outlives a call."""

    def __init__(self, clock: Clock, seed: int | None, behavior: Behavior) -> None:
        self.clock = clock
        self.behavior = behavior
        self.sms_app_key, self.sms_secret_key = "smsAppKey0123456", "smsSecret"
        self.talk_app_key, self.talk_secret_key = "talkAppKey012345", "talkSecret"
        self.random = Random(seed)
        self.results = Results()
        self.messages: list[Message] = []
        """Every accepted message, in order."""
        self.refused: list[Message] = []
        """Refused recipients of accepted calls."""
        self.calls: list[Call] = []
        self.by_request: dict[str, list[Message]] = {}
        self.by_group: dict[str, list[Message]] = defaultdict(list)
        self.by_recipient_group: dict[str, list[Message]] = defaultdict(list)
        self.keys_used: dict[tuple[str, str], int] = {}
        """When each idempotency key, by app key, was last used."""
        self.template_days: list[Any] = []
        """Figures of Kakao, see kakao_statistics.py."""
        self.numbers: dict[str, SendNumber] = {}
        self.unsubscribe_numbers: set[str] = set()
        self.unsubscribed: dict[tuple[str, str], int] = {}
        """Since when recipients have opted out, by 080 number and receiver."""
        self.unsubscribe_events: list[tuple[str, str, int]] = []
        """Opt-outs that are not yet posted to the webhook."""
        self.profiles: dict[str, Profile] = {}
        self.templates: dict[tuple[str, str], Template] = {}
        self.brand_templates: dict[tuple[str, str], str] = {}
        """Texts of brand message templates, by sender key and code."""
        self.attachments: dict[int, UploadedFile] = {}
        self.pictures: dict[str, UploadedFile] = {}
        """Images of friend talk and of templates, by address."""
        self.tokens_sent: list[tuple[int, str, str, int]] = []
        """Tokens sent to administrators: time, phone, channel, token."""
        self.unknown_channels: set[str] = set()
        """Channels that Kakao does not have."""
        self.under_review: list[tuple[Template, Draft]] = []
        self.base = "http://relay.invalid"
        """Base URL of images."""
        self.changed = asyncio.Event()
        """Set when there may be something to post to a webhook."""
        self._last_serial = 0

    def new_serial(self) -> int:
        self._last_serial += 1
        return self._last_serial

    def new_request_id(self) -> str:
        """Return a new request id: the time in Seoul and eleven characters."""
        letters = "".join(self.random.choices(_LETTERS, k=_ID_LETTERS))
        return f"{format_seoul(self.clock(), '%Y%m%d%H%M%S')}{letters}0"

    def new_key(self) -> str:
        """Return a new key of a profile or template: forty hexadecimal digits."""
        return f"{self.random.getrandbits(160):040x}"

    def store_messages(self, messages: list[Message]) -> None:
        if not messages:
            return
        accepted = [each for each in messages if not each.refused]
        self.messages += accepted
        self.refused += [each for each in messages if each.refused]
        self.by_request[messages[0].request_id] = messages
        if messages[0].sender_grouping_key is not None:
            self.by_group[messages[0].sender_grouping_key] += messages
        for each in messages:
            if each.recipient_grouping_key:
                self.by_recipient_group[each.recipient_grouping_key].append(each)

    def duplicates(self) -> dict[str, int]:
        """Return the number of messages of each recipientGroupingKey that was accepted more than once."""
        keys = Counter(each.recipient_grouping_key for each in self.messages if each.recipient_grouping_key)
        return {key: count for key, count in keys.items() if count > 1}

    def process_due(self) -> None:
        self.results.apply_due(self.clock())

    def list_results(self, product: str, first: int, last: int) -> list[Message]:
        """Return the results in a range: once each and in order, unless `behavior` says otherwise."""
        found = self.results.updated(product, first, min(last, self.clock())) * self.behavior.result_copies
        if self.behavior.shuffles_results:
            self.random.shuffle(found)
        return found

    def find_messages(
        self, product: str, query: Mapping[str, str], span: tuple[int, int] | None = None
    ) -> list[Message]:
        """Return the accepted messages that a query names and that lists show already, newest first."""
        group, recipient = query.get("senderGroupingKey"), query.get("recipientGroupingKey")
        if "requestId" in query:
            found = self.by_request.get(query["requestId"], [])
        elif group is not None:
            found = self.by_group.get(group, [])
        elif recipient:
            found = self.by_recipient_group.get(recipient, [])
        else:
            found = [message for messages in self.by_request.values() for message in messages]
        newest = self.clock() - round(self.behavior.lists_lag_s * 1000)
        return [
            each
            for each in reversed(found)
            if each.product == product
            and not each.refused
            and each.accepted_at <= newest
            and (span is None or span[0] <= each.accepted_at <= span[1])
            and (not group or each.sender_grouping_key == group)
            and (not recipient or each.recipient_grouping_key == recipient)
        ]

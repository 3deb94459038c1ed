"""The state of the server: messages and results, numbers, profiles, templates and files."""

import asyncio
import heapq
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from tests.fakes.nhncloud.answers import Json, format_seoul

Clock = Callable[[], int]

SMS, ALIMTALK, FRIENDTALK = "sms", "alimtalk", "friendtalk"
DELIVERED = "1000"
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_LETTERS = 10


@dataclass(slots=True, eq=False)
class Message:
    """A message to one recipient."""

    product: str
    """sms, alimtalk or friendtalk."""
    kind: str
    """SMS, LMS, MMS, ALIMTALK or FRIENDTALK."""
    request_id: str
    recipient_seq: int
    recipient_no: str
    sender: str
    """A number, or a sender key."""
    sender_grouping_key: str | None
    recipient_grouping_key: str | None
    content: str
    accepted_at: int
    send_at: int
    call: Any
    """The body of the call it came with."""
    recipient: Any
    """What that says of this recipient."""
    is_ad: bool = False
    refused: int = 0
    """The code it was refused with; zero: taken."""
    code: str | None = None
    """Its result, once there is one."""
    received_at: int | None = None
    updated_at: int | None = None
    resend_status: str = "RSC01"

    @property
    def template_code(self) -> str | None:
        """The template of an Alimtalk."""
        return getattr(self.call, "templateCode", None)


@dataclass(slots=True)
class SendNumber:
    """A sender number registered at its console."""

    number: str
    created_at: int
    is_used: bool = True
    block_reason: str | None = None


@dataclass(slots=True, eq=False)
class Profile:
    """A sender profile; without a token to prove, it is registered."""

    channel: str
    sender_key: str
    phone: str
    category: str
    created_at: int
    token: int | None = None
    is_blocked: bool = False
    is_dormant: bool = False
    kakao_status: str = "A"
    kakao_profile_status: str = "A"
    resends: bool = False
    """Whether its console is set to send a text for each message that fails."""

    @property
    def is_registered(self) -> bool:
        """Whether its token was proved."""
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
    """When its review will be decided by itself; none: by nobody."""
    updated_at: int | None = None
    is_active: bool = False


@dataclass(slots=True, eq=False)
class Template:
    """A template, and what it is to be changed to."""

    sender_key: str
    code: str
    kakao_code: str
    current: Draft
    changes: list[Draft] = field(default_factory=list)
    is_blocked: bool = False
    is_dormant: bool = False
    last_request: tuple[int, str] | None = None
    """When it was last sent with, and in which request."""

    @property
    def pending_change(self) -> Draft | None:
        """The edit that is under review."""
        return next((each for each in self.changes if each.status in ("TSC01", "TSC02")), None)


class UploadedFile(NamedTuple):
    """An uploaded file."""

    number: int
    name: str
    address: str
    body: bytes
    is_wide: bool = False


class Call(NamedTuple):
    """A call that reached the server, whatever became of it."""

    at: int
    method: str
    path: str
    """Without the app key: `/sms/v3.0/appKeys/{appKey}/sender/sms`."""
    recipient_count: int
    """How many recipients it named."""
    idempotency_key: str | None
    status: int
    code: int | None
    """The result code it was answered with; none if the answer had no header."""


class Results:
    """What has become, and is to become, of messages."""

    def __init__(self) -> None:
        self._owed: list[tuple[int, int, Message, str]] = []
        self._count = 0
        self._updates: dict[str, list[tuple[int, Message]]] = defaultdict(list)
        self.pending_hooks: list[Message] = []
        """Messages whose webhook is still to be posted."""
        self.has_hooks = False

    def schedule(self, message: Message, due_at: int, code: str) -> None:
        """Let a message come to this result at that moment."""
        self._count += 1
        heapq.heappush(self._owed, (due_at, self._count, message, code))

    def apply_due(self, now: int) -> None:
        """Let everything that is due become known."""
        owed = self._owed
        while owed and owed[0][0] <= now:
            due_at, _, message, code = heapq.heappop(owed)
            updates = self._updates[message.product]
            at = max(due_at, updates[-1][0]) if updates else due_at
            message.code, message.received_at, message.updated_at = code, due_at, at
            if code != DELIVERED and message.resend_status == "RSC02":
                message.resend_status = "RSC04"
            updates.append((at, message))
            if self.has_hooks:
                self.pending_hooks.append(message)

    def next_at(self) -> int | None:
        """Return when the next result is due."""
        return self._owed[0][0] if self._owed else None

    def updated(self, product: str, first: int, last: int) -> list[Message]:
        """Return messages whose result was last updated in this time, both ends included."""
        updates = self._updates[product]
        low = bisect_left(updates, first, key=lambda each: each[0])
        high = bisect_right(updates, last, key=lambda each: each[0])
        return [message for at, message in updates[low:high] if message.updated_at == at]


@dataclass
class Behavior:
    """How the server behaves where the documentation leaves a choice, and how fast things go; set at any time."""

    receipt_after_s: float = 0.3
    """How long after a message the result is known."""
    review_after_s: float | None = 1.0
    """How long the review of a template takes; none: its console decides."""
    has_nights: bool = True
    """Whether advertisements fail at night."""
    lists_refused: bool = False
    """Whether lists show recipients that were refused, as FAILED."""
    refuses_whole_calls: bool = False
    """Whether one bad recipient fails the whole call, with that recipient's code."""
    is_end_whole_minute: bool = False
    """Whether an end of 12:30 includes 12:30:59; else it ends at 12:30:00."""
    measures_images: bool = False
    """Whether pictures are refused for their width and height."""
    lists_lag_s: float = 0.0
    """How long a new message is missing in the lists."""
    results_lag_s: float = 0.0
    """How long after the moment that it bears a result is missing in the lists of results."""
    result_copies: int = 1
    """How many times each result is told, in lists of results and in webhooks."""
    shuffles_results: bool = False
    """Whether results are told in any order."""
    max_calls_per_second: float | None = None
    """With more calls than this in a second the rest is answered with HTTP 429."""
    refusals: dict[str, int] = field(default_factory=dict)
    """By recipient: the code it is refused with when a text to it is called for."""
    outcomes: dict[tuple[str, str], tuple[tuple[float, str], ...]] = field(default_factory=dict)
    """By product and recipient: after how many seconds it comes to which result; the usual ones are in fates.py."""


class State:
    """Everything that outlives a call."""

    def __init__(self, clock: Clock, seed: int | None, manners: Behavior) -> None:
        self.clock = clock
        self.behavior = manners
        self.sms_app_key, self.sms_secret_key = "smsAppKey0123456", "smsSecret"
        self.talk_app_key, self.talk_secret_key = "talkAppKey012345", "talkSecret"
        self.random = Random(seed)
        self.results = Results()
        self.messages: list[Message] = []
        """Every message it took, in order."""
        self.refused: list[Message] = []
        """Recipients it refused in calls that it took."""
        self.calls: list[Call] = []
        self.by_request: dict[str, list[Message]] = {}
        self.by_group: dict[str, list[Message]] = defaultdict(list)
        self.by_recipient_group: dict[str, list[Message]] = defaultdict(list)
        self.keys_used: dict[tuple[str, str], int] = {}
        """When each idempotency key, of an app key, was last taken."""
        self.numbers: dict[str, SendNumber] = {}
        self.unsubscribe_numbers: set[str] = set()
        self.unsubscribed: set[tuple[str, str]] = set()
        """Who does not want advertisements: 080 number and receiver."""
        self.profiles: dict[str, Profile] = {}
        self.templates: dict[tuple[str, str], Template] = {}
        self.attachments: dict[int, UploadedFile] = {}
        self.pictures: dict[str, UploadedFile] = {}
        """Images of friend talk and of templates, by address."""
        self.tokens_sent: list[tuple[int, str, str, int]] = []
        """What arrived in the KakaoTalk of administrators: when, phone, channel, token."""
        self.unknown_channels: set[str] = set()
        """Channels that Kakao does not have."""
        self.under_review: list[tuple[Template, Draft]] = []
        self.template_events: list[tuple[Template, Draft]] = []
        """What changed of templates and is still to be posted to the webhook."""
        self.base = "http://relay.invalid"
        """Where pictures are said to lie."""
        self.changed = asyncio.Event()
        """Set whenever something may have to be posted to a webhook."""
        self._numbers_given = 0

    def add_template_event(self, template: Template, draft: Draft) -> None:
        """Let a webhook tell of a template."""
        self.template_events.append((template, draft))
        self.changed.set()

    def new_serial(self) -> int:
        """Return a number that nothing has yet."""
        self._numbers_given += 1
        return self._numbers_given

    def new_request_id(self) -> str:
        """Return an id as requests have: the moment in Seoul and eleven letters."""
        letters = "".join(self.random.choices(_LETTERS, k=_ID_LETTERS))
        return f"{format_seoul(self.clock(), '%Y%m%d%H%M%S')}{letters}0"

    def new_key(self) -> str:
        """Return a key as profiles and templates have: forty hexadecimal digits."""
        return f"{self.random.getrandbits(160):040x}"

    def store_messages(self, messages: list[Message]) -> None:
        """Keep what came with one call."""
        if not messages:
            return
        taken = [each for each in messages if not each.refused]
        self.messages += taken
        self.refused += [each for each in messages if each.refused]
        self.by_request[messages[0].request_id] = messages
        if messages[0].sender_grouping_key is not None:
            self.by_group[messages[0].sender_grouping_key] += messages
        for each in messages:
            if each.recipient_grouping_key:
                self.by_recipient_group[each.recipient_grouping_key].append(each)

    def duplicates(self) -> dict[str, int]:
        """Return each recipientGroupingKey that it took more than one message with, and how many."""
        return {key: count for key, count in self.count_by_key().items() if count > 1}

    def count_by_key(self) -> Counter[str]:
        """Return how many messages it took with each recipientGroupingKey."""
        return Counter(each.recipient_grouping_key for each in self.messages if each.recipient_grouping_key)

    def process_due(self) -> None:
        """Let everything become known that is due by now."""
        self.results.apply_due(self.clock())

    def list_results(self, product: str, first: int, last: int) -> list[Message]:
        """Return the results of this time as they are told: once each and in order, unless set otherwise."""
        newest = self.clock() - round(self.behavior.results_lag_s * 1000)
        found = self.results.updated(product, first, min(last, newest)) * self.behavior.result_copies
        if self.behavior.shuffles_results:
            self.random.shuffle(found)
        return found

    def find_messages(
        self, product: str, request_id: str | None, group: str | None = None, recipient: str | None = None
    ) -> Iterator[Message]:
        """Yield what a list may show: of one request, of one grouping key, or all; refused recipients too."""
        if request_id is not None:
            found = self.by_request.get(request_id, [])
        elif group is not None:
            found = self.by_group.get(group, [])
        elif recipient:
            found = self.by_recipient_group.get(recipient, [])
        else:
            found = [message for messages in self.by_request.values() for message in messages]
        return (each for each in found if each.product == product)

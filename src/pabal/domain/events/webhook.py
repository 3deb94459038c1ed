"""Webhooks: addresses of an account to which events are posted."""

from typing import NamedTuple

from pabal.domain.base.codes import LabelledEnum, Text
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.event import EventType
from pabal.domain.sends.message import Product

MAX_WEBHOOKS = 10
"""Webhooks that an account can have."""
MAX_DESCRIPTION_CHARACTERS = 200
MAX_URL_CHARACTERS = 1000
MAX_ID_DIGITS = 18
"""Longer ids do not exist."""
MAX_REPLAY = 7 * DAY
"""How far back events can be posted again, in milliseconds."""
ORDERED_EVENTS = tuple(each for each in EventType if each is not EventType.WEBHOOK_TEST)
"""Events that a webhook can ask for; a test is posted to every one."""


class WebhookState(LabelledEnum):
    """The state of a webhook; `code` is the stored value."""

    ACTIVE = ("active", Text("사용 중", "Active"))
    PAUSED = ("paused", Text("일시 중지", "Paused: it keeps failing"))
    DISABLED = ("disabled", Text("사용 안 함", "Disabled"))


WEBHOOK_STATE_BY_CODE = {each.code: each for each in WebhookState}


class WebhookFormat(LabelledEnum):
    """What deliveries look like; `code` is the stored value."""

    PABAL = ("pabal", Text("기본 형식", "Our own"))
    SOLAPI = ("solapi", Text("Solapi의 SINGLE-REPORT", "Solapi's SINGLE-REPORT"))
    NHN_CLOUD = ("nhncloud", Text("NHN Cloud의 MESSAGE_RESULT_UPDATE", "NHN Cloud's MESSAGE_RESULT_UPDATE"))

    @property
    def events(self) -> frozenset[EventType]:
        """The events that it can tell."""
        if self is WebhookFormat.PABAL:
            return frozenset(ORDERED_EVENTS)
        return frozenset([EventType.MESSAGE_RESULT])


WEBHOOK_FORMAT_BY_CODE = {each.code: each for each in WebhookFormat}


def secret_context(account_id: int) -> str:
    """Return the context in which the secrets of an account's webhooks are encrypted."""
    return f"webhooks of account {account_id}"


class Webhook(NamedTuple):
    """An address of an account, what it wants to be told, and how that goes."""

    id: int
    account_id: int
    account: str
    """The name of the account."""
    url: str
    events: frozenset[EventType]
    products: frozenset[Product]
    """Empty: all."""
    description: str
    secret: bytes
    """As it is stored, perhaps encrypted."""
    previous_secret: bytes | None
    previous_until: Instant | None
    state: WebhookState
    created_at: Instant
    changed_at: Instant
    last_success_at: Instant | None
    failures: int
    failing_since: Instant | None
    trial_at: Instant | None
    dropped: int
    gone: int
    """How often it has answered 410 since any other result."""
    gone_since: Instant | None
    format: WebhookFormat = WebhookFormat.PABAL

    @property
    def is_gone(self) -> bool:
        """Whether it is disabled because it kept answering 410."""
        return self.state is WebhookState.DISABLED and self.gone_since is not None

    def stored_secrets(self, now: Instant) -> list[bytes]:
        """Return the secrets that sign a post now, as they are stored, the current one first."""
        if self.previous_secret is None or self.previous_until is None or self.previous_until <= now:
            return [self.secret]
        return [self.secret, self.previous_secret]

    def wants(self, type: EventType, product: int) -> bool:
        """Return whether it wants an event; `product` is the stored value, 0 for events that have none."""
        if type not in self.events:
            return False
        return not self.products or not product or product in {each.number for each in self.products}

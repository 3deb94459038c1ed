"""The policy: what the operator has configured, in the units that the service works with."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base.dates import DAY, HOUR, MINUTE, SECOND, Instant
from pabal.domain.content.image import LEAST_LIMITS, ImageLimits
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.domain.sends.price import FRIEND_PRICE, CarrierPrices, Hundredths, Prices
from pabal.domain.sends.route import Routes
from pabal.settings.carriers import CarrierSettings
from pabal.settings.settings import Settings
from pabal.store.messages.requests import Request
from pabal.store.people.hash_keys import HashKeys
from pabal.store.queue.receipts import ReceiptTimeouts
from pabal.webhooks.secrets import SecretBox
from pabal.world import RealWorld

DEFAULT_TEXT_LIFETIME_MS = 24 * HOUR
DEFAULT_LIFETIME_MS = 72 * HOUR


class NoticePolicy(NamedTuple):
    """When users are told, and how often."""

    carrier_ms: int = 1 * MINUTE
    """How long a carrier must be down."""
    failure_percent: int = 20
    """The percentage of failed messages that raises an alert."""
    failure_messages: int = 100
    """Fewest ended messages for which the rate is reported."""
    mail_pause_ms: int = 10 * MINUTE
    """Least time between two mails of one kind to one user."""
    public_url: str = ""
    """Where users open the console, without a slash at the end."""


class _NoKeys:
    """Takes the place of the operator's keys where nothing is stored."""

    def seal(self, secret: bytes, context: str) -> bytes:
        raise AssertionError("this process has no keys")

    def open(self, stored: bytes, context: str) -> bytes:
        raise AssertionError("this process has no keys")


class Policy(NamedTuple):
    """The settings in the service's terms; `build_context` adds `image_limits` and `brand_carriers`."""

    routes: Routes
    zone: ZoneInfo
    replaces_unsupported_characters: bool
    postpones_night_ads: bool
    checks_sender_numbers: bool
    trusts_own_numbers: bool
    max_receivers: int
    max_days_ahead: int
    sms_timeout_ms: int
    other_timeout_ms: int
    fallback_within_ms: int
    idempotency_ms: int
    token_validity_ms: int
    retention_ms: int
    results_retention_ms: int
    max_simulator_messages: int
    hash_keys: HashKeys
    prices: Prices = Prices({})
    expire_minutes: Mapping[Product, int] = {}
    """The default lifetime of some products, as the operator has set it."""
    duplicate_minutes: int = 0
    drops_duplicates: bool = False
    opt_out_number: str = ""
    """Number for opting out of advertisements, for accounts that have none of their own."""
    image_limits: Mapping[Product, ImageLimits] = {}
    """Which images all carriers of a product's route take."""
    max_contacts: int = 1_000_000
    """Contacts in the address book of an account."""
    max_keys: int = 100
    """API keys of an account that can be used at a time."""
    draft_ms: int = 7 * DAY
    """How long what was written in the console, but not sent, is kept."""
    near_percent: int = 70
    """An account is told at this percentage of a limit, and again at 100."""
    notices: NoticePolicy = NoticePolicy()
    approval_receivers: int = 0
    """Sends of the console to more receivers need approval; 0: only where the account's owners want it."""
    brand_carriers: frozenset[str] = frozenset()
    """The carriers that deliver friend talk as brand messages."""
    masks_codes: bool = True
    """Whether the digits of one-time codes are hidden from everyone once they have ended."""
    break_glass_operator: str = ""
    """The operator who alone may sign in with a password; empty: every user may."""

    def without_keys(self) -> "Policy":
        """Return the same for another process that stores nothing: it gets no keys."""
        return self._replace(hash_keys=HashKeys(_NoKeys()))

    def sends_as_brand(self, product: Product) -> bool:
        """Return whether the first carrier of friend talk delivers it as a brand message, which is advertising."""
        return product.is_friend_talk and self.routes.first(product) in self.brand_carriers

    def image_limits_of(self, product: Product) -> ImageLimits:
        """Return which images all carriers of a product's route take."""
        return self.image_limits.get(product, LEAST_LIMITS)

    def receipt_timeout_ms(self, product: Product) -> int:
        """Return how long to wait for a receipt, in milliseconds."""
        return self.sms_timeout_ms if product is Product.SMS else self.other_timeout_ms

    @property
    def receipt_timeouts(self) -> ReceiptTimeouts:
        """How long receipts are awaited."""
        return ReceiptTimeouts(self.sms_timeout_ms, self.other_timeout_ms)

    def lifetime_ms(self, product: Product, expire_minutes: int | None = None) -> int:
        """Return how long after its scheduled time a message may be given to a carrier, in milliseconds."""
        minutes = expire_minutes or self.expire_minutes.get(product)
        if minutes is not None:
            return minutes * MINUTE
        return DEFAULT_TEXT_LIFETIME_MS if product.is_text else DEFAULT_LIFETIME_MS

    def deadline_of(self, request: Request) -> Instant:
        """Return when the messages of a request, and their fallbacks, must be with a carrier."""
        if request.expires_at is not None:
            return request.expires_at
        return request.scheduled_at + self.lifetime_ms(request.product, request.expire_minutes)

    def price_of(self, carrier: str, product: Product) -> Hundredths | None:
        """Return what a carrier charges for a message, in hundredths of a won; None: it has no price."""
        return self.prices.price_of(carrier, product)

    def first_price_of(self, product: Product) -> Hundredths | None:
        """Return what the first carrier of a product's route charges; None: no route or no price."""
        carrier = self.routes.first(product)
        return None if carrier is None else self.prices.price_of(carrier, product)


def build_policy(settings: Settings, secrets: SecretBox | None = None) -> Policy:
    """Return the policy of the settings; `secrets`, if given, replaces the box of their keys.

    Raises BadSetting if the file with the keys cannot be read.
    """
    secrets = secrets or SecretBox(settings.read_secret_keys(), RealWorld())
    prices = Prices({name: _prices_of(each, settings.prices) for name, each in settings.carriers.items()})
    return Policy(
        routes=Routes(settings.routes, prices if settings.route_by == "price" else None),
        zone=settings.zone,
        replaces_unsupported_characters=settings.unsupported_characters == "replace",
        postpones_night_ads=settings.night_ads == "move",
        checks_sender_numbers=settings.must_check_sender_numbers,
        trusts_own_numbers=settings.own_numbers == "trusted",
        max_receivers=settings.max_receivers,
        max_days_ahead=settings.max_days_ahead,
        sms_timeout_ms=settings.sms_timeout_hours * HOUR,
        other_timeout_ms=settings.other_timeout_hours * HOUR,
        fallback_within_ms=settings.fallback_within_minutes * MINUTE,
        idempotency_ms=settings.idempotency_hours * HOUR,
        token_validity_ms=settings.token_minutes * MINUTE,
        retention_ms=settings.retention_days * DAY,
        results_retention_ms=settings.results_retention_days * DAY,
        max_simulator_messages=settings.simulator_messages,
        hash_keys=HashKeys(secrets),
        prices=prices,
        expire_minutes={PRODUCT_BY_CODE[code]: minutes for code, minutes in settings.expire_minutes.items()},
        duplicate_minutes=settings.duplicate_minutes,
        drops_duplicates=settings.duplicate_action == "drop",
        opt_out_number=settings.opt_out_number,
        max_contacts=settings.max_contacts,
        max_keys=settings.keys_per_account,
        draft_ms=settings.draft_days * DAY,
        near_percent=settings.notice_quota_percent,
        notices=_notice_policy(settings),
        break_glass_operator=settings.break_glass_operator,
        approval_receivers=settings.approval_receivers,
        masks_codes=settings.mask_codes,
    )


def _notice_policy(settings: Settings) -> NoticePolicy:
    return NoticePolicy(
        carrier_ms=settings.notice_carrier_seconds * SECOND,
        failure_percent=settings.notice_failure_percent,
        failure_messages=settings.notice_failure_messages,
        mail_pause_ms=settings.mail_pause_minutes * MINUTE,
        public_url=settings.public_url.rstrip("/"),
    )


def _prices_of(carrier: CarrierSettings, usual: Mapping[str, Decimal]) -> CarrierPrices:
    """Return the prices of a carrier; the usual ones hold for products that it has none for."""
    amounts = {code: int(won * 100) for code, won in {**usual, **carrier.prices}.items()}
    friend_price = amounts.pop(FRIEND_PRICE, None)
    by_product = {PRODUCT_BY_CODE[code]: amount for code, amount in amounts.items()}
    return CarrierPrices(by_product, carrier.charges_failed, friend_price)

"""What the operator has decided, in the terms that the service works with."""

from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.dates import DAY, HOUR, MINUTE
from pabal.domain.message import Product
from pabal.domain.route import Routes
from pabal.settings.settings import Settings


class Policy(NamedTuple):
    """Routes, zone and periods."""

    routes: Routes
    zone: ZoneInfo
    replaces_characters: bool
    moves_night_ads: bool
    checks_sender_numbers: bool
    most_receivers: int
    most_days_ahead: int
    sms_timeout: int
    other_timeout: int
    fallback_within: int
    idempotency: int
    token_validity: int
    retention: int
    simulator_messages: int

    def timeout(self, product: Product) -> int:
        """Return how long to wait for a receipt, in milliseconds."""
        return self.sms_timeout if product is Product.SMS else self.other_timeout


def policy_from(settings: Settings) -> Policy:
    """Return the policy that the settings spell."""
    return Policy(
        routes=Routes(settings.routes),
        zone=settings.zone,
        replaces_characters=settings.unsupported_characters == "replace",
        moves_night_ads=settings.night_ads == "move",
        checks_sender_numbers=settings.must_check_sender_numbers,
        most_receivers=settings.max_receivers,
        most_days_ahead=settings.max_days_ahead,
        sms_timeout=settings.sms_timeout_hours * HOUR,
        other_timeout=settings.other_timeout_hours * HOUR,
        fallback_within=settings.fallback_within_minutes * MINUTE,
        idempotency=settings.idempotency_hours * HOUR,
        token_validity=settings.token_minutes * MINUTE,
        retention=settings.retention_days * DAY,
        simulator_messages=settings.simulator_messages,
    )

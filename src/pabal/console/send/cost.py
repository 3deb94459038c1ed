"""What a send is expected to cost, by the prices that the operator has set."""

from typing import NamedTuple

from pabal.domain.message import Product
from pabal.domain.price import Hundredths, format_won
from pabal.service.policy import Policy


class CostEstimate(NamedTuple):
    """Amounts in won, as they are shown."""

    total: str
    each: str
    with_fallbacks: str
    """What it costs at most if every message is replaced by its fallback; empty: there is none, or no price."""


def estimate_cost(
    policy: Policy, product: Product, receivers: int, fallback: Product | None = None
) -> CostEstimate | None:
    """Return the expected cost, by the first carrier of each route; None where it has no price."""
    price = policy.first_price_of(product)
    if price is None:
        return None
    fallback_price = policy.first_price_of(fallback) if fallback else None
    at_most: Hundredths | None = None if fallback_price is None else receivers * (price + fallback_price)
    return CostEstimate(
        format_won(receivers * price), format_won(price), "" if at_most is None else format_won(at_most)
    )

"""What a send is expected to cost, by the prices that the operator has set."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.codes import Refused, Text
from pabal.domain.content import variables
from pabal.domain.sends.message import Product
from pabal.domain.sends.price import Hundredths, format_won
from pabal.domain.sends.sending import Sending, choose_text_product, fill_buttons, fill_text
from pabal.service.policy import Policy
from pabal.service.sending import compose

TEXT_PRODUCTS = (Product.SMS, Product.LMS)
"""What the fallback of a message can be."""


class CostPart(NamedTuple):
    """What the messages of one product cost."""

    label: Text
    messages: int
    total: str


class CostEstimate(NamedTuple):
    """Amounts in won, as they are shown."""

    total: str
    each: str
    """The price of one message; empty where they have several."""
    with_fallbacks: str
    """What it costs at most, which a budget reserves; empty: there is no fallback, or no price."""
    parts: tuple[CostPart, ...] = ()
    """The cost of each product, where there are several."""


def estimate_cost(
    policy: Policy, messages: Mapping[Product, int], fallback: Product | None = None
) -> CostEstimate | None:
    """Return the expected cost of so many messages, by the first carrier of each route; None without a price."""
    counts = {product: count for product, count in messages.items() if count}
    prices = {product: policy.first_price_of(product) for product in counts}
    known = {product: price for product, price in prices.items() if price is not None}
    if not counts or len(known) < len(counts):
        return None
    total = sum(count * known[product] for product, count in counts.items())
    fallback_price = policy.first_price_of(fallback) if fallback else None
    at_most: Hundredths | None = (
        None
        if fallback_price is None
        else sum(
            count * policy.prices.most_of(policy.routes.first(product), known[product], fallback_price)
            for product, count in counts.items()
        )
    )
    is_mixed = len(counts) > 1
    return CostEstimate(
        format_won(total),
        "" if is_mixed else format_won(next(iter(known.values()))),
        "" if at_most is None else format_won(at_most),
        tuple(
            CostPart(product.label, count, format_won(count * known[product])) for product, count in counts.items()
        )
        if is_mixed
        else (),
    )


def dearest_fallback(policy: Policy, sending: Sending, opt_out_number: str = "") -> Product | None:
    """Return the dearest text message that the fallback of a send can be; None where it has none.

    Values that fill in variables are not looked at: an SMS may become an LMS by them. `opt_out_number` is the
    default number for opting out of advertisements.
    """
    fallback = sending.fallback
    if fallback is None:
        return None
    names = sending.variables
    blank = [""] * len(names)
    own = None if fallback.content is None else fill_text(fallback.content, names, blank)
    try:
        buttons = fill_buttons(sending.buttons, names, blank)
    except Refused:  # a link that is nothing but a variable
        buttons = sending.buttons
    least = compose.fallback_content(own, fill_text(sending.content, names, blank), buttons, policy)
    if sending.is_ad:
        least = compose.add_ad_marks(least, sending.opt_out_number or opt_out_number)
    fitting = choose_text_product(least)
    shown = [sending.content, *(each.mobile_url or "" for each in sending.buttons)]
    has_variables = bool(variables.find_names(*([fallback.content] if fallback.content else shown)))
    if not has_variables or fitting is None or fitting[0] is Product.LMS:
        return fitting[0] if fitting else None
    return max(TEXT_PRODUCTS, key=lambda product: policy.first_price_of(product) or 0)

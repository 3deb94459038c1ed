"""A dry run: runs all checks of a send and describes its result, without storing anything."""

from collections.abc import Iterator
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.domain.sends.message import Product
from pabal.domain.sends.price import Hundredths
from pabal.domain.sends.sending import Receiver, Sending, fill_text
from pabal.service.context import Context
from pabal.service.sending.budgets import amounts_of
from pabal.service.sending.duplicates import build_guard, look_for_duplicates
from pabal.service.sending.preconditions import build_ad_receivers, choose_carrier
from pabal.store.people import opt_outs

MAX_SHOWN_RECEIVERS = 1000
"""How many receivers a dry run shows; it checks all of them."""


class DryRun(NamedTuple):
    """The result that a send would have."""

    carrier: str
    scheduled_at: Instant
    price: Hundredths | None
    """What a delivered message costs; None: no price is known."""
    dropped: frozenset[int]
    """Indexes of receivers that got the same text recently and would not get it again."""
    opted_out: frozenset[int]
    """Indexes of receivers that have opted out of advertising and would get nothing."""


class FilledText(NamedTuple):
    """The text of a receiver, and its size as its product counts it: bytes of a text message, else characters."""

    content: str
    size: int


async def dry_run(context: Context, account_id: int, sending: Sending) -> DryRun:
    """Return the result that a send would have.

    Raises Refused as `accept` does: also for a limit of the account, which is not spent.
    """
    carrier = await choose_carrier(context, account_id, sending)
    limits = await context.limiter.limits_of(account_id)
    now = context.world.now()
    guard = build_guard(account_id, sending, limits, context.policy, now)
    amounts = amounts_of(context.policy, limits, sending)
    charge = await context.limiter.charge(account_id, len(sending.receivers), sum(amounts))
    charge.refund()
    dropped = await context.store.read(look_for_duplicates, guard, now) if guard else []
    return DryRun(
        carrier,
        now if sending.scheduled_at is None else sending.scheduled_at,
        context.policy.prices.price_of(carrier, sending.product),
        frozenset(dropped),
        await _find_opted_out(context, account_id, sending),
    )


async def _find_opted_out(context: Context, account_id: int, sending: Sending) -> frozenset[int]:
    receivers = build_ad_receivers(account_id, sending)
    unwilling = (
        await context.store.read(opt_outs.find, context.policy.hash_keys, set(receivers)) if receivers else set()
    )
    return frozenset(index for index, each in enumerate(receivers) if each in unwilling)


def fill_texts(sending: Sending) -> Iterator[tuple[Receiver, FilledText]]:
    """Yield the first receivers, each with its text."""
    for receiver in sending.receivers[:MAX_SHOWN_RECEIVERS]:
        content = (
            fill_text(sending.content, sending.variables, receiver.values)
            if receiver.content is None
            else receiver.content
        )
        yield receiver, FilledText(content, _measure(sending.product, content))


def _measure(product: Product, content: str) -> int:
    return text.carried_bytes(content) if product.is_text else len(content)

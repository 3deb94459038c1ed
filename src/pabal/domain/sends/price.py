"""Prices of messages, in hundredths of a won."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from pabal.domain.sends.message import Outcome, Product

Hundredths = int
"""An amount of money: 100 are one won."""
HUNDREDTHS_PER_WON = 100
FRIEND_PRICE = "brandMessageFriend"
"""The name of the price of brand messages to friends of the channel, where a relay tells who is one."""
FRIEND_MARK = " friend"
"""What the code of a receipt ends with if its receiver is a friend of the channel; it is stored without it."""


def strip_friend_mark(code: str | None) -> str | None:
    """Return the code of a receipt as its carrier wrote it."""
    return code and code.removesuffix(FRIEND_MARK)


class CarrierPrices(NamedTuple):
    """What one carrier charges for a message of each product."""

    by_product: Mapping[Product, Hundredths]
    charges_failed: bool = False
    """Whether it charges for a message that it took and did not deliver."""
    friend_price: Hundredths | None = None
    """Of a brand message to a friend; None: as to others."""


class Prices:
    """The prices of all carriers; empty where the operator has set none."""

    def __init__(self, by_carrier: Mapping[str, CarrierPrices]) -> None:
        self._by_carrier = {name: each for name, each in by_carrier.items() if each.by_product}

    def __bool__(self) -> bool:
        """Return whether any carrier has a price."""
        return bool(self._by_carrier)

    def price_of(self, carrier: str, product: Product) -> Hundredths | None:
        """Return what a carrier charges for a delivered message; None: it has no price."""
        prices = self._by_carrier.get(carrier)
        return prices.by_product.get(product) if prices else None

    def cost_of(
        self, carrier: str | None, product: Product, outcome: Outcome, *, is_friend: bool = False
    ) -> Hundredths | None:
        """Return what a message has cost that ended so; `carrier` is the one that took it, if any did.

        None where that carrier has no price for the product: its cost is not known.
        """
        if carrier is None:
            return 0
        price = self.price_of(carrier, product)
        if is_friend and product is Product.BRAND_MESSAGE and price is not None:
            friend_price = self._by_carrier[carrier].friend_price
            price = price if friend_price is None else friend_price
        if price is None or outcome is Outcome.DELIVERED:
            return price
        return price if self._by_carrier[carrier].charges_failed else 0

    def most_of(self, carrier: str | None, price: Hundredths, fallback: Hundredths) -> Hundredths:
        """Return the most that a message and its fallback cost together; `carrier` is that of the message.

        Only one of them is delivered, so it is the dearer one, or both where failed messages are charged.
        """
        charges_failed = carrier in self._by_carrier and self._by_carrier[carrier].charges_failed
        return price + fallback if charges_failed else max(price, fallback)

    @cache  # noqa: B019 - there is one for the whole process, and few carriers and outcomes
    def costs_of(
        self, carrier: str | None, outcome: Outcome, is_friend: bool = False
    ) -> tuple[tuple[Product, Hundredths], ...]:
        """Return the cost of a message of each product that ended so, without products that have no price."""
        costs = [(product, self.cost_of(carrier, product, outcome, is_friend=is_friend)) for product in Product]
        return tuple((product, cost) for product, cost in costs if cost is not None)

    def cheapest_first(self, product: Product, carriers: Iterable[str]) -> list[str]:
        """Return the carriers by price; those without one come last, and equal ones stay in their order."""
        prices = {name: self.price_of(name, product) for name in carriers}
        return sorted(prices, key=lambda name: (prices[name] is None, prices[name] or 0))


def encode_amounts(amounts: Sequence[Hundredths]) -> str:
    """Return amounts as they are stored: runs of equal ones, such as `650*2 3000*1`."""
    return " ".join(f"{amount}*{len(list(equal))}" for amount, equal in groupby(amounts))


def find_amount(stored: str, number: int) -> Hundredths:
    """Return one of the amounts that `encode_amounts` wrote, counted from 1; 0: there are fewer."""
    for run in stored.split():
        amount, _, messages = run.partition("*")
        number -= int(messages)
        if number <= 0:
            return int(amount)
    return 0


def format_won(amount: Hundredths) -> str:
    """Return an amount in won with as many decimals as it needs: 9, 9.5 or 12.25."""
    won, rest = divmod(amount, 100)
    return f"{won:,}.{rest:02d}".rstrip("0").removesuffix(".") if rest else f"{won:,}"

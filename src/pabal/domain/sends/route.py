"""Routes: the carriers of each product in order, and the delays between attempts."""

from collections.abc import Container, Mapping, Sequence

from pabal.domain.base.dates import MINUTE, SECOND
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.domain.sends.price import Prices

SIMULATOR_KIND = "simulator"
"""The kind of carrier that delivers nothing. All others are real: their messages never go to a simulator."""


class Routes:
    """Chooses the first and the next carrier of a message: in the given order, or the cheapest first."""

    def __init__(self, routes: Mapping[str, Sequence[str]], prices: Prices | None = None) -> None:
        self._written = {PRODUCT_BY_CODE[word]: tuple(names) for word, names in routes.items()}
        self._routes = (
            {product: tuple(prices.cheapest_first(product, names)) for product, names in self._written.items()}
            if prices
            else self._written
        )

    def first(self, product: Product) -> str | None:
        """Return the first carrier of a product, None where it has no route."""
        return self._routes.get(product, (None,))[0]

    def carriers_for(self, product: Product) -> Sequence[str]:
        """Return the carriers of a product, in the order to try them."""
        return self._routes.get(product, ())

    def as_written(self, product: Product) -> Sequence[str]:
        """Return the carriers of a product in the order that the operator has written, whatever they cost."""
        return self._written.get(product, ())

    def next_after(self, product: Product, carrier: str, avoid: Container[str] = ()) -> str | None:
        """Return the carrier after this one, preferably none of `avoid`; None at the end of the route."""
        names = self._routes.get(product, ())
        following = names[names.index(carrier) + 1 :] if carrier in names else ()
        return next((name for name in following if name not in avoid), following[0] if following else None)

    def alternative_to(self, product: Product, carrier: str, avoid: Container[str]) -> str | None:
        """Return the first carrier of the route other than this one and `avoid`, if any."""
        return next((name for name in self.carriers_for(product) if name != carrier and name not in avoid), None)


MAX_TRIES = 10
"""Attempts at one carrier."""
FIRST_DELAY_MS = 1 * SECOND
MAX_DELAY_MS = 5 * MINUTE
JITTER = 0.2
"""Share of a delay by which it varies at random."""


def backoff_ms(tries: int, random: float) -> int:
    """Return the delay after `tries` failures; `random` in [0, 1) adds a jitter of 20 %."""
    even: int = min(FIRST_DELAY_MS * 2 ** (tries - 1), MAX_DELAY_MS)
    return min(round(even * (1 - JITTER + 2 * JITTER * random)), MAX_DELAY_MS)

"""Routes: for each product the carriers to try, in order."""

from collections.abc import Container, Mapping, Sequence

from pabal.domain.message import PRODUCT_BY_WORD, Product


class Routes:
    """Which carrier a message goes to first, and which next."""

    def __init__(self, routes: Mapping[str, Sequence[str]]) -> None:
        self._routes = {PRODUCT_BY_WORD[word]: tuple(names) for word, names in routes.items()}

    def first(self, product: Product) -> str | None:
        """Return the carrier to begin with, None where the product has no route."""
        return self._routes.get(product, (None,))[0]

    def carriers_for(self, product: Product) -> Sequence[str]:
        """Return the carriers of a product, in order."""
        return self._routes.get(product, ())

    def next_after(self, product: Product, carrier: str, avoid: Container[str] = ()) -> str | None:
        """Return the carrier to try after this one, None where there is none; rather one not to be avoided."""
        names = self._routes.get(product, ())
        following = names[names.index(carrier) + 1 :] if carrier in names else ()
        return next((name for name in following if name not in avoid), following[0] if following else None)

    def alternative_to(self, product: Product, carrier: str, avoid: Container[str]) -> str | None:
        """Return the first carrier of a product's route that is neither this one nor to be avoided, if any."""
        return next((name for name in self.carriers_for(product) if name != carrier and name not in avoid), None)

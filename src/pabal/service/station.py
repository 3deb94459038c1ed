"""What every verb of the service has at hand."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pabal.carriers.base import Carrier, Desk
from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Product
from pabal.service.policy import Policy
from pabal.service.watch import Watch
from pabal.store.base import Store
from pabal.world import World


@dataclass(frozen=True)
class Station:
    """A relay post: its store, its carriers, its rules, its clock."""

    store: Store
    world: World
    policy: Policy
    carriers: Mapping[str, Carrier]
    watch: Watch
    sender_categories: Mapping[str, Category]
    template_categories: Mapping[str, Category]
    bells: dict[str, asyncio.Event] = field(default_factory=dict)

    def ring(self, carriers: Iterable[str]) -> None:
        """Tell the deliverers of these carriers that there is something new."""
        for name in carriers:
            if name in self.bells:
                self.bells[name].set()

    def carrier_for(self, product: Product) -> str:
        """Return the name of the carrier that a product goes to first.

        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        name = self.policy.routes.first(product)
        if name is None:
            raise Refused(Code.PRODUCT_NOT_AVAILABLE)
        return name

    def desk(self) -> Desk:
        """Return who looks after sender profiles and templates.

        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        desk = self.carriers[self.carrier_for(Product.ALIMTALK)].desk
        if desk is None:
            raise Refused(Code.PRODUCT_NOT_AVAILABLE)
        return desk

"""What every verb of the service has at hand."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pabal.carriers.base import Carrier, Desk
from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Product
from pabal.service.policy import Policy
from pabal.service.slots import Slots
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
    slots: Slots = field(default_factory=Slots)
    bells: dict[str, asyncio.Event] = field(default_factory=dict)
    aside: set[str] = field(default_factory=set)
    """The carriers that are set aside: others are tried before them."""

    def ring(self, carriers: Iterable[str]) -> None:
        """Tell the deliverers of these carriers that there is something new."""
        for name in carriers:
            if name in self.bells:
                self.bells[name].set()

    def carrier_for(self, product: Product, *, is_for_later: bool = False) -> str:
        """Return the carrier that a product goes to first; one that is set aside only for want of others.

        What is for later goes to the first of its route: which ones are aside then, nobody knows now.
        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        name = self.policy.routes.first(product)
        if name is None:
            raise Refused(Code.PRODUCT_NOT_AVAILABLE)
        if name in self.aside and not is_for_later:
            return next((each for each in self.policy.routes.of(product) if each not in self.aside), name)
        return name

    def desk(self) -> Desk:
        """Return who looks after sender profiles and templates.

        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        first = self.policy.routes.first(Product.ALIMTALK)
        desk = self.carriers[first].desk if first is not None else None
        if desk is None:
            raise Refused(Code.PRODUCT_NOT_AVAILABLE)
        return desk

"""Shared parts of the tests of SMPP receipts."""

import asyncio
from collections.abc import Sequence

from pabal.carriers.base import Receipt


class SlowReceiptStore:
    """Stores receipts only when the test allows it."""

    def __init__(self) -> None:
        self.may_store = asyncio.Event()
        self.asked: list[Sequence[Receipt]] = []
        self.stored: list[Receipt] = []

    async def store_receipts(self, receipts: Sequence[Receipt]) -> None:
        self.asked.append(receipts)
        await self.may_store.wait()
        self.stored += receipts

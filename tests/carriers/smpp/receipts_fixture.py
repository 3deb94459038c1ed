"""Shared parts of the tests of SMPP receipts."""

import asyncio
from collections.abc import Sequence

from pabal.carriers.base import Receipt


class Slow:
    """Someone who keeps receipts only when let."""

    def __init__(self) -> None:
        self.may_keep = asyncio.Event()
        self.asked: list[Sequence[Receipt]] = []
        self.kept: list[Receipt] = []

    async def hand_on(self, receipts: Sequence[Receipt]) -> None:
        self.asked.append(receipts)
        await self.may_keep.wait()
        self.kept += receipts

"""A store or a carrier that fails on its n-th call, for every n and in every way."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from pabal.carriers.base import Carrier, Verdict
from pabal.domain.message import Attempt
from tests.sim.cruel import Crash, CruelCarrier, Fate
from tests.sim.simulation import FAULTS, SENDER_KEY, TEXT, Simulation, Wish, reckon
from tests.virtual import Caller, Town, VirtualWorld

CARRIER_FAULTS = ("raise", "hang", "crash-before", "crash-after")
MOST_CARRIER_CALLS = 12


class FaultyCarrier(CruelCarrier):
    """A well-behaved carrier but for one call."""

    fate: Fate

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        fault = self.fate.strikes()
        if fault == "raise":
            raise ConnectionError
        if fault == "crash-before":
            raise Crash
        verdicts = await super().send(attempts)
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "crash-after":
            raise Crash
        return verdicts


class OneFault(Simulation):
    """A short story with one fault in it: the service is started again, and everything is asked again."""

    def __init__(self, folder: Path, store_fault: tuple[int, str], carrier_fault: tuple[int, str]) -> None:
        super().__init__(0, folder, lives=1, fault=store_fault)
        self.calm_s = 200.0
        self.carrier_fate = Fate(*carrier_fault)

    def carrier(self, life: int, world: VirtualWorld, is_calm: bool) -> Carrier:
        carrier = FaultyCarrier("simulator", self.ledger, world, Random(7), life=life, dedups=True, is_calm=True)
        carrier.fate = self.carrier_fate
        return carrier

    async def client(self, call: Caller, town: Town, is_calm: bool) -> None:
        to = [{"phoneNumber": f"010-1000-{number:04}", "templateData": {"name": "길동"}} for number in range(12)]
        talk = {"senderKey": SENDER_KEY, "templateCode": "T1", "resend": True, "resendPhoneNumber": "02-123-4567"}
        later = {"content": TEXT, "sender": "02-123-4567", "sendDate": "2026-11-15 12:02"}
        if not self.diary.wishes:
            self.diary.wishes = [
                Wish("message/sendSMS", {"content": TEXT, "sender": "02-123-4567", "receivers": to[:1]}, "k1", 1),
                Wish("message/sendAlimtalk", {**talk, "receivers": to}, "k2", 12),
                Wish("message/sendLMS", {**later, "receivers": to[:3]}, "k3", 3),
            ]
        for wish in self.diary.wishes:
            if wish.answered is None:
                await self._ask(call, wish)
        await asyncio.sleep(2)
        await self._cancel(call)
        if not is_calm:
            await asyncio.sleep(150)


NO_FAULT = (0, "never")


def test_the_story_without_a_fault_is_long_enough(tmp_path: Path) -> None:
    simulation = OneFault(tmp_path, NO_FAULT, NO_FAULT)

    simulation.play()

    books = reckon(simulation)
    assert simulation.writes >= 20
    assert len(books.requests) == 3
    assert len(books.messages) > 16


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("group", range(10))
def test_every_promise_holds_whichever_write_of_the_store_fails(group: int, kind: str, tmp_path: Path) -> None:
    for n in range(1 + group * 8, 1 + (group + 1) * 8):
        folder = tmp_path / str(n)
        folder.mkdir()
        simulation = OneFault(folder, (n, kind), NO_FAULT)

        simulation.play()

        reckon(simulation)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CARRIER_FAULTS)
@pytest.mark.parametrize("n", range(1, MOST_CARRIER_CALLS))
def test_every_promise_holds_whichever_call_of_the_carrier_fails(n: int, kind: str, tmp_path: Path) -> None:
    simulation = OneFault(tmp_path, NO_FAULT, (n, kind))

    simulation.play()

    reckon(simulation)

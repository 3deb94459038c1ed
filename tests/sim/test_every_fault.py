"""A store or a carrier that fails on its n-th call, for every n and in every way."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from pabal.carriers.base import Carrier, Verdict
from pabal.domain.message import Attempt
from tests.fixtures.virtual import Caller, Environment, VirtualWorld
from tests.sim.cruel import Crash, FaultPlan, UnreliableCarrier
from tests.sim.simulation import FAULTS, SENDER_KEY, TEXT, ClientRequest, Simulation, check_promises

READ_FAULTS = ("away-before", "crash-before")
CARRIER_FAULTS = ("raise", "hang", "crash-before", "crash-after")
GROUPS = 10
"""Into how many tests the calls are divided."""


class FaultyCarrier(UnreliableCarrier):
    """A well-behaved carrier but for one call."""

    fate: FaultPlan

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        fault = self.fate.next_fault()
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

    def __init__(
        self,
        folder: Path,
        *,
        write: tuple[int, str] = (0, "never"),
        read: tuple[int, str] = (0, "never"),
        carrier: tuple[int, str] = (0, "never"),
    ) -> None:
        super().__init__(0, folder, lives=1, fault=write)
        self.calm_s = 200.0
        self.least_wishes = 0
        self.read_fate = FaultPlan(*read)
        self.carrier_fate = FaultPlan(*carrier)

    def carrier(self, name: str, life: int, world: VirtualWorld, is_calm: bool) -> Carrier:
        carrier = FaultyCarrier(name, self.ledger, world, Random(7), life=life, dedups=True, is_calm=True)
        carrier.fate = self.carrier_fate
        return carrier

    async def client(self, call: Caller, env: Environment, is_calm: bool) -> None:
        to = [{"phoneNumber": f"010-1000-{number:04}", "templateData": {"name": "길동"}} for number in range(12)]
        talk = {"senderKey": SENDER_KEY, "templateCode": "T1", "resend": True, "resendPhoneNumber": "02-123-4567"}
        later = {"content": TEXT, "sender": "02-123-4567", "sendDate": "2026-11-15 12:02"}
        if not self.client_log.requests:
            self.client_log.requests = [
                ClientRequest(
                    "message/sendSMS", {"content": TEXT, "sender": "02-123-4567", "receivers": to[:1]}, "k1", 1
                ),
                ClientRequest("message/sendAlimtalk", {**talk, "receivers": to}, "k2", 12),
                ClientRequest("message/sendLMS", {**later, "receivers": to[:3]}, "k3", 3),
            ]
        for wish in self.client_log.requests:
            if wish.answered is None:
                await self._ask(call, wish)
        await asyncio.sleep(2)
        await self._cancel(call)
        if not is_calm:
            await asyncio.sleep(150)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many calls of each kind the first life makes when nothing fails."""
    simulation = OneFault(tmp_path_factory.mktemp("faultless"), carrier=(10**9, "never"))
    simulation.run()
    books = check_promises(simulation)
    assert len(books.requests) == 3
    assert len(books.messages) > 16, "some fell back"
    return {
        "write": simulation.writes[0],
        "read": simulation.reads[0],
        "carrier": 10**9 - simulation.carrier_fate.calls_left,
    }


def test_the_story_without_a_fault_is_long_enough(calls: dict[str, int]) -> None:
    assert calls["write"] >= 20
    assert calls["read"] >= 10
    assert calls["carrier"] >= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "group", [pytest.param(n, marks=pytest.mark.torture) if n % 2 else n for n in range(GROUPS)]
)
@pytest.mark.parametrize(
    ("what", "kind"),
    [
        *(("write", kind) for kind in FAULTS),
        *(("read", kind) for kind in READ_FAULTS),
        *(("carrier", kind) for kind in CARRIER_FAULTS),
    ],
)
def test_every_promise_holds_whichever_call_fails(
    what: str, kind: str, group: int, calls: dict[str, int], tmp_path: Path
) -> None:
    for n in range(1 + group, calls[what] + 1, GROUPS):
        folder = tmp_path / str(n)
        folder.mkdir()
        simulation = OneFault(folder, **{what: (n, kind)})

        simulation.run()

        check_promises(simulation)
        fates = {"read": simulation.read_fate, "carrier": simulation.carrier_fate}
        assert fates[what].has_fired if what in fates else simulation.has_struck, f"call {n} never failed"

"""A short simulation in which one call of a store or a carrier fails."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

from pabal.carriers.base import Carrier, Verdict
from pabal.domain.sends.message import Attempt
from tests.fixtures.virtual import Caller, Environment, VirtualWorld
from tests.sim.faulty import Crash, FaultPlan, UnreliableCarrier
from tests.sim.simulation import SENDER_KEY, TEXT, ClientRequest, Simulation


class FaultyCarrier(UnreliableCarrier):
    """A carrier that fails in one call and works in all others."""

    fault_plan: FaultPlan

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        fault = self.fault_plan.next_fault()
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
    """A short simulation with one fault: the service restarts, and clients repeat unanswered requests."""

    def __init__(
        self,
        folder: Path,
        *,
        write: tuple[int, str] = (0, "never"),
        read: tuple[int, str] = (0, "never"),
        carrier: tuple[int, str] = (0, "never"),
    ) -> None:
        super().__init__(0, folder, runs=1, fault=write)
        self.calm_duration_s = 200.0
        self.min_requests = 0
        self.read_fault_plan = FaultPlan(*read)
        self.carrier_fault_plan = FaultPlan(*carrier)

    def carrier(self, name: str, run_number: int, world: VirtualWorld, is_calm: bool) -> Carrier:
        carrier = FaultyCarrier(
            name, self.ledger, world, Random(7), run_number=run_number, dedups=True, is_calm=True
        )
        carrier.fault_plan = self.carrier_fault_plan
        return carrier

    async def client(self, call: Caller, env: Environment, is_calm: bool) -> None:
        receivers = [
            {"phoneNumber": f"010-1000-{number:04}", "templateData": {"name": "길동"}} for number in range(12)
        ]
        alimtalk = {
            "senderKey": SENDER_KEY,
            "templateCode": "T1",
            "resend": True,
            "resendPhoneNumber": "02-123-4567",
        }
        scheduled = {"content": TEXT, "sender": "02-123-4567", "sendDate": "2026-11-15 12:02"}
        if not self.client_log.requests:
            self.client_log.requests = [
                ClientRequest(
                    "message/sendSMS",
                    {"content": TEXT, "sender": "02-123-4567", "receivers": receivers[:1]},
                    "k1",
                    1,
                ),
                ClientRequest("message/sendAlimtalk", {**alimtalk, "receivers": receivers}, "k2", 12),
                ClientRequest("message/sendLMS", {**scheduled, "receivers": receivers[:3]}, "k3", 3),
            ]
        for request in self.client_log.requests:
            if request.answered is None:
                await self._send_until_answered(call, request)
        await asyncio.sleep(2)
        await self._cancel(call)
        if not is_calm:
            await asyncio.sleep(150)

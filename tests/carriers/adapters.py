"""Every kind of carrier that must pass the conformance suite."""

import asyncio

from pabal.carriers.base import Carrier
from pabal.carriers.solapi.carrier import SolapiCarrier
from pabal.carriers.solapi.client import SolapiClient
from pabal.settings.relays import SolapiSettings
from pabal.world import World
from tests.carriers.conformance import (
    BUSY_NUMBER,
    REJECTED_NUMBER,
    SENDER_KEY,
    TEMPLATE_CODE,
    Adapter,
    NhnCloudAdapter,
    RelayAdapter,
    SimulatorAdapter,
    SmppAdapter,
    SmppPairAdapter,
    virtual_clock,
)
from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.state import Group, SolapiMessage
from tests.fixtures.virtual import VirtualWorld


class CountingSolapi(FakeSolapi):
    """The fake Solapi, which records when messages are submitted."""

    def __init__(self) -> None:
        super().__init__(virtual_clock, seed=1)
        self.behavior.refusals = {REJECTED_NUMBER: "1061", BUSY_NUMBER: "1024"}
        self.numbers.add("0212345678")
        self.submitted_at: list[float] = []

    def add_message(self, group: Group, message: SolapiMessage) -> None:
        if message.is_registered:
            self.submitted_at.append(asyncio.get_running_loop().time())
        super().add_message(group, message)


class SolapiAdapter(RelayAdapter):
    kind = "solapi"
    secrets = ("NCSAPIKEY0123456", "solapiSecret0123456789")

    def __init__(self) -> None:
        super().__init__(CountingSolapi())
        self._relay.add_channel("@shop", SENDER_KEY)
        self._relay.add_template(SENDER_KEY, f"[{TEMPLATE_CODE}] 인사", "안녕하세요")

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        key, secret = self.secrets
        settings = SolapiSettings(
            name="it", window=window, rate=rate, poll_seconds=1, api_key=key, api_secret=secret
        )
        transport = self.new_transport()
        process = VirtualWorld(len(self._transports))  # a salt is never used twice, also not by another process
        client = SolapiClient("http://127.0.0.1", key, secret, process, transport=transport)
        return SolapiCarrier(settings, self.dependencies(world), client)

    def reject_credentials(self) -> None:
        self._relay.api_key = "another"

    def recover(self) -> None:
        super().recover()
        self._relay.api_key = self.secrets[0]

    @property
    def unacknowledged(self) -> int:
        read_until = self._cursor.at.get("messages", 0)
        return sum(
            each.is_registered and (each.reported_at is None or each.reported_at > read_until)
            for each in self._relay.messages
        )


ADAPTERS: tuple[type[Adapter], ...] = (
    SimulatorAdapter,
    SmppAdapter,
    SmppPairAdapter,
    NhnCloudAdapter,
    SolapiAdapter,
)

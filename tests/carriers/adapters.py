"""Every kind of carrier that must pass the conformance suite."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pabal.carriers.base import Carrier
from pabal.carriers.relay.dependencies import Dependencies
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
    CompatibleNhnCloudAdapter,
    InMemoryCursor,
    NhnCloudAdapter,
    SimulatorAdapter,
    SmppAdapter,
    SmppPairAdapter,
    load_image,
    virtual_clock,
)
from tests.fakes.relay_server import RelayTransport
from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.state import Group, SolapiMessage
from tests.fixtures.transports import OverHttpx
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


class SolapiAdapter(Adapter):
    """Solapi: its peer is the fake server."""

    kind = "solapi"
    exemptions: ClassVar[Mapping[str, str]] = {
        "test_window_is_never_exceeded": "a call is answered as a whole; the deliverer keeps its window",
        "test_resubmitted_message_is_deduplicated": "it looks up messages in doubt instead",
    }
    secrets = ("NCSAPIKEY0123456", "solapiSecret0123456789")

    def __init__(self) -> None:
        self._relay = CountingSolapi()
        self._relay.add_channel("@shop", SENDER_KEY)
        self._relay.add_template(SENDER_KEY, f"[{TEMPLATE_CODE}] 인사", "안녕하세요")
        self._cursor = InMemoryCursor()
        self._transport = RelayTransport(self._relay)
        self._builds = 0

    def build(self, world: World, *, window: int, rate: int) -> Carrier:
        key, secret = self.secrets
        settings = SolapiSettings(
            name="it", window=window, rate=rate, poll_seconds=1, api_key=key, api_secret=secret
        )
        self._transport = RelayTransport(self._relay)
        self._builds += 1
        process = VirtualWorld(self._builds)  # a salt is never used twice, also not by another process
        client = SolapiClient("http://127.0.0.1", key, secret, process, transport=OverHttpx(self._transport))
        return SolapiCarrier(settings, Dependencies(world, load_image, self._cursor, lambda _: None), client)

    def stop_responding(self) -> None:
        self._relay.inject_fault("slow to accept", "POST", times=1e9, seconds=1e6)

    def disconnect(self) -> None:
        self._transport.is_unreachable = True

    def reject_credentials(self) -> None:
        self._relay.api_key = "another"

    def recover(self) -> None:
        self._relay.faults.faults.clear()
        self._relay.api_key = self.secrets[0]
        self._transport.is_unreachable = False

    @property
    def submitted_at(self) -> Sequence[float]:
        return self._relay.submitted_at

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
    CompatibleNhnCloudAdapter,
    SolapiAdapter,
)

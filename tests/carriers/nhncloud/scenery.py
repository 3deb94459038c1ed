"""What scenes with NHN Cloud share: a town whose messages go by the documented server."""

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Any

import httpx

from pabal.carrier_settings import NhnCloudSettings
from pabal.carriers.base import Carrier
from pabal.carriers.nhncloud.carrier import NhnCloud, Surroundings
from pabal.carriers.nhncloud.client import Client
from pabal.domain.message import Attempt, Product
from pabal.domain.when import MINUTE
from pabal.service.remember import StoredCursor
from pabal.service.slots import Slots
from pabal.store import requests
from pabal.store.base import Store
from tests.carriers.conformance import virtual_clock
from tests.nhncloud import channel
from tests.nhncloud.server import Relay, Transport
from tests.nhncloud.state import Message
from tests.virtual import Caller, Town, VirtualWorld, build_town, in_virtual_time, open_store, settings_for

SENDER, SENDER_KEY, TEMPLATE = channel.SENDER, channel.SENDER_KEY, channel.TEMPLATE
RELAY = "relay"
UNSUBSCRIBE = "0801234567"
PRODUCTS = ("sms", "lms", "mms", "alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage")


class Way(Transport):
    """A way to the relay, whose answers may bear its date, as those of web servers do."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay)
        self._relay = relay
        self.shows_date = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if self.shows_date:
            response.headers["date"] = formatdate(self._relay.clock() / 1000, usegmt=True)
        return response


class Scenery:
    """A relay, the ways to it, and the town behind it."""

    def __init__(self, **manners: Any) -> None:
        self.relay = Relay(virtual_clock, seed=1, **manners)
        channel.add_to(self.relay)
        self.ways: list[Way] = []
        self.noted: list[str] = []
        self.settings: dict[str, Any] = {}

    def carrier(self, store: Store, world: VirtualWorld, slots: Slots | None = None, **settings: Any) -> NhnCloud:
        """Return a new carrier before this relay, as after a start of the process."""
        relay = self.relay
        keys = {
            "sms_app_key": relay.sms_app_key,
            "sms_secret_key": relay.sms_secret_key,
            "talk_app_key": relay.talk_app_key,
            "talk_secret_key": relay.talk_secret_key,
        }
        given = NhnCloudSettings(name=RELAY, **keys | {"unsubscribe_number": UNSUBSCRIBE} | settings)
        around = Surroundings(
            world,
            lambda request_id: store.read(requests.image, request_id),
            StoredCursor(store, RELAY, slots or Slots()),
            self.noted.append,
        )
        self.ways = [Way(relay), Way(relay)]
        texts = Client("http://127.0.0.1", given.sms_app_key, given.sms_secret_key, transport=self.ways[0])
        talk = Client("http://127.0.0.1", given.talk_app_key, given.talk_secret_key, transport=self.ways[1])
        return NhnCloud(given, around, texts, talk)

    def set_clock(self, minutes: int) -> None:
        """Let the relay's clock be ahead of ours by so much, and show it in its answers."""
        self.relay.clock = lambda: virtual_clock() + minutes * MINUTE
        for way in self.ways:
            way.shows_date = True

    def leave(self) -> None:
        """Be out of reach from now on."""
        for way in self.ways:
            way.is_gone = True

    def come_back(self) -> None:
        """Be there again."""
        for way in self.ways:
            way.is_gone = False

    @property
    def taken(self) -> list[Message]:
        """Every message the relay took."""
        return self.relay.messages

    def calls(self, part: str) -> list[int]:
        """Return how many recipients each call had, of those to paths with this part."""
        return [each.size for each in self.relay.calls if each.method == "POST" and part in each.path]


Scene = Callable[[Town, Scenery], Awaitable[None]]


def play(
    folder: Path,
    scene: Scene,
    *,
    manners: Mapping[str, Any] | None = None,
    others: Mapping[str, Carrier] | None = None,
    routes: Mapping[str, Sequence[str]] | None = None,
    world: VirtualWorld | None = None,
    **carrier: Any,
) -> None:
    """Play a scene in a town whose messages go by the relay; `others` are further carriers of its routes."""

    async def whole() -> None:
        scenery = Scenery(**manners or {})
        here = world or VirtualWorld()
        store = open_store(folder, here)
        town = await town_of(folder, scenery, store, here, others, routes, **carrier)
        try:
            await scene(town, scenery)
        finally:
            await town.service.stop()
        assert scenery.relay.doubles() == {}

    in_virtual_time(whole())


async def town_of(
    folder: Path,
    scenery: Scenery,
    store: Store,
    world: VirtualWorld,
    others: Mapping[str, Carrier] | None = None,
    routes: Mapping[str, Sequence[str]] | None = None,
    **carrier: Any,
) -> Town:
    """Start a service whose messages go by the relay."""
    ways = {product: [RELAY] for product in PRODUCTS} | {name: list(way) for name, way in (routes or {}).items()}
    settings = dataclasses.replace(settings_for(folder, sms_timeout_hours=1), routes=ways)
    relay = scenery.carrier(store, world, **carrier)
    carriers: dict[str, Carrier] = {RELAY: relay, **(others or {})}
    return await build_town(folder, world=world, store=store, carriers=carriers, settings=settings)


async def with_channel(town: Town, title: str | None = None) -> Caller:
    """Return a caller whose account has the channel and template T1 of the relay, and T2 with a title."""
    call = await town.caller()
    await town.store.write(channel.open_here, "acme", town.world.now(), title)
    return call


def attempt(number: int = 1, request: int = 1, **fields: Any) -> Attempt:
    """Return a text in our hands, of the request of this number."""
    message_id = request.to_bytes(13, "big") + number.to_bytes(3, "big")
    one = Attempt(message_id, 1, 1, Product.SMS, f"0102{number:07}", SENDER, None, "안녕하세요")
    return one._replace(**fields)

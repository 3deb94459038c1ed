"""A town whose Alimtalk goes to NHN Cloud: the documented server, on the virtual clock."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.carrier_settings import NhnCloudSettings
from pabal.carriers.nhncloud.carrier import NhnCloud, Surroundings
from pabal.carriers.nhncloud.client import Client
from pabal.carriers.nhncloud.desk import NhnCloudDesk
from tests.carriers.conformance import Notes, virtual_clock
from tests.nhncloud.server import Relay, Transport
from tests.nhncloud.state import Profile, Template
from tests.virtual import (
    Answer,
    Caller,
    Town,
    VirtualWorld,
    build_town,
    in_virtual_time,
    open_store,
    settings_for,
)
from tests.web.scenery import BreakingStore, accepted, alimtalk, channel, template

CARRIER = "simulator"
"""What the carrier is called: the name that a route has without settings."""
CHANNEL = "@shop"
A_ROUND_S = 31
WITHIN_S = 5.0
CATEGORY = "001001"


class Stage:
    """The server, and a way to play scenes in a town that is connected to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.relay = Relay(virtual_clock, seed=1, review_after_s=None)
        self.most_a_page = 1000

    def play(self, scene: Callable[[Town], Awaitable[None]], **options: Any) -> None:
        """Play a scene in a town with one carrier, whose desk is the server's."""

        async def whole() -> None:
            settings = settings_for(self._folder, **options)
            world = VirtualWorld()
            self.store = BreakingStore(open_store(self._folder, world))
            carriers = {CARRIER: self.carrier()}
            town = await build_town(
                self._folder, world=world, store=self.store, carriers=carriers, settings=settings
            )
            try:
                await scene(town)
            finally:
                await town.service.stop()

        in_virtual_time(whole())

    def carrier(self) -> NhnCloud:
        """Return the carrier, with connections of its own."""
        keys = (self.relay.talk_app_key, self.relay.talk_secret_key)
        self.transport = Transport(self.relay)
        talk = Client("http://127.0.0.1", *keys, transport=self.transport)
        settings = NhnCloudSettings(name=CARRIER, talk_app_key=keys[0], talk_secret_key=keys[1])
        around = Surroundings(VirtualWorld(), _no_picture, Notes(), lambda _: None)
        return NhnCloud(settings, around, None, talk, NhnCloudDesk(talk, WITHIN_S, self.most_a_page))

    def calls(self, method: str, ending: str) -> int:
        """Return how many calls of this kind reached the server."""
        return sum(each.method == method and each.path.endswith(ending) for each in self.relay.calls)

    def profile(self, channel_id: str = CHANNEL) -> Profile:
        """Return the server's profile of a channel."""
        (found,) = (each for each in self.relay.profiles.values() if each.channel == channel_id)
        return found

    def template(self, code: str = "T1") -> Template:
        """Return the server's template of this code."""
        (found,) = (each for each in self.relay.templates.values() if each.code == code)
        return found

    async def opened(self, call: Caller, **changes: Any) -> str:
        """Register a channel, prove it, and return its key."""
        body = channel(**changes)
        await accepted(call, "sender/create", body)
        proof = {"channelId": body["channelId"], "token": str(self.relay.last_token)}
        await accepted(call, "sender/auth", proof)
        return str((await sender(call, body["channelId"]))["senderKey"])

    async def approved(self, town: Town, call: Caller, sender_key: str, **changes: Any) -> None:
        """Write a template, have it reviewed, approve it in the server's console, and wait until that is seen."""
        body = written(sender_key, **changes)
        await accepted(call, "template/create", body)
        await requested(call, sender_key, body["templateCode"])
        self.relay.console.approve(sender_key, body["templateCode"])
        await town.wait(A_ROUND_S)


class Unlisted(dict[Any, Any]):
    """Things that no list shows, though the server has them."""

    def values(self) -> Any:
        return ()


async def _no_picture(request_id: bytes) -> None:
    return None


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def written(sender_key: str, **changes: Any) -> dict[str, Any]:
    """Return the body of a template in a category that the server has."""
    return template(sender_key, **{"category": CATEGORY, **changes})


async def begun(town: Town) -> Caller:
    """Return a caller, when the server has been looked at for the first time."""
    await town.wait(1)
    return await town.caller()


async def requested(call: Caller, sender_key: str, code: str = "T1") -> Answer:
    """Have a template reviewed."""
    return await accepted(call, "template/request", {"senderKey": sender_key, "templateCode": code})


async def sender(call: Caller, channel_id: str = CHANNEL) -> Any:
    """Return a profile's record."""
    (found,) = (await call("sender/list", query={"channelId": channel_id})).items
    return found


async def template_of(call: Caller, code: str = "T1") -> Any:
    """Return a template's record."""
    (found,) = (await call("template/list", query={"templateCode": code})).items
    return found


async def state_of(call: Caller, code: str = "T1") -> str:
    """Return where a template stands in its review."""
    return str((await template_of(call, code))["status"]["value"])


async def send(call: Caller, sender_key: str, code: str = "T1") -> Answer:
    """Send an Alimtalk."""
    return await call("message/sendAlimtalk", alimtalk(sender_key, templateCode=code))

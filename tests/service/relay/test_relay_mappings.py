"""A template that is registered at two relays can go by either; a relay that does not know it is skipped."""

from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.relay.carrier import Dependencies
from pabal.carriers.solapi.carrier import SolapiCarrier
from pabal.carriers.solapi.client import SolapiClient
from pabal.carriers.solapi.provider import SolapiProvider
from pabal.domain.base.codes import Code, Refused
from pabal.service.history.timeline import get_timeline
from pabal.service.relay import mappings
from pabal.settings.relays import SolapiSettings
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.kakao import profile_mappings
from pabal.store.kakao.profile_mappings import ProfileMapping
from tests.carriers.conformance import InMemoryCursor, virtual_clock
from tests.fakes.nhncloud import channel
from tests.fakes.nhncloud.channel import CHANNEL, SENDER_KEY, TEMPLATE
from tests.fakes.relay_server import RelayTransport
from tests.fakes.solapi import channel as solapi_channel
from tests.fakes.solapi.server import FakeSolapi
from tests.fixtures.refusals import refused
from tests.fixtures.two_relays import HOME, OTHER, OTHER_KEY, SYNC_ROUND_S, TwoRelays, no_image
from tests.fixtures.virtual import Caller, Environment, VirtualWorld
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    alimtalk_body,
    call_ok,
    describe_outcome,
    get_message,
    list_messages,
    receivers_of,
)

NAMED = {"templateData": {"name": "길동"}}


@pytest.fixture
def stage(tmp_path: Path) -> TwoRelays:
    return TwoRelays(tmp_path)


def entry(env: Environment) -> AuditEntry:
    return AuditEntry(env.world.now(), None, "test", 1, "mapping.add", CHANNEL)


async def map_profile(env: Environment) -> None:
    await mappings.map_profile(env.context, 1, CHANNEL, OTHER, entry(env))


async def template_mapping(env: Environment) -> ProfileMapping | None:
    return await env.store.read(profile_mappings.get, 1, OTHER, "T1")


async def send(call: Caller, number: str = PHONE, **fields: Any) -> None:
    body = alimtalk_body(SENDER_KEY, receivers=receivers_of(number, **NAMED), **fields)
    await call_ok(call, "message/sendAlimtalk", body)


async def story(env: Environment, call: Caller) -> tuple[list[tuple[str, str]], int | None]:
    """Return carriers and verdicts of the attempts at the only message that failed there, and what it cost."""
    message = await get_message(call)
    found = await env.context.store.read(get_timeline, 1, bytes.fromhex(message["messageId"]))
    assert found is not None
    return [(each.carrier, each.verdict) for each in found.tries], found.delivery.cost


async def test_alimtalk_fails_over_to_another_relay_under_its_names(stage: TwoRelays) -> None:
    env = await stage.start()
    call = await stage.caller(env)
    stage.relays[OTHER].add_template(OTHER_KEY, "ship-1", TEMPLATE)
    await map_profile(env)
    await send(call)
    await env.wait(20)
    stage.set_reachable(HOME, False)
    await env.wait(20)
    await send(call, "010-2222-2222")
    await env.wait(20)

    assert stage.sent(HOME) == [(SENDER_KEY, "T1")]
    assert stage.sent(OTHER) == [(OTHER_KEY, "ship-1")]
    for number in (PHONE, "010-2222-2222"):
        message = await get_message(call, number)
        assert describe_outcome(message) == "completed 1000"
        assert (message["senderKey"], message["templateCode"]) == (SENDER_KEY, "T1")


async def test_message_without_a_mapping_waits_for_its_own_relay(stage: TwoRelays) -> None:
    env = await stage.start()
    call = await stage.caller(env)
    stage.set_reachable(HOME, False)
    await env.wait(30)
    await send(call)
    await env.wait(120)
    waiting = describe_outcome(await get_message(call))
    stage.set_reachable(HOME, True)
    await env.wait(120)

    assert waiting == "sending"
    assert describe_outcome(await get_message(call)) == "completed 1000"
    assert (stage.sent(HOME), stage.sent(OTHER)) == ([(SENDER_KEY, "T1")], [])


async def test_message_in_doubt_keeps_its_names_when_its_mapping_breaks(stage: TwoRelays) -> None:
    env = await stage.start(routes={"alimTalk": [OTHER]})
    call = await stage.caller(env)
    stage.relays[OTHER].add_template(OTHER_KEY, "ship-1", TEMPLATE)
    await map_profile(env)
    mapping = await template_mapping(env)
    assert mapping is not None
    stage.relays[OTHER].inject_fault("lose request", "raw-messages")
    await send(call)
    await env.wait(3)
    await env.store.write(profile_mappings.save, mapping._replace(problem="differs", is_manual=True), 0)
    await env.wait(300)

    assert describe_outcome(await get_message(call)) == "completed 1000"
    assert stage.sent(OTHER) == [(OTHER_KEY, "ship-1")]


async def test_message_that_its_own_relay_declines_ends_where_no_other_knows_it(stage: TwoRelays) -> None:
    env = await stage.start()
    call = await stage.caller(env)
    stage.relays[HOME].templates.clear()
    await send(call, PHONE, **FALLBACK)
    await env.wait(20)

    fallback, origin = await list_messages(call)
    assert describe_outcome(origin) == "fail 3018"
    assert describe_outcome(fallback) == "completed 1000"
    assert stage.sent(OTHER) == []


@pytest.mark.parametrize(("is_mapped", "way", "cost"), [(True, OTHER, 650), (False, HOME, 700)])
async def test_cheapest_relay_comes_first_if_it_knows_the_template(
    stage: TwoRelays, is_mapped: bool, way: str, cost: int
) -> None:
    prices = {HOME: {"alimTalk": "7"}, OTHER: {"alimTalk": "6.5"}}
    env = await stage.start(prices=prices, route_by="price")
    call = await stage.caller(env)
    stage.relays[OTHER].add_template(OTHER_KEY, "T1", TEMPLATE if is_mapped else "다른 내용 #{name}")
    await map_profile(env)
    await send(call)
    await env.wait(20)

    tries, charged = await story(env, call)
    assert describe_outcome(await get_message(call)) == "completed 1000"
    assert [name for name in (HOME, OTHER) if stage.sent(name)] == [way]
    assert tries == ([] if is_mapped else [(OTHER, "unmapped")])
    assert charged == cost


async def test_fallback_goes_by_another_relay_at_its_own_price(stage: TwoRelays) -> None:
    routes = {"alimTalk": [HOME], "sms": [HOME, OTHER]}
    prices = {HOME: {"alimTalk": "7", "sms": "10"}, OTHER: {"sms": "9"}}
    env = await stage.start(routes=routes, prices=prices, route_by="price")
    call = await stage.caller(env)
    await send(call, NO_USER, **FALLBACK)
    await env.wait(20)

    fallback, origin = await list_messages(call, NO_USER)
    assert (describe_outcome(fallback), describe_outcome(origin)) == ("completed 1000", "fail 3019")
    found = await env.context.store.read(get_timeline, 1, bytes.fromhex(fallback["messageId"]))
    assert found is not None
    assert found.delivery.cost == 900
    assert [each.kind for each in stage.relays[OTHER].messages] == ["SMS"]


async def test_synchronization_follows_what_the_other_relay_has(stage: TwoRelays) -> None:
    env = await stage.start()
    await stage.caller(env)
    relay = stage.relays[OTHER]
    await map_profile(env)
    missing = await template_mapping(env)
    relay.add_template(OTHER_KEY, "T1", TEMPLATE)
    await env.wait(SYNC_ROUND_S)
    found = await template_mapping(env)
    relay.templates.clear()
    relay.add_template(OTHER_KEY, "T1", "다른 내용")
    await env.wait(SYNC_ROUND_S)
    different = await template_mapping(env)
    relay.profiles.clear()
    await env.wait(SYNC_ROUND_S)
    gone = await env.store.read(profile_mappings.get, 1, OTHER, "")

    assert missing == ProfileMapping(1, OTHER, "T1", "", False, "missing")
    assert found == ProfileMapping(1, OTHER, "T1", "T1", False, None)
    assert different == ProfileMapping(1, OTHER, "T1", "T1", False, "differs")
    assert gone is not None
    assert gone.problem == "gone"


async def test_mapping_by_hand_is_verified_and_kept(stage: TwoRelays) -> None:
    env = await stage.start()
    await stage.caller(env)
    relay = stage.relays[OTHER]
    relay.add_template(OTHER_KEY, "T1", TEMPLATE)
    relay.add_template(OTHER_KEY, "T9", TEMPLATE, templateName="둘째")
    await map_profile(env)

    usable = await mappings.map_template(env.context, 1, CHANNEL, OTHER, "T1", "T9", entry(env))
    await env.wait(SYNC_ROUND_S)
    kept = await template_mapping(env)
    absent = await mappings.map_template(env.context, 1, CHANNEL, OTHER, "T1", "T5", entry(env))
    await mappings.remove_mapping(env.context, 1, CHANNEL, OTHER, "", entry(env))

    assert kept == usable == ProfileMapping(1, OTHER, "T1", "T9", True, None)
    assert absent.problem == "gone"
    assert await mappings.list_mappings(env.context) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"carrier": HOME}, Code.INVALID_STATE),
        ({"carrier": "nobody"}, Code.PRODUCT_NOT_AVAILABLE),
        ({"channel_id": "@nobody"}, Code.SENDER_NOT_FOUND),
        ({"account_id": 2}, Code.SENDER_NOT_FOUND),
    ],
)
async def test_impossible_mapping_is_refused(stage: TwoRelays, changes: dict[str, Any], code: Code) -> None:
    env = await stage.start()
    await stage.caller(env)
    given: dict[str, Any] = {"account_id": 1, "channel_id": CHANNEL, "carrier": OTHER, **changes}

    with pytest.raises(Refused) as refusal:
        await mappings.map_profile(env.context, **given, entry=entry(env))

    assert refusal.value.code is code
    assert await mappings.list_mappings(env.context) == []


async def test_profile_of_another_account_is_not_mapped(stage: TwoRelays) -> None:
    env = await stage.start()
    await stage.caller(env)
    await env.caller("rival")
    await env.store.write(channel.add_to_store, "rival", env.world.now(), None, OTHER_KEY)

    with refused(Code.DUPLICATE):
        await map_profile(env)


async def test_alimtalk_fails_over_to_a_relay_of_another_kind(stage: TwoRelays) -> None:
    solapi = FakeSolapi(virtual_clock, seed=1)
    solapi_channel.add_to_relay(solapi)
    world = VirtualWorld(7)
    settings = SolapiSettings(name=OTHER, api_key=solapi.api_key, api_secret=solapi.api_secret)

    def build() -> SolapiCarrier:
        transport = RelayTransport(solapi)
        client = SolapiClient("http://127.0.0.1", settings.api_key, settings.api_secret, world, transport=transport)
        around = Dependencies(world, no_image, InMemoryCursor(), lambda _: None)
        return SolapiCarrier(settings, around, client, SolapiProvider(client, 5))

    env = await stage.start(other=(settings, build))
    call = await stage.caller(env)
    await map_profile(env)
    mapped = await template_mapping(env)
    stage.set_reachable(HOME, False)
    await env.wait(20)
    await send(call)
    await env.wait(30)

    assert mapped == ProfileMapping(1, OTHER, "T1", "T1", False, None)
    assert describe_outcome(await get_message(call)) == "completed 1000"
    (message,) = solapi.messages
    assert message.kakao is not None
    assert message.kakao["pfId"] == solapi_channel.SENDER_KEY

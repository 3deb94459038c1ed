"""What is posted has the types that the OpenAPI document and the client have."""

import json

import msgspec

from pabal.carriers.base import InboundMessage
from pabal.domain.events.event import EVENT_TYPE_BY_CODE, EventType
from pabal.domain.events.webhook import ORDERED_EVENTS
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.account import AccountLimits
from pabal.models.webhook_posts import POSTS
from pabal.service.delivery import inbound
from pabal.service.notices.alerts import CarrierChange, record_carrier
from pabal.service.setup_cache import MAX_AGE_S
from pabal.store.accounts import account_limits, numbers
from tests.fixtures.campaigns import checked_campaign, phones, start_campaign
from tests.fixtures.endpoints import FakeEndpoints, add_webhook
from tests.fixtures.service import DEFAULT_CARRIER, PHONE, SENDER, Start, account_id_of
from tests.fixtures.virtual import Environment
from tests.fixtures.web import approve_template, call_ok, register_channel, sms_body


async def _cause_every_event(env: Environment, webhook_id: int) -> None:
    call = await env.caller()
    account_id = await account_id_of(env)
    await approve_template(call, await register_channel(call))
    await env.store.write(numbers.add, account_id, SENDER, env.world.now(), NumberState.APPROVED)
    await start_campaign(env, await checked_campaign(env, phones(2)))
    await env.store.write(account_limits.save, account_id, AccountLimits(receivers_per_day=100))
    await env.wait(MAX_AGE_S)
    await call_ok(call, "message/sendSMS", sms_body(*["010-1234-5678"] * 80))
    await call_ok(call, "optOut/add", {"phoneNumber": "010-1234-5678", "senderNumber": "02-1234-5678"})
    await inbound.store_messages(env.context, DEFAULT_CARRIER, [InboundMessage(PHONE, SENDER, "안녕하세요")])
    await call_ok(call, "webhook/test", {"webhookId": str(webhook_id)})
    await call_ok(call, "message/sendSMS", sms_body(*["010-0000-0001"] * 15))
    change = CarrierChange(DEFAULT_CARRIER, True, env.world.now(), ["sms"])
    await env.store.write(record_carrier, change, env.context.policy.zone, env.world.now())
    await env.wait(300)


async def test_every_post_has_exactly_the_fields_of_its_type(start: Start) -> None:
    endpoints = FakeEndpoints()
    env = await start(poster=endpoints, notice_failure_messages=10, notice_failure_percent=10)
    await _cause_every_event(env, await add_webhook(env, events=list(ORDERED_EVENTS)))

    posted = {EVENT_TYPE_BY_CODE[json.loads(post.body)["type"]]: post.body for post in endpoints.posts}
    assert set(posted) == set(EventType)
    for event, body in posted.items():
        assert msgspec.to_builtins(msgspec.json.decode(body, type=POSTS[event])) == json.loads(body)

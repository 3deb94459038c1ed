"""Results of Solapi by polling and by webhook."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.carriers.solapi.carrier import SolapiCarrier
from pabal.domain.base.codes import Code, Refused
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.store.engine.migrate import migrate
from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fixtures.relay_delivery import SENDER
from tests.fixtures.solapi import Solapi
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import VirtualWorld, open_store
from tests.fixtures.web import call_ok, sms_body

SECRET = "a secret that nobody guesses"
DIGEST = hashlib.sha1(SECRET.encode(), usedforsecurity=False).hexdigest()
OWN_ID = "0" * 31 + "1"


def report(message_id: str = "M1", code: str = "4000", own_id: str | None = OWN_ID, **more: Any) -> dict[str, Any]:
    fields = {} if own_id is None else {"pabal": own_id}
    return {"messageId": message_id, "statusCode": code, "customFields": fields, **more}


def event(message: Any) -> dict[str, Any]:
    """Return a message inside its event, as the client for Python reads it."""
    return {"eventDataId": "E1", "data": message, "retryCount": 0}


class Inbox:
    """A carrier, and the receipts that it reported."""

    def __init__(self, carrier: SolapiCarrier, fixture: Solapi) -> None:
        self.carrier = carrier
        self.fixture = fixture
        self.stored: list[Receipt] = []

    async def keep(self, receipts: Sequence[Receipt]) -> None:
        self.stored += receipts

    async def post(self, body: Any, **headers: str) -> None:
        """Call the webhook."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()

        async def read() -> bytes:
            return raw

        await self.carrier.handle_webhook({"x-solapi-secret": DIGEST, **headers}, read, self.keep)


@asynccontextmanager
async def inbox(folder: Path, **settings: Any) -> AsyncIterator[Inbox]:
    fixture, world = Solapi(), VirtualWorld()
    store = open_store(folder, world)
    await store.write(migrate, world.now())
    one = Inbox(fixture.carrier(store, world, **{"webhook_secret": SECRET, **settings}), fixture)
    try:
        yield one
    finally:
        await store.close()


REPORTS = [report(), report("M2", "3104")]


@pytest.mark.parametrize(
    ("secret", "body"),
    [(DIGEST, REPORTS), (SECRET, REPORTS), (DIGEST, [event(each) for each in REPORTS])],
)
async def test_report_is_stored_once(tmp_path: Path, secret: str, body: Any) -> None:
    async with inbox(tmp_path) as one:
        for _ in range(2):
            await one.post(body, **{"x-solapi-secret": secret})

        assert one.stored == [Receipt("M1", Outcome.DELIVERED), Receipt("M2", Outcome.NOT_A_USER)]


@pytest.mark.parametrize(
    "body",
    [
        [report(code="2000"), report(code="3000"), report(code="")],
        [report(own_id=None), report(own_id="of another system")],
        [],
    ],
)
async def test_messages_without_a_result_and_of_others_are_ignored(tmp_path: Path, body: Any) -> None:
    async with inbox(tmp_path) as one:
        await one.post(body)
        await one.post([{"groupId": "G1"}], **{"x-solapi-event-name": "GROUP-REPORT"})

        assert one.stored == []


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        ({"x-solapi-secret": "wrong"}, [report()], Code.UNAUTHORIZED),
        ({"x-solapi-secret": ""}, [report()], Code.UNAUTHORIZED),
        ({"x-solapi-secret": "시크릿"}, [report()], Code.UNAUTHORIZED),
        ({}, b"not JSON", Code.INVALID_JSON),
        ({}, {"messageId": "M1"}, Code.INVALID_JSON),
        ({}, [{"statusCode": "4000"}], Code.INVALID_JSON),
        ({}, [event({"statusCode": "4000"})], Code.INVALID_JSON),
        ({}, [event(None)], Code.INVALID_JSON),
        ({}, ["M1"], Code.INVALID_JSON),
    ],
)
async def test_bad_call_is_refused(tmp_path: Path, headers: dict[str, str], body: Any, code: Code) -> None:
    async with inbox(tmp_path) as one:
        with pytest.raises(Refused) as refused:
            await one.post(body, **headers)

        assert (refused.value.code, one.stored) == (code, [])


async def test_webhooks_are_refused_without_a_secret(tmp_path: Path) -> None:
    async with inbox(tmp_path, webhook_secret="") as one:
        with pytest.raises(Refused) as refused:
            await one.post([report()])

        assert refused.value.code is Code.NOT_FOUND


async def test_polling_reads_every_page_and_reports_each_result_once(tmp_path: Path) -> None:
    async with inbox(tmp_path, webhook_secret="") as one:
        one.fixture.relay.behavior.max_limit = 7
        running = asyncio.create_task(one.carrier.run(one.keep))
        await asyncio.sleep(1)
        attempts = [
            Attempt(number.to_bytes(16, "big"), 1, 1, Product.SMS, f"0102{number:07}", SENDER, None, "안녕")
            for number in range(1, 51)
        ]
        verdicts = await submit(one.carrier, attempts)
        await asyncio.sleep(120)
        running.cancel()
        await asyncio.wait([running])

        references = [each.reference for each in verdicts if isinstance(each, Accepted)]
        assert sorted(each.reference for each in one.stored) == sorted(map(str, references))
        assert len(one.stored) == 50


@pytest.mark.parametrize("is_wrapped", [True, False])
async def test_report_ends_a_message_long_before_it_is_polled(
    tmp_path: Path, fixture: Solapi, is_wrapped: bool
) -> None:
    relay = fixture.relay
    relay.has_hooks, relay.behavior.wraps_reports = True, is_wrapped
    async with fixture.running(tmp_path, webhook_secret=SECRET) as env:
        call = await fixture.add_channel(env)
        await call_ok(call, "message/sendSMS", sms_body())
        await env.wait(2)
        relay.process_due()
        relay.webhooks.set("https://pabal.example/hooks/relay", SECRET)
        relay.webhooks.collect()
        (post,) = relay.webhooks.posts
        before = await outcomes_for(call)
        headers = {name.lower(): value for name, value in relay.webhooks.headers().items()}
        answer = await call("/hooks/relay", post.body, method="POST", headers=headers)

        assert (before, answer.result) == (["sms sending"], "SUCCESS")
        assert await outcomes_for(call) == ["sms completed 1000"]


@pytest.mark.parametrize(("secret", "result"), [(SECRET, "SUCCESS"), ("", "NOT_FOUND")])
async def test_address_can_be_checked_from_outside_if_it_is_set(
    tmp_path: Path, fixture: Solapi, secret: str, result: str
) -> None:
    async with fixture.running(tmp_path, webhook_secret=secret) as env:
        call = await env.caller()

        assert (await call("/hooks/relay", method="GET")).result == result
        unsigned = await call("/hooks/relay", b"[]", method="POST")
        assert unsigned.result == ("UNAUTHORIZED" if secret else "NOT_FOUND")

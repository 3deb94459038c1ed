"""No cache keeps long input: a caller could fill the memory with it."""

import gc
import tracemalloc
from typing import Any

import pytest

from pabal.service.setup_cache import SetupCache
from tests.fixtures.console import Browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import alimtalk_body, friendtalk_body, sms_body

LONG = 1_000_000


async def test_requests_with_long_headers_and_fields_leave_nothing_behind(env: Environment, call: Caller) -> None:
    browser = Browser(env.service)

    async def send(number: int) -> None:
        blanks = f"{number}" + " " * LONG
        fields: dict[str, Any] = {"sender": f"02-123-45{number:02}{blanks[2:]}", "sendDate": blanks}
        await call("message/sendSMS", sms_body(**fields))
        await call("message/sendLMS", sms_body(content=f"#{{{blanks}}}", subject="#{a}" * (LONG // 4)))
        await call("message/list", {"receivers": blanks, "requestDate": f"2026-11-15{blanks}~"})
        headers = {"accept-language": f"en;q=0.{number}{blanks}", "content-type": f"application/json;{blanks}"}
        await call("message/sendSMS", sms_body(), headers=headers)
        await browser.get(f"/console/history?x={number}{'x' * LONG}")
        await browser.get("/console/history", hx_request="true", hx_current_url=f"/{blanks}")

    await send(0)
    tracemalloc.start()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]

    for number in range(1, 6):
        await send(number)

    gc.collect()
    pinned = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert pinned < LONG, f"{pinned:,} bytes are still held"


@pytest.mark.settings(check_sender_numbers=True)
async def test_look_ups_of_what_does_not_exist_leave_nothing_behind(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    await call("message/sendAlimtalk", alimtalk_body(alimtalk_key))
    every = (each for each in gc.get_objects() if isinstance(each, SetupCache))
    caches = [each for each in every if each._changes is env.context.setup.changes]
    before = [len(each) for each in caches]
    assert len(caches) == 5, "keys, limits, numbers, profiles, templates"

    for number in range(20):
        unknown = Caller(env.service, f"pb_{number:040}")
        assert (await unknown("message/sendSMS", sms_body())).result == "UNAUTHORIZED"
        await call("message/sendSMS", sms_body(sender=f"02-1234-{number:04}"))
        await call("message/sendFriendtalk", friendtalk_body(f"{number:040}" + "x" * LONG))
        await call("message/sendAlimtalk", alimtalk_body(alimtalk_key, templateCode=f"{number}" + "x" * LONG))

    assert [len(each) for each in caches] == before

"""No personal data in logs: searches them for numbers, texts, values, tokens and keys from the calls."""

import gc
import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from pabal.store.accounts import accounts
from pabal.store.engine.base import StoreUnavailable, Tx
from tests.fixtures.engines import sqlite_only
from tests.fixtures.planted import (
    RECEIVER,
    SENDER,
    TEXT,
    check_no_secrets,
    lines,
)
from tests.fixtures.virtual import Environment, VirtualWorld, open_store
from tests.fixtures.web import FailingStore, RunScenario, call_ok, sms_body

__all__ = ["lines"]


def test_no_outcome_of_a_message_leaves_personal_data_in_the_log(
    run_scenario: RunScenario, lines: list[io.StringIO]
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        numbers = [f"010-0000-000{digit}" for digit in range(1, 9)]
        await call_ok(call, "message/sendSMS", sms_body(*numbers, content=TEXT, sender=SENDER))
        await env.wait(3600)
        await env.store.write(accounts.revoke_key, 1, env.world.now())
        await env.wait(1)
        await call("message/sendSMS", sms_body(content=TEXT))

    run_scenario(scenario)

    check_no_secrets(lines, "0000-0005", "00000005")


@pytest.mark.parametrize("trouble", [RuntimeError(f"{TEXT} {RECEIVER}"), StoreUnavailable("OSError")])
def test_delivery_error_is_logged_without_personal_data(
    run_scenario: RunScenario, tmp_path: Path, lines: list[io.StringIO], trouble: Exception
) -> None:
    world = VirtualWorld()
    store = FailingStore(open_store(tmp_path, world))

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        for wait_s in (0, 0.001, 0.1, 0.31):
            await call_ok(call, "message/sendSMS", sms_body(RECEIVER, content=TEXT, sender=SENDER))
            await env.wait(wait_s)
            store.write_error = trouble
            await env.wait(15)
            store.write_error = None
            await env.wait(15)
        found = await call("message/list", {"receivers": RECEIVER})
        assert {each["sendingStatus"]["value"] for each in found.items} == {"completed"}

    run_scenario(scenario, world=world, store=store)
    gc.collect()

    check_no_secrets(lines)


def _logged_levels(streams: list[io.StringIO]) -> set[Any]:
    return {json.loads(line)["level"] for line in streams[1].getvalue().splitlines()}


def test_refused_requests_are_logged_by_path_result_and_id(
    run_scenario: RunScenario, lines: list[io.StringIO]
) -> None:
    ids: list[str] = []

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body())
        ids.append((await call("message/sendSMS", {})).headers["x-request-id"])

    run_scenario(scenario)

    requests = [json.loads(line) for line in lines[1].getvalue().splitlines() if '"request"' in line]
    (request,) = [each for each in requests if each["event"] == "request"]
    assert request["path"] == "/api/message/sendSMS.v1.0"
    assert (request["result"], request["status"]) == ("MISSING_PARAMETER", 400)
    assert [request["request_id"]] == ids
    assert "error" not in _logged_levels(lines)


@sqlite_only
async def test_outage_of_the_store_is_logged_at_its_beginning_and_its_end(
    env: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    def limit_pages(tx: Tx, limit: int | None) -> None:
        (pages,) = tx.fetch_one("pragma page_count") or (0,)
        tx.fetch_all(f"pragma max_page_count = {limit or pages}")

    call = await env.caller()
    large = sms_body(*(f"0101234{number:04}" for number in range(1000)))
    await env.store.write(limit_pages, None)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            assert (await call("message/sendSMS", large)).status == 503
            await env.wait(1)
        await env.store.write(limit_pages, 1_000_000)
        await env.wait(60)
        await call_ok(call, "message/sendSMS", large)

    told = [record for record in caplog.records if record.name == "pabal.store"]
    assert [record.message.partition(";")[0] for record in told] == ["store unavailable", "store available again"]
    assert vars(told[0])["error"] == "FullError"
    refused = [record for record in caplog.records if vars(record).get("result") == "SERVICE_UNAVAILABLE"]
    assert len(refused) == 3, "one line for each refused send"
    assert not [record for record in caplog.records if record.levelno > logging.INFO and record not in told]

"""Canaries: what callers and people entrust to the service is in no log, metric or refusal."""

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.people.user import Role
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.console import Browser, make_user, signed_in_browser
from tests.fixtures.console_upload import send_campaign, upload_file
from tests.fixtures.planted import (
    PLANTED_NUMBERS,
    PLANTED_TEXTS,
    RECEIVER,
    TEXT,
    WRONG_TOKEN,
    call_with_secrets,
    check_no_secrets,
    find_canaries,
    lines,
)
from tests.fixtures.virtual import ApiResponse, Caller, Environment, VirtualWorld, open_store
from tests.fixtures.web import FailingStore, RunScenario, sms_body

__all__ = ["lines"]

PASSWORD = "비밀번호BLORPLE1"
USER_NAME = "kim-QUENDOR"
CELL = "비밀칸ZEMDOR"
NUMBER_IN_FILE = "010-5938-2716"
OWN = (PASSWORD, CELL, "5938")
LOG = logging.getLogger("pabal.canary")


class RecordingCaller(Caller):
    """A caller that records every answer that is a refusal."""

    refusals: list[str]

    async def __call__(self, operation: str, *args: Any, **options: Any) -> ApiResponse:
        answer = await super().__call__(operation, *args, **options)
        if isinstance(answer.body, dict) and answer.body.get("result") != "SUCCESS":
            self.refusals.append(json.dumps(answer.body, ensure_ascii=False))
        return answer


async def recording_caller(env: Environment) -> RecordingCaller:
    call = RecordingCaller(env.service, (await env.caller()).key)
    call.refusals = []
    return call


async def read_metrics(env: Environment) -> str:
    """Return names and labels of metrics; their values, such as bytes of memory, may have any digits by chance."""
    answer = await Caller(env.service, None)("/metrics", method="GET")
    assert isinstance(answer.body, bytes)
    return "\n".join(
        line if line.startswith("#") else line.rpartition(" ")[0] for line in answer.body.decode().splitlines()
    )


def check_text(text: str, *secrets: str) -> None:
    """Assert that no canary is in a text."""
    assert find_canaries(text, *OWN, *secrets) == set()


LEAKS = {
    "message": lambda: LOG.warning("refused %s", RECEIVER),
    "field": lambda: LOG.warning("refused", extra={"receiver": RECEIVER.replace("-", "")}),
    "nested field": lambda: LOG.info("refused", extra={"fields": [{"text": TEXT}]}),
    "representation": lambda: LOG.error("bad body %r", TEXT.encode()),
    "escaped": lambda: LOG.error("bad body %s", json.dumps({"name": PASSWORD})),
    "other logger": lambda: logging.getLogger("httpx").error("POST /%s", WRONG_TOKEN),
    "debug": lambda: LOG.debug("%s", [NUMBER_IN_FILE]),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_search_finds_a_canary_that_is_logged(lines: list[io.StringIO], kind: str) -> None:
    """A search that cannot find anything would pass as well."""
    LOG.warning("nothing special", extra={"status": 400})
    check_no_secrets(lines, *OWN)

    LEAKS[kind]()

    with pytest.raises(AssertionError):
        check_no_secrets(lines, *OWN)


@pytest.mark.parametrize("canary", [*PLANTED_TEXTS, *PLANTED_NUMBERS, *OWN])
def test_search_finds_every_canary_in_a_text(canary: str) -> None:
    for text in (f"a{canary}b", json.dumps([canary]), repr(canary.encode())):
        with pytest.raises(AssertionError):
            check_text(text)
    check_text("nothing special")


@pytest.mark.parametrize("is_good", [True, False], ids=["success", "failure"])
def test_no_canary_is_in_logs_metrics_or_refusals(
    run_scenario: RunScenario, lines: list[io.StringIO], is_good: bool
) -> None:
    secrets: list[str] = []

    async def scenario(env: Environment) -> None:
        call = await recording_caller(env)
        secrets.extend(await call_with_secrets(call, is_good=is_good))
        await env.wait(60)
        assert call.refusals
        check_text("\n".join(call.refusals), *secrets)
        check_text(await read_metrics(env), *secrets)

    run_scenario(scenario, log_requests="all")

    check_no_secrets(lines, *OWN, *secrets)
    called = {json.loads(line).get("path") for line in lines[1].getvalue().splitlines()}
    assert {endpoint.path for endpoint in ENDPOINTS} <= called


def test_no_canary_of_the_console_is_in_logs_or_metrics(
    run_scenario: RunScenario, lines: list[io.StringIO]
) -> None:
    async def scenario(env: Environment) -> None:
        stranger = Browser(env.service)
        await make_user(env, Role.OWNER, name=USER_NAME)
        for _ in range(3):
            await stranger.submit("/console/login", name=USER_NAME, password=PASSWORD)
            await stranger.submit("/console/login", name=PASSWORD, password=PASSWORD)
        owner = await signed_in_browser(env)
        await owner.get(f"/console/history?receiver={NUMBER_IN_FILE}&text={CELL}")
        await owner.get(f"/console/{CELL}")
        await owner.submit("/console/send", kind="sms", content=TEXT, receivers=f"{RECEIVER}\n{NUMBER_IN_FILE}x")
        file = f"전화번호,이름\n{NUMBER_IN_FILE},{CELL}\n{NUMBER_IN_FILE}9,{CELL}\n"
        address = await upload_file(owner, file, f"{CELL}.csv")
        await send_campaign(owner, address)
        await env.wait(30)
        for number in (NUMBER_IN_FILE, f"{NUMBER_IN_FILE}9"):
            for action in ("", "/export", "/erase"):
                await owner.submit(f"/console/privacy{action}", number=number)
        check_text(await read_metrics(env))

    run_scenario(scenario, log_requests="all")

    check_no_secrets(lines, *OWN)


def test_no_canary_is_in_what_a_crash_leaves(
    run_scenario: RunScenario, tmp_path: Path, lines: list[io.StringIO], capfd: pytest.CaptureFixture[str]
) -> None:
    """An error that nobody expected, with personal data in its message, in calls, pages and background work."""
    world = VirtualWorld()
    store = FailingStore(open_store(tmp_path, world))

    async def scenario(env: Environment) -> None:
        call = await recording_caller(env)
        owner = await signed_in_browser(env)
        await call("message/sendSMS", sms_body(RECEIVER, content=TEXT))
        store.error = RuntimeError(f"{TEXT} {RECEIVER} {WRONG_TOKEN} {PASSWORD} {call.key}")
        for operation, body in (
            ("message/sendSMS", sms_body(RECEIVER, content=TEXT)),
            ("privacy/erase", {"phoneNumber": RECEIVER}),
            ("privacy/export", {"phoneNumber": RECEIVER}),
        ):
            assert (await call(operation, body)).result == "INTERNAL_ERROR"
        page = await owner.get("/console/history")
        assert page.status == 500
        check_text(page.text)
        await env.wait(30)
        store.error = None
        check_text("\n".join(call.refusals), str(call.key))
        check_text(lines[0].getvalue(), str(call.key))

    run_scenario(scenario, world=world, store=store)

    check_no_secrets(lines, *OWN)
    check_text("".join(capfd.readouterr()))
    assert lines[0].getvalue().count("unhandled error") >= 4
    assert "error=RuntimeError" in lines[0].getvalue()
    assert "web.py" in lines[0].getvalue(), "the place in the code"

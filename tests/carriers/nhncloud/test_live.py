"""The real service and the fake NHN Cloud, both started by their commands, over real sockets."""

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from pabal.settings.settings import load
from pabal.store.open_store import open_store
from pabal.world import RealWorld
from tests.fakes.nhncloud import channel
from tests.fakes.nhncloud.__main__ import CONTENT, TEMPLATE
from tests.fixtures.live import LiveService, run, serving, wait_until, zone_at_noon
from tests.fixtures.processes import free_ports
from tests.fixtures.web import FALLBACK, NO_USER, friendtalk_body, image_body, receivers_of, sms_body

pytestmark = pytest.mark.slow

ACCOUNT = "acme"
SENDER = "1588-0000"
SIGNATURE = "a signature nobody guesses"
UNASSIGNED, OFF, PHONE = "010-0000-0001", "010-0000-0002", "010-2000-0001"
PRODUCTS = ("sms", "lms", "mms", "alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage")
NAMED = {"templateData": {"이름": "길동"}}
MAX_LINES = 100


class Documented(NamedTuple):
    """The fake server, as described by its command's output."""

    address: str
    table: str
    """The settings table that it prints."""
    sender_key: str


class Scenario(NamedTuple):
    """A running service, and the relay behind it."""

    live: LiveService
    client: httpx.Client
    relay: Documented


@contextlib.contextmanager
def documented(*words: str) -> Iterator[Documented]:
    """Run the command of the fake server until the end of the block."""
    command = [sys.executable, "-m", "tests.fakes.nhncloud", "--port", "0", *words]
    last = "webhook_signature" if "--webhook" in words else "talk_address"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout
        try:
            greeting = ""
            for line, _ in zip(process.stdout, range(MAX_LINES), strict=False):
                greeting += line
                if line.startswith(last):
                    break
            address, sender_key = (re.search(each, greeting) for each in (r"http://[\d.:]+", r"[0-9a-f]{40}"))
            assert address, greeting
            assert sender_key, greeting
            yield Documented(address[0], greeting[greeting.index("[carriers.relay]") :], sender_key[0])
        finally:
            process.terminate()


@pytest.fixture(params=["webhook", "asking"])
def scenario(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scenario]:
    """The service with the printed settings; it gets results by polling or by webhook."""
    data, config, port = tmp_path / "data", tmp_path / "pabal.toml", free_ports()
    hook = ("--webhook", f"http://127.0.0.1:{port}/hooks/relay", "--signature", SIGNATURE)
    with documented(*(hook if request.param == "webhook" else ())) as relay:
        routes = "\n".join(f'{product} = ["relay"]' for product in PRODUCTS)
        top = f'check_sender_numbers = false\nzone = "{zone_at_noon()}"'  # friend talk goes out as advertising
        config.write_text(f"{top}\n[routes]\n{routes}\n\n{relay.table}", encoding="utf-8")
        key = run("key", "create", "--account", ACCOUNT, data=data).stdout.strip()
        asyncio.run(_open_channel(data, relay.sender_key))
        with serving(data, "--port", str(port), config=config) as live, live.client(key) as client:
            yield Scenario(live, client, relay)
            assert live.stop() == 0
    log = live.log.read_text(encoding="utf-8")
    assert '"error"' not in log
    assert not any(secret in log for secret in ("AppKey", "Secret", SIGNATURE))


async def _open_channel(data: Path, sender_key: str) -> None:
    world = RealWorld()
    store = open_store(load({}, None, data=data), world)
    template = (TEMPLATE, CONTENT)
    await store.write(channel.add_to_store, ACCOUNT, world.now(), sender_key=sender_key, template=template)
    await store.close()


def _send(scenario: Scenario, operation: str, body: dict[str, Any]) -> str:
    answer = scenario.client.post(f"/api/message/{operation}.v1.0", json=body).json()
    assert answer["result"] == "SUCCESS", answer
    return str(answer["item"]["requestId"])


def _ends(scenario: Scenario, request_id: str) -> list[str]:
    """Return the status of a request's messages, in the order of receivers, fallbacks last."""
    items = scenario.client.get("/api/message/request.v1.0", params={"requestId": request_id}).json()["items"]
    items.sort(key=lambda each: each["messageId"])
    return [
        " ".join((each["messageProductType"]["value"], each["sendingStatus"]["value"], _code(each))).strip()
        for each in items
    ]


def _code(record: dict[str, Any]) -> str:
    return str((record.get("resultCode") or {}).get("value", ""))


@pytest.mark.first_case
def test_every_product_is_sent_and_its_result_read(scenario: Scenario) -> None:
    key = scenario.relay.sender_key
    alimtalk = {"senderKey": key, "templateCode": TEMPLATE}
    fallback = {**FALLBACK, "resendPhoneNumber": SENDER}
    expected = {
        _send(scenario, "sendSMS", sms_body(PHONE, UNASSIGNED, OFF, sender=SENDER)): [
            "sms completed 1000",
            "sms fail 3003",
            "sms fail 2003",
        ],
        _send(scenario, "sendLMS", sms_body(PHONE, subject="제목", sender=SENDER)): ["lms completed 1000"],
        _send(scenario, "sendMMS", sms_body(PHONE, image=image_body(51_200), sender=SENDER)): [
            "mms completed 1000"
        ],
        _send(
            scenario, "sendAlimtalk", {**alimtalk, "receivers": receivers_of(PHONE, NO_USER, **NAMED), **fallback}
        ): [
            "alimTalk completed 1000",
            "alimTalk fail 3019",
            "sms completed 1000",
        ],
        _send(scenario, "sendFriendtalk", friendtalk_body(key, PHONE, image=image_body(2000))): [
            "friendTalkImage completed 1000"
        ],
    }

    wait_until(lambda: {each: _ends(scenario, each) for each in expected}, lambda seen: seen == expected)

    page = httpx.get(f"{scenario.relay.address}/").text
    unsigned = httpx.post(
        f"{scenario.live.base_url}/hooks/relay", json={"event": "MESSAGE_RESULT_UPDATE", "hooks": []}
    )
    assert "길동님, 가입해 주셔서 고맙습니다." in page
    assert unsigned.json()["result"] == ("UNAUTHORIZED" if "webhook" in scenario.relay.table else "NOT_FOUND")

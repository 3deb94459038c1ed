"""The fake NHN Cloud: injected faults, webhooks and its page."""

import os
import signal
import subprocess
import sys
import tomllib
from typing import Any

import httpx
import pytest

from pabal.settings.carrier_tables import read_carriers
from tests.fakes.nhncloud.calling import Caller, sms_body
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.relay_server import RelayTransport
from tests.fixtures.virtual import VirtualWorld

PHONE = "01012345678"
SEND = "sender/sms"


async def test_page_escapes_everything_and_its_buttons_work() -> None:
    relay = FakeNhnCloud(VirtualWorld().now, review_after_s=None)
    caller = Caller(relay)
    key = relay.add_profile("@<b>등대").sender_key
    body = {"templateCode": "t1", "templateName": "<script>", "templateContent": "글"}
    await caller.alimtalk("POST", f"senders/{key}/templates", body)
    await caller.sms("POST", SEND, sms_body(PHONE, body="<img src=x>"))
    await caller.alimtalk(
        "POST", "senders", {"plusFriendId": "@new", "phoneNo": PHONE, "categoryCode": "00100010001"}
    )
    async with httpx.AsyncClient(transport=RelayTransport(relay), base_url="http://relay.invalid") as person:
        page = (await person.get("/")).text
        for unsafe in ("<script", "<img", "<b>"):
            assert unsafe not in page
        for shown in ("&lt;img src=x&gt;", str(relay.last_token), key):
            assert shown in page
        form = {"do": "approve", "sender": key, "code": "t1"}
        assert (await person.post("/console", data=form)).status_code == 302
        assert relay.templates[key, "t1"].current.status == "TSC03"
        assert (await person.post("/console", data={**form, "do": "remove template"})).status_code == 302
        assert relay.templates == {}
        assert (await person.post("/console", data=form)).status_code == 404


@pytest.mark.slow
def test_command_prints_settings_and_listens() -> None:
    command = [sys.executable, "-m", "tests.fakes.nhncloud", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment) as process:
        assert process.stdout
        lines: list[str] = []
        while not (lines and lines[-1].startswith("talk_address")):
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        table = tomllib.loads("".join(lines[lines.index("[carriers.relay]\n") :]))["carriers"]
        relay: Any = read_carriers(table, {})["relay"]
        answer = httpx.get(f"{relay.sms_address}/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

    assert "NHN Cloud" in answer.text

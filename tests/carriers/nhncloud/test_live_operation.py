"""What an operator and a caller are told by the real service about limits of the fake NHN Cloud."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.nhncloud import subprocess_server
from tests.fixtures.brand_bodies import sized_image
from tests.fixtures.live import LiveService, run, serving, wait_until
from tests.fixtures.web import PHONE, sms_body

pytestmark = pytest.mark.slow

SENT, LIMIT = 5, 3
QUOTA = "the organisation has used up its monthly quota of texts (-2052); NHN Cloud's support can raise it"
WAITING = f"<strong>대기 {SENT - LIMIT}건</strong>"
STATE = "/console/operate/state"


@pytest.fixture(scope="module")
def relay() -> Iterator[subprocess_server.ServerProcess]:
    """The fake server, which takes a few texts a month."""
    with subprocess_server.running(texts_per_month=LIMIT) as running:
        yield running


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory, relay: subprocess_server.ServerProcess) -> Path:
    """Settings that route everything to the fake server."""
    file = tmp_path_factory.mktemp("live") / "pabal.toml"
    file.write_text(f"check_sender_numbers = false\n{relay.settings(poll_seconds=1)}", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def live(config: Path) -> Iterator[LiveService]:
    """The service with these settings, on its first start."""
    with serving(config.parent / "data", config=config) as running:
        yield running


def sign_in(live: LiveService, client: httpx.Client) -> None:
    """Sign in to the console as the user of the first start."""
    (password,) = re.findall(r"password  +(\S+)", live.greeting)
    (csrf, *_) = re.findall(r'name="csrf" value="(\w+)"', client.get("/console/login").text)
    client.post("/console/login", data={"csrf": csrf, "name": "admin", "password": password})


def send(live: LiveService, operation: str, body: dict[str, Any]) -> Any:
    with live.client() as client:
        return client.post(f"/api/message/{operation}.v1.0", json=body).json()


def test_used_up_quota_is_told_by_doctor_and_by_the_status_page(
    live: LiveService, config: Path, relay: subprocess_server.ServerProcess
) -> None:
    before = wait_until(
        lambda: run("doctor", "--config", str(config), data=live.data),
        lambda found: "not connected yet" not in found.stdout,
    )
    numbers = [f"010-2000-{number:04}" for number in range(SENT)]
    answer = send(live, "sendSMS", sms_body(*numbers, sender="0212345678"))
    assert (before.returncode, answer["result"]) == (0, "SUCCESS"), before.stdout
    with httpx.Client(base_url=live.base_url, timeout=30) as console:
        sign_in(live, console)
        page = wait_until(lambda: console.get(STATE).text, lambda shown: "quota" in shown and WAITING in shown)
        found = run("doctor", "--config", str(config), data=live.data)

        row = re.search(r'<h3>relay .*?<span class="state (\w+)">.*?"reason">(.*?)(?: <small>|</p>)', page, re.S)
        assert row is not None
        assert (row[1], row[2].replace("&#39;", "'")) == ("partly", QUOTA)
        assert found.returncode == 1
        assert re.search(
            rf"WRONG the carrier relay has been working only in part since [^:]+:\d\d:\d\d: {re.escape(QUOTA)}",
            found.stdout,
        )
        assert "It works again when the quota ends, or when the relay raises it" in found.stdout
    assert relay.stats().messages == LIMIT


@pytest.mark.torture
def test_picture_with_too_many_pixels_is_refused_in_words_people_understand(live: LiveService) -> None:
    refusal = send(live, "sendMMS", sms_body(sender="0212345678", image=sized_image(1200, 900, 51_201)))
    with live.client() as client:
        listed = client.post("/api/message/list.v1.0", json={"receivers": PHONE}).json()

    assert refusal["result"] == "INVALID_IMAGE"
    assert [problem["field"] for problem in refusal["errors"]] == ["image.body"]
    assert "그림은 1,000 × 1,000픽셀 이하여야 합니다. 지금은 1,200 × 900픽셀입니다." in refusal["resultMessage"]
    assert listed["totalCount"] == 0

"""Carries out the commands of the page nhncloud-endpoints on a running service."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.engines import sqlite_only
from tests.fixtures.live import STOP_TIMEOUT_S, LiveService, command, serving
from tests.fixtures.pages import blocks, read_text_of_the_program, section, start_of

pytestmark = [pytest.mark.slow, sqlite_only]
PAGE = section("nhncloud-endpoints")
CREATE_KEY, CREATE_SECRETLESS, SEND, EXPORT = blocks(PAGE)
(CONFIG,) = blocks(PAGE, "toml")
SECRET = "aB3dE5fG"
ADDRESS = "https://pabal.example.com"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveService]:
    """The service with the settings of the page."""
    config = tmp_path / "pabal.toml"
    config.write_text(f"check_sender_numbers = false\n{CONFIG}", encoding="utf-8")
    with serving(tmp_path / "data", config=config) as running:
        yield running


def create_key(live: LiveService, line: str, *more: str, given: str = "", account: str = "shop") -> list[str]:
    """Carry out a command of the page, for its account or another, and return the lines that it prints."""
    words = [*shlex.split(line.removeprefix(".venv/bin/pabal ").replace("shop", account)), *more]
    assert words[:2] == ["key", "create"]
    made = subprocess.run(
        **command(*words, data=live.data), input=given, capture_output=True, timeout=STOP_TIMEOUT_S, check=True
    )
    return str(made.stdout).split()


def send(live: LiveService, script: str, **values: str) -> Any:
    done = subprocess.run(
        ["bash", "-ec", script.replace(ADDRESS, live.base_url)],
        env={**os.environ, **values},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def test_keys_of_the_page_send_the_text_of_the_page(live: LiveService) -> None:
    (app_key,) = create_key(live, CREATE_KEY, "--new-account", given=f"{SECRET}\n")
    (secretless,) = create_key(live, CREATE_SECRETLESS)
    without = re.sub(r'-H "X-Secret-Key: \$SECRET_KEY" ', "", SEND).replace("v3.0", "v2.4")
    answers = [
        send(live, SEND, APP_KEY=app_key, SECRET_KEY=SECRET),
        send(live, without, APP_KEY=secretless),
        send(live, without, APP_KEY=app_key),
        send(live, SEND, APP_KEY=app_key, SECRET_KEY="wrong"),
    ]

    assert [each["header"]["resultCode"] for each in answers] == [0, 0, -1000, -1000]
    assert all(answers[0]["body"]["data"]["requestId"] for each in answers[:2])


@pytest.mark.parametrize(
    "name", ["send.mjs", "send.py", pytest.param("Send.java", marks=pytest.mark.torture), "send.php"]
)
def test_program_of_the_page_sends_through_the_service(live: LiveService, name: str) -> None:
    start = start_of(PAGE, "nhncloud", name)
    (app_key,) = create_key(live, CREATE_KEY, given=f"{SECRET}\n", account="first")

    def run(receiver: str, secret: str = SECRET) -> "subprocess.CompletedProcess[str]":
        script = f"{EXPORT}exec {start} {receiver}".replace(ADDRESS, live.base_url)
        given = {**os.environ, "APP_KEY": app_key, "SECRET_KEY": secret}
        return subprocess.run(["bash", "-ec", script], env=given, capture_output=True, text=True, timeout=120)

    sent, wrong, closed = run("01070000001"), run("1234"), run("01070000001", "wrong")

    assert sent.returncode == 0, sent.stdout + sent.stderr
    assert "01070000001" in sent.stdout
    assert (wrong.returncode, closed.returncode) == (1, 1) if name != "send.php" else (1, 255)
    phone = read_text_of_the_program(live.base_url, live.key, "01070000001")
    assert phone == ("02-1234-5678", "주문하신 상품이 출발했습니다.")


def test_what_is_not_given_is_made_and_printed(live: LiveService) -> None:
    app_key, secret = create_key(live, ".venv/bin/pabal key create --account shop --kind nhncloud", "--new-account")
    url = f"{live.base_url}/compat/nhncloud/sms/v3.0/appKeys/{app_key}/sendNos"
    codes = [
        httpx.get(url, headers={"X-Secret-Key": each}).json()["header"]["resultCode"] for each in (secret, "wrong")
    ]

    assert codes == [0, -1000]

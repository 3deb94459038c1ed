"""Carries out the commands of the page solapi-endpoints on a running service."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import Any

import httpx
import pytest

from docs import generate
from tests.compat.clients.conftest import Solapi
from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.fixtures import live

PAGE = (generate.DOCS / "how-to" / "solapi-endpoints.md").read_text(encoding="utf-8")
CREATE_KEY, SEND, EXPORT = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SECRET = "a-secret-that-the-program-has"


def test_key_of_the_page_sends_the_message_of_the_page(relay: Solapi) -> None:
    words = shlex.split(CREATE_KEY.removeprefix(".venv/bin/pabal "))
    assert words[:2] == ["key", "create"]
    account = [*words, "--new-account"]
    made = subprocess.run(
        **live.command(*account, data=relay.data, config=relay.config),
        input=f"{SECRET}\n",
        capture_output=True,
        check=True,
        timeout=live.STOP_TIMEOUT_S,
    )
    environment = {**os.environ, "KEY": made.stdout.strip(), "SECRET": SECRET}
    script = SEND.replace("https://pabal.example.com/compat/solapi", relay.address)
    sent = subprocess.run(["bash", "-ec", script], env=environment, capture_output=True, check=True, timeout=60)

    answer = json.loads(sent.stdout)
    assert (answer["statusCode"], answer["type"], answer["to"]) == ("2000", "SMS", "01012345678")


PROGRAMS = {
    "send.cjs": ("node", NODE),
    "send.py": ("python", sys.executable),
    "Send.java": ("java", shutil.which("java")),
    "send.php": ("php", shutil.which("php")),
}
"""The programs of the page, and what runs them."""


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=list(PROGRAMS))
def test_program_of_the_page_sends_through_the_service(relay: Solapi, number: int) -> None:
    name, (command, runtime) = list(PROGRAMS.items())[number]
    assert f"`{command} {name} 01012345678`" in PAGE
    assert f"(../examples/solapi/{name})" in PAGE
    if runtime is None:
        pytest.skip(f"not installed: {command}; run `make languages`, as root or with its packages")
    receiver = f"0107000000{number}"
    environment = {
        **os.environ,
        "NODE_PATH": str(PACKAGES),
        "KEY": relay.api_key,
        "SECRET": relay.api_secret,
    }
    export = EXPORT.replace("https://pabal.example.com/compat/solapi", relay.address)
    program = generate.DOCS / "examples" / "solapi" / name
    script = f"{export}exec {shlex.quote(str(runtime))} {shlex.quote(str(program))} {receiver}"
    ran = subprocess.run(["bash", "-ec", script], env=environment, capture_output=True, text=True, timeout=120)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "G4V" in ran.stdout
    (phone,) = _read_phone(relay, receiver)
    assert (phone["from"], phone["content"]) == ("02-1234-5678", "주문하신 상품이 출발했습니다.")


def _read_phone(relay: Solapi, number: str) -> list[Any]:
    """Return what a simulated phone has, once there is something."""

    def read() -> Any:
        query = {"phoneNumber": number}
        address = f"{relay.base_url}/api/simulator/phone.v1.0"
        return httpx.get(address, params=query, headers={"apiKey": relay.own_key}).json()["items"]

    found: list[Any] = live.wait_until(read, bool)
    return found

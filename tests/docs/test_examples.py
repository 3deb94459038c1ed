"""Executes the examples of the documents that callers follow, as written, on a running service.

A Korean page has the code of its English twin, which `tools/lint/korean.py` checks.
"""

import os
import re
import runpy
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from docs import generate
from tests.fixtures.live import LiveService, serving, wait_until, zone_at_noon
from tests.fixtures.pages import blocks, lines, section

ROOT = generate.DOCS.parent
ZONE = zone_at_noon()
REFUSALS = {
    "README.md": [],
    "docs/tutorial.md": ["MISSING_VARIABLE"],
    "docs/how-to/templates.md": [],
    "docs/how-to/one-time-codes.md": [],
    "docs/how-to/idempotency.md": [],
    "docs/how-to/scheduling-and-cancelling.md": [],
    "docs/how-to/look-up-messages.md": [],
    "docs/how-to/dry-run.md": [],
    "docs/how-to/advertising.md": [],
    "docs/how-to/error-handling.md": ["INVALID_PHONE_NUMBER"],
    "docs/how-to/sender-profiles.md": [],
    "docs/how-to/opt-outs.md": [],
}
"""The pages in the order in which they are followed, and what their examples are meant to be refused with."""
NOT_OF_A_CALLER = (".venv/bin/", "sleep ", "BASE=", "KEY=")
FIRST_CURSOR = (
    """NEXT_CURSOR=$(get '/api/message/results.v1.0?limit=1' | grep -o '"nextCursor":"[^"]*"' | cut -d'"' -f4)"""
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with serving(tmp_path_factory.mktemp("examples") / "data", zone=ZONE) as running:
        yield running


def test_examples_succeed_one_page_after_the_other(service: LiveService) -> None:
    answers = follow(service)

    assert {page: sorted(set(results) - {"SUCCESS"}) for page, results in answers.items()} == REFUSALS
    assert all("SUCCESS" in results for page, results in answers.items() if page != "docs/how-to/error-handling.md")
    records = wait_until(lambda: read_fallbacks(service), lambda found: len(found) == 2)
    assert {status for _, status in records} == {"completed"}


def test_python_example_sends_once_however_often_it_is_repeated(service: LiveService, tmp_path: Path) -> None:
    page = section("error-handling")
    (program,) = blocks(page, "python")
    (tmp_path / "example.py").write_text(program, encoding="utf-8")
    send = runpy.run_path(str(tmp_path / "example.py"))["send"]
    body = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}

    call = (service.base_url, service.key, "/api/message/sendSMS.v1.0")
    first, second = (send(*call, body, "order-1") for _ in range(2))
    refused = send(*call, {}, "order-2")

    assert first["result"] == "SUCCESS"
    assert first["item"] == second["item"]
    assert refused["result"] == "MISSING_PARAMETER"


def follow(service: LiveService) -> dict[str, list[str]]:
    """Run the commands of all pages in one shell; return the results of the answers by page."""
    today = datetime.now(ZoneInfo(ZONE)).date()
    program = []
    for page in REFUSALS:
        text = (ROOT / page).read_text(encoding="utf-8")
        text = text.replace("2026-11-01", str(today.replace(day=1))).replace("2026-11-30", str(today))
        kept = [line for line in lines(text) if not line.startswith(NOT_OF_A_CALLER)]
        program += [f"printf '\\n== {page}\\n'", *([FIRST_CURSOR] if "look-up" in page else []), *kept]
    shell = subprocess.run(
        ["bash", "-u"],
        input="\n".join(program),
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BASE": service.base_url, "KEY": service.key},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (shell.returncode, shell.stderr) == (0, "")
    pages = re.split(r"^== ", shell.stdout, flags=re.MULTILINE)[1:]
    return {page.splitlines()[0]: re.findall(r'"result":"(\w+)"', page) for page in pages}


def read_fallbacks(service: LiveService) -> list[tuple[str, str]]:
    """Return the fallbacks to the phone without KakaoTalk that have ended: of the README and of the tutorial."""
    with service.client() as client:
        answer = client.post("/api/message/list.v1.0", json={"receivers": "010-0000-0003"}).json()
    return [
        (each["messageId"], each["sendingStatus"]["value"])
        for each in answer["items"]
        if "originMessageId" in each and each["sendingStatus"]["value"] == "completed"
    ]

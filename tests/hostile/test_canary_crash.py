"""Canaries in a process that dies: neither its log nor what it prints has numbers, texts or keys."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.fixtures import live
from tests.fixtures.planted import PLANTED_TEXTS, RECEIVER, REFERENCE, SENDER, SUBJECT, TEXT, VALUE
from tests.fixtures.web import sms_body

SECRETS = (*PLANTED_TEXTS, *(form for each in (RECEIVER, SENDER) for form in (each, each.replace("-", "")[1:])))
"""Whole numbers: any four digits may be in the ids and times of a real process."""
ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60


def find_secrets(text: str, *secrets: str) -> list[str]:
    return [each for each in (*SECRETS, *secrets) if any(form in text for form in (each, json.dumps(each)[1:-1]))]


def test_search_finds_secrets_of_a_process() -> None:
    assert find_secrets(f"{TEXT} {RECEIVER}") == [TEXT, RECEIVER]
    assert find_secrets(json.dumps([VALUE, RECEIVER.replace("-", "")])) == [VALUE, RECEIVER.replace("-", "")[1:]]


def test_process_that_dies_of_an_error_tells_only_its_type_and_place(tmp_path: Path) -> None:
    """Python and asyncio would print the messages of errors and the arguments of callbacks."""
    died = subprocess.run(
        [sys.executable, "-m", "tests.fixtures.crashing_service", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )

    assert died.returncode == 1
    assert find_secrets(died.stdout + died.stderr) == []
    logged = [json.loads(line) for line in died.stderr.splitlines() if line.startswith("{")]
    told = [(each["event"], each["error"]) for each in logged if each["level"] == "error"]
    assert told == [
        ("unhandled error in the event loop", "LookupError"),
        ("unhandled error in the event loop", "RuntimeError"),
        ("unhandled error in a thread", "LookupError"),
        ("unhandled error in a finalizer", "ValueError"),
    ]
    assert "pabal: unexpected error OSError; please report it with these lines:" in died.stderr
    assert re.search(r"^  crashing_service.py:\d+ run_until_crash$", died.stderr, re.MULTILINE)


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads the limits of a process")
def test_no_canary_is_left_by_a_service_that_fails_and_is_killed(tmp_path: Path) -> None:
    """Its table is gone, so that calls and background loops fail; then it is aborted."""
    receivers = [{"phoneNumber": RECEIVER, "templateData": {"v": VALUE}, "reference": REFERENCE}]
    body = sms_body(content=f"{TEXT} #{{v}}", sender=SENDER, subject=SUBJECT, receivers=receivers)
    with live.serving(tmp_path / "data", log_requests="all", check_sender_numbers=False) as service:
        with service.client() as client:
            sent = client.post("/api/message/sendLMS.v1.0", json=body)
            assert sent.json()["result"] == "SUCCESS"
            drop_table(service.data, "messages")
            failed = client.post("/api/message/sendLMS.v1.0", json=body)
            asked = client.post("/api/privacy/export.v1.0", json={"phoneNumber": RECEIVER})
        live.wait_until(
            lambda: service.log.read_text(encoding="utf-8"), lambda seen: "background loop failed" in seen
        )
        limits = Path(f"/proc/{service.process.pid}/limits").read_text(encoding="utf-8")
        service.process.send_signal(signal.SIGABRT)
        status = service.process.wait(TIMEOUT_S)
        logged = service.log.read_text(encoding="utf-8")

    assert failed.status_code == 500
    assert find_secrets(failed.text + asked.text + logged, service.key) == []
    assert "background loop failed" in logged
    assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE)
    assert status == -signal.SIGABRT


def drop_table(data: Path, name: str) -> None:
    """Remove a table of a running service, as a broken disk might."""
    connection = apsw.Connection(str(data / "pabal.db"))
    connection.set_busy_timeout(10_000)
    connection.execute(f"drop table {name}")
    connection.close()

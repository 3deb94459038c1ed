"""The documented programs send a campaign once to each receiver, however often they are killed."""

import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pabal.client import Client, ListMessages
from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.fixtures import live

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MAX_LINES = 30
TIMEOUT_S = 300
each_program = pytest.mark.parametrize("program", ["campaign.py", "campaign.ts"])


def _command(folder: Path, program: str) -> list[str]:
    if program.endswith(".py"):
        return [sys.executable, str(EXAMPLES / program)]
    shutil.copy(EXAMPLES / program, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(PACKAGES)
    return [str(NODE), "--no-warnings", str(folder / program)]


def _kill_at(command: list[str], line: str) -> None:
    """Run a program until it prints a line that begins so, and kill it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout
        assert any(printed.startswith(line) for printed in process.stdout), f"it never said {line}"
        process.send_signal(signal.SIGKILL)


def _check_campaigns(folder: Path, program: str, count: int) -> None:
    with live.serving(folder / "data") as service:
        later = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%d %H:%M}"
        command = [*_command(folder, program), service.base_url, service.key, later, str(count)]

        _kill_at(command, f"now {count // 2 // 1000 * 1000}")
        _kill_at(command, "later 0")
        subprocess.run(command, check=True, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)

        with Client(service.base_url, service.key) as client:
            days = f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d}~"
            found = list(client.iterate(client.list_messages, ListMessages(requestDate=days)))
    by_campaign = {name: [each for each in found if each.reference == name] for name in ("now", "later")}
    for messages in by_campaign.values():
        assert len(messages) == len(Counter(each.receiver for each in messages)) == count
    assert {each.sendingStatus.value for each in by_campaign["now"]} == {"completed"}
    assert {each.sendingStatus.value for each in by_campaign["later"]} == {"cancel"}


@each_program
def test_program_is_short(program: str) -> None:
    assert (EXAMPLES / program).read_text(encoding="utf-8").count("\n") < MAX_LINES


@pytest.mark.first_case
@pytest.mark.slow
@each_program
def test_killed_campaign_reaches_everyone_once(tmp_path: Path, program: str) -> None:
    _check_campaigns(tmp_path, program, 2000)


@pytest.mark.torture
@each_program
def test_killed_campaign_of_ten_thousand_reaches_everyone_once(tmp_path: Path, program: str) -> None:
    _check_campaigns(tmp_path, program, 10_000)


@each_program
def test_programs_have_idempotency_keys_of_their_own(program: str) -> None:
    assert re.search(rf"[`\"]{program} \$?\{{campaign\}}", (EXAMPLES / program).read_text(encoding="utf-8"))

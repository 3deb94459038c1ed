"""Executes the commands of the page about the command line, as written, on a running service."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pabal.testing.account import TemporaryAccount
from pabal.testing.service import LocalService
from tests.fixtures.live import command, wait_until
from tests.fixtures.pages import lines, section


def test_commands_of_the_page_succeed(tmp_path: Path) -> None:
    commands = [line for line in lines(section("command-line")) if not line.startswith("export ")]
    program = "\n".join(commands).replace(".venv/bin/pabal", f"{sys.executable} -m pabal.cli")
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"
    with (
        LocalService(tmp_path / "data") as service,
        TemporaryAccount(service.base_url, service.create_account()) as account,
    ):
        sender_key = account.register_template("#{name}님, 주문 완료", "order").senderKey
        settings = {"url": account.base_url, "api_key": account.api_key}
        environment = command(data=tmp_path, **settings)["env"] | {"SENDER_KEY": sender_key}

        shell = subprocess.run(
            ["bash", "-eu"],
            input=program.replace("2026-12-24", tomorrow),
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

        assert shell.returncode == 0, shell.stderr
        received = wait_until(lambda: [each.content for each in account.list_received("010-2222-0002")], bool)
    assert len(commands) >= 10
    assert received == ["김파발님, 안녕하세요"]

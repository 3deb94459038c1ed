"""Follows the page about SMPP, on the SMSC of `pabal smsc`: page smpp."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine
from tests.fixtures.live import command, serving, wait_until
from tests.fixtures.pages import blocks, lines, section
from tests.fixtures.smsc_process import running_smsc

HEADING = "Try it without a network operator"


@pytest.mark.slow
def test_page_leads_to_a_delivered_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = section("smpp", HEADING)
    start_smsc, start_service, add_number, send = (shlex.split(line) for line in lines(text))
    (file,) = blocks(text, "toml")
    (printed,) = blocks(text, "text")
    assert start_smsc[:2] == [".venv/bin/pabal", "smsc"]
    assert start_service == [".venv/bin/pabal", "serve", "--config", "smpp.toml", "--data", "smpp"]
    config, data = tmp_path / "smpp.toml", tmp_path / "smpp"
    with running_smsc(*start_smsc[2:]) as smsc:
        config.write_text(file.replace("2775", str(smsc.port)), encoding="utf-8")
        with serving(data, "--config", str(config)) as live:
            wait_until(lambda: live.log.read_text(encoding="utf-8"), lambda log: "SMPP connection bound" in log)
            number = [str(config) if word == "smpp.toml" else word for word in add_number[1:-2]]
            assert CommandLine(data, capsys)(*number).status == 0

            arguments = command(data=data, url=live.base_url)
            words = [live.key if word == "$KEY" else word for word in send[1:]]
            arguments["args"] = [sys.executable, "-m", "pabal.cli", *words]
            sent = subprocess.run(**arguments, capture_output=True, timeout=60, check=False)

            assert sent.returncode == 0, sent.stderr
            assert "1000 Delivered" in sent.stdout
            told = "\n".join(smsc.read_line() for _ in printed.splitlines())
            assert re.sub("[0-9]{13}", "ID", told) == re.sub("[0-9]{13}", "ID", printed.strip())

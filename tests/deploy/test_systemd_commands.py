"""Carries out the page about systemd below another root, as this user, with the commands of the units."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import postgres
from tests.fixtures.live import LiveService, serving, working
from tests.fixtures.pages import blocks, section

ROOT = Path(__file__).parents[2]
PLACES = ("/etc/pabal", "/etc/systemd", "/var/lib/pabal", "/var/backups", "/opt/pabal")
NEEDS_THE_SYSTEM = re.compile(r"useradd |systemctl |journalctl |.+/pip |/usr/bin/python3 -m venv ")
UNSAFE_SERVER = {"WRONG PostgreSQL has fsync", "WRONG PostgreSQL has full_page_writes"}
"""What the page's check finds at the server of the tests, which writes nothing to the disk."""
NEXT_VERSION = "/opt/pabal-0.3.0"


class OtherRoot:
    """A directory with what the page takes for granted: the folders of a system, and installed versions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for place in ("etc/systemd/system", "var/lib", "var/backups"):
            (folder / place).mkdir(parents=True)
        for version in ("/opt/pabal-0.2.0", NEXT_VERSION):
            program = folder / version[1:] / "bin" / "pabal"
            program.parent.mkdir(parents=True)
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pabal.cli "$@"\n', encoding="utf-8")
            program.chmod(0o755)

    def place(self, text: str) -> str:
        """Return a text whose places are below this root, for this user."""
        text = re.sub(r" -[og] pabal\b|runuser -u pabal -- ", "", text)
        return re.sub("|".join(PLACES), lambda found: f"{self.folder}{found[0]}", text)

    def edit(self, name: str, old: str, new: str) -> None:
        """Change an installed file, as the page asks to."""
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        assert re.search(old, text), text
        file.write_text(re.sub(old, new, text), encoding="utf-8")

    def run(self, *blocks: str) -> str:
        """Run blocks in one shell; units must be installed that the commands of the system name."""
        kept = []
        for line in "".join(blocks).splitlines():
            if line.startswith("systemctl "):
                self._check_units(shlex.split(line)[1:])
            if not NEEDS_THE_SYSTEM.match(line):
                kept.append(self.place(line))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PABAL_")}
        done = subprocess.run(
            ["bash", "-eu"],
            input="\n".join(kept),
            cwd=ROOT,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _check_units(self, words: list[str]) -> None:
        for unit in (word for word in words if word.startswith("pabal")):
            name = re.sub("@.+?(?=[.]|$)", "@", unit)
            installed = self.folder / "etc/systemd/system" / (name if "." in name else f"{name}.service")
            assert installed.is_file(), unit

    @contextlib.contextmanager
    def started(self, unit: str, instance: str = "") -> Iterator[LiveService]:
        """Run the command of an installed unit on a free port until the end of the block."""
        text = (self.folder / "etc/systemd/system" / unit).read_text(encoding="utf-8").replace("%i", instance)
        (command,) = re.findall("^ExecStart=(.+)$", self.place(text), re.MULTILINE)
        program, name, *words = shlex.split(command)
        assert Path(program).exists()
        words = shlex.split(re.sub(r"--port \S+", "", shlex.join(words)))
        variables = re.findall("^PABAL_([A-Z_]+)='(.+)'$", (self.folder / "etc/pabal/pabal.env").read_text(), re.M)
        settings = {setting.lower(): value for setting, value in variables}
        start = {"serve": serving, "work": working}[name]
        with start(self.folder / "var/lib/pabal", *words, **settings) as service:
            yield service
            assert service.stop() == 0


@pytest.fixture
def other_root(tmp_path: Path) -> OtherRoot:
    root = OtherRoot(tmp_path)
    root.run(*blocks(section("systemd", "Install")))
    return root


@pytest.mark.slow
def test_commands_for_one_machine_succeed(other_root: OtherRoot) -> None:
    install, function, first, backup = blocks(section("systemd", "One machine"))
    upgrade, *_ = blocks(section("systemd", "Upgrade"))
    other_root.run(install)
    other_root.edit("etc/pabal/pabal.toml", "/var/lib/pabal", f"{other_root.folder}/var/lib/pabal")
    other_root.edit("etc/pabal/pabal.toml", "port = 8080", "port = 0")
    before, after = first.split("systemctl daemon-reload\n")

    said = other_root.run(function, before)
    with other_root.started("pabal.service") as service:
        other_root.run(function, "systemctl daemon-reload\n", after)
        other_root.run(function, backup, upgrade)

    assert re.search(r"pb_[0-9A-Za-z]{40}", said)
    assert "apiKey" not in service.greeting
    assert len(list((other_root.folder / "var/backups/pabal").iterdir())) == 2
    assert (other_root.folder / "opt/pabal").resolve() == other_root.folder / NEXT_VERSION[1:]


@pytest.mark.torture
def test_commands_for_several_machines_succeed(other_root: OtherRoot) -> None:
    _, function, *_ = blocks(section("systemd", "One machine"))
    install, first, start = blocks(section("systemd", "Several machines"))
    _, check, restart = blocks(section("systemd", "Upgrade"))
    other_root.run(install)
    other_root.edit("etc/pabal/pabal.env", "(?m)^PABAL_STORE=.+$", f"PABAL_STORE='{postgres.empty_database()}'")
    environment = "set -a; . /etc/pabal/pabal.env\n"

    other_root.run(function, first)
    with contextlib.ExitStack() as stack:
        for unit in ("pabal-web@.service", "pabal-work@.service"):
            stack.enter_context(other_root.started(unit, "8081"))
        checked = other_root.run(function, start.replace("pabal doctor", "pabal doctor || true"))
        other_root.run(environment, check, restart)

    assert "workers: " in checked
    assert {line.partition(" = ")[0] for line in checked.splitlines() if line.startswith("WRONG")} <= UNSAFE_SERVER

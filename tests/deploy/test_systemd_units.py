"""The units of deploy/systemd/: their commands exist, their settings are understood, and they fit each other."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pabal.cli import main
from pabal.settings.settings import Settings, load

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "systemd"
UNITS = sorted(
    str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/pabal*") if path.suffix in {".service", ".target"}
)
SERVICES = [name for name in UNITS if name.endswith(".service")]
LASTING = [name for name in SERVICES if "migrate" not in name]
INSTANCE = "8081"
STOP_MARGIN_S = 10
RESTRICTIONS = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "RestrictSUIDSGID": "yes",
    "UMask": "0077",
    "User": "pabal",
}

with_commands = pytest.mark.parametrize("name", SERVICES)


def lines(name: str) -> list[tuple[str, str]]:
    """Return every key and value of a unit, as its instance would have them."""
    text = (FOLDER / name).read_text(encoding="utf-8").replace("%i", INSTANCE)
    found = [line for line in text.splitlines() if line and line[0] not in "#["]
    return [(key, value) for key, _, value in (line.partition("=") for line in found)]


def values(name: str, key: str) -> list[str]:
    return [value for each, value in lines(name) if each == key]


def settings_of(kind: str) -> Settings:
    """Return the settings of the example files."""
    text = (FOLDER / kind / "pabal.env").read_text(encoding="utf-8")
    pairs = [line.partition("=") for line in text.splitlines() if line and not line.startswith("#")]
    environment = {name: "".join(shlex.split(value)) for name, _, value in pairs}
    return load(environment, FOLDER / kind / "pabal.toml")


def test_units_exist_for_one_machine_and_for_several() -> None:
    assert UNITS == [
        "one/pabal.service",
        "several/pabal-migrate.service",
        "several/pabal-web@.service",
        "several/pabal-work@.service",
        "several/pabal.target",
    ]


@with_commands
def test_unit_runs_an_existing_command(name: str) -> None:
    (command,) = values(name, "ExecStart")
    program, *words = shlex.split(command)

    try:
        given = main.build_parser().parse_args(words)
    except SystemExit:  # of argparse
        pytest.fail(f"no such command: {command}")

    assert program == "/opt/pabal/bin/pabal"
    assert hasattr(given, "run")
    assert given.config == Path("/etc/pabal/pabal.toml")


@pytest.mark.parametrize("name", LASTING)
def test_unit_allows_a_clean_stop_and_restarts(name: str) -> None:
    (stop_s,) = values(name, "TimeoutStopSec")
    stop_seconds = settings_of(name.partition("/")[0]).stop_seconds

    assert int(stop_s) >= 2 * stop_seconds + STOP_MARGIN_S
    assert values(name, "Restart") == ["always"]
    assert values(name, "StartLimitIntervalSec") == ["0"]


@pytest.mark.parametrize("name", SERVICES)
def test_unit_is_restricted(name: str) -> None:
    assert RESTRICTIONS.items() <= dict(lines(name)).items()


def test_settings_for_one_machine_are_valid() -> None:
    settings = settings_of("one")

    assert settings.store_path == Path("/var/lib") / values("one/pabal.service", "StateDirectory")[0] / "pabal.db"
    assert settings.migrate


def test_settings_for_several_machines_leave_migrations_to_one_unit() -> None:
    settings = settings_of("several")

    assert settings.is_on_postgresql
    assert not settings.migrate
    for name in LASTING[1:]:
        assert "pabal-migrate.service" in " ".join(values(name, "Wants"))
        assert "pabal-migrate.service" in " ".join(values(name, "After"))
        assert values(name, "PartOf") == ["pabal.target"]


def test_target_wants_existing_units() -> None:
    wanted = " ".join(values("several/pabal.target", "Wants")).split()

    assert wanted
    assert {f"several/{re.sub('@.*[.]', '@.', each)}" for each in wanted} == {
        "several/pabal-web@.service",
        "several/pabal-work@.service",
    }


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("kind", ["one", "several"])
def test_systemd_accepts_the_units(kind: str, tmp_path: Path) -> None:
    here = []
    for name in UNITS:
        if name.startswith(f"{kind}/"):
            text = (FOLDER / name).read_text(encoding="utf-8").replace("/opt/pabal/bin/pabal", sys.executable)
            file = tmp_path / Path(name).name.replace("@.", f"@{INSTANCE}.")
            file.write_text(text, encoding="utf-8")
            (tmp_path / Path(name).name).write_text(text, encoding="utf-8")
            here.append(str(file))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *here], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")

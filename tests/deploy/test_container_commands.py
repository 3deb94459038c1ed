"""Carries out the commands that the page about containers runs in them, in order, without containers."""

import contextlib
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.live import LiveService, serving, wait_until, working
from tests.fixtures.pages import lines, section

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "deploy" / "compose"
NOTES = ROOT / "deploy" / "helm" / "pabal" / "templates" / "NOTES.txt"
INSIDE = re.compile(r"(?:docker compose --file \S+ (?:run --rm|exec) \w+|kubectl exec \S+ --)(?: pabal)?(?: (.+))?")
SMS = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}


@pytest.fixture
def command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(tmp_path / "data", capsys)


def services(name: str) -> dict[str, dict[str, Any]]:
    """Return our services in a compose file."""
    found = yaml.safe_load((COMPOSE / name).read_text(encoding="utf-8"))["services"]
    return {name: each for name, each in found.items() if each["image"].startswith("pabal:")}


def inside(heading: str) -> list[list[str]]:
    """Return the commands of a section that are run in a container; none: that of the service."""
    found = (INSIDE.fullmatch(line) for line in lines(section("containers", heading)))
    return [shlex.split(each[1] or "") for each in found if each]


def carry_out(commands: list[list[str]], command_line: CommandLine, store: str = "") -> str:
    """Run commands one after the other; return the key that one of them has printed."""
    config = command_line.data.with_suffix(".toml")
    config.write_text(f'store = "{store}"\nmigrate = false\n' if store else "", encoding="utf-8")
    said = ""
    for words in commands:
        done = command_line(*words, "--config", config)
        assert done.status == 0, f"{words}: {done}"
        said += done.out
    (key,) = re.findall(r"pb_[0-9A-Za-z]{40}", said)
    return str(key)


def check_delivery(sends: LiveService, lists: LiveService, key: str) -> None:
    """Send a message at one API process and wait until another one says that it has arrived."""
    with sends.client(key) as sender, lists.client(key) as reader:
        assert sender.post("/api/message/sendSMS.v1.0", json=SMS).json()["result"] == "SUCCESS"
        wait_until(
            lambda: reader.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()["items"],
            lambda items: [each["sendingStatus"]["value"] for each in items] == ["completed"],
        )


@pytest.mark.slow
def test_commands_for_one_container_succeed(tmp_path: Path, command_line: CommandLine) -> None:
    *before, doctor = inside("One container with SQLite")
    (service,) = services("sqlite.yaml").values()

    key = carry_out(before, command_line)
    with serving(tmp_path / "data", *service["command"][1:], log_format="json") as live:
        check_delivery(live, live, key)
        command_line.data.with_suffix(".toml").write_text("port = 0\n", encoding="utf-8")
        checked = command_line(*doctor, "--config", command_line.data.with_suffix(".toml"))

        assert live.stop() == 0
    assert service["command"][0] == "serve"
    assert (checked.status, doctor) == (0, ["doctor"]), checked.out
    assert "apiKey" not in live.greeting


@pytest.mark.torture
def test_commands_for_a_cluster_on_one_machine_succeed(tmp_path: Path, command_line: CommandLine) -> None:
    ours, store = services("postgresql.yaml"), postgres.empty_database()
    migrate, *others = inside("A cluster on one machine")

    key = carry_out([migrate or ours["migrate"]["command"], *others], command_line, store)
    with contextlib.ExitStack() as stack:
        started: dict[str, list[LiveService]] = {}
        for name, start in (("web", serving), ("work", working)):
            words = [word for word in ours[name]["command"][1:] if word not in ("--port", "9100")]
            started[name] = [
                stack.enter_context(start(tmp_path / f"{name}{number}", *words, store=store, migrate=False))
                for number in range(ours[name]["deploy"]["replicas"])
            ]
        sends, lists = started["web"]
        check_delivery(sends, lists, key)

        assert [each.stop() for found in started.values() for each in found] == [0] * 4


def test_passwords_of_the_cluster_are_written_where_compose_reads_them(tmp_path: Path) -> None:
    (command,) = [line for line in lines(section("containers")) if line.startswith("printf ")]
    (tmp_path / "deploy" / "compose").mkdir(parents=True)
    subprocess.run(["bash", "-eu", "-c", command], cwd=tmp_path, check=True, timeout=60)

    written = (tmp_path / "deploy" / "compose" / ".env").read_text(encoding="utf-8").splitlines()

    wanted = set(re.findall(r"\$\{(\w+):\?", (COMPOSE / "postgresql.yaml").read_text(encoding="utf-8")))
    assert {line.partition("=")[0] for line in written} == wanted
    assert all(re.fullmatch(r"\w+=[0-9a-f]{32}", line) for line in written)


@pytest.mark.slow
def test_commands_for_kubernetes_succeed_in_pods_that_run_already(
    tmp_path: Path, command_line: CommandLine
) -> None:
    store = postgres.empty_database()
    with (
        serving(tmp_path / "web", "--no-deliver", store=store, first_account=False) as web,
        working(tmp_path / "work", store=store),
    ):
        key = carry_out(inside("Kubernetes"), command_line, store)

        check_delivery(web, web, key)


def test_notes_of_the_chart_have_the_commands_of_the_page() -> None:
    notes = re.findall(r" -- (pabal .+)", NOTES.read_text(encoding="utf-8"))

    assert notes == re.findall(r" -- (pabal .+)", section("containers", "Kubernetes"))

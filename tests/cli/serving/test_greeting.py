"""What the service prints when it is ready follows the locale; what is to be copied stays the same."""

import re
import socket
import sys
from pathlib import Path

import pytest

from pabal.cli.serving.greeting import FirstCredentials, greet_worker, greet_workers, greeting
from pabal.settings.settings import load

FIRST = FirstCredentials("pb_key", "secret")
HANGUL = re.compile("[가-힣]")


RELAY = """
[carriers.relay]
kind = "nhncloud"
sms_app_key = "k"
sms_secret_key = "s"
[routes]
sms = ["relay"]
"""


def greetings(first: FirstCredentials | None, file: Path | None = None) -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = greeting(load({}, file), listener, first)
        return found.replace(f":{listener.getsockname()[1]}", ":8080")


@pytest.mark.parametrize("first", [FIRST, FIRST._replace(password=None), FirstCredentials(None, None), None])
def test_greeting_is_korean_where_the_locale_is(
    monkeypatch: pytest.MonkeyPatch, first: FirstCredentials | None
) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    english = greetings(first)
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    korean = greetings(first)

    assert english.lstrip().startswith("Pabal is running at http://127.0.0.1:8080")
    assert korean.lstrip().startswith("파발이 실행 중입니다: http://127.0.0.1:8080")
    for fields in (r"^  \w+ +\S+$", r"^  curl .+$", r"http://127\.0\.0\.1:8080/[a-z/]+"):
        assert re.findall(fields, korean, re.MULTILINE) == re.findall(fields, english, re.MULTILINE)


def test_greeting_does_not_claim_simulation_with_real_carriers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    (tmp_path / "pabal.toml").write_text(RELAY)

    told = greetings(FIRST, tmp_path / "pabal.toml")

    assert "pb_key" in told
    assert "Messages are sent through: relay." in told
    assert "simulator" not in told
    assert "curl " not in told


def test_greetings_of_workers_are_korean_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")

    assert greet_worker("host:1") == "파발 워커 host:1이(가) 실행 중입니다. Ctrl-C로 멈춥니다."
    assert HANGUL.search(greet_workers(2))


@pytest.mark.parametrize(
    ("started_as", "path", "called"),
    [
        ("my venv/bin/pabal", "", "'my venv/bin/pabal'"),
        ("bin/pabal", "", "bin/pabal"),
        ("bin/pabal", "bin", "pabal"),
        ("src/pabal/__main__.py", "", "pabal"),
        ("gone/pabal", "", "pabal"),
    ],
)
def test_commands_of_the_greeting_can_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_as: str, path: str, called: str
) -> None:
    for folder in ("my venv/bin", "bin"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "pabal").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / started_as), "serve"])
    monkeypatch.setenv("PATH", str(tmp_path / path) if path else "")

    assert f"`{called} key create --account first`" in greetings(FIRST)
    assert f"`{called} user password admin`" in greetings(FIRST)


def test_printed_commands_use_the_store_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pabal", "serve", "--port", "0", "--config=my settings.toml", "--data", "d"])

    shown = greetings(FirstCredentials("key", "password"))

    assert "key create --account first --data d --config 'my settings.toml'`" in shown
    assert "user password admin --data d --config 'my settings.toml'`" in shown

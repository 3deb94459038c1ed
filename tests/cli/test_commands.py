"""What holds for every command: options, help, errors, and no secret in the output."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.cli.main import build_parser, main
from pabal.cli.shared.options import CommandParser
from pabal.settings.settings import FIELDS
from tests.fixtures.cli import CommandLine

IN_ALL = [["migrate"], ["settings"], ["doctor"], ["key", "create", "--account", "acme"], ["number", "list"]]
"""Some commands, for what is done in one place for all of them."""


def find_commands(parser: CommandParser, path: str = "") -> Iterator[tuple[str, CommandParser]]:
    """Yield the commands that do something, by their words."""
    groups = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not groups:
        yield path, parser
    for group in groups:
        for name, each in group.choices.items():
            yield from find_commands(each, f"{path} {name}".strip())


COMMANDS = dict(find_commands(build_parser()))
ON_SETTINGS = [words for words, parser in COMMANDS.items() if parser.get_default("run")]


def test_settings_lists_every_setting_with_value_and_meaning(new_command_line: CommandLine) -> None:
    listed = new_command_line("settings")

    assert listed.status == 0
    names = re.findall(r"^(\w+) = ", listed.out, re.MULTILINE)
    assert names == list(FIELDS)
    assert f"data = {new_command_line.data}\n" in listed.out
    assert "port = 8080\n    Port to listen on.\n" in listed.out


def test_no_command_prints_the_password_of_a_carrier(new_command_line: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    table = '[carriers.telco]\nkind = "smpp"\nhost = "smsc.example"\nsystem_id = "pabal"\n'
    config.write_text(f'{table}password = "hunter2!"\n[routes]\nsms = ["telco"]\n')
    new_command_line("key", "create", "--account", "acme")
    new_command_line("number", "add", "02-1234-5678", "--account", "acme")

    shown, found = (
        new_command_line("settings", "--config", str(config)),
        new_command_line("doctor", "--config", str(config)),
    )

    assert (shown.status, found.status) == (0, 0)
    assert "carriers.telco.password = (set)\n" in shown.out
    for said in (*shown[1:], *found[1:]):
        assert "hunter2" not in said


@pytest.mark.parametrize("words", IN_ALL, ids=" ".join)
def test_an_unknown_setting_is_refused(new_command_line: CommandLine, words: list[str]) -> None:
    new_command_line.configure("prot = 1")

    refused = new_command_line(*words)

    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "pabal: prot: no such setting; did you mean port?\n"
    assert not new_command_line.data.exists()


def test_every_command_takes_data_and_config_or_calls_a_service() -> None:
    alone = {words for words, parser in COMMANDS.items() if not parser.get_default("run")}

    assert alone == {"send", "history", "phone", "status", "mcp", "completion", "smsc", "webhook listen"}
    for words in ON_SETTINGS:
        assert {"--data", "--config"} <= COMMANDS[words]._option_string_actions.keys(), words


@pytest.mark.parametrize(
    ("words", "makes_store"), [("key create --account acme", True), ("account list", False), ("doctor", False)]
)
def test_data_and_config_may_follow_the_words(
    new_command_line: CommandLine, tmp_path: Path, words: str, makes_store: bool
) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text('data = "overridden"\nkey_rate = 5')

    ran = new_command_line.run(*words.split(), "--config", str(config), "--data", str(new_command_line.data))

    assert "usage" not in ran.err
    assert new_command_line.data.is_dir() == makes_store
    assert not Path("overridden").exists()


def test_settings_of_the_file_are_used(new_command_line: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text(f'data = "{new_command_line.data}"\nkey_rate = 5')

    new_command_line.run("key", "create", "--account", "acme", "--config", str(config))

    assert new_command_line("key", "list").rows[0][5] == "5/s"


@pytest.mark.parametrize("words", [["key", "list"], ["cancel-after-restore", "--check"]])
def test_look_up_makes_no_store(new_command_line: CommandLine, words: list[str]) -> None:
    refused = new_command_line(*words)

    assert refused.status == 2
    assert f"there is no store at {new_command_line.data / 'pabal.db'}: give the --data and --config" in refused.err
    assert not new_command_line.data.exists()


def test_command_that_makes_a_store_says_where(new_command_line: CommandLine) -> None:
    first = new_command_line("key", "create", "--account", "acme")
    second = new_command_line("key", "create", "--account", "acme")

    assert first.err == f"made the store {new_command_line.store}\n"
    assert second.err == ""


def test_advice_of_an_error_uses_the_same_store(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pabal", "key", "revoke", "99", "--data", "here"])

    refused = command_line("key", "revoke", "99")

    assert "`pabal key list --data here`" in refused.err


@pytest.mark.parametrize("words", [["migrate"], ["key", "create", "--account", "acme"], ["serve"]])
def test_unusable_data_directory_is_reported(new_command_line: CommandLine, words: list[str]) -> None:
    new_command_line.data.write_text("a file is no directory")

    refused = new_command_line(*words)

    assert refused.status == 2
    assert "choose another directory with --data" in refused.err


@pytest.mark.parametrize("words", [["key", "list"], ["migrate"], ["migrate", "--check"]])
def test_unreadable_store_is_reported(new_command_line: CommandLine, words: list[str]) -> None:
    new_command_line.data.mkdir()
    (new_command_line.data / "pabal.db").write_bytes(b"not a database at all" * 500)

    refused = new_command_line(*words)

    assert refused.status == (2 if "--check" in words else 1)
    assert "run `pabal doctor`" in refused.err


@pytest.mark.parametrize("words", [[], ["key"], ["account"], ["number"], ["profile"], ["template"]])
def test_help_is_printed_without_a_command(new_command_line: CommandLine, words: list[str]) -> None:
    helped = new_command_line.run(*words)

    assert helped.status == 2
    assert "usage: pabal" in helped.out


def test_unwritable_data_directory_is_told_in_one_line(new_command_line: CommandLine) -> None:
    (new_command_line.data / "pabal.lock").mkdir(parents=True)

    failed = new_command_line("serve")

    assert failed.status == 2
    assert failed.err.startswith(
        f"pabal: data: {new_command_line.data}/pabal.lock cannot be written (Is a directory)"
    )
    assert "chown" in failed.err
    assert failed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["sned"], "send"),
        (["webhook", "lisen"], "listen"),
        (["sned", "--to", "010-1234-5678"], "send"),
        (["webhook", "lisen", "--forward-to", "http://localhost:3000"], "listen"),
        (["webhook", "list", "--acount", "acme"], "--account"),
        (["key", "create", "--acount", "acme"], "--account"),
        (["send", "sms", "-to", "010-1234-5678"], "--to"),
        (["webhook", "list", "--acount=acme"], "--account"),
        (["key", "create", "--account", "acme", "--scope", "sned"], "send"),
        (["send", "--urll", "http://127.0.0.1:8080"], "--url"),
        (["send", "sms", "--text", "x"], None),
        (["frobnicate"], None),
        (["webhook", "list", "--frobnicate"], None),
    ],
)
def test_what_a_misspelt_word_may_have_meant_is_named(
    words: list[str], meant: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = {}
    for language in ("C.UTF-8", "ko_KR.UTF-8"):
        monkeypatch.setenv("LC_ALL", language)
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 2
        errors[language] = capsys.readouterr().err.rstrip()

    assert errors["C.UTF-8"].endswith(f"did you mean {meant}?") if meant else "mean" not in errors["C.UTF-8"]
    assert errors["ko_KR.UTF-8"].endswith(f"{meant}인가요?") is bool(meant)

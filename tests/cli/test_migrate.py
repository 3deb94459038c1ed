"""`pabal migrate` applies missing migrations, and other commands respect the schema version."""

from pathlib import Path

import pytest

from pabal.cli.main import main
from pabal.settings.data_directory import process_lock
from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations
from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.second_step import LABEL


def make_newer(tx: Tx) -> None:
    tx.execute("insert into migrations values (9999, 'from the future', 0)")


def test_migrate_applies_missing_migrations_once(new_command_line: CommandLine) -> None:
    first, second = new_command_line("migrate"), new_command_line("migrate")

    assert first.out == "".join(f"applied {step.number:04} {step.name}\n" for step in all_migrations())
    assert (second.status, second.out) == (0, "the schema is up to date\n")


def test_other_commands_do_not_migrate_if_settings_forbid_it(new_command_line: CommandLine) -> None:
    new_command_line.configure("migrate = false")

    refused = new_command_line("key", "create", "--account", "acme")
    assert refused.status == 2
    assert "run `pabal migrate` first" in refused.err
    new_command_line("migrate")
    assert new_command_line("key", "list").status == 0


@pytest.mark.parametrize("words", [["migrate"], ["migrate", "--check"], ["key", "list"], ["doctor"]])
def test_store_of_a_newer_version_is_not_changed(
    new_command_line: CommandLine, tmp_path: Path, words: list[str]
) -> None:
    new_command_line.run_in_context(lambda context: context.store.write(make_newer))

    for migrates in ("true", "false"):
        config = tmp_path / "pabal.toml"
        config.write_text(f"migrate = {migrates}")
        refused = new_command_line(*words, "--config", str(config))
        assert refused.status in (1, 2)
        assert "the store is at schema 9999" in refused.out + refused.err
        assert "run the version that made it, or a newer one" in refused.out + refused.err
        assert ("WRONG" in refused.out) == (words == ["doctor"])


LAST = all_migrations()[-1]


def test_check_lists_missing_migrations_and_applies_none(command_line: CommandLine, second_step: None) -> None:
    files = command_line.files()
    before = command_line.store.read_bytes()

    twice = [command_line("migrate", "--check") for _ in range(2)]

    assert twice == [(1, f"missing {LABEL}\n", "")] * 2
    assert command_line.store.read_bytes() == before
    assert command_line.files() == files


def test_check_of_a_missing_store_lists_all_and_creates_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = CommandLine(tmp_path / "nowhere", capsys)

    checked = nowhere("migrate", "--check")

    assert checked.status == 1
    assert checked.out.splitlines() == [f"missing {step.number:04} {step.name}" for step in all_migrations()]
    assert not nowhere.data.exists()


def make_old(tx: Tx) -> None:
    tx.execute("update migrations set name = 'start' where number = 1")


@pytest.mark.parametrize("words", [("migrate",), ("migrate", "--check"), ("key", "list")])
def test_store_made_before_the_first_release_is_refused_with_advice(
    command_line: CommandLine, words: tuple[str, ...]
) -> None:
    command_line.run_in_store(make_old)

    refused = command_line(*words)

    assert refused.status == 2
    assert refused.err.count("\n") == 1
    assert "was made before the first release" in refused.err
    assert "start with an empty data directory or database" in refused.err


def test_check_works_while_a_service_runs(command_line: CommandLine) -> None:
    with process_lock(load({}, data=command_line.data)):
        assert command_line("migrate", "--check").status == 0


def test_check_changes_nothing_on_postgresql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = postgres.create_database("unmigrated", "template1")
    config = tmp_path / "pabal.toml"
    config.write_text(f'store = "{address}"\n', encoding="utf-8")

    twice = [main(["migrate", "--check", "--config", str(config)]) for _ in range(2)]

    assert twice == [1, 1]
    assert capsys.readouterr().out.count(f"missing {LAST.number:04} {LAST.name}\n") == 2
    postgres.drop_database("unmigrated")

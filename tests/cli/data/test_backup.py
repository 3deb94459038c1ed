"""`pabal backup`: a sound copy, or a reason why there is none."""

from pathlib import Path

import pytest

from pabal.cli.main import main
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations
from pabal.store.engine.sqlite import sqlite_backup
from tests.fixtures.cli import CommandLine
from tests.fixtures.rows import sms, store_request


def names(tx: Tx) -> list[str]:
    return [each.name for each in accounts.list_accounts(tx)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder / "pabal.db"


def test_backup_contains_what_the_store_contains(command_line: CommandLine, file: Path) -> None:
    made = command_line("backup", file)

    assert made.status == 0
    assert made.out.startswith(
        f"copied {command_line.store} to {file} and verified it: schema {all_migrations()[-1].number}, "
    )
    assert sqlite_backup.query_file(file, names) == ["acme"]
    assert [each.name for each in file.parent.iterdir()] == ["pabal.db"]


def test_existing_file_is_replaced_only_with_force(command_line: CommandLine, file: Path) -> None:
    file.write_text("precious", encoding="utf-8")

    refused = command_line("backup", file)

    assert refused.status == 2
    assert "choose another name, or replace it with --force" in refused.err
    assert file.read_text(encoding="utf-8") == "precious"
    assert command_line("backup", file, "--force").status == 0
    assert sqlite_backup.query_file(file, names) == ["acme"]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_backup_never_overwrites_the_store(command_line: CommandLine, suffix: str) -> None:
    before = command_line.store.read_bytes()

    refused = command_line("backup", f"{command_line.store}{suffix}", "--force")

    assert refused.status == 2
    assert "belongs to the store" in refused.err
    assert command_line.store.read_bytes() == before


def test_backup_fails_without_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str], file: Path) -> None:
    nowhere = CommandLine(tmp_path / "nowhere", capsys)

    refused = nowhere("backup", file)

    assert refused.status == 2
    assert "there is no store at" in refused.err
    assert not file.exists()
    assert not nowhere.data.exists()


def test_backup_fails_without_its_folder(command_line: CommandLine, tmp_path: Path) -> None:
    absent, folder = command_line("backup", tmp_path / "absent" / "pabal.db"), command_line("backup", tmp_path)

    assert (absent.status, folder.status) == (2, 2)
    assert "No such file or directory" in absent.err
    assert "name a file in it" in folder.err


def test_damaged_store_does_not_replace_a_good_backup(command_line: CommandLine, file: Path) -> None:
    command_line.run_in_store(lambda tx: store_request(tx, 1, sms([f"010{number:08}" for number in range(1000)])))
    command_line("backup", file)
    good = file.read_bytes()
    damaged = bytearray(command_line.store.read_bytes())
    damaged[4 * 4096 : -4096] = b"\xff" * (len(damaged) - 5 * 4096)
    command_line.store.write_bytes(damaged)

    refused = command_line("backup", file, "--force")

    assert refused.status == 2
    assert "run `pabal doctor`" in refused.err
    assert file.read_bytes() == good
    assert [each.name for each in file.parent.iterdir()] == ["pabal.db"]


@pytest.mark.parametrize(
    ("words", "instead"), [(["backup", "x.db"], "pg_dump"), (["restore", "x.db"], "pg_restore")]
)
def test_backup_of_postgresql_points_to_its_own_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], instead: str
) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text('store = "postgresql://pabal@localhost/pabal"', encoding="utf-8")

    assert main([*words, "--config", str(config)]) == 2

    said = capsys.readouterr().err
    assert instead in said
    assert "docs/how-to/backup.md" in said

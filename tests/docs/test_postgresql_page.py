"""Carries out the commands of the page about PostgreSQL: a new database, and then a move from SQLite into it."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.pages import lines, section
from tests.fixtures.postgres_store import query_outside


@pytest.fixture
def database() -> Iterator[str]:
    """A database as `createdb` makes it."""
    name = f"page_{os.getpid()}"
    yield postgres.create_database(name, "template1")
    postgres.drop_database(name)


def commands() -> list[list[str]]:
    """Return the words of the commands of the page; a test elsewhere starts the service on a moved store."""
    found = [shlex.split(line) for line in lines(section("postgresql"))]
    return [words[1:] for words in found if words[0].endswith("pabal") and words[1] != "serve"]


def test_commands_of_the_page_make_and_fill_a_database(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PABAL_PORT", "0")
    (tmp_path / "pabal.toml").write_text(f'store = "{database}"\n', encoding="utf-8")
    line = CommandLine(tmp_path / "data", capsys)
    line("key", "create", "--account", "acme")  # of the SQLite store

    results = {words[0]: line.run(*words) for words in commands()}

    assert list(results) == ["migrate", "doctor", "move"]
    assert (results["migrate"].status, results["move"].status) == (0, 0), results
    assert "1 live key\n" in results["doctor"].out
    assert query_outside(database, "select name from accounts") == [("acme",)]

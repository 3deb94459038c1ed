"""Carries out the pages about operating and upgrading, as written but for the places that they name."""

import re
import shlex
from pathlib import Path

import psycopg
import pytest

from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.live import serving
from tests.fixtures.pages import blocks, lines, section

CONFIG = 'log_requests = "all"\nport = 0\n'
INDEX = {"NAME": "jobs_tried", "TABLE": "jobs", "COLUMNS": "carrier, id"}
PARTITIONED_INDEX = {"NAME": "messages_tried", "TABLE": "messages", "COLUMNS": "carrier, id"}
PARTITIONS = "select inhrelid::regclass::text from pg_inherits where inhparent = 'messages'::regclass"
IS_VALID = "select indisvalid from pg_index where indexrelid = %s::regclass"


def words_of(command: str, places: dict[str, Path]) -> list[str]:
    """Return the words of a command without its program, with other places."""
    for place, path in places.items():
        command = command.replace(place, shlex.quote(str(path)))
    return shlex.split(command)[1:]


def filled_in(statement: str, names: dict[str, str]) -> str:
    for placeholder, name in names.items():
        statement = re.sub(rf"{placeholder}(?=\b|_)", name, statement)
    return statement


def test_service_starts_and_is_checked_as_the_page_about_operating_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, config = tmp_path / "pabal", tmp_path / "pabal.toml"
    config.write_text(CONFIG, encoding="utf-8")
    places = {"/var/lib/pabal": data, "/etc/pabal.toml": config}
    start, *checks = (words_of(each, places) for each in lines(section("operate")))

    with serving(data, *start[1:]) as live:
        done = [CommandLine(data, capsys)(*words, "--config", config) for words in checks]

        assert live.stop() == 0
    assert start[0] == "serve"
    assert checks == [["settings"], ["doctor"]]
    assert [each.status for each in done] == [0, 0], done
    assert "\nlog_requests = all\n" in done[0].out


def test_check_before_an_upgrade_says_whether_migrations_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text(f'data = "{tmp_path / "data"}"\nmigrate = false\n', encoding="utf-8")
    (command,) = lines(section("upgrade"))
    check = words_of(command, {"/etc/pabal/pabal.toml": config})
    command_line = CommandLine(tmp_path / "data", capsys)

    before = command_line.run(*check)
    command_line.run("migrate", "--config", str(config))
    after = command_line.run(*check)

    assert (before.status, after.status) == (1, 0)


def test_large_indexes_are_created_beforehand_as_the_page_about_upgrades_says(tmp_path: Path) -> None:
    store = postgres.empty_database()
    with serving(tmp_path / "data", store=store) as live:
        assert live.stop() == 0
    plain, partitioned = blocks(section("upgrade", "Large indexes"), "sql")
    on_whole, *on_each = partitioned.splitlines()

    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute(filled_in(plain, INDEX))
        connection.execute(filled_in(on_whole, PARTITIONED_INDEX))
        partitions = [str(name) for (name,) in connection.execute(PARTITIONS)]
        assert connection.execute(IS_VALID, [PARTITIONED_INDEX["NAME"]]).fetchone() == (False,)
        for partition in partitions:
            suffix = partition.removeprefix("messages_")
            for statement in on_each:
                connection.execute(filled_in(statement, PARTITIONED_INDEX).replace("202611", suffix))

        assert len(partitions) > 1
        assert connection.execute(IS_VALID, [INDEX["NAME"]]).fetchone() == (True,)
        assert connection.execute(IS_VALID, [PARTITIONED_INDEX["NAME"]]).fetchone() == (True,)

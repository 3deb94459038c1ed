"""Lists are tables with headings on a terminal, tabs elsewhere, and JSON if that is wanted."""

import json
import os
import re
import subprocess

import pytest

from pabal.cli.calling.send_csv import format_bar
from pabal.cli.shared.table import format_table
from pabal.domain.base.codes import Text
from tests.fixtures.cli import CommandLine
from tests.fixtures.live import command

COLUMNS = {"id": Text("번호", "ID"), "name": Text("이름", "Name")}


def test_columns_are_aligned_also_under_korean_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")

    assert format_table(COLUMNS, [(1, "가나다"), (22, "a\x1b[2J")]) == [
        "번호  이름",
        "1     가나다",
        "22    a\ufffd[2J",
    ]


@pytest.mark.parametrize("what", ["key", "account", "number", "user", "profile", "template", "webhook", "carrier"])
def test_every_list_can_be_json(command_line: CommandLine, what: str) -> None:
    command_line("number", "add", "02-1234-5678", "--account", "acme")
    command_line("user", "create", "kim", "--account", "acme")

    plain, listed = command_line(what, "list"), command_line(what, "list", "--json")

    rows = [json.loads(each) for each in listed.out.splitlines()]
    assert listed.status == 0
    assert len(rows) == len(plain.rows)
    for row, cells in zip(rows, plain.rows, strict=True):
        words = [value for value in row.values() if isinstance(value, str) and value]
        assert [cell for cell in cells if cell in words] == words


def test_json_has_numbers_lists_and_nothing_where_a_table_has_words(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "acme", "--rate", "7", "--allow", "10.0.0.0/8", "--scope", "send")
    command_line("user", "create", "kim", "--role", "operator")

    first, second = (json.loads(each) for each in command_line("key", "list", "--json").out.splitlines())
    carrier = json.loads(command_line("carrier", "list", "--json").out)
    user = json.loads(command_line("user", "list", "--json").out)

    assert (second["scopes"], second["allow"], second["rate"], second["lastUse"]) == (
        ["send"], ["10.0.0.0/8"], 7, None,
    )  # fmt: skip
    assert first["allow"] == []
    assert (carrier["waiting"], carrier["awaitingReceipt"]) == (0, 0)
    assert user["account"] is None


def test_list_has_headings_on_a_terminal(command_line: CommandLine) -> None:
    terminal, other_end = os.openpty()
    subprocess.run(**command("key", "list", data=command_line.data), stdout=other_end, timeout=60, check=True)
    os.close(other_end)
    head, row, *_ = os.read(terminal, 65536).decode().splitlines()
    os.close(terminal)

    assert re.split("  +", head) == [
        "ID", "Account", "Name", "Scopes", "Allowed from", "Rate", "Created", "Last use", "State",
        "Relay", "Programs' API key",
    ]  # fmt: skip
    assert row.index("never used") == head.index("Last use")


def test_bar_shows_share_count_and_rate() -> None:
    assert format_bar(0, 10, 0, 0) == f"[{'.' * 30}]   0%  0/10"
    assert format_bar(5000, 10_000, 4000, 2.0) == f"[{'#' * 15}{'.' * 15}]  50%  5,000/10,000  2,000/s"
    assert format_bar(0, 0, 0, 1.0).endswith("100%  0/0")

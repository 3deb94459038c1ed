"""Commands of opt-outs: added, listed, removed, imported and exported."""

from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine

PHONE, OTHER = "010-1234-5678", "010-8765-4321"


def test_opt_outs_are_added_listed_and_removed(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "shop", "--new-account")

    added = command_line("opt-out", "add", PHONE, OTHER, "--account", "shop", "--reason", "전화")
    again = command_line("opt-out", "add", PHONE, "--account", "shop", "--sender", "02-1234-5678")
    removed = command_line("opt-out", "remove", PHONE, OTHER, "01011111111", "--account", "shop")
    listed = command_line("opt-out", "list", "--account", "shop")

    assert added.out == "2 of 2 numbers added\n"
    assert again.out == "1 of 1 numbers added\n"
    assert removed.out == "2 of 3 numbers removed\n"
    assert listed.out == f"{PHONE}\t02-1234-5678\tcommandLine\n"


def test_reason_cannot_control_the_terminal(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "shop", "--new-account")
    command_line("opt-out", "add", PHONE, "--account", "shop", "--reason", "\x1b[2J a\tb\nc\x9b")

    listed = command_line("opt-out", "list", "--account", "shop")

    assert listed.out == f"{PHONE}\tall\tcommandLine\t\ufffd[2J a\ufffdb\ufffdc\ufffd\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949"])
def test_file_in_any_usual_encoding_is_imported(command_line: CommandLine, tmp_path: Path, encoding: str) -> None:
    command_line("key", "create", "--account", "shop", "--new-account")
    file = tmp_path / "opt-outs.csv"
    file.write_bytes(f"휴대폰번호,사유\r\n{PHONE},'=1+1\r\n{OTHER},똠방각하\r\n".encode(encoding))

    imported = command_line("opt-out", "import", str(file), "--account", "shop")
    listed = command_line("opt-out", "list", "--account", "shop")
    exported = command_line("opt-out", "export", "--account", "shop")

    assert imported.out == "2 of 2 rows added\n"
    assert sorted(row[3] for row in listed.rows) == ["=1+1", "똠방각하"]
    assert "'=1+1" in exported.out  # no formula in a spreadsheet


def test_exported_file_is_imported_again(command_line: CommandLine, tmp_path: Path) -> None:
    for name in ("shop", "other"):
        command_line("key", "create", "--account", name, "--new-account")
    command_line("opt-out", "add", PHONE, OTHER, "--account", "shop", "--reason", "a, b")
    file = tmp_path / "opt-outs.csv"
    file.write_text(command_line("opt-out", "export", "--account", "shop").out, encoding="utf-8")

    imported = command_line("opt-out", "import", str(file), "--account", "other")

    assert imported.out == "2 of 2 rows added\n"
    assert sorted(command_line("opt-out", "list", "--account", "other").out.splitlines()) == [
        f"{PHONE}\tall\tcommandLine\ta, b",
        f"{OTHER}\tall\tcommandLine\ta, b",
    ]


def test_wrong_input_changes_nothing(command_line: CommandLine, tmp_path: Path) -> None:
    command_line("key", "create", "--account", "shop", "--new-account")
    file = tmp_path / "opt-outs.csv"
    file.write_text(f"phone\n{PHONE}\n12\n", encoding="utf-8")

    refused = [
        command_line("opt-out", "import", str(file), "--account", "shop"),
        command_line("opt-out", "import", str(tmp_path / "none.csv"), "--account", "shop"),
        command_line("opt-out", "add", PHONE, "12", "--account", "shop"),
        command_line("opt-out", "add", PHONE, "--account", "nobody"),
    ]

    assert [each.status for each in refused] == [2, 2, 1, 2]
    assert "Row 3:" in refused[0].err
    assert command_line("opt-out", "list", "--account", "shop").out == ""

"""`pabal account` and `pabal number` manage accounts and their sender numbers."""

import pytest

from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine

WORLD = RealWorld()


def test_an_account_is_disabled_and_enabled_by_name(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")
    new_command_line("key", "create", "--account", "other")

    assert new_command_line("account", "disable", "acme").status == 0
    assert [row[-1] for row in new_command_line("key", "list").rows] == ["account disabled", "live"]
    assert "acme" in new_command_line("account", "list").out
    assert new_command_line("account", "enable", "acme").status == 0
    assert [row[-1] for row in new_command_line("key", "list").rows] == ["live", "live"]
    unknown = new_command_line("account", "disable", "nobody")
    assert unknown.status == 2
    assert "nobody" in unknown.err


def test_sender_numbers_are_added_listed_and_removed(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")

    first = new_command_line("number", "add", "02 1234 5678", "--account", "acme")
    again = new_command_line("number", "add", "+82 2-1234-5678", "--account", "acme")

    assert (first.status, first.out) == (0, "02-1234-5678 is registered for acme\n")
    assert again.out == "02-1234-5678 was already registered for acme\n"
    assert new_command_line("number", "list").rows == [["acme", "02-1234-5678"]]
    assert new_command_line("number", "remove", "0212345678", "--account", "acme").status == 0
    assert new_command_line("number", "list").out == ""
    gone = new_command_line("number", "remove", "0212345678", "--account", "acme")
    assert (gone.status, gone.err) == (
        2,
        "pabal: 02-1234-5678 is not registered for acme; see `pabal number list`\n",
    )


@pytest.mark.parametrize("word", ["add", "remove"])
def test_invalid_number_or_unknown_account_is_refused(new_command_line: CommandLine, word: str) -> None:
    new_command_line("key", "create", "--account", "acme")

    unknown = new_command_line("number", word, "02-1234-5678", "--account", "nobody")
    assert unknown.status == 2
    assert "pabal account list" in unknown.err
    wrong = new_command_line("number", word, "119", "--account", "acme")
    assert wrong.status == 1
    assert "sender number" in wrong.err

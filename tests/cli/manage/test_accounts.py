"""`pabal account` and `pabal number` manage accounts and their sender numbers."""

import pytest

from pabal.domain.people.phone import NumberState
from pabal.store.accounts import numbers
from tests.fixtures.cli import CommandLine


def test_an_account_is_disabled_and_enabled_by_name(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "other", "--new-account")

    assert command_line("account", "disable", "acme").status == 0
    assert [row[-1] for row in command_line("key", "list").rows] == ["account disabled", "live"]
    assert "acme" in command_line("account", "list").out
    assert command_line("account", "enable", "acme").status == 0
    assert [row[-1] for row in command_line("key", "list").rows] == ["live", "live"]
    unknown = command_line("account", "disable", "nobody")
    assert unknown.status == 2
    assert "nobody" in unknown.err


def test_sender_numbers_are_added_listed_and_removed(command_line: CommandLine) -> None:
    first = command_line("number", "add", "02 1234 5678", "--account", "acme")
    again = command_line("number", "add", "+82 2-1234-5678", "--account", "acme")

    assert (first.status, first.out) == (0, "02-1234-5678 is registered for acme\n")
    assert again.out == "02-1234-5678 was already registered for acme\n"
    assert command_line("number", "list").rows == [["acme", "02-1234-5678", "approved"]]
    assert command_line("number", "remove", "0212345678", "--account", "acme").status == 0
    assert command_line("number", "list").out == ""
    gone = command_line("number", "remove", "0212345678", "--account", "acme")
    assert (gone.status, gone.err) == (
        2,
        "pabal: 02-1234-5678 is not registered for acme; see `pabal number list`\n",
    )


def test_pending_sender_number_is_approved_or_rejected(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "other", "--new-account")
    command_line("number", "add", "02-1234-5678", "--account", "other")
    command_line.run_in_store(numbers.add, 1, "15880000", 0, NumberState.PENDING)
    command_line.run_in_store(numbers.add, 1, "0212345678", 1, NumberState.PENDING)

    held = command_line("number", "approve", "02-1234-5678", "--account", "acme")
    added = command_line("number", "add", "02-1234-5678", "--account", "acme")
    approved = command_line("number", "approve", "1588-0000", "--account", "acme")
    twice = command_line("number", "approve", "1588-0000", "--account", "acme")
    before = command_line("number", "list").rows
    rejected = command_line("number", "reject", "02-1234-5678", "--account", "acme", "--comment", "not yours")

    assert (held.status, added.status) == (1, 1)
    assert "Account other has this number" in held.err
    assert "Account other has this number" in added.err
    assert (approved.status, approved.out) == (0, "1588-0000 is approved for acme\n")
    assert (twice.status, twice.err) == (2, "pabal: 1588-0000 is not pending for acme; see `pabal number list`\n")
    assert before == [
        ["acme", "02-1234-5678", "pending", "held by other"],
        ["acme", "1588-0000", "approved"],
        ["other", "02-1234-5678", "approved"],
    ]
    assert (rejected.status, rejected.out) == (0, "02-1234-5678 is rejected for acme\n")


@pytest.mark.parametrize("word", ["add", "approve", "reject", "remove"])
def test_invalid_number_or_unknown_account_is_refused(command_line: CommandLine, word: str) -> None:
    unknown = command_line("number", word, "02-1234-5678", "--account", "nobody")
    assert unknown.status == 2
    assert "pabal account list" in unknown.err
    wrong = command_line("number", word, "119", "--account", "acme")
    assert wrong.status == 1
    assert "sender number" in wrong.err


def test_limits_are_set_shown_and_removed(command_line: CommandLine) -> None:
    set_two = command_line("account", "limit", "acme", "--receivers-per-day", "5000", "--duplicate-minutes", "3")
    shown = command_line("account", "limit", "acme")
    command_line("account", "limit", "acme", "--receivers-per-day", "0", "--duplicate-minutes", "default")

    assert (set_two.status, set_two.out) == (0, shown.out)
    assert shown.rows == [
        ["receivers_per_second", "none"],
        ["receivers_per_day", "5000"],
        ["receivers_per_month", "none"],
        ["budget_per_month", "none"],
        ["duplicate_minutes", "3"],
    ]
    assert [row[1] for row in command_line("account", "limit", "acme").rows] == ["none"] * 4 + ["default"]


@pytest.mark.parametrize("value", ["-1", "many", "1.5", "9" * 20])
def test_invalid_limit_is_refused_and_changes_nothing(command_line: CommandLine, value: str) -> None:
    refused = command_line("account", "limit", "acme", f"--budget-per-month={value}", "--receivers-per-day=5")

    assert refused.status == 2
    assert "--budget-per-month: Enter a whole number from 0 to" in refused.err
    assert command_line("account", "limit", "acme").rows[1] == ["receivers_per_day", "none"]
    assert command_line("account", "limit", "nobody").status == 2


def test_number_for_opting_out_is_shown_set_and_removed(command_line: CommandLine) -> None:
    before = command_line("account", "opt-out", "acme")
    done = command_line("account", "opt-out", "acme", "080 123 4567")
    wrong = command_line("account", "opt-out", "acme", "02-1234-5678")
    after = command_line("account", "opt-out", "acme")
    removed = command_line("account", "opt-out", "acme", "none")
    unknown = command_line("account", "opt-out", "nobody", "080-123-4567")

    assert (before.status, before.out) == (0, "none\n")
    assert done.out == after.out == "080-123-4567\n"
    assert (wrong.status, unknown.status) == (1, 2)
    assert "080" in wrong.err
    assert removed.out == "none\n"


def test_reseller_codes_are_set_shown_and_removed(command_line: CommandLine) -> None:
    command_line("account", "codes", "acme", "--origin-code", "123456789")
    both = command_line("account", "codes", "acme", "--reseller-code", "shop-1")
    shown = command_line("account", "codes", "acme")
    removed = command_line("account", "codes", "acme", "--origin-code", "none")

    assert (both.status, both.out) == (0, shown.out)
    assert shown.rows == [["origin_code", "123456789"], ["reseller_code", "shop-1"]]
    assert removed.rows == [["origin_code", "none"], ["reseller_code", "shop-1"]]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("origin-code", "12345678"),
        ("origin-code", "1234567890"),
        ("origin-code", "12345678a"),
        ("reseller-code", "a b"),
    ],
)
def test_invalid_reseller_code_is_refused_and_changes_nothing(
    command_line: CommandLine, option: str, value: str
) -> None:
    refused = command_line("account", "codes", "acme", f"--{option}={value}")

    assert (refused.status, f"--{option}: It must " in refused.err) == (2, True)
    assert [row[1] for row in command_line("account", "codes", "acme").rows] == ["none", "none"]
    assert command_line("account", "codes", "nobody").status == 2

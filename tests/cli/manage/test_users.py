"""`pabal user`: makes people who may sign in to the console, and stops them."""

import io
import re

import pytest

from pabal.service.access.users import passwords, sign_in_delays
from pabal.store.users import openid_identities, second_factors, users
from pabal.store.users.openid_identities import Identity
from tests.fixtures.cli import CommandLine

PASSWORD = re.compile(r"([2-9a-z]{5}-){3}[2-9a-z]{5}\n")


def hash_of(command_line: CommandLine, name: str) -> str:
    found = command_line.run_in_store(users.get_by_name, name)
    assert found is not None
    return str(found.hash)


def test_generated_password_is_printed_alone_and_works(command_line: CommandLine) -> None:
    made = command_line("user", "create", "Kim", "--account", "acme", "--role", "sender")

    assert made.status == 0
    assert PASSWORD.fullmatch(made.out)
    assert "only once" in made.err
    assert passwords.verify(hash_of(command_line, "kim"), made.out.strip())
    name, account, role, _, state = command_line("user", "list").out.strip().split("\t")
    assert (name, account, role, state) == ("kim", "acme", "sender", "enabled")


OPERATOR = ("user", "create", "op", "--role", "operator", "--password-stdin")


def test_password_can_be_read_from_stdin(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))

    made = command_line(*OPERATOR)

    assert (made.status, made.out, made.err) == (0, "user op is created\n", "")
    assert passwords.verify(hash_of(command_line, "op"), "correct horse battery")
    assert "all accounts" in command_line("user", "list").out


def test_user_gets_a_new_password_and_is_disabled_and_enabled(command_line: CommandLine) -> None:
    first = command_line("user", "create", "kim", "--account", "acme").out.strip()

    second = command_line("user", "password", "kim").out.strip()

    assert first != second
    assert not passwords.verify(hash_of(command_line, "kim"), first)
    assert passwords.verify(hash_of(command_line, "kim"), second)
    assert command_line("user", "disable", "kim").out == "user kim is disabled\n"
    assert command_line("user", "list").out.endswith("\tdisabled\n")
    assert command_line("user", "enable", "kim").out == "user kim is enabled\n"
    assert command_line("user", "list").out.endswith("\tenabled\n")


def test_user_is_unlocked_after_failed_sign_ins(command_line: CommandLine) -> None:
    command_line("user", "create", "kim", "--account", "acme")
    free = command_line("user", "unlock", "kim")
    attempt = sign_in_delays.attempt_of("kim", None, None)
    command_line.run_in_store(sign_in_delays.admit, attempt, 0)

    lifted = command_line("user", "unlock", "Kim")

    assert (free.status, free.out) == (0, "user kim had no failed sign-ins\n")
    assert (lifted.status, lifted.out) == (0, "user kim is unlocked\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create", "kim"], "--account is required"),
        (["create", "op", "--account", "acme", "--role", "operator"], "leave it out"),
        (["create", "a b", "--account", "acme"], "letters, digits"),
        (["create", "lee", "--account", "acme"], "A user with this name already exists"),
        (["password", "nobody"], "pabal user list"),
        (["disable", "nobody"], "pabal user list"),
        (["unlock", "nobody"], "pabal user list"),
    ],
)
def test_invalid_user_is_refused_with_advice(command_line: CommandLine, words: list[str], said: str) -> None:
    command_line("user", "create", "lee", "--account", "acme")

    refused = command_line("user", *words)

    assert refused.status in (1, 2)
    assert said in refused.err
    assert refused.out == ""
    assert [line.split("\t")[0] for line in command_line("user", "list").out.splitlines()] == ["lee"]


def test_a_password_that_is_too_short_is_refused(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))

    refused = command_line(*OPERATOR)

    assert refused.status == 1
    assert "10 to 200 characters" in refused.err
    assert command_line("user", "list").out == ""


def test_two_factor_sign_in_is_reset(command_line: CommandLine) -> None:
    command_line("user", "create", "kim", "--account", "acme")
    found = command_line.run_in_store(users.get_by_name, "kim")
    assert found is not None
    command_line.run_in_store(second_factors.propose, found.user.id, b"\0secret")
    command_line.run_in_store(second_factors.enable, found.user.id, 1, 1)

    assert command_line("user", "reset-two-factor", "Kim").out == "user kim signs in with the password alone\n"
    assert command_line("user", "reset-two-factor", "kim").out == "user kim had no two-factor sign-in\n"
    assert command_line("user", "reset-two-factor", "nobody").status == 1


def test_user_is_unlinked_from_the_provider(command_line: CommandLine) -> None:
    command_line("user", "create", "kim", "--account", "acme")
    found = command_line.run_in_store(users.get_by_name, "kim")
    assert found is not None
    identity = Identity("https://login.example", "1")
    command_line.run_in_store(openid_identities.add, identity, found.user.id, 1)

    assert command_line("user", "unlink", "Kim").out == "user kim is unlinked\n"
    assert command_line("user", "unlink", "kim").out == "user kim was not linked\n"
    assert command_line("user", "unlink", "nobody").status == 1
    assert command_line.run_in_store(openid_identities.find_user, identity) is None

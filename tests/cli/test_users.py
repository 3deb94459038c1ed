"""`pabal user`: makes people who may sign in to the console, and stops them."""

import re
import subprocess

import pytest

from pabal.service.access import passwords
from pabal.store import users
from tests.fixtures.cli import Desk
from tests.fixtures.live import command

PASSWORD = re.compile(r"([2-9a-z]{5}-){3}[2-9a-z]{5}\n")


def hash_of(desk: Desk, name: str) -> str:
    found = desk.change(users.by_name, name)
    assert found is not None
    return str(found.hash)


def test_a_password_is_printed_alone_and_is_right(desk: Desk) -> None:
    made = desk("user", "create", "Kim", "--account", "acme", "--role", "sender")

    assert made.status == 0
    assert PASSWORD.fullmatch(made.out)
    assert "only this once" in made.err
    assert passwords.is_right(hash_of(desk, "kim"), made.out.strip())
    name, account, role, _, state = desk("user", "list").out.strip().split("\t")
    assert (name, account, role, state) == ("kim", "acme", "sender", "live")


def create_with(desk: Desk, password: str) -> "subprocess.CompletedProcess[str]":
    """Make an operator as a script does, which hands the password over."""
    asked = command("user", "create", "op", "--role", "operator", "--password-stdin", data=desk.data)
    return subprocess.run(**asked, input=f"{password}\n", capture_output=True, timeout=60, check=False)


def test_a_password_can_be_given(desk: Desk) -> None:
    made = create_with(desk, "correct horse battery")

    assert (made.returncode, made.stdout, made.stderr) == (0, "user op is made\n", "")
    assert passwords.is_right(hash_of(desk, "op"), "correct horse battery")
    assert "all accounts" in desk("user", "list").out


def test_a_user_gets_another_password_and_is_disabled_and_enabled(desk: Desk) -> None:
    first = desk("user", "create", "kim", "--account", "acme").out.strip()

    second = desk("user", "password", "kim").out.strip()

    assert first != second
    assert not passwords.is_right(hash_of(desk, "kim"), first)
    assert passwords.is_right(hash_of(desk, "kim"), second)
    assert desk("user", "disable", "kim").out == "user kim is disabled\n"
    assert desk("user", "list").out.endswith("\tdisabled\n")
    assert desk("user", "enable", "kim").out == "user kim is enabled\n"
    assert desk("user", "list").out.endswith("\tlive\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create", "kim"], "--account: whose user"),
        (["create", "op", "--account", "acme", "--role", "operator"], "leave it out"),
        (["create", "a b", "--account", "acme"], "letters, digits"),
        (["create", "lee", "--account", "acme"], "such a user already"),
        (["password", "nobody"], "pabal user list"),
        (["disable", "nobody"], "pabal user list"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_word_on_what_to_do(desk: Desk, words: list[str], said: str) -> None:
    desk("user", "create", "lee", "--account", "acme")

    refused = desk("user", *words)

    assert refused.status in (1, 2)
    assert said in refused.err
    assert refused.out == ""
    assert [line.split("\t")[0] for line in desk("user", "list").out.splitlines()] == ["lee"]


def test_a_password_that_is_too_short_is_refused(desk: Desk) -> None:
    refused = create_with(desk, "short")

    assert refused.returncode == 1
    assert "10 to 200 characters" in refused.stderr
    assert desk("user", "list").out == ""

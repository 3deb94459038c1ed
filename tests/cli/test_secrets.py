"""`pabal secrets`: the key that encrypts secrets in the store."""

from pabal.settings.settings import load
from tests.fixtures.cli import CommandLine


def test_new_key_is_one_that_the_setting_accepts(new_command_line: CommandLine) -> None:
    first, second = (new_command_line("secrets", "new-key").out.strip() for _ in range(2))

    assert len(load({"PABAL_SECRET_KEY": first}).read_secret_keys()[0]) == 32
    assert first != second
    assert new_command_line.files() == set()

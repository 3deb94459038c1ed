"""`pabal migrate` applies missing migrations, and other commands respect the schema version."""

from pathlib import Path

import pytest

from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine

WORLD = RealWorld()


def make_newer(tx: Tx) -> None:
    tx.execute("insert into migrations values (9999, 'from the future', 0)")


def test_migrate_applies_missing_migrations_once(new_command_line: CommandLine) -> None:
    first, second = new_command_line("migrate"), new_command_line("migrate")

    assert first.out == "".join(f"applied {step.number:04} {step.name}\n" for step in all_migrations())
    assert (second.status, second.out) == (0, "the schema is up to date\n")


def test_other_commands_do_not_migrate_if_settings_forbid_it(new_command_line: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text("migrate = false")

    refused = new_command_line("key", "list", "--config", str(config))
    assert refused.status == 2
    assert "run `pabal migrate` first" in refused.err
    new_command_line("migrate", "--config", str(config))
    assert new_command_line("key", "list", "--config", str(config)).status == 0


@pytest.mark.parametrize("words", [["migrate"], ["key", "list"], ["doctor"]])
def test_store_of_a_newer_version_is_not_changed(
    new_command_line: CommandLine, tmp_path: Path, words: list[str]
) -> None:
    new_command_line.run_in_context(lambda context: context.store.write(make_newer))

    for migrates in ("true", "false"):
        config = tmp_path / "pabal.toml"
        config.write_text(f"migrate = {migrates}")
        refused = new_command_line(*words, "--config", str(config))
        assert refused.status in (1, 2)
        assert "9999" in refused.out + refused.err
        assert ("WRONG" in refused.out) == (words == ["doctor"])

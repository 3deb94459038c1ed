"""`pabal completion` prints scripts with which shells complete commands and options."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine

PROGRAM = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_pabal
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pabal se", ["settings", "serve", "send", "secrets"]),
        ("pabal key c", ["create"]),
        ("pabal key create --sc", ["--scope"]),
        ("pabal key create --scope s", ["send"]),
        ("pabal send al", ["alimtalk"]),
        ("pabal send sms --csv ''", []),
        ("pabal send sms --in-doubt ''", ["send", "skip"]),
    ],
)
def test_bash_completes(new_command_line: CommandLine, tmp_path: Path, words: str, expected: list[str]) -> None:
    script = tmp_path / "pabal.bash"
    script.write_text(new_command_line.run("completion", "bash").out)

    shell = subprocess.run(
        ["bash", "-u", "-c", PROGRAM.format(script=script, words=words)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert shell.stderr == ""
    assert sorted(shell.stdout.split()) == sorted(expected)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(new_command_line: CommandLine, tmp_path: Path, shell: str) -> None:
    script = tmp_path / "script"
    script.write_text(new_command_line.run("completion", shell).out)

    assert "alimtalk" in script.read_text()
    if shutil.which(shell):
        assert subprocess.run([shell, "-n", str(script)], timeout=60, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [("pabal key cr", "create"), ("pabal send ali", "alimtalk"), ("pabal key create --scope ma", "manage")],
)
def test_fish_completes(new_command_line: CommandLine, tmp_path: Path, words: str, expected: str) -> None:
    script = tmp_path / "pabal.fish"
    script.write_text(new_command_line.run("completion", "fish").out)

    shell = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C '{words}'"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert shell.stdout.split() == [expected]

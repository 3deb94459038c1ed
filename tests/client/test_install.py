"""Client and command line need only the few packages that `pip install pabal` brings."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCK = "import sys; [sys.modules.__setitem__(name, None) for name in {blocked!r}]\n"
CALLING = ["send", "history", "phone", "status"]
HELP = f"""
from pabal.cli.main import main
for words in (["--version"], ["--help"], *([name, "--help"] for name in {CALLING})):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code
"""
WITHOUT_DISTRIBUTIONS = {"tzdata"}
"""Packages that hold data only."""


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=;~ ]", each)[0].lower().replace("_", "-") for each in requirements}


def _server_modules() -> list[str]:
    """Return the modules of the packages that only the service needs; h11 and httpcore come with httpx."""
    server = _names(PROJECT["optional-dependencies"]["server"]) - {"h11", "httpcore"}
    found = {
        module: {name.lower().replace("_", "-") for name in names}
        for module, names in packages_distributions().items()
    }
    modules = [module for module, names in found.items() if names & server]
    assert len(modules) >= len(server - WITHOUT_DISTRIBUTIONS)
    return modules


def _run_without_server(program: str) -> "subprocess.CompletedProcess[str]":
    blocked = BLOCK.format(blocked=["mcp", *_server_modules()])
    return subprocess.run(
        [sys.executable, "-c", blocked + program], capture_output=True, text=True, timeout=120, check=False
    )


def test_client_is_imported_without_the_service() -> None:
    run = _run_without_server(
        "import pabal.client; print(sorted(each for each in sys.modules if each.startswith('pabal.')))"
    )

    assert run.returncode == 0, run.stderr
    assert not {"pabal.app", "pabal.service", "pabal.store", "pabal.settings"} & set(
        re.findall(r"[\w.]+", run.stdout)
    )


@pytest.mark.parametrize(
    ("words", "extra"), [(["serve"], "server"), (["key", "list"], "server"), (["mcp", "--key", "pb_key"], "mcp")]
)
def test_command_without_its_packages_says_what_to_install(words: list[str], extra: str) -> None:
    run = _run_without_server(f"from pabal.cli.main import main; sys.exit(main({words!r}))")

    assert run.returncode == 2
    assert run.stderr.endswith("install it with: pip install 'pabal[" + extra + "]'\n")
    assert "Traceback" not in run.stderr


def test_commands_that_call_a_service_need_none_installed() -> None:
    run = _run_without_server(HELP)

    assert (run.returncode, run.stderr) == (0, "")
    version, head, *helped = run.stdout.split("usage: ")
    assert version.startswith("pabal ")
    assert re.findall(r"^    (\w+)", head, re.MULTILINE) == [*CALLING, "webhook", "mcp", "completion"]
    assert "pip install 'pabal[server]'" in " ".join(head.split())
    assert [each.split()[1] for each in helped] == CALLING


def test_client_needs_few_packages() -> None:
    assert _names(PROJECT["dependencies"]) == {"httpx", "msgspec"}

"""Checks that a test executes the commands of every page that has some."""

import re

import pytest

from docs import generate

ROOT = generate.DOCS.parent
EXECUTED_BY = {
    "tests/docs/test_examples.py": (
        "README",
        "tutorial",
        "advertising",
        "dry-run",
        "error-handling",
        "idempotency",
        "look-up-messages",
        "one-time-codes",
        "opt-outs",
        "scheduling-and-cancelling",
        "sender-profiles",
        "templates",
    ),
    "tests/docs/test_operators_commands.py": (
        "behind-a-proxy",
        "console",
        "keys-and-accounts",
        "move-from-a-relay",
    ),
    "tests/docs/test_relay_pages.py": ("nhncloud", "solapi", "several-relays"),
    "tests/docs/test_operating_pages.py": ("operate", "upgrade"),
    "tests/docs/test_command_line_page.py": ("command-line",),
    "tests/docs/test_client_pages.py": ("python-client",),
    "tests/generators/test_typescript.py": ("other-languages",),
    "tests/docs/test_postgresql_page.py": ("postgresql",),
    "tests/docs/test_processes_page.py": ("several-processes",),
    "tests/compat/clients/test_page.py": ("solapi-endpoints",),
    "tests/compat/nhncloud/test_nhncloud_page.py": ("nhncloud-endpoints",),
    "tests/docs/test_ai_assistants_page.py": ("ai-assistants",),
    "tests/docs/test_smpp_page.py": ("smpp",),
    "tests/docs/test_stack_pages.py": ("django", "fastapi", "go", "java", "kotlin", "node", "php"),
    "tests/docs/test_webhooks_page.py": ("webhooks",),
    "tests/cli/data/test_backup_page.py": ("backup",),
    "tests/deploy/test_container_commands.py": ("containers",),
    "tests/deploy/test_systemd_commands.py": ("systemd",),
    "tests/cli/test_postgresql.py": ("citus",),
}
"""The pages whose commands each test executes; a Korean page has the commands of its English twin."""


def test_commands_of_every_page_are_executed() -> None:
    pages = [ROOT / "README.md", generate.DOCS / "tutorial.md", *(generate.DOCS / "how-to").glob("*.md")]
    have_commands = {page.stem for page in pages if "\n```sh\n" in page.read_text(encoding="utf-8")}

    assert {page for pages in EXECUTED_BY.values() for page in pages} == have_commands


@pytest.mark.parametrize("test", EXECUTED_BY)
def test_tests_of_pages_name_them(test: str) -> None:
    text = (ROOT / test).read_text(encoding="utf-8")

    assert [page for page in EXECUTED_BY[test] if not re.search(rf"\b{page}\b", text)] == []

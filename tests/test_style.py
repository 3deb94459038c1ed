"""The rules of the house, as tests: what each file says of itself, and what only some files may know."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "pabal"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(file.relative_to(SOURCE)) for file in FILES]

MAX_LINES = 400

SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+(table|index))\b",
    re.IGNORECASE | re.DOTALL,
)


@cache
def tree(name: str) -> ast.Module:
    return ast.parse((SOURCE / name).read_text(encoding="utf-8"))


@cache
def imported(name: str) -> frozenset[str]:
    """Return the name of every module that is imported."""
    found = set[str]()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{each.name}" for each in node.names)
    return frozenset(found)


@cache
def used(name: str) -> frozenset[str]:
    """Return every dotted name that is used, such as `time.time`."""
    return frozenset(
        ast.unparse(node) for node in ast.walk(tree(name)) if isinstance(node, ast.Attribute | ast.Name)
    )


@cache
def texts(name: str) -> tuple[str, ...]:
    """Return every string that is no docstring."""
    module = tree(name)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return tuple(
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    )


def test_there_is_something_to_look_at() -> None:
    assert "world.py" in NAMES
    assert {"store/engine/sqlite.py", "store/engine/postgres.py"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_begins_with_one_sentence_that_says_what_it_is_for_and_is_not_so_long_that_it_must_be_two(
    name: str,
) -> None:
    said = ast.get_docstring(tree(name))

    assert said
    first, *_ = said.split("\n\n")
    assert "\n" not in first
    assert first.endswith((".", "…"))
    assert ". " not in first
    assert (SOURCE / name).read_text(encoding="utf-8").count("\n") <= MAX_LINES


def test_the_environment_is_read_only_in_config() -> None:
    asked = {"os.environ", "os.getenv", "os.environb", "environ", "getenv"}

    assert [name for name in NAMES if asked & used(name)] == ["settings/settings.py"]


def test_time_and_chance_come_only_from_the_world() -> None:
    ends = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "os.urandom", "loop.time")
    by_import = [name for name in NAMES if {"time", "random", "secrets", "uuid"} & imported(name)]
    by_use = [name for name in NAMES if any(each.endswith(ends) for each in used(name))]

    assert {*by_import, *by_use} == {"world.py"}


def test_sql_stands_only_in_the_store() -> None:
    elsewhere = [name for name in NAMES if not name.startswith("store/")]

    assert [(name, text) for name in elsewhere for text in texts(name) if SQL.search(text)] == []
    assert [name for name in elsewhere if {"apsw", "sqlite3", "psycopg"} & imported(name)] == []


def test_sql_would_be_seen() -> None:
    found = [name for name in NAMES if any(SQL.search(text) for text in texts(name))]

    assert {"store/queue.py", "store/messages.py", "store/receipts.py", "store/accounts.py"} <= set(found)


def test_only_the_command_line_prints() -> None:
    commands = {"cli/backup.py", "cli/main.py", "cli/manage.py", "cli/users.py", "cli/restore.py", "cli/serve.py"}

    assert {name for name in NAMES if "print" in used(name)} <= commands


@pytest.mark.parametrize("name", NAMES)
def test_no_fault_is_swallowed_without_a_word(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            caught = ast.unparse(node.type)
            is_wide = caught in ("Exception", "BaseException")
            assert not (is_wide and all(isinstance(each, ast.Pass) for each in node.body))

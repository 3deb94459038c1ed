"""The rules of the house, as tests: what each file says of itself, and what only some files may know."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "pabal"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(file.relative_to(SOURCE)) for file in FILES]

MAX_LINES = 400

SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+(table|index))\b",
    re.IGNORECASE | re.DOTALL,
)


def tree(name: str) -> ast.Module:
    return ast.parse((SOURCE / name).read_text(encoding="utf-8"))


def imported(module: ast.Module) -> Iterator[str]:
    """Yield the name of every module that is imported."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def used(module: ast.Module) -> Iterator[str]:
    """Yield every dotted name that is used, such as `time.time`."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute | ast.Name):
            yield ast.unparse(node)


def texts(module: ast.Module) -> Iterator[str]:
    """Yield every string that is no docstring."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_there_is_something_to_look_at() -> None:
    assert "world.py" in NAMES
    assert {"store/sqlite.py", "store/postgres.py"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_begins_with_one_sentence_that_says_what_it_is_for(name: str) -> None:
    said = ast.get_docstring(tree(name))

    assert said
    first, *_ = said.split("\n\n")
    assert "\n" not in first
    assert first.endswith((".", "…"))
    assert ". " not in first


@pytest.mark.parametrize("name", NAMES)
def test_no_file_is_so_long_that_it_must_be_two(name: str) -> None:
    lines = (SOURCE / name).read_text(encoding="utf-8").count("\n")

    assert lines <= MAX_LINES


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"config.py"}))
def test_the_environment_is_read_only_in_config(name: str) -> None:
    assert not {"os.environ", "os.getenv", "os.environb", "environ", "getenv"} & set(used(tree(name)))


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"world.py"}))
def test_time_and_chance_come_only_from_the_world(name: str) -> None:
    module = tree(name)

    assert not {"time", "random", "secrets", "uuid"} & set(imported(module))
    ends = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "os.urandom", "loop.time")
    assert not [each for each in used(module) if each.endswith(ends)]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("store/")])
def test_sql_stands_only_in_the_store(name: str) -> None:
    module = tree(name)

    assert [text for text in texts(module) if SQL.search(text)] == []
    assert not {"apsw", "sqlite3", "psycopg"} & set(imported(module))


def test_sql_would_be_seen() -> None:
    found = [name for name in NAMES if any(SQL.search(text) for text in texts(tree(name)))]

    assert {"store/jobs.py", "store/messages.py", "store/receipts.py", "store/accounts.py"} <= set(found)


@pytest.mark.parametrize(
    "name", sorted(set(NAMES) - {"backup.py", "cli.py", "manage.py", "manage_users.py", "restore.py", "serve.py"})
)
def test_only_the_command_line_prints(name: str) -> None:
    assert "print" not in set(used(tree(name)))


@pytest.mark.parametrize("name", NAMES)
def test_no_fault_is_swallowed_without_a_word(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            caught = ast.unparse(node.type)
            is_wide = caught in ("Exception", "BaseException")
            assert not (is_wide and all(isinstance(each, ast.Pass) for each in node.body))

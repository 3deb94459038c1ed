"""The rules of style that a test can check."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pabal"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(file.relative_to(SOURCE)) for file in FILES]
ALL_FILES = [
    str(file.relative_to(ROOT))
    for folder in ("src", "tests", "bench", "docs")
    for file in sorted((ROOT / folder).rglob("*.py"))
]


MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_TEST_NAME = 80

SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+(table|index))\b",
    re.IGNORECASE | re.DOTALL,
)


@cache
def tree(name: str) -> ast.Module:
    """Return the syntax tree of a file, named relative to the sources or to the repository."""
    path = SOURCE / name
    return ast.parse((path if path.exists() else ROOT / name).read_text(encoding="utf-8"))


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


def functions(name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return every function and method of a file."""
    return [node for node in ast.walk(tree(name)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_files_are_found() -> None:
    assert "world.py" in NAMES
    assert {"store/engine/sqlite.py", "store/engine/postgres.py"} <= set(NAMES)
    assert {"tests/test_style.py", "bench/__main__.py"} <= set(ALL_FILES)


def test_files_are_not_too_long() -> None:
    lengths = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in ALL_FILES}

    assert {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_are_not_too_long() -> None:
    lengths = {
        f"{name}:{each.name}": (each.end_lineno or 0) - each.lineno + 1
        for name in ALL_FILES
        for each in functions(name)
    }

    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_test_names_are_not_too_long() -> None:
    tests = {f"{name}:{each.name}": len(each.name) for name in ALL_FILES for each in functions(name)}

    assert {name: length for name, length in tests.items() if ":test_" in name and length > MAX_TEST_NAME} == {}


@pytest.mark.parametrize("name", NAMES)
def test_module_docstring_starts_with_one_sentence(name: str) -> None:
    docstring = ast.get_docstring(tree(name))

    assert docstring
    first, *_ = docstring.split("\n\n")
    assert "\n" not in first
    assert first.endswith((".", "…"))
    assert ". " not in first


def test_public_class_names_are_unique() -> None:
    classes = Counter(
        node.name
        for name in NAMES
        for node in tree(name).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [each for each, count in classes.items() if count > 1] == []


def test_only_settings_reads_the_environment() -> None:
    asked = {"os.environ", "os.getenv", "os.environb", "environ", "getenv"}

    assert [name for name in NAMES if asked & used(name)] == ["settings/environment.py"]


def test_only_world_reads_the_clock_and_makes_random_values() -> None:
    ends = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "os.urandom", "loop.time")
    by_import = [name for name in NAMES if {"time", "random", "secrets", "uuid"} & imported(name)]
    by_use = [name for name in NAMES if any(each.endswith(ends) for each in used(name))]

    assert {*by_import, *by_use} == {"world.py"}


def test_only_the_store_contains_sql() -> None:
    elsewhere = [name for name in NAMES if not name.startswith("store/")]

    assert [(name, text) for name in elsewhere for text in texts(name) if SQL.search(text)] == []
    assert [name for name in elsewhere if {"apsw", "sqlite3", "psycopg"} & imported(name)] == []


def test_sql_is_recognized() -> None:
    found = [name for name in NAMES if any(SQL.search(text) for text in texts(name))]

    assert {"store/queue.py", "store/messages.py", "store/receipts.py", "store/accounts.py"} <= set(found)


def test_only_commands_print() -> None:
    words = [
        "calling/call",
        "calling/completion",
        "calling/phone",
        "calling/send",
        "calling/status",
        "backup",
        "carriers",
        "entry",
        "keys",
        "limits",
        "main",
        "manage",
        "mappings",
        "move",
        "numbers",
        "opt_outs",
        "privacy",
        "processes",
        "restore",
        "secrets",
        "serve",
        "table",
        "translate",
        "users",
        "webhooks",
    ]
    commands = {f"cli/{word}.py" for word in words}

    assert {name for name in NAMES if "print" in used(name)} <= commands


@pytest.mark.parametrize("name", NAMES)
def test_no_broad_except_passes_silently(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            caught = ast.unparse(node.type)
            is_wide = caught in ("Exception", "BaseException")
            assert not (is_wide and all(isinstance(each, ast.Pass) for each in node.body))

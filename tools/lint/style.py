"""The rules of style that ruff does not know: lengths, docstrings, class names, SQL."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("src", "tests", "bench", "docs", "tools")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_TEST_NAME = 80

SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+(table|index))\b",
    re.IGNORECASE | re.DOTALL,
)
INSERT_BY_POSITION = re.compile(r"\binsert\s+(?:\{or_fail\}\s+)?into\s+\w+\s+(?:values|select)\b", re.IGNORECASE)
LOOP_TIME = re.compile(r"loop(\(\))?\.time\b")


def find_style_problems(root: Path) -> Iterator[str]:
    """Yield a line for every violation."""
    files = sorted(file for folder in FOLDERS for file in (root / folder).rglob("*.py"))
    classes: dict[str, str] = {}
    for file in files:
        name = str(file.relative_to(root))
        text = file.read_text(encoding="utf-8")
        module = ast.parse(text)
        yield from _find_lengths(name, text, module)
        if name.startswith("src/"):
            yield from _find_bad_docstring(name, module)
            for each in _public_classes(module):
                if each in classes:
                    yield f"{name}: a class {each} is in {classes[each]} too"
                classes[each] = name
            yield from _find_bad_sql(name, text, module)
            if LOOP_TIME.search(text) and name != "src/pabal/world.py":
                yield f"{name}: the clock is read outside of world.py"


def _find_lengths(name: str, text: str, module: ast.Module) -> Iterator[str]:
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{name}: {lines} lines, at most {MAX_FILE_LINES}"
    for each in _functions(module.body):
        length = (each.end_lineno or each.lineno) - each.lineno + 1
        if length > MAX_FUNCTION_LINES:
            yield f"{name}:{each.lineno}: {each.name} has {length} lines, at most {MAX_FUNCTION_LINES}"
        if each.name.startswith("test_") and len(each.name) > MAX_TEST_NAME:
            yield f"{name}:{each.lineno}: a name of {len(each.name)} characters, at most {MAX_TEST_NAME}"


def _functions(statements: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method; expressions, which are most of a file, are not searched."""
    for each in statements:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each
        for field in ("body", "orelse", "finalbody"):
            yield from _functions(getattr(each, field, []))


def _find_bad_docstring(name: str, module: ast.Module) -> Iterator[str]:
    first = (ast.get_docstring(module) or "").split("\n\n")[0]
    if "\n" in first or ". " in first or not first.endswith((".", "…")):
        yield f"{name}: the docstring does not start with one sentence on one line"


def _public_classes(module: ast.Module) -> list[str]:
    names = [each.name for each in module.body if isinstance(each, ast.ClassDef)]
    return [each for each in names if not each.startswith("_")]


def _find_bad_sql(name: str, text: str, module: ast.Module) -> Iterator[str]:
    if not (SQL.search(text) or INSERT_BY_POSITION.search(text)):  # looking at every string takes longer
        return
    for each in _texts_in(module):
        if SQL.search(each) and not name.startswith("src/pabal/store/"):
            yield f"{name}: SQL outside the store: {each}"
        if INSERT_BY_POSITION.search(each):
            yield f"{name}: an insert without names of columns, which a new column would break: {each}"


def _texts_in(module: ast.Module) -> list[str]:
    """Return every string that is no docstring."""
    nodes = list(ast.walk(module))
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]

"""Draws faults at random from a fixed seed: `python -m tests.seeded_faults.draw` writes faults.json.

A fault changes one node of the syntax tree of one function. It is kept as text, with the name of its function,
so that it can be found again after its module was moved.
"""

import ast
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.json")
SEED = 32
Function = ast.FunctionDef | ast.AsyncFunctionDef
AREAS = ("domain", "checks", "service", "store", "carriers", "web")
FAULTS_PER_AREA = 10
SPARES_PER_AREA = 10
"""Take the place, in the order in which they were drawn, of faults whose code is gone."""

COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
IGNORED_CALLS = ("log.", "logger.", "_log.")
"""Calls whose absence nobody promised to notice."""


@dataclass(frozen=True)
class Fault:
    """A change of some lines of a function."""

    area: str
    module: str
    function: str
    kind: str
    original: list[str]
    changed: list[str]


def draw(source: Path) -> list[Fault]:
    """Return the faults of every area, spares last, the same for the same sources."""
    chance = random.Random(SEED)
    drawn: list[Fault] = []
    for area in AREAS:
        modules = sorted((source / area).rglob("*.py"))
        found: dict[tuple[str, ...], Fault] = {}
        while len(found) < FAULTS_PER_AREA + SPARES_PER_AREA:
            module = chance.choice(modules)
            possible = list(_possible_faults(area, module, source))
            if possible:
                kind = chance.choice(sorted({each.kind for each in possible}))
                fault = chance.choice([each for each in possible if each.kind == kind])
                found.setdefault((fault.module, fault.function, *fault.original), fault)
        drawn += found.values()
    return drawn


def _possible_faults(area: str, module: Path, source: Path) -> Iterator[Fault]:
    text = module.read_text(encoding="utf-8")
    for name, function in functions_of(ast.parse(text)):
        for node in ast.walk(function):
            for kind, changed in _changes(node):
                lines = _with_change(text, node, changed)
                if lines:
                    yield Fault(area, str(module.relative_to(source)), name, kind, *lines)


def functions_of(module: ast.Module) -> list[tuple[str, Function]]:
    """Return every function and method with its name, such as `Carrier.send`."""
    found: list[tuple[str, Function]] = []
    for node in module.body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, Function):
                found.append((f"{node.name}.{each.name}" if isinstance(node, ast.ClassDef) else each.name, each))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Return what may be done to a node: the kind, and the text that takes its place."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
            yield "comparison", ast.unparse(ast.Compare(left, [COMPARISONS[type(operator)]], [right]))
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and, or", f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.UnaryOp(ast.Not(), operand):
            yield "negation", ast.unparse(operand)
        case ast.IfExp(test, body, orelse):
            yield "branches", f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.Constant(value) if isinstance(value, bool):
            yield "constant", str(not value)
        case ast.Constant(value) if isinstance(value, int):
            yield "constant", str(value + 1)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not isinstance(left, ast.JoinedStr):
            yield "arithmetic", f"({ast.unparse(ast.BinOp(left, _opposite(op), right))})"
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return value", "return None"
        case ast.Expr(ast.Call() | ast.Await(ast.Call())) | ast.AugAssign() | ast.Raise(ast.expr()):
            if not ast.unparse(node).startswith(IGNORED_CALLS):
                yield "statement dropped", "pass"
        case ast.Call(func, [first, second, *others], keywords):
            if not any(isinstance(each, ast.Starred) for each in (first, second)):
                yield "arguments", ast.unparse(ast.Call(func, [second, first, *others], keywords))


def _opposite(operator: ast.operator) -> ast.operator:
    return ast.Sub() if isinstance(operator, ast.Add) else ast.Add()


def _with_change(text: str, node: ast.AST, changed: str) -> tuple[list[str], list[str]] | None:
    """Return the lines of a node as they are and with the change, or None where that is no Python."""
    assert isinstance(node, ast.expr | ast.stmt)
    lines = text.splitlines()
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    new = [*lines[:first], f"{before}{changed}{after}", *lines[last + 1 :]]
    try:
        ast.parse("\n".join(new))
    except SyntaxError:
        return None
    return lines[first : last + 1], [new[first]]


def apply(fault: Fault, source: Path) -> Path | None:
    """Write a fault into the sources and return the module, or None where its code is gone."""
    place = _find(fault, source)
    if place is None:
        return None
    module, _, at = place
    lines = module.read_text(encoding="utf-8").splitlines()
    lines[at : at + len(fault.original)] = fault.changed
    module.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return module


def add_probe(fault: Fault, source: Path, statement: str) -> None:
    """Put a statement where the function of a fault starts, unless its code is gone."""
    place = _find(fault, source)
    if place is None:
        return
    module, function, _ = place
    first, *others = function.body
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and others:
        first = others[0]  # after the docstring
    decorators = getattr(first, "decorator_list", [])
    lines = module.read_text(encoding="utf-8").splitlines()
    lines.insert((decorators or [first])[0].lineno - 1, " " * first.col_offset + statement)
    module.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _find(fault: Fault, source: Path) -> tuple[Path, Function, int] | None:
    """Return the module, the function and the line of a fault, searched in modules of the same name first."""
    name = Path(fault.module).name
    for module in sorted(source.rglob("*.py"), key=lambda each: (each.name != name, each)):
        text = module.read_text(encoding="utf-8")
        if fault.original[0] in text:
            lines = text.splitlines()
            for function_name, function in functions_of(ast.parse(text)):
                if function_name == fault.function:
                    for at in range(function.lineno - 1, function.end_lineno or function.lineno):
                        if lines[at : at + len(fault.original)] == fault.original:
                            return module, function, at
    return None


def read_faults() -> list[Fault]:
    """Return the faults that were drawn."""
    return [Fault(**each) for each in json.loads(FAULTS.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    faults = [asdict(each) for each in draw(ROOT / "src" / "pabal")]
    FAULTS.write_text(json.dumps(faults, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

"""Colours, distances and sizes of the console stand in one file, and components have the shapes that are drawn."""

import re
from pathlib import Path

import pytest

from pabal.console.shell import rendering

STATIC = Path(rendering.__file__).parents[1] / "static"
SHEETS = sorted(path.name for path in STATIC.glob("*.css") if path.name != "tokens.css")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CONDITION = re.compile(r"@media[^{]*")
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}\b(?![^{}]*\{)|\b(?:rgb|hsl|oklch|color-mix)a?\(")
LENGTH = re.compile(r"(?<![\w.-])-?[0-9]*\.?[0-9]+(?:rem|px|pt|cm|mm)\b")
TOKEN = re.compile(r"var\((--[\w-]+)")
DEFINED = re.compile(r"(--[\w-]+):")


def rules(name: str) -> str:
    """Return a style sheet without comments and conditions, in which variables are not allowed."""
    return CONDITION.sub("", COMMENT.sub("", (STATIC / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", SHEETS)
def test_no_style_sheet_has_colours_or_lengths_of_its_own(name: str) -> None:
    assert COLOR.findall(rules(name)) == []
    assert LENGTH.findall(rules(name)) == []


def test_every_token_is_defined_and_used() -> None:
    defined = set(DEFINED.findall(rules("tokens.css")))
    used = set(TOKEN.findall("".join(map(rules, [*SHEETS, "tokens.css"]))))

    assert used - defined == set()
    assert defined - used == set()


def test_dark_colours_are_those_of_light() -> None:
    light, dark = rules("tokens.css").split("color-scheme", 1)[1].rsplit(":root", 1)

    assert set(DEFINED.findall(dark)) <= set(DEFINED.findall(light))

"""Choices of a three-level category, from major to minor."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.kakao.profile import Category

LEVELS = 3


class CategoryChoices(NamedTuple):
    """The choices at each level, and what is chosen; empty if nothing is."""

    majors: list[str]
    minors: list[str]
    leaves: list[tuple[str, str]]
    """Code and name of each category of the last level."""
    major: str
    minor: str
    code: str

    @property
    def major_choices(self) -> list[tuple[str, str]]:
        return [(each, each) for each in self.majors]

    @property
    def minor_choices(self) -> list[tuple[str, str]]:
        return [(each, each) for each in self.minors]


def category_choices(categories: Mapping[str, Category], major: str, minor: str, code: str) -> CategoryChoices:
    """Return the choices at each level; what does not belong to the level above counts as not chosen.

    A single choice is made automatically.
    """
    known = [(each.code, split_levels(each.name)) for each in categories.values()]
    majors = _distinct([names[0] for _, names in known])
    major = _valid_choice(major, majors)
    within = [(one, names) for one, names in known if names[0] == major]
    minors = _distinct([names[1] for _, names in within])
    minor = _valid_choice(minor, minors)
    leaves = [(one, names[2]) for one, names in within if names[1] == minor]
    return CategoryChoices(majors, minors, leaves, major, minor, _valid_choice(code, [one for one, _ in leaves]))


def split_levels(name: str) -> list[str]:
    """Return the three levels of a category's name; a shorter name repeats its last level."""
    parts = [part.strip() for part in name.split(",", LEVELS - 1)]
    return parts + parts[-1:] * (LEVELS - len(parts))


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _valid_choice(chosen: str, choices: list[str]) -> str:
    if chosen in choices:
        return chosen
    return choices[0] if len(choices) == 1 else ""

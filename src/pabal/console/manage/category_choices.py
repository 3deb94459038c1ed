"""A category picked step by step: large, middle, small, as their names are written."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.category import Category

LEVELS = 3


class CategoryChoices(NamedTuple):
    """What there is to choose from at each step, and what is chosen; empty where nothing is yet."""

    majors: list[str]
    minors: list[str]
    leaves: list[tuple[str, str]]
    """Code and name of each category of the last step."""
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
    """Return the choices that are left after what was chosen; what does not belong to a step before is not chosen.

    Where there is only one, it is chosen already.
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
    """Return the three names that a category's name is made of; one that has fewer repeats its last."""
    parts = [part.strip() for part in name.split(",", LEVELS - 1)]
    return parts + parts[-1:] * (LEVELS - len(parts))


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _valid_choice(chosen: str, choices: list[str]) -> str:
    if chosen in choices:
        return chosen
    return choices[0] if len(choices) == 1 else ""

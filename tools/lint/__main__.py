"""Prints every violation: `python -m tools.lint style` or `documents`; the exit status is 1 if there is one."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.lint.style import find_style_problems

ROOT = Path(__file__).parents[2]


def _find_problems(what: str) -> Iterator[str]:
    if what == "style":
        yield from find_style_problems(ROOT)
    else:
        from tools.lint.documents import find_wrong_names  # they import the whole service
        from tools.lint.korean import find_differences

        yield from find_wrong_names(ROOT)
        yield from find_differences(ROOT)


if __name__ == "__main__":
    found = list(_find_problems(sys.argv[1]))
    print("".join(f"{line}\n" for line in found), end="")
    sys.exit(bool(found))

"""Prints the notes of a version for its tag, which are its section of the changelog: `notes.py [VERSION]`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_HEADING = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)


def read_version() -> str:
    """Return the version of the package in this directory."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/pabal/__init__.py").read_text("utf-8"), re.MULTILINE)
    assert found, "src/pabal/__init__.py has no version"
    return found[1]


def notes_of(version: str, changelog: str) -> str | None:
    """Return the notes of a version: a title, and what the changelog says; None if it has no such section."""
    parts = _HEADING.split(changelog)[1:]  # version, text, version, text, …
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    text = sections.get(version, "").strip()
    return f"Pabal {version}\n\n{text}\n" if text else None


def main() -> int:
    """Print the notes; return the exit status."""
    version = sys.argv[1] if len(sys.argv) > 1 else read_version()
    notes = notes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if notes is None:
        print(f"CHANGELOG.md has no section [{version}]: give [Unreleased] this name and its date", file=sys.stderr)
        return 1
    print(notes, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

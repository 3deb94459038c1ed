"""Prints the notes of a version, its section of the changelog, or the message of its tag: `notes.py [--tag]`."""

import re
import sys

from build_backend import ROOT, make_links_absolute, read_version

_HEADING = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)


def sections_of(changelog: str) -> dict[str, str]:
    """Return the text of each version."""
    parts = _HEADING.split(changelog)[1:]  # version, text, version, text, …
    return {version: text.strip() for version, text in zip(parts[::2], parts[1::2], strict=True)}


def notes_of(version: str, changelog: str) -> str | None:
    """Return the notes of a version: a title, and what the changelog says; None if it has no such section."""
    text = sections_of(changelog).get(version, "")
    return f"Pabal {version}\n\n{text}\n" if text else None


def main() -> int:
    """Print the notes, with links that work everywhere, or the message of the tag; return the exit status."""
    version = read_version()
    notes = notes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if notes is None:
        print(f"CHANGELOG.md has no section [{version}]: give [Unreleased] this name and its date", file=sys.stderr)
        return 1
    print(notes.partition("\n### ")[0].strip() if "--tag" in sys.argv else make_links_absolute(notes).strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())

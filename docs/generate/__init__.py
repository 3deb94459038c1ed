"""Generates the reference of docs/ and docs/ko/, and the synchronous client."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.generate.endpoints_page import endpoints_page
from docs.generate.errors_page import errors_page
from docs.generate.result_codes_page import result_codes_page
from docs.generate.settings_page import settings_page
from docs.generate.sync_client import SYNC_CLIENT, sync_client

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "reference"


def pages() -> dict[str, str]:
    """Return every generated page by its path in docs/."""
    return {
        "reference/endpoints.md": endpoints_page("en"),
        "reference/errors.md": errors_page("en"),
        "reference/result-codes.md": result_codes_page("en"),
        "reference/settings.md": settings_page("en"),
        "ko/reference/endpoints.md": endpoints_page("ko"),
        "ko/reference/errors.md": errors_page("ko"),
        "ko/reference/result-codes.md": result_codes_page("ko"),
        "ko/reference/settings.md": settings_page("ko"),
    }


def main(argv: Sequence[str] | None = None, folder: Path = DOCS) -> int:
    """Write the pages and the client, or with --check only compare them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the reference and the synchronous client from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    is_check = parser.parse_args(argv).check
    stale = _write(folder, pages(), is_check)
    stale += _write(SYNC_CLIENT.parent, {SYNC_CLIENT.name: sync_client()}, is_check)
    if is_check and stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


def _write(folder: Path, contents: Mapping[str, str], is_check: bool) -> list[str]:
    """Write what differs, unless it is only a check; return the names of what differed."""
    stale = []
    for name, content in contents.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(name)
        if not is_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            print(f"wrote {name}")
    return stale

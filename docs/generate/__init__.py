"""Generates the pages of docs/reference/ from the tables of the code, and the synchronous client."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.generate.endpoints_page import endpoints_page
from docs.generate.errors_page import errors_page
from docs.generate.result_codes_page import result_codes_page
from docs.generate.settings_page import settings_page
from docs.generate.sync_client import SYNC_CLIENT, sync_client

FOLDER = Path(__file__).parents[1] / "reference"


def pages() -> dict[str, str]:
    """Return every generated page by its file name."""
    return {
        "endpoints.md": endpoints_page(),
        "errors.md": errors_page(),
        "result-codes.md": result_codes_page(),
        "settings.md": settings_page(),
    }


def main(argv: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Write the pages, or with --check only compare them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the reference pages from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    is_check = parser.parse_args(argv).check
    stale = []
    files = {folder / name: text for name, text in pages().items()} | {SYNC_CLIENT: sync_client()}
    for path, text in files.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not is_check:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.name}")
    if is_check and stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0

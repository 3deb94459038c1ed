"""The `pabal` command: what it can do without the service, and everything else with it."""

import sys
from collections.abc import Sequence

from pabal import __version__

NEEDS_SERVER = "this needs the service, which is not installed here; install it with: pip install 'pabal[server]'"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; without `argv` that of this process."""
    try:
        from pabal.cli.main import main as run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "pabal":
            raise
        return _run_without_server(sys.argv[1:] if argv is None else argv)
    return run(argv)


def _run_without_server(argv: Sequence[str]) -> int:
    if list(argv) == ["--version"]:
        print(f"pabal {__version__}")
        return 0
    print(f"pabal: {NEEDS_SERVER}", file=sys.stderr)
    return 2

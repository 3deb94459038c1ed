"""The `pabal` command: what it can do without the service, and everything else with it."""

import sys
from collections.abc import Sequence

from pabal.cli.calling import parser
from pabal.cli.shared.translate import t

NEEDS_SERVER = "this needs the service, which is not installed here; install it with: pip install 'pabal[server]'"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; without `argv` that of this process."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in parser.NAMES:  # at once, without the imports of the service
        return parser.main(argv)
    try:
        from pabal.cli.main import main as run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "pabal":
            raise
        if not words or words[0] in ("--version", "--help", "-h", "completion"):
            return parser.main(argv)
        print(f"pabal: {t(NEEDS_SERVER)}", file=sys.stderr)
        return 2
    return run(argv)

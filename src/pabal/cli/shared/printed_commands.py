"""Makes printed commands ones that can be copied: for this program, and for the store that it uses."""

import argparse
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

_OPTIONS = argparse.ArgumentParser(add_help=False)
_OPTIONS.add_argument("--data")
_OPTIONS.add_argument("--config")
_COMMAND = re.compile(
    r"`(?P<as_user>runuser -u \S+ -- )?pabal"
    r" (?!send|history|phone|status|completion|backup|restore|move)(?P<words>[^`]+)(?<!--help)`"
)
"""A command that uses the store of the settings; one that also needs a file is not complete anyway."""


def complete_commands(text: str) -> str:
    """Return a text with `pabal …` as it is called here, with the `--data` and `--config` of this command."""

    def complete(found: re.Match[str]) -> str:
        return f"`{found['as_user'] or ''}{program()} {found['words']}{store_options()}`"

    return _COMMAND.sub(complete, text)


def program() -> str:
    """Return how to call this program in the folder where it was started."""
    found = shutil.which("pabal")
    called = Path(sys.argv[0])
    if called.name != "pabal" or not called.exists() or (found and called.samefile(found)):
        return "pabal"
    return shlex.quote(min(str(called.absolute()), os.path.relpath(called), key=len))


def store_options() -> str:
    """Return the options with which other commands use the store of this one."""
    given, _ = _OPTIONS.parse_known_args(sys.argv[1:])
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in vars(given).items() if value is not None)

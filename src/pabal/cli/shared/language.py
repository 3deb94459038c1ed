"""The language of the command line, which the locale says; printed commands are ones that can be copied."""

import argparse
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from pabal.domain.base.codes import Text, TextError
from pabal.settings.environment import choose_language

_ARGPARSE = {
    "usage: ": "사용법: ",
    "positional arguments": "인수",
    "options": "옵션",
    "show this help message and exit": "이 도움말을 보여 줍니다",
    "%(prog)s: error: %(message)s\n": "%(prog)s: %(message)s\n",
    "argument %(argument_name)s: %(message)s": "인수 %(argument_name)s: %(message)s",
    "the following arguments are required: %s": "다음 인수가 필요합니다: %s",
    "ambiguous option: %(option)s could match %(matches)s": "%(option)s은(는) 여럿과 맞습니다: %(matches)s",
    "expected one argument": "값이 하나 필요합니다",
    "expected at least one argument": "값이 하나 이상 필요합니다",
    "ignored explicit argument %r": "값을 받지 않는데 %r을(를) 주었습니다",
    "invalid %(type)s value: %(value)r": "%(value)r은(는) %(type)s 값이 아닙니다",
    "invalid choice: %(value)r (choose from %(choices)s)": (
        "%(value)r은(는) 쓸 수 없습니다. 다음 가운데 고르세요: %(choices)s"
    ),
}
"""The Korean of argparse's own templates."""


class CommandError(TextError):
    """A command cannot do its work; the message says why and what to do."""


def choose(ko: str, en: str) -> str:
    """Return one of two texts that say the same."""
    return Text(ko, en).in_language(choose_language())


def say(ko: str, en: str, *, is_error: bool = False) -> None:
    """Print a line for people, with commands that can be copied; errors go to standard error."""
    print(complete_commands(choose(ko, en)), file=sys.stderr if is_error else sys.stdout)


def translate_argparse() -> None:
    """Have argparse ask here for its texts: gettext, which it asks otherwise, reads compiled files only."""
    vars(argparse)["_"] = _translate


def _translate(template: str) -> str:
    return choose(_ARGPARSE.get(template, template), template)


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

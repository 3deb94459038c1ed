"""The parser of the command line, whose usage and errors are in the language of the locale."""

import argparse
import sys
from typing import NoReturn

from pabal.cli.shared.translate import t
from pabal.settings.environment import choose_language

USAGE, KOREAN_USAGE = "usage: ", "사용법: "


class ArgumentParser(argparse.ArgumentParser):
    """A parser; those of its subcommands are of the same kind."""

    def format_usage(self) -> str:
        return _translate_usage(super().format_usage())

    def format_help(self) -> str:
        return _translate_usage(super().format_help())

    def error(self, message: str) -> NoReturn:
        if choose_language() != "ko":
            super().error(message)
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: {t(message)}\n")


def _translate_usage(text: str) -> str:
    return text.replace(USAGE, KOREAN_USAGE, 1) if choose_language() == "ko" else text

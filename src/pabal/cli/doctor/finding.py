"""What a check of `pabal doctor` has found, in both languages, and how it is printed."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.cli.shared.language import choose
from pabal.domain.base.codes import Text

NO_REMEDY = Text("", "")
OK, WRONG = Text("정상 ", "ok   "), Text("이상 ", "WRONG")
"""How a finding begins: five places wide."""


class Finding(NamedTuple):
    """The result of one check."""

    is_ok: bool
    message: Text
    remedy: Text


def ok(ko: str, en: str, remedy: Text = NO_REMEDY) -> Finding:
    """Return a finding that stops nothing."""
    return Finding(True, Text(ko, en), remedy)


def wrong(ko: str, en: str, remedy: Text = NO_REMEDY) -> Finding:
    """Return a finding that somebody has to act on."""
    return Finding(False, Text(ko, en), remedy)


def print_findings(findings: Sequence[Finding]) -> int:
    """Print findings, and return the exit status of `pabal doctor`."""
    for each in findings:
        print(f"{choose(*(OK if each.is_ok else WRONG))} {choose(*each.message)}")
        if each.remedy != NO_REMEDY:
            print(f"      {choose(*each.remedy)}")
    return 0 if all(each.is_ok for each in findings) else 1

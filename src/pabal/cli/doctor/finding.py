"""What a check of `pabal doctor` has found, in both languages, and how it is printed."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from pabal.cli.shared.language import say
from pabal.domain.base.codes import Text


class Level(Enum):
    """How a finding begins, five places wide."""

    OK = Text("정상 ", "ok   ")
    NOTE = Text("확인 ", "note ")
    """Nothing stops, but somebody should look at it."""
    WRONG = Text("이상 ", "WRONG")
    """Somebody has to act."""


class Finding(NamedTuple):
    """The result of one check."""

    level: Level
    message: Text
    remedy: Text

    @property
    def is_wrong(self) -> bool:
        """Whether somebody has to act."""
        return self.level is Level.WRONG


def ok(ko: str, en: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding(Level.OK, Text(ko, en), Text("", ""))


def note(ko: str, en: str, remedy_ko: str, remedy_en: str) -> Finding:
    """Return a finding that stops nothing, and that somebody should look at."""
    return Finding(Level.NOTE, Text(ko, en), Text(remedy_ko, remedy_en))


def wrong(ko: str, en: str, remedy_ko: str = "", remedy_en: str = "") -> Finding:
    """Return a finding that somebody has to act on."""
    return Finding(Level.WRONG, Text(ko, en), Text(remedy_ko, remedy_en))


def print_findings(findings: Sequence[Finding]) -> int:
    """Print findings, and return the exit status of `pabal doctor`."""
    for each in findings:
        say(f"{each.level.value.ko} {each.message.ko}", f"{each.level.value.en} {each.message.en}")
        if each.remedy.en:
            say(f"      {each.remedy.ko}", f"      {each.remedy.en}")
    return 1 if any(each.is_wrong for each in findings) else 0

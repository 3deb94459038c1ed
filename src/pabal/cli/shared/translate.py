"""Puts what commands print into the language of the command line, by templates of their messages."""

import re
import sys
from collections.abc import Mapping
from functools import cache

from pabal.cli.shared.korean_findings import KOREAN_FINDINGS
from pabal.cli.shared.korean_messages import KOREAN_MESSAGES
from pabal.cli.shared.korean_settings import KOREAN_SETTINGS
from pabal.settings.environment import choose_language

KOREAN: Mapping[str, str] = {**KOREAN_SETTINGS, **KOREAN_MESSAGES, **KOREAN_FINDINGS}
"""The Korean template of each English one; both have the same placeholders, such as {name}."""
MAX_DEPTH = 3
"""A message may have another one in it, as the reason: so deep."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def t(message: str, language: str | None = None) -> str:
    """Return a message in the language of the command line; one without a translation stays as it is."""
    return _translate(message, 0) if (language or choose_language()) == "ko" else message


def _translate(message: str, depth: int) -> str:
    if depth == MAX_DEPTH:
        return message
    for pattern, korean in _patterns():
        if found := pattern.fullmatch(message):
            return korean.format(
                **{name: _translate(value, depth + 1) for name, value in found.groupdict().items()}
            )
    return message


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return a pattern of each English template, those first that say most."""
    ordered = sorted(KOREAN, key=lambda each: len(_PLACEHOLDER.sub("", each)), reverse=True)
    return [(_compile(each), KOREAN[each]) for each in ordered]


def _compile(template: str) -> re.Pattern[str]:
    parts = _PLACEHOLDER.split(template)  # text, name, text, name, …, text
    texts = [re.escape(text) for text in parts[::2]]
    names = [f"(?P<{name}>.*?)" for name in parts[1::2]]
    return re.compile("".join(text + name for text, name in zip(texts, [*names, ""], strict=True)), re.DOTALL)


def print_message(message: str, *, is_error: bool = False) -> None:
    """Print a line for people in the language of the command line; errors go to standard error."""
    print(t(message), file=sys.stderr if is_error else sys.stdout)

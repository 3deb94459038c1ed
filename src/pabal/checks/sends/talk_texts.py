"""Checks the texts of friend talk and brand messages for each receiver, which may have a text of its own."""

from collections.abc import Callable, Sequence
from typing import Any

from pabal.checks.body.fields import clean_template, clean_values
from pabal.checks.sends.receivers import CheckedText, read_values
from pabal.domain.brand.report import check_line_breaks
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import MAX_LINK_CHARACTERS, Button
from pabal.domain.sends.filled import ButtonChecker, LengthChecker, LineBreakChecker, compose_within
from pabal.models.bodies import FriendtalkReceiverBody

Checker = Callable[[Sequence[str]], None]
"""Refuses a receiver's values of variables."""


class TalkTexts:
    """The texts of a message that may contain variables, and their limits."""

    def __init__(
        self,
        content: str | None,
        buttons: Sequence[Button],
        fallback_content: str | None,
        *,
        max_characters: int,
        max_line_breaks: int | None = None,
        max_link: int = MAX_LINK_CHARACTERS,
        add_label: Callable[[str], str] = str,
    ) -> None:
        self._content = content
        self._buttons = buttons
        self._fallback_content = fallback_content
        self._max_characters = max_characters
        self._max_line_breaks = max_line_breaks
        self._max_link = max_link
        self._add_label = add_label
        """Puts the advertisement label in front of a text, or returns it as it is."""
        self._others = variables.find_names(*button.links_of(buttons), fallback_content)

    def find_names(self, *, has_own_texts: bool) -> tuple[str, ...]:
        """Return the names of the variables; a receiver with its own text has values of the first ones only."""
        own = variables.find_names(self._content)
        return tuple(dict.fromkeys((*self._others, *own) if has_own_texts else (*own, *self._others)))

    def make_checker(self, names: Sequence[str]) -> Callable[[Any], CheckedText]:
        """Return a function that reads a receiver's values and refuses them if a text or link is then invalid.

        An own text is composed here, so that its receiver stores no variables but those of links and fallback.
        """
        shared = self._checkers(self._content or "", names) if names else []
        others = self._checkers("", self._others) if self._others else []

        def check(receiver: FriendtalkReceiverBody) -> CheckedText:
            if getattr(receiver, "content", None):
                return self._check_own_text(receiver, others)
            values = read_values(receiver, names, clean_values) if names else ()
            for checker in shared:
                checker(values)
            return values, None

        return check

    def _checkers(self, content: str, names: Sequence[str]) -> list[Checker]:
        found: list[Checker] = []
        if content:
            found.append(LengthChecker(content, names, self._max_characters).check)
        if content and self._max_line_breaks is not None:
            found.append(LineBreakChecker(content, names, self._max_line_breaks).check)
        if self._fallback_content:
            found.append(LengthChecker(self._fallback_content, names, text.MAX_INPUT_CHARACTERS).check)
        if self._buttons:
            found.append(ButtonChecker(self._buttons, names, self._max_link).check)
        return found

    def _check_own_text(self, receiver: FriendtalkReceiverBody, checkers: Sequence[Checker]) -> CheckedText:
        content = self._add_label(clean_template(receiver.content or ""))
        pieces = variables.split(content)
        names = tuple(dict.fromkeys((*self._others, *pieces[1::2])))
        values = read_values(receiver, names, clean_values)
        own_text = compose_within(pieces, dict(zip(names, values, strict=True)), self._max_characters)
        if self._max_line_breaks is not None:
            check_line_breaks(own_text.count("\n"), self._max_line_breaks)
        kept = values[: len(self._others)]
        for checker in checkers:
            checker(kept)
        return kept, own_text

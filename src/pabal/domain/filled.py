"""Checks the texts and links of many receivers without composing each one."""

from collections import Counter
from collections.abc import Callable, Sequence

from pabal.domain import button, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.sending import fill_buttons, fill_text

MAX_MERGED_CHARACTERS = 4
"""NFC makes one character of at most this many, so a text this much longer than its limit never fits."""
MAX_START_PIECES = 8
"""The scheme of a link must be clear from so many literals and variables at its start."""


class FilledLength:
    """The number of characters of a text whose variables are filled in, if NFC merges none of them."""

    def __init__(self, template: str, names: Sequence[str]) -> None:
        pieces = variables.split(template)
        times = Counter(pieces[1::2])
        self.literals = pieces[::2]
        self.times = [(place, times[name]) for place, name in enumerate(names) if name in times]
        """The place of each variable that the text uses, and how often it does."""
        self.is_certain = not any(text.starts_joining(literal) for literal in self.literals[1:])
        self._literal_characters = sum(map(len, self.literals))

    def of(self, values: Sequence[str]) -> int:
        """Return the length for one receiver."""
        size = self._literal_characters
        for place, times in self.times:
            size += times * len(values[place])
        return size


class LengthChecker:
    """Checks the length of a text for every receiver; composes only texts whose length is uncertain."""

    def __init__(
        self,
        template: str,
        names: Sequence[str],
        limit: int,
        check: Callable[[str, int], None] = text.check_characters,
    ) -> None:
        self._template = template
        self._names = names
        self._limit = limit
        self._check = check
        self._length = FilledLength(template, names)

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused as `check` does for the filled-in text."""
        if not self._fits(values):
            size = self._length.of(values)
            if size > MAX_MERGED_CHARACTERS * self._limit:
                raise text.too_many_characters(size, self._limit)
            self._check(fill_text(self._template, self._names, values), self._limit)

    def _fits(self, values: Sequence[str]) -> bool:
        """Say whether the text certainly fits."""
        if self._length.of(values) > self._limit or not self._length.is_certain:
            return False
        return not any(text.starts_joining(values[place]) for place, _ in self._length.times)


class ByteLengthChecker(LengthChecker):
    """Checks the length of a text in bytes, as a text message carries it."""

    def __init__(self, template: str, names: Sequence[str], limit: int) -> None:
        super().__init__(template, names, limit, text.check_fits)
        try:
            self._literal_bytes = sum(map(text.carried_bytes, self._length.literals))
        except Refused:
            self._literal_bytes = limit + 1  # so that every text is checked in full

    def _fits(self, values: Sequence[str]) -> bool:
        """Say whether the text certainly fits; bytes add up, since NFC never merges characters that CP949 has."""
        size = self._literal_bytes
        try:
            for place, times in self._length.times:
                size += times * len(values[place].encode("cp949"))
        except UnicodeEncodeError:
            return False
        return size <= self._limit


class ButtonChecker:
    """Checks the links of buttons for every receiver."""

    def __init__(self, buttons: Sequence[Button], names: Sequence[str]) -> None:
        self._buttons = buttons
        self._names = names
        links = [
            _Link(link, names, field)
            for one in buttons
            for field in button.LINK_FIELDS
            if (link := getattr(one, field)) is not None
        ]
        self._links = [link for link in links if not link.is_always_valid]

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused as `fill_buttons` does, and INVALID_BUTTON for a link whose scheme is not clear."""
        for link in self._links:
            if not link.is_valid(values):
                link.check_length(values)
                fill_buttons(self._buttons, self._names, values)
                raise Refused(Code.INVALID_BUTTON, detail=_UNCLEAR_SCHEME)


class _Link:
    """A link with variables."""

    def __init__(self, template: str, names: Sequence[str], field: str) -> None:
        self._length = FilledLength(template, names)
        self._field = field
        pieces = variables.split(template)
        self._start = [
            (names.index(piece) if number % 2 else None, piece)
            for number, piece in enumerate(pieces[:MAX_START_PIECES])
        ]
        self._has_known_scheme = button.is_allowed_start(pieces[0], field)
        self.is_always_valid = len(pieces) == 1 and self.is_valid(())

    def is_valid(self, values: Sequence[str]) -> bool:
        """Say whether the link is certainly valid for one receiver."""
        length = self._length
        if length.of(values) > button.MAX_LINK_CHARACTERS or not length.is_certain:
            return False
        return self._has_known_scheme or self._has_allowed_start(values)

    def check_length(self, values: Sequence[str]) -> None:
        """Raises Refused(INVALID_BUTTON) for a link that is too long even if NFC merges characters."""
        if self._length.of(values) > MAX_MERGED_CHARACTERS * button.MAX_LINK_CHARACTERS:
            raise Refused(Code.INVALID_BUTTON, self._field, button.too_long(button.MAX_LINK_CHARACTERS))

    def _has_allowed_start(self, values: Sequence[str]) -> bool:
        start = ""
        for place, literal in self._start:
            start += literal if place is None else values[place]
            if button.is_allowed_start(start, self._field):
                return True
        return False


_UNCLEAR_SCHEME = Text(
    "주소의 처음에 https:// 같은 프로토콜이 있어야 합니다.",
    "A link must begin with its scheme, such as https://.",
)

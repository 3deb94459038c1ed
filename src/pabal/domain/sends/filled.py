"""Checks the texts and links of many receivers without composing each one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pabal.domain.base.codes import Code, Refused, Text, at_most_characters
from pabal.domain.brand.report import check_line_breaks
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.sends.sending import fill_buttons, fill_text

MAX_MERGED_CHARACTERS = 4
"""NFC makes one character of at most this many, so a text this much longer than its limit never fits."""
MAX_START_PIECES = 8
"""The scheme of a link must be clear from this many literals and variables at its start."""


class FilledLength:
    """The number of characters of a text whose variables are filled in, if NFC merges none of them."""

    def __init__(self, template: str, names: Sequence[str]) -> None:
        pieces = variables.split(template)
        times = Counter(pieces[1::2])
        self.literals = pieces[::2]
        self.times = [(place, times[name]) for place, name in enumerate(names) if name in times]
        """The place of each variable that the text uses, and how often it does."""
        self.is_certain = not any(map(text.starts_joining, {literal[:1] for literal in self.literals[1:]}))
        self._literal_characters = sum(map(len, self.literals))

    def of(self, values: Sequence[str]) -> int:
        """Return the length for one receiver."""
        size = self._literal_characters
        for place, times in self.times:
            size += times * len(values[place])
        return size


def compose_within(pieces: Sequence[str], values: Mapping[str, str], limit: int) -> str:
    """Return the text of clean pieces, as `variables.split` returns them, of which NFC merges none.

    Raises Refused(CONTENT_TOO_LONG) without composing it.
    """
    filled = list(pieces)
    filled[1::2] = [values[name] for name in pieces[1::2]]
    size = sum(map(len, filled))
    if size > limit:
        raise text.too_many_characters(size, limit)
    return "".join(filled)


class LengthChecker:
    """Checks the length of a text for every receiver; composes only texts whose length is uncertain."""

    def __init__(self, template: str, names: Sequence[str], limit: int) -> None:
        self._template = template
        self._names = names
        self._limit = limit
        self._length = FilledLength(template, names)

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused(CONTENT_TOO_LONG)."""
        size = self._length.of(values)
        if self._is_uncertain(values):
            if size > MAX_MERGED_CHARACTERS * self._limit:
                raise text.too_many_characters(size, self._limit)
            text.check_characters(fill_text(self._template, self._names, values), self._limit)
        elif size > self._limit:
            raise text.too_many_characters(size, self._limit)

    def _is_uncertain(self, values: Sequence[str]) -> bool:
        if not self._length.is_certain:
            return True
        return any(text.starts_joining(values[place]) for place, _ in self._length.times)


class LineBreakChecker:
    """Checks the number of line breaks of a text for every receiver."""

    def __init__(self, template: str, names: Sequence[str], limit: int) -> None:
        length = FilledLength(template, names)
        self._limit = limit
        self._times = length.times
        self._literal_breaks = sum(literal.count("\n") for literal in length.literals)

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused(CONTENT_TOO_LONG)."""
        found = self._literal_breaks
        for place, times in self._times:
            found += times * values[place].count("\n")
        check_line_breaks(found, self._limit)


class ByteLengthChecker:
    """Checks the length of a text in bytes, as a text message carries it.

    CP949 has no combining characters, so bytes add up: a literal or a value with one is refused.
    """

    def __init__(self, template: str, names: Sequence[str], limit: int) -> None:
        length = FilledLength(template, names)
        self._limit = limit
        self._places = [place for place, _ in length.times]
        self._repeated = [(place, times - 1) for place, times in length.times if times > 1]
        self._literals = "".join(length.literals)
        self._literal_bytes = text.carried_bytes(self._literals) if text.is_supported(self._literals) else None

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused: CONTENT_TOO_LONG, UNSUPPORTED_CHARACTER naming those of the text and of all values."""
        size = self._literal_bytes
        if size is None:
            raise self._unsupported(values)
        try:
            size += len("".join([values[place] for place in self._places]).encode("cp949"))
            for place, more in self._repeated:
                size += more * len(values[place].encode("cp949"))
        except UnicodeEncodeError:
            raise self._unsupported(values) from None
        if size > self._limit:
            raise text.too_many_bytes(size, self._limit)

    def _unsupported(self, values: Sequence[str]) -> Refused:
        return text.unsupported(self._literals + "".join([values[place] for place in self._places]))


def get_byte_length_checker(template: str, names: tuple[str, ...], limit: int) -> ByteLengthChecker:
    """Return the checker of a text: that of an earlier send, where many have the same text."""
    is_short = len(template) + sum(map(len, names)) <= variables.MAX_CACHED_CHARACTERS
    return (_make_and_keep if is_short else ByteLengthChecker)(template, names, limit)


@lru_cache(maxsize=128)
def _make_and_keep(template: str, names: tuple[str, ...], limit: int) -> ByteLengthChecker:
    return ByteLengthChecker(template, names, limit)


class ButtonChecker:
    """Checks the links of buttons for every receiver."""

    def __init__(
        self, buttons: Sequence[Button], names: Sequence[str], max_link: int = button.MAX_LINK_CHARACTERS
    ) -> None:
        self._buttons = buttons
        self._names = names
        links = [
            _Link(link, names, field, max_link)
            for one in buttons
            for field in button.LINK_FIELDS
            if (link := getattr(one, field)) is not None
        ]
        self._links = [link for link in links if not link.is_always_valid]
        self._longest = _LongestLink(self._links, names, max_link)

    def check(self, values: Sequence[str]) -> None:
        """Raises Refused as `fill_buttons` does, and INVALID_BUTTON for a link whose scheme is not clear."""
        if self._longest.is_valid(values):
            return
        for link in self._links:
            if not link.is_valid(values):
                link.check_length(values)
                fill_buttons(self._buttons, self._names, values)
                raise Refused(Code.INVALID_BUTTON, detail=_UNCLEAR_SCHEME)


class _LongestLink:
    """A link that is at least as long as each of several; if it fits, all of them do."""

    def __init__(self, links: Sequence["_Link"], names: Sequence[str], max_link: int) -> None:
        self._max_link = max_link
        self._have_known_schemes = all(link.has_known_scheme and link.length.is_certain for link in links)
        self._literal_characters = max((link.length.of([""] * len(names)) for link in links), default=0)
        times: Counter[int] = Counter()
        for link in links:
            times |= Counter(dict(link.length.times))
        self._times = list(times.items())

    def is_valid(self, values: Sequence[str]) -> bool:
        """Return whether all links are certainly valid for one receiver."""
        size = self._literal_characters
        for place, times in self._times:
            size += times * len(values[place])
        return self._have_known_schemes and size <= self._max_link


class _Link:
    """A link with variables."""

    def __init__(self, template: str, names: Sequence[str], field: str, max_link: int) -> None:
        self.length = FilledLength(template, names)
        self._max_link = max_link
        self._field = field
        pieces = variables.split(template)
        self._start = [
            (names.index(piece) if number % 2 else None, piece)
            for number, piece in enumerate(pieces[:MAX_START_PIECES])
        ]
        self.has_known_scheme = button.is_allowed_start(pieces[0], field)
        self.is_always_valid = len(pieces) == 1 and self.is_valid(())

    def is_valid(self, values: Sequence[str]) -> bool:
        """Return whether the link is certainly valid for one receiver."""
        length = self.length
        if length.of(values) > self._max_link or not length.is_certain:
            return False
        return self.has_known_scheme or self._has_allowed_start(values)

    def check_length(self, values: Sequence[str]) -> None:
        """Raises Refused(INVALID_BUTTON) for a link that is too long even if NFC merges characters."""
        size = self.length.of(values)
        is_certainly_longer = size > self._max_link and self.length.is_certain
        if is_certainly_longer or size > MAX_MERGED_CHARACTERS * self._max_link:
            raise Refused(Code.INVALID_BUTTON, self._field, at_most_characters(self._max_link))

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

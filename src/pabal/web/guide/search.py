"""Searches the text of the guide, section by section."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pabal.web.guide.documents import make_anchor, plain_text, read_texts

MAX_QUERY_CHARACTERS = 100
MAX_HITS = 30
SNIPPET_CHARACTERS = 160
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Section(NamedTuple):
    """What stands under one heading of a page, as plain text."""

    page: str
    anchor: str
    heading: str
    text: str


class Hit(NamedTuple):
    """A section that has every word of a query, and where its text has the first of them."""

    section: Section
    before: str
    found: str
    after: str


def search(language: str, query: str) -> list[Hit]:
    """Return sections that have every word of the query; those with a word in their heading first.

    Words are found anywhere, so that Korean ones are found with their particles.
    """
    words = query[:MAX_QUERY_CHARACTERS].casefold().split()
    if not words:
        return []
    found = [each for each in _sections(language) if all(word in _searched(each) for word in words)]
    found.sort(key=lambda each: -sum(word in each.heading.casefold() for word in words))
    return [_hit(section, words[0]) for section in found[:MAX_HITS]]


def _hit(section: Section, word: str) -> Hit:
    at = section.text.casefold().find(word)
    if at < 0:
        return Hit(section, section.text[:SNIPPET_CHARACTERS], "", "")
    start, end = max(0, at - SNIPPET_CHARACTERS // 2), at + len(word)
    return Hit(
        section, section.text[start:at], section.text[at:end], section.text[end : end + SNIPPET_CHARACTERS // 2]
    )


def _searched(section: Section) -> str:
    return f"{section.heading} {section.text}".casefold()


@cache
def _sections(language: str) -> tuple[Section, ...]:
    return tuple(section for page, text in read_texts(language).items() for section in _split(page, text))


def _split(page: str, text: str) -> Iterator[Section]:
    code = [block.span() for block in _CODE.finditer(text)]
    headings = [
        heading
        for heading in _HEADING.finditer(text)
        if not any(start < heading.start() < end for start, end in code)  # a comment of a command, not a heading
    ]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield Section(page, make_anchor(heading[1]), plain_text(heading[1]), plain_text(text[heading.end() : end]))

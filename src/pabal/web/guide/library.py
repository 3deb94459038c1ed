"""The pages of the guide: their titles, their text in sections, and a search through it."""

import html
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from pabal.web.guide.contents import CHAPTERS

MAX_QUERY_CHARACTERS = 100
MAX_HITS = 30
SNIPPET_CHARACTERS = 160
_HEADING = re.compile(r'<h[1-6] id="([^"]*)">(.*?)</h[1-6]>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


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


def read_page(language: str, page: str) -> str | None:
    """Return a page as HTML; None if there is no such page in this language."""
    return _pages(language).get(page)


def read_picture(name: str) -> bytes | None:
    """Return a picture by the name of its file; None if there is no such picture."""
    return _pictures().get(name)


def read_title(language: str, page: str) -> str | None:
    """Return the heading of a page; None if there is no such page in this language."""
    body = read_page(language, page)
    heading = _HEADING.search(body) if body is not None else None
    return _plain(heading[2]) if heading else None


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
def _pages(language: str) -> dict[str, str]:
    """Return the pages of a language by name; a page that it lacks is not in it."""
    folder = resources.files(__package__) / "pages"
    names = [page for chapter in CHAPTERS for page in chapter.pages]
    files: dict[str, Traversable] = {name: folder / f"{language}.{name.replace('/', '.')}.html" for name in names}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.is_file()}


@cache
def _pictures() -> dict[str, bytes]:
    files = (resources.files(__package__) / "pages").iterdir()
    return {file.name: file.read_bytes() for file in files if file.name.endswith(".png")}


@cache
def _sections(language: str) -> tuple[Section, ...]:
    return tuple(section for page, body in _pages(language).items() for section in _split(page, body))


def _split(page: str, body: str) -> Iterator[Section]:
    headings = list(_HEADING.finditer(body))
    ends = [*(heading.start() for heading in headings[1:]), len(body)]
    for heading, end in zip(headings, ends, strict=True):
        yield Section(page, heading[1], _plain(heading[2]), _plain(body[heading.end() : end]))


def _plain(fragment: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", fragment)).split())

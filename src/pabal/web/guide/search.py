"""The search of the guide: finds sections by words, their synonyms in both languages, and parts of compounds."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from pabal.web.guide.documents import make_anchor, plain_text, read_texts

MAX_QUERY_CHARACTERS = 100
MAX_COMPOUND_CHARACTERS = 12
"""A longer word is not cut into parts."""
MAX_HITS = 30
SNIPPET_CHARACTERS = 160
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HANGUL = re.compile("[가-힣]+")
SYNONYMS = (
    ("python", "파이썬"),
    ("javascript", "자바스크립트"),
    ("java", "자바"),
    ("spring", "스프링", "스프링부트"),
    ("kotlin", "코틀린"),
    ("django", "장고"),
    ("golang", "고랭", "go언어"),
    ("node.js", "node", "nodejs", "노드js"),
    ("campaign", "캠페인", "bulk", "대량", "단체", "일괄"),
    ("schedul", "schedule", "예약"),
    ("one-time code", "codes for signing in", "otp", "인증번호", "인증코드"),
    ("webhook", "웹훅", "콜백", "callback"),
    ("idempotency", "멱등", "중복"),
    ("retr", "retry", "재시도"),
    ("opt-out", "수신거부", "unsubscribe"),
    ("kakaotalk", "카카오톡", "카톡"),
    ("send", "발송", "보내"),
    ("time", "시간", "시각"),
)
"""Words that are found by each other; an English one may be the beginning that its forms share."""
_GROUP_BY_WORD = {word: group for group in SYNONYMS for word in group}

Term = tuple[str, ...]
"""A word and its synonyms, of which a section has at least one."""


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
    """Return sections that have every word of the query, or a synonym of it; those with most in the heading first.

    Words are found anywhere, so that Korean ones are found with their particles.
    """
    words = dict.fromkeys(query[:MAX_QUERY_CHARACTERS].casefold().split())
    terms = [term for word in words for term in _terms(language, word)]
    if not terms:
        return []
    found = [each for each in _sections(language) if all(_find(term, _searched(each)) for term in terms)]
    found.sort(key=lambda each: _rank(terms, each.heading.casefold()), reverse=True)
    return [_hit(section, _find(terms[0], section.text.casefold())) for section in found[:MAX_HITS]]


def _rank(terms: Sequence[Term], heading: str) -> tuple[int, bool]:
    """Return how many terms a heading has, and whether it has the first: the one that says most of a compound."""
    return sum(bool(_find(term, heading)) for term in terms), bool(_find(terms[0], heading))


def _terms(language: str, word: str) -> list[Term]:
    """Return what a section must have for a word, each with its synonyms: the word, or the parts of a compound.

    Only a Korean word that no section has is taken apart: 예약시간 is 예약 and 시간.
    """
    whole = _with_synonyms(word)
    if _find(whole, _everything(language)) or len(word) > MAX_COMPOUND_CHARACTERS or not _HANGUL.fullmatch(word):
        return [whole]
    for end in range(len(word) - 2, 1, -1):
        first = _with_synonyms(word[:end])
        if _find(first, _everything(language)):
            others = _terms(language, word[end:])
            if all(_find(other, _everything(language)) for other in others):
                return [first, *others]
    return [whole]


def _with_synonyms(word: str) -> Term:
    return (word, *_GROUP_BY_WORD.get(word, ()))


def _find(term: Term, text: str) -> str:
    """Return the first synonym that the text has; an empty string if it has none."""
    return next((word for word in term if word in text), "")


def _hit(section: Section, word: str) -> Hit:
    if not word:
        return Hit(section, section.text[:SNIPPET_CHARACTERS], "", "")
    at = section.text.casefold().find(word)
    start, end = max(0, at - SNIPPET_CHARACTERS // 2), at + len(word)
    return Hit(
        section, section.text[start:at], section.text[at:end], section.text[end : end + SNIPPET_CHARACTERS // 2]
    )


def _searched(section: Section) -> str:
    return f"{section.heading} {section.text}".casefold()


@cache
def _everything(language: str) -> str:
    return "\n".join(map(_searched, _sections(language)))


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

"""Checks that every page has a Korean twin that cannot drift from it: headings, code, tables, names and links."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs import generate

PROPER_NAMES = {"Pabal", "NHN Cloud", "SENS", "nginx", "Caddy"}
COMMENT = re.compile(r"(^|\s+)# .*$", re.MULTILINE)


class Twins(NamedTuple):
    """A page in English and in Korean, by their paths from the root."""

    english: str
    korean: str


def find_differences(root: Path) -> Iterator[str]:
    """Yield a line for everything that only one of two twins has."""
    twins = _list_twins(root)
    expected = {each.korean for each in twins}
    there = {str(path.relative_to(root)) for path in (root / "docs" / "ko").glob("**/*.md")} | {"README.ko.md"}
    yield from (f"{name}: no page in English" for name in sorted(there - expected))
    generated = generate.pages()
    for pair in twins:
        if not (root / pair.korean).is_file():
            yield f"{pair.english}: no page in Korean"
            continue
        english, korean = ((root / each).read_text(encoding="utf-8") for each in pair)
        is_written = pair.english.removeprefix("docs/") not in generated
        problems = [*_compare(english, korean, is_written), *_compare_links(root, pair, twins, english, korean)]
        yield from (f"{pair.korean}: {each}" for each in problems)


def _list_twins(root: Path) -> list[Twins]:
    docs = root / "docs"
    pages = sorted(str(path.relative_to(docs)) for path in docs.glob("**/*.md"))
    return [
        Twins("README.md", "README.ko.md"),
        Twins("SECURITY.md", "docs/ko/security.md"),
        *(Twins(f"docs/{name}", f"docs/ko/{name}") for name in pages if not name.startswith(("ko/", "decisions/"))),
    ]


def _compare(english: str, korean: str, is_written: bool) -> Iterator[str]:
    """Yield what differs; of generated pages the tables and names are those of one function."""
    headings, korean_headings = (_headings(text) for text in (english, korean))
    if [level for level, _ in headings] != [level for level, _ in korean_headings]:
        yield "headings of other levels"
    if is_written:
        same = {title for _, title in headings} & {title for _, title in korean_headings}
        yield from (f"a heading in English: {each}" for each in sorted(same - PROPER_NAMES))
    if _code_blocks(english) != _code_blocks(korean):
        yield "other code"
    if is_written:
        for what, find in (("names", _names), ("tables or lists", _shape), ("numbers", _numbers)):
            if find(english) != find(korean):
                yield f"other {what}: {find(english) - find(korean)} {find(korean) - find(english)}"
    if english.startswith("# Glossary") and _terms(english) != [term[::-1] for term in _terms(korean)]:
        yield "other terms"
    yield from (f"not Korean: {line}" for line in _lines_not_korean(korean))


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _headings(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^(#+) (.+)$", _without_code(text), re.MULTILINE)


def _code_blocks(text: str) -> list[str]:
    """Return the code of a page without comments, which are translated; of a diagram only its height."""
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    return [
        f"a diagram of {block.count(chr(10))} lines" if "──" in block else re.sub(COMMENT, "", block)
        for block in blocks
    ]


def _names(text: str) -> Counter[str]:
    return Counter(set(re.findall(r"`([^`\n]+)`", _without_code(text))))


def _shape(text: str) -> Counter[str]:
    kinds = (re.match(r"\||- |[0-9]+\. ", line) for line in _without_code(text).splitlines())
    return Counter(kind[0] for kind in kinds if kind)


def _numbers(text: str) -> Counter[str]:
    return Counter(set(re.findall(r"[0-9]{3,}", re.sub(r"(?<=[0-9]),(?=[0-9])", "", text))))


def _terms(text: str) -> list[tuple[str, ...]]:
    """Return the first two columns of the glossary's tables, without their heads."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, re.MULTILINE)
    return [row for row in rows if not {"Term", "용어"} & {*row}]


def _lines_not_korean(text: str) -> Iterator[str]:
    for line in _without_code(text).splitlines():
        if not line.startswith(("|", "<!--", "[English]")):
            is_english = len(re.findall(r"[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+", line)) > 1
            if is_english or (len(line) > 60 and not re.search("[가-힣]", line)):
                yield line


def _compare_links(root: Path, pair: Twins, twins: list[Twins], english: str, korean: str) -> Iterator[str]:
    english_of = {each.korean: each.english for each in twins}

    def targets(text: str, page: str) -> Counter[str]:
        links = (link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text))
        paths = (link if ":" in link else plain((root / page).parent / link) for link in links if link)
        return Counter(path for path in paths if not path.startswith("README"))

    def plain(path: Path) -> str:
        """Return a path from the root, that of a Korean page as that of its English twin."""
        found = str(path.resolve().relative_to(root.resolve()))
        return english_of.get(found, found.replace("docs/ko/", "docs/"))

    if targets(english, pair.english) != targets(korean, pair.korean):
        yield "other links"

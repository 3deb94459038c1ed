"""Checks that every page has a Korean twin that cannot drift from it: headings, code, tables, names and links."""

import re
from collections import Counter
from pathlib import Path

import pytest

from docs import generate

ROOT = generate.DOCS.parent
PAGES = sorted(
    str(path.relative_to(generate.DOCS))
    for path in generate.DOCS.glob("**/*.md")
    if path.relative_to(generate.DOCS).parts[0] not in ("ko", "decisions")
)
TWINS = {
    "README.md": ("README.md", "README.ko.md"),
    "security.md": ("SECURITY.md", "docs/ko/security.md"),
    **{name: (f"docs/{name}", f"docs/ko/{name}") for name in PAGES},
}

PROPER_NAMES = {"Pabal", "NHN Cloud", "SENS", "nginx", "Caddy"}
COMMENT = re.compile(r"(^|\s+)# .*$", re.MULTILINE)
EXISTING = [name for name in TWINS if (ROOT / TWINS[name][1]).exists()]

in_every_twin = pytest.mark.parametrize("name", EXISTING)
in_every_written_twin = pytest.mark.parametrize("name", [name for name in EXISTING if name not in generate.pages()])


def read_both(name: str) -> tuple[str, str]:
    english, korean = TWINS[name]
    return (ROOT / english).read_text(encoding="utf-8"), (ROOT / korean).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def code_blocks(text: str) -> list[str]:
    """Return the code of a page without comments, which are translated; of a diagram only its height."""
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    return [
        f"a diagram of {block.count(chr(10))} lines" if "──" in block else re.sub(COMMENT, "", block)
        for block in blocks
    ]


def test_every_page_has_a_korean_twin_and_none_is_left_over() -> None:
    korean = {str(path.relative_to(generate.DOCS / "ko")) for path in (generate.DOCS / "ko").glob("**/*.md")}

    assert korean == {name for name in TWINS if name != "README.md"}
    assert (ROOT / "README.ko.md").exists()


@in_every_twin
def test_twin_has_the_same_headings_in_korean(name: str) -> None:
    english, korean = ([*re.findall(r"^(#+) (.+)$", without_code(text), re.M)] for text in read_both(name))

    assert [level for level, _ in english] == [level for level, _ in korean]
    if not name.startswith("reference/"):
        same = {title for _, title in english} & {title for _, title in korean}
        assert same <= PROPER_NAMES


def test_glossary_has_the_same_terms_in_both_languages() -> None:
    english, korean = (re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, re.M) for text in read_both("glossary.md"))
    terms = [each for each in english if each != ("Term", "Korean")]

    assert len(terms) > 100
    assert [(term, word) for word, term in korean if word != "용어"] == terms


@in_every_twin
def test_twin_has_the_same_code(name: str) -> None:
    english, korean = read_both(name)

    assert code_blocks(korean) == code_blocks(english)


@in_every_written_twin
def test_twin_names_the_same_things(name: str) -> None:
    english, korean = (set(re.findall(r"`([^`\n]+)`", without_code(text))) for text in read_both(name))

    assert korean == english


@in_every_written_twin
def test_twin_has_the_same_tables_and_lists(name: str) -> None:
    def shape(text: str) -> Counter[str]:
        lines = without_code(text).splitlines()
        kinds = (re.match(r"\||- |[0-9]+\. ", line) for line in lines)
        return Counter(kind[0] for kind in kinds if kind)

    english, korean = read_both(name)

    assert shape(korean) == shape(english)


@in_every_written_twin
def test_twin_has_the_same_numbers_and_codes(name: str) -> None:
    english, korean = (
        set(re.findall(r"[0-9]{3,}", re.sub(r"(?<=[0-9]),(?=[0-9])", "", text))) for text in read_both(name)
    )

    assert korean == english


@in_every_twin
def test_twin_links_to_the_same_pages(name: str) -> None:
    def targets(text: str, page: Path) -> Counter[str]:
        links = (link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text))
        paths = (link if ":" in link else _plain(page.parent / link) for link in links if link)
        return Counter(path for path in paths if not path.startswith("README"))

    english, korean = read_both(name)
    of_english, of_korean = (ROOT / path for path in TWINS[name])

    assert targets(korean, of_korean) == targets(english, of_english)


@in_every_twin
def test_every_paragraph_of_a_twin_is_korean(name: str) -> None:
    paragraphs = [
        line
        for line in without_code(read_both(name)[1]).splitlines()
        if not line.startswith(("|", "<!--", "[English]"))
    ]

    assert [line for line in paragraphs if len(re.findall(r"[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+", line)) > 1] == []
    assert [line for line in paragraphs if len(line) > 60 and not re.search("[가-힣]", line)] == []


def _plain(path: Path) -> str:
    """Return a path from the root, that of a Korean page as that of its English twin."""
    found = str(path.resolve().relative_to(ROOT))
    others = {korean: english for english, korean in TWINS.values()}
    return others.get(found, found.replace("docs/ko/", "docs/"))

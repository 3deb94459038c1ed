"""The pages of the guide: their order, their documents, and their HTML, rendered when it is first asked for."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pabal.domain.base.codes import LANGUAGES, Text

_SHIPPED = Path(__file__).parent / "shipped"
"""Where the build of the wheel puts README.md, README.ko.md, SECURITY.md and docs/."""
ROOT = (_SHIPPED if _SHIPPED.is_dir() else Path(__file__).parents[4]).resolve()
"""Else the package runs in a checkout, whose own documents are shown."""
_FILES_BY_PAGE = {
    "en/index": "README.md",
    "ko/index": "README.ko.md",
    "en/security": "SECURITY.md",
}
"""Pages that are not in docs/, where the forges look for them."""
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*-->\n", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TABLE_RULE = re.compile(r"^\|(?: --- \|)+$", re.MULTILINE)
_COLUMN = re.compile(r"\\?\|")
_PROGRAM = re.compile(r"^\[[^\]]*\]\(([./]+/examples/[^)]+)\)$", re.MULTILINE)
_MARKS = re.compile(r"^```\w*$|`|\*\*", re.MULTILINE)


def find_picture(language: str, name: str) -> Path | None:
    """Return the file of a picture; None if there is no such picture in this language."""
    return _pictures().get(f"{language}/{name}")


def picture_address(file: Path) -> str:
    """Return the language and the name of a picture: those of docs/ko/images/ are Korean."""
    return f"{'ko' if file.parents[1].name == 'ko' else 'en'}/{file.name}"


@cache
def read_texts(language: str) -> dict[str, str]:
    """Return the Markdown of every page of a language, without comments."""
    files = {page: path for page in _pages() if (path := _files().get(f"{language}/{page}"))}
    return {page: _COMMENT.sub("", path.read_text(encoding="utf-8")) for page, path in files.items()}


def read_title(language: str, page: str) -> str | None:
    """Return the heading of a page; None if there is no such page in this language."""
    text = read_texts(language).get(page)
    heading = _TITLE.search(text) if text is not None else None
    return plain_text(heading[1]) if heading else None


def plain_text(markdown: str) -> str:
    """Return what a reader sees of a piece of Markdown, on one line."""
    unlinked = _TABLE_RULE.sub("", _LINK.sub(r"\1", markdown))
    return " ".join(_MARKS.sub("", _COLUMN.sub(" ", unlinked)).split())


def make_anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _pages() -> list[str]:
    return [page for chapter in CHAPTERS for page in chapter.pages]


@cache
def _files() -> dict[str, Path]:
    """Return the file of every page that exists, such as `ko/how-to/idempotency`."""
    folders = {"en": "docs", "ko": "docs/ko"}
    files = {
        f"{language}/{page}": ROOT / _FILES_BY_PAGE.get(f"{language}/{page}", f"{folders[language]}/{page}.md")
        for language in LANGUAGES
        for page in _pages()
    }
    return {page: path for page, path in files.items() if path.is_file()}


@cache
def _pages_by_file() -> dict[Path, str]:
    return {path: page for page, path in _files().items()}


@cache
def _pictures() -> dict[str, Path]:
    return {picture_address(path): path for path in ROOT.glob("docs/**/images/*.png")}


class Chapter(NamedTuple):
    """Pages under one heading."""

    title: Text
    pages: tuple[str, ...]


CHAPTERS = (
    Chapter(Text("시작하기", "Start"), ("index", "tutorial")),
    Chapter(
        Text("메시지 보내기", "Sending messages"),
        (
            "how-to/scheduling-and-cancelling",
            "how-to/look-up-messages",
            "how-to/webhooks",
            "how-to/command-line",
            "how-to/ai-assistants",
            "how-to/python-client",
            "how-to/other-languages",
            "how-to/java",
            "how-to/kotlin",
            "how-to/php",
            "how-to/go",
            "how-to/node",
            "how-to/django",
            "how-to/fastapi",
            "how-to/error-handling",
            "how-to/idempotency",
            "how-to/dry-run",
            "how-to/sender-profiles",
            "how-to/templates",
            "how-to/one-time-codes",
            "how-to/brand-messages",
            "how-to/advertising",
            "how-to/opt-outs",
            "how-to/legal-duties",
            "how-to/move-from-a-relay",
            "how-to/solapi-endpoints",
            "how-to/nhncloud-endpoints",
        ),
    ),
    Chapter(
        Text("발송 경로", "Carriers"),
        (
            "how-to/nhncloud",
            "how-to/solapi",
            "how-to/rehearse-a-relay",
            "how-to/several-relays",
            "how-to/smpp",
            "how-to/write-a-carrier",
        ),
    ),
    Chapter(
        Text("운영하기", "Operating"),
        (
            "how-to/operate",
            "how-to/console",
            "how-to/console-design",
            "how-to/keys-and-accounts",
            "how-to/notifications",
            "how-to/monitoring",
            "how-to/incidents",
            "how-to/systemd",
            "how-to/containers",
            "how-to/behind-a-proxy",
            "how-to/backup",
            "how-to/upgrade",
            "how-to/postgresql",
            "how-to/several-processes",
            "how-to/citus",
            "how-to/sizing",
        ),
    ),
    Chapter(
        Text("참조", "Reference"),
        (
            "reference/endpoints",
            "reference/errors",
            "reference/result-codes",
            "reference/settings",
            "reference/simulator",
            "glossary",
            "promises",
            "steps",
            "security",
        ),
    ),
)


if TYPE_CHECKING:
    from markdown_it.token import Token

PREFIX = "/docs/guide"


def render_page(language: str, page: str) -> str | None:
    """Return a page as HTML; None if there is no such page in this language."""
    source = _files().get(f"{language}/{page}")
    return _render(source, language, page) if source else None


@cache
def _render(source: Path, language: str, page: str) -> str:
    """Return a document as HTML: links and pictures are those of the site, headings have anchors."""
    from markdown_it import MarkdownIt  # a start need not wait for it

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_show_programs(read_texts(language)[page], source.parent))
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_anchor(tokens[position + 1].content))
        if token.children:
            token.children = _link(token.children, source.parent)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _show_programs(text: str, folder: Path) -> str:
    """Return a document in which each paragraph that is only a link to an example has its program after it."""

    def show(paragraph: re.Match[str]) -> str:
        program = (folder / paragraph[1]).read_text(encoding="utf-8")
        return f"{paragraph[0]}\n\n```\n{program}```"

    return _PROGRAM.sub(show, text)


def _link(children: "Sequence[Token]", folder: Path) -> "list[Token]":
    """Return inline tokens whose links lead to the site; one to a file that is not on it becomes plain text."""
    linked, is_dropped = [], False
    for token in children:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), folder)
            is_dropped = address is None
            token.attrSet("href", address or "")
        if token.type == "image":
            picture = (folder / str(token.attrGet("src"))).resolve()
            token.attrSet("src", f"{PREFIX}/images/{picture_address(picture)}")
            token.attrSet("loading", "lazy")
        if not (is_dropped and token.type in ("link_open", "link_close")):
            linked.append(token)
        if token.type == "link_close":
            is_dropped = False
    return linked


def _address(link: str, folder: Path) -> str | None:
    path, _, fragment = link.partition("#")
    if ":" in path or not path:
        return link
    page = _pages_by_file().get((folder / path).resolve())
    if page is None:
        return None
    return f"{PREFIX}/{page}#{fragment}" if fragment else f"{PREFIX}/{page}"

"""Renders the documents for users, with their pictures, as the site that a service shows at /docs/guide."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
SITE = ROOT / "src" / "pabal" / "web" / "guide" / "pages"
PREFIX = "/docs/guide"


def guide_sources() -> dict[str, Path]:
    """Return the documents of the site by page, such as `ko/how-to/idempotency`; `ko/index` is the README."""
    sources = {
        "en/index": ROOT / "README.md",
        "ko/index": ROOT / "README.ko.md",
        "en/security": ROOT / "SECURITY.md",
    }
    for path in sorted((ROOT / "docs").glob("**/*.md")):
        folder, *rest = path.relative_to(ROOT / "docs").with_suffix("").parts
        if folder == "ko":
            sources["/".join(["ko", *rest])] = path
        elif folder != "decisions":
            sources["/".join(["en", folder, *rest])] = path
    return sources


def guide_pages() -> dict[str, str]:
    """Return the HTML of every page of the site, without what all pages share, by the name of its file."""
    sources = guide_sources()
    page_by_source = {path: page for page, path in sources.items()}
    return {file_name(page): render(path, page_by_source) for page, path in sources.items()}


def guide_pictures() -> dict[str, bytes]:
    """Return the pictures of the pages by the name of their file."""
    return {picture_name(path): path.read_bytes() for path in sorted((ROOT / "docs").glob("**/images/*.png"))}


def picture_name(path: Path) -> str:
    """Return the file of a picture on the site: those of docs/ko/images/ are Korean."""
    return f"{'ko' if path.resolve().parents[1].name == 'ko' else 'en'}.{path.name}"


def file_name(page: str) -> str:
    """Return the file of a page: all are in one folder."""
    return f"{page.replace('/', '.')}.html"


def render(source: Path, page_by_source: dict[Path, str]) -> str:
    """Return a document as HTML: links lead to pages of the site, headings have the anchors that links name.

    Pictures are those of the site.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = re.sub(r"^<!--.*-->\n", "", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tokens = markdown.parse(text)
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_id(tokens[position + 1].content))
        if token.children:
            token.children = _link(token.children, source, page_by_source)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def make_id(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _link(children: Sequence[Token], source: Path, page_by_source: dict[Path, str]) -> list[Token]:
    """Return inline tokens whose links lead to the site; one to a file that is not on it becomes plain text."""
    linked, is_dropped = [], False
    for token in children:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), source, page_by_source)
            is_dropped = address is None
            token.attrSet("href", address or "")
        if token.type == "image":
            token.attrSet("src", f"{PREFIX}/images/{picture_name(source.parent / str(token.attrGet('src')))}")
            token.attrSet("loading", "lazy")
        if not (is_dropped and token.type in ("link_open", "link_close")):
            linked.append(token)
        if token.type == "link_close":
            is_dropped = False
    return linked


def _address(link: str, source: Path, page_by_source: dict[Path, str]) -> str | None:
    path, _, fragment = link.partition("#")
    if ":" in path or not path:
        return link
    page = page_by_source.get((source.parent / path).resolve())
    if page is None:
        return None
    shown = str(PurePosixPath(PREFIX) / page)
    return f"{shown}#{fragment}" if fragment else shown

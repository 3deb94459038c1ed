"""Renders the pages of the guide from Markdown, each when it is first asked for."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pabal.web.guide.documents import find_page, find_page_of, make_anchor, picture_address, read_texts

if TYPE_CHECKING:
    from markdown_it.token import Token

PREFIX = "/docs/guide"


def render_page(language: str, page: str) -> str | None:
    """Return a page as HTML; None if there is no such page in this language."""
    source = find_page(language, page)
    return _render(source, language, page) if source else None


@cache
def _render(source: Path, language: str, page: str) -> str:
    """Return a document as HTML: links and pictures are those of the site, headings have anchors."""
    from markdown_it import MarkdownIt  # a start need not wait for it

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(read_texts(language)[page])
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_anchor(tokens[position + 1].content))
        if token.children:
            token.children = _link(token.children, source.parent)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


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
    page = find_page_of((folder / path).resolve())
    if page is None:
        return None
    return f"{PREFIX}/{page}#{fragment}" if fragment else f"{PREFIX}/{page}"

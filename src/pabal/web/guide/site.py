"""The site of the guide: its routes, its pages in their frame, and its search."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pabal.checks.body.locale import choose_language
from pabal.domain.base.codes import LANGUAGES, Text
from pabal.web.guide.documents import (
    CHAPTERS,
    PREFIX,
    find_picture,
    make_anchor,
    plain_text,
    read_texts,
    read_title,
    render_page,
)

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


CACHE_S = 300
"""How long a browser may keep a page: a new version may change it."""
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "cache-control": f"max-age={CACHE_S}",
}
_TEXTS = {
    "site": Text("파발 안내서", "Pabal guide"),
    "search": Text("검색", "Search"),
    "results": Text("검색 결과", "Results"),
    "nothing": Text("찾은 것이 없습니다. 다른 말로 찾아보세요.", "Nothing found. Try other words."),
    "interface": Text("API 문서", "API"),
    "language": Text("English", "한국어"),
    "contents": Text("차례", "Contents"),
}
_templates = Environment(
    loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def guide_routes() -> list[Route]:
    """Return the routes of the guide."""
    return [
        Route(PREFIX, show_start),
        Route(f"{PREFIX}/style.css", show_style),
        Route(f"{PREFIX}/images/{{language}}/{{name}}", show_picture),
        Route(f"{PREFIX}/{{language}}", show_index),
        Route(f"{PREFIX}/{{language}}/search", show_results),
        Route(f"{PREFIX}/{{language}}/{{page:path}}", show_page),
    ]


async def show_start(request: Request) -> Response:
    """Lead to the guide in the language of the browser."""
    header = request.headers.get("accept-language", "").encode("latin-1", "replace")
    return RedirectResponse(f"{PREFIX}/{choose_language(header)}/index", headers={"vary": "accept-language"})


def show_style(request: Request) -> Response:
    """Answer the stylesheet."""
    style = (resources.files(__package__) / "style.css").read_text(encoding="utf-8")
    return Response(style, media_type="text/css", headers={"cache-control": _HEADERS["cache-control"]})


def show_picture(request: Request) -> Response:
    """Answer a picture."""
    picture = find_picture(_language(request), request.path_params["name"])
    if picture is None:
        raise HTTPException(404)
    return Response(
        picture.read_bytes(), media_type="image/png", headers={"cache-control": _HEADERS["cache-control"]}
    )


async def show_index(request: Request) -> Response:
    """Lead to the first page."""
    return RedirectResponse(f"{PREFIX}/{_language(request)}/index")


def show_page(request: Request) -> Response:
    """Answer a page."""
    language, page = _language(request), request.path_params["page"]
    body = render_page(language, page)
    if body is None:
        raise HTTPException(404)
    return _answer(language, page, title=read_title(language, page), body=body, query="", hits=None)


def show_results(request: Request) -> Response:
    """Answer what a search finds."""
    language = _language(request)
    query = request.query_params.get("q", "").strip()[:MAX_QUERY_CHARACTERS]
    title = _TEXTS["results"].in_language(language)
    return _answer(language, "search", title=title, body="", query=query, hits=search(language, query))


def _language(request: Request) -> str:
    language = str(request.path_params["language"])
    if language not in LANGUAGES:
        raise HTTPException(404)
    return language


def _answer(language: str, page: str, **values: Any) -> Response:
    text = _templates.get_template("page.html").render(
        prefix=PREFIX,
        language=language,
        other="en" if language == "ko" else "ko",
        page=page,
        chapters=_contents(language),
        texts={name: text.in_language(language) for name, text in _TEXTS.items()},
        max_characters=MAX_QUERY_CHARACTERS,
        **values,
    )
    return HTMLResponse(text, headers=_HEADERS)


def _contents(language: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return every chapter with the address and title of its pages."""
    return [
        (
            chapter.title.in_language(language),
            [(f"{PREFIX}/{language}/{page}", read_title(language, page) or page) for page in chapter.pages],
        )
        for chapter in CHAPTERS
    ]

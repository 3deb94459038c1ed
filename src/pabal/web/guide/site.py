"""The site of the guide: its routes, and its pages in their frame."""

from importlib import resources
from typing import Any

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
    read_title,
    render_page,
)
from pabal.web.guide.search import MAX_QUERY_CHARACTERS, search

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

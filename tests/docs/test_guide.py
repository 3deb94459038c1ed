"""Checks the guide at /docs/guide: it is complete, its links lead somewhere, its search finds."""

import asyncio
import html
import re
from functools import cache

import httpx
import pytest
from starlette.applications import Starlette

from pabal.domain.base.codes import LANGUAGES
from pabal.web.guide.documents import CHAPTERS, PREFIX, ROOT, render_page
from pabal.web.guide.search import MAX_HITS, MAX_QUERY_CHARACTERS, search
from pabal.web.guide.site import guide_routes

MAX_PICTURE_BYTES = 150_000
LISTED = [page for chapter in CHAPTERS for page in chapter.pages]


@cache
def rendered() -> dict[str, str]:
    """Return the HTML of every page, such as `ko/how-to/idempotency`."""
    found = {f"{language}/{page}": render_page(language, page) for language in LANGUAGES for page in LISTED}
    return {page: text for page, text in found.items() if text is not None}


def fetch(path: str, language: str = "ko") -> httpx.Response:
    async def scenario() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=guide_routes()))
        async with httpx.AsyncClient(transport=transport, base_url="http://guide", follow_redirects=True) as client:
            return await client.get(path, headers={"accept-language": language})

    return asyncio.run(scenario())


def test_contents_list_every_document_once() -> None:
    folders = ("decisions", "ko")
    english = [path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md")]
    pages = {str(path.with_suffix("")) for path in english if path.parts[0] not in folders}
    korean = {str(path.relative_to(ROOT / "docs/ko").with_suffix("")) for path in ROOT.glob("docs/ko/**/*.md")}

    assert len(LISTED) == len(set(LISTED))
    assert set(LISTED) == pages | {"index", "security"} == korean | {"index"}


def test_every_link_leads_to_a_page_and_heading_of_the_site() -> None:
    anchors = {page: set(re.findall(r'<h[1-6] id="([^"]*)"', text)) for page, text in rendered().items()}

    for page, text in rendered().items():
        for link in map(html.unescape, re.findall(r'href="([^"]*)"', text)):
            if link.startswith(("https://", "http://127.0.0.1")):
                continue
            path, _, fragment = link.partition("#")
            target = path.removeprefix(f"{PREFIX}/") if path else page
            assert target in rendered(), (page, link)
            assert not fragment or httpx.URL(link).fragment in anchors[target], (page, link)


@pytest.mark.parametrize(("language", "title"), [("ko", "파발"), ("en", "Pabal")])
def test_start_leads_to_the_language_of_the_browser(language: str, title: str) -> None:
    page = fetch(PREFIX, language)

    assert (page.status_code, page.url.path) == (200, f"{PREFIX}/{language}/index")
    assert f'<html lang="{language}">' in page.text
    assert f"<title>{title}" in page.text


def test_page_loads_nothing_from_elsewhere_and_runs_no_script() -> None:
    page = fetch(f"{PREFIX}/ko/how-to/idempotency")

    assert "<script" not in page.text
    assert set(re.findall(r'(?:src|<link[^>]* href)="([^"]+)"', page.text)) == {f"{PREFIX}/style.css"}
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert fetch(f"{PREFIX}/style.css").headers["content-type"].startswith("text/css")


def test_every_picture_is_shown_in_its_language_and_is_small() -> None:
    folders = {"en": ROOT / "docs" / "images", "ko": ROOT / "docs" / "ko" / "images"}
    pictures = {f"{name}/{path.name}": path.read_bytes() for name in folders for path in folders[name].iterdir()}
    shown = {
        (page[:2], picture)
        for page, text in rendered().items()
        for picture in re.findall(rf'<img src="{PREFIX}/images/([^"]+)"', text)
    }

    assert shown == {(name[:2], name) for name in pictures}
    assert {name: len(content) for name, content in pictures.items() if len(content) > MAX_PICTURE_BYTES} == {}
    for name, content in pictures.items():
        answer = fetch(f"{PREFIX}/images/{name}")
        assert (answer.headers["content-type"], answer.content) == ("image/png", content)


@pytest.mark.parametrize(
    "name", ["en/nothing.png", "en/index.md", "fr/send.png", "en/..%2fREADME.md", "en/..%2fko%2fsend.png"]
)
def test_unknown_picture_is_not_found(name: str) -> None:
    assert fetch(f"{PREFIX}/images/{name}").status_code == 404


def test_page_offers_its_twin_and_marks_itself_in_the_contents() -> None:
    page = fetch(f"{PREFIX}/ko/how-to/idempotency").text

    assert f'href="{PREFIX}/en/how-to/idempotency" hreflang="en"' in page
    assert f'href="{PREFIX}/ko/how-to/idempotency" aria-current="page"' in page


@pytest.mark.parametrize("path", ["/fr/index", "/ko/nothing", "/en/../../pages.py", "/ko/index.html"])
def test_unknown_page_is_not_found(path: str) -> None:
    assert fetch(f"{PREFIX}{path}").status_code == 404


@pytest.mark.parametrize(
    ("language", "query", "page"),
    [
        ("ko", "대체 발송", "how-to/templates"),
        ("ko", "발신번호", "how-to/keys-and-accounts"),
        ("ko", "Idempotency-Key 응답", "how-to/idempotency"),
        ("en", "failover replica", "how-to/postgresql"),
        ("en", "NIGHT_AD_RESTRICTED", "reference/errors"),
    ],
)
def test_search_finds_the_sections_with_every_word(language: str, query: str, page: str) -> None:
    hits = search(language, query)

    assert page in {hit.section.page for hit in hits}
    assert len(hits) <= MAX_HITS
    assert all(hit.found.casefold() in ("", query.casefold().split()[0]) for hit in hits)


BOTH_LANGUAGES = [
    ("파이썬", "how-to/python-client"),
    ("python", "how-to/python-client"),
    ("대량발송", "how-to/python-client"),
    ("단체 발송", "how-to/python-client"),
    ("예약", "how-to/scheduling-and-cancelling"),
    ("예약시간", "how-to/scheduling-and-cancelling"),
    ("예약발송시간", "how-to/scheduling-and-cancelling"),
    ("인증번호", "how-to/one-time-codes"),
    ("OTP", "how-to/one-time-codes"),
    ("콜백", "how-to/webhooks"),
    ("스프링", "how-to/java"),
    ("Spring", "how-to/java"),
    ("스프링부트", "how-to/java"),
    ("자바", "how-to/java"),
    ("django", "how-to/django"),
    ("장고", "how-to/django"),
    ("fastapi", "how-to/fastapi"),
    ("코틀린", "how-to/kotlin"),
    ("golang", "how-to/go"),
    ("go언어", "how-to/go"),
    ("nodejs", "how-to/node"),
    ("php", "how-to/php"),
    ("중복", "how-to/idempotency"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("query", "page"), BOTH_LANGUAGES, ids=[query for query, _ in BOTH_LANGUAGES])
def test_search_finds_synonyms_and_compounds(language: str, query: str, page: str) -> None:
    hits = search(language, query)

    assert page in [hit.section.page for hit in hits[:3]]
    assert hits[0].before + hits[0].found + hits[0].after


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("query", ["인증번호", "OTP"])
def test_search_finds_the_page_on_codes_first(language: str, query: str) -> None:
    assert search(language, query)[0].section.page == "how-to/one-time-codes"


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_show_every_example_program_in_full(language: str) -> None:
    shown = html.unescape("".join(text for page, text in rendered().items() if page.startswith(language)))
    programs = [path for path in (ROOT / "docs" / "examples").glob("*/**/*.*") if "__pycache__" not in path.parts]

    assert len(programs) > 10
    assert [path for path in programs if path.read_text(encoding="utf-8") not in shown] == []


def test_search_without_words_or_hits_finds_nothing() -> None:
    assert search("ko", "  ") == []
    assert search("ko", "zzzzzz") == search("ko", "예약갉쉙") == []
    assert "찾은 것이 없습니다" in fetch(f"{PREFIX}/ko/search?q=zzzzzz").text


def test_query_is_escaped_and_cut_off() -> None:
    page = fetch(f"{PREFIX}/en/search", "en").text
    hostile = fetch(f"{PREFIX}/en/search?q=%22%3E%3Cb%3E" + "x" * 200, "en").text

    assert f'maxlength="{MAX_QUERY_CHARACTERS}"' in page
    assert "<b>" not in hostile
    assert "x" * (MAX_QUERY_CHARACTERS - 4) not in hostile

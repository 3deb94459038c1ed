"""The gate of the console: cookies, headers, and what is told when something is wrong."""

import re
from ipaddress import ip_network
from pathlib import Path

import pytest

from pabal.console.pages import PAGES
from pabal.console.shell import rendering
from pabal.console.shell.middleware import HEADERS
from pabal.console.shell.page_request import HOME, safe_redirect_path
from pabal.service.access.users.sign_in_delays import FREE_ATTEMPTS_PER_NAME_AND_ADDRESS
from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.console import PASSWORD, Browser, make_user, sign_in
from tests.fixtures.virtual import Environment
from tests.fixtures.web import FailingStore

HTML = sorted(Path(rendering.__file__).parents[1].rglob("*.html"))
OVER_TLS = {"x_forwarded_proto": "https", "x_forwarded_for": "192.0.2.9"}
TRUSTING = {"trusted_proxies": [ip_network("127.0.0.1/32")]}


async def test_every_answer_has_the_security_headers(operator: Browser) -> None:
    for path in ["/console/nowhere", "/console/history?x=%ff", *{page.path for page in PAGES}]:
        shown = await operator.get(path)

        assert HEADERS.items() <= shown.headers.items(), path
        assert shown.headers["cache-control"] == "no-store"
        assert "unsafe" not in shown.headers["content-security-policy"]
        assert "default-src 'none'" in shown.headers["content-security-policy"]


@pytest.mark.parametrize("file", HTML, ids=lambda file: file.name)
def test_templates_contain_no_inline_scripts_styles_or_unescaped_values(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:|hx-on|\bjs:", text)
    assert not re.search(r"\|\s*safe\b|autoescape|Markup|hx-vals", text)
    assert not re.search(r"""(src|href|action)=["']?(https?:)?//""", text)


async def test_static_files_are_immutable_at_hashed_addresses(env: Environment) -> None:
    browser = Browser(env.service)
    page = await browser.get("/console/login")
    found = set(re.findall(r'(?:href|src)="(/console/static/[^"]+)"', page.text))

    assert {Path(each).suffix for each in found} == {".css", ".js", ".svg"}
    for address in found:
        plain = await browser.get(address)
        assert plain.status == 200
        assert "immutable" in plain.headers["cache-control"]
        assert HEADERS.items() <= plain.headers.items()
        stem, _, kind = address.rpartition(".")
        other = "1" if stem.endswith("0") else "0"
        assert (await browser.get(f"{stem[:-1]}{other}.{kind}")).status == 404
    assert (await browser.get("/console/static/../app.py")).status == 404


async def test_session_cookie_is_protected_and_new_at_each_sign_in(
    env: Environment,
) -> None:
    name = await make_user(env)
    browser = await sign_in(env, name)
    first = browser.cookies["pabal_session"]

    shown = await browser.submit("/console/login", name=name, password=PASSWORD)

    (cookie,) = [each for each in shown.cookies if each.startswith("pabal_session=")]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    second = browser.cookies["pabal_session"]
    assert first != second
    old = Browser(env.service)
    old.cookies["pabal_session"] = first
    assert (await old.get("/console/history")).status == 303, "the session before is over"


@pytest.mark.settings(**TRUSTING)
async def test_only_host_prefixed_cookies_count_over_tls(env: Environment) -> None:
    name = await make_user(env)
    browser = await sign_in(env, name, Browser(env.service, **OVER_TLS))
    token = browser.cookies["__Host-pabal_session"]

    here = await browser.get("/console/history")
    plain = Browser(env.service, **OVER_TLS)
    plain.cookies["pabal_session"] = token
    there = await plain.get("/console/history")

    assert (here.status, there.status) == (200, 303)
    again = await browser.submit("/console/login", name=name, password=PASSWORD)
    (cookie,) = [each for each in again.cookies if "pabal_session" in each]
    assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


async def test_forwarded_headers_of_untrusted_peers_are_ignored(env: Environment) -> None:
    name = await make_user(env)
    browser = await sign_in(env, name, Browser(env.service, **OVER_TLS))
    assert set(browser.cookies) >= {"pabal_session"}

    for number in range(FREE_ATTEMPTS_PER_NAME_AND_ADDRESS):
        liar = Browser(env.service, x_forwarded_for=f"192.0.2.{number}")
        assert (await liar.submit("/console/login", name=name, password="wrong")).status == 401
    locked = await Browser(env.service).submit("/console/login", name=name, password=PASSWORD)

    assert locked.status == 429


@pytest.mark.parametrize(
    "path",
    ["https://evil.example/console", "//evil.example/console", "/\\evil.example", "/console\\@evil", "/api/x", "",
     "javascript:alert(1)", "/consoles", "/console/login?next=/console", "/console/\n", "console"],
)  # fmt: skip
def test_redirects_never_leave_the_console(path: str) -> None:
    assert safe_redirect_path(path) == HOME


@pytest.mark.parametrize("path", ["/console", "/console/history?status=fail&receiver=010", "/console/phone"])
def test_local_paths_are_kept_for_redirects(path: str) -> None:
    assert safe_redirect_path(path) == path


async def test_sign_in_leads_to_the_requested_page(env: Environment) -> None:
    name = await make_user(env)
    browser = Browser(env.service)

    sent = await browser.get("/console/history?status=fail")
    part = await browser.get("/console/phone/messages?number=1", hx_request="true")
    posted = await browser.post("/console/send/check", referer="http://x/console/send?kind=lms")
    foreign = await browser.post("/console/send/check", referer="http://x/elsewhere")
    shown = await browser.submit(
        "/console/login", name=name, password=PASSWORD, next="/console/history?status=fail"
    )

    assert sent.location == "/console/login?next=%2Fconsole%2Fhistory%3Fstatus%3Dfail"
    assert (part.status, part.text) == (401, ""), "the open page asks for the password itself"
    assert posted.location == "/console/login?next=%2Fconsole%2Fsend%3Fkind%3Dlms"
    assert foreign.location == "/console/login"
    assert shown.location == "/console/history?status=fail"
    on = await browser.get("/console/login?next=%2Fconsole%2Fhistory%3Fchannel%3D%ED%95%9C", hx_request="true")
    assert on.headers["hx-redirect"] == "/console/history?channel=%ED%95%9C"


async def test_chosen_language_persists_and_unknown_ones_are_ignored(env: Environment) -> None:
    browser = Browser(env.service)
    korean = await browser.get("/console/login")
    nonsense = await browser.submit("/console/language", language="xx", next="/console/login")
    still = await browser.get("/console/login")
    await browser.submit("/console/language", language="en", next="/console/login")
    english = await browser.get("/console/login")

    assert ('lang="ko"' in korean.text, 'lang="ko"' in still.text) == (True, True)
    assert nonsense.location == "/console/login"
    assert '<html lang="en">' in english.text


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/console/nowhere", "GET", 404),
        ("/console/history/zzz", "GET", 404),
        ("/console/history", "DELETE", 405),
        ("/console/history?receiver=%ff%fe", "GET", 400),
        ("/console/history", "HEAD", 200),
    ],
)
async def test_refusals_are_shown_as_pages(browser: Browser, path: str, method: str, status: int) -> None:
    shown = await browser.get(path, method)

    assert shown.status == status
    assert shown.headers["content-type"] == "text/html; charset=utf-8"


async def test_oversized_or_malformed_forms_are_refused(env: Environment) -> None:
    browser = Browser(env.service)

    large = await browser.submit("/console/login", name="n" * 20_000, password=PASSWORD)
    other = await browser.post("/console/login", {"csrf": await browser.csrf()}, content_type="application/json")

    assert (large.status, other.status) == (413, 415)


@pytest.mark.parametrize(
    ("trouble", "status"), [(StoreUnavailable("gone"), 503), (ValueError("secret inside"), 500)]
)
async def test_errors_reveal_no_internals(
    failing_store: FailingStore, browser: Browser, trouble: Exception, status: int
) -> None:
    failing_store.error = trouble

    shown = await browser.get("/console/history")
    failing_store.error = None

    assert shown.status == status
    assert "secret" not in shown.text
    assert "로그아웃" not in shown.text or status == 500
    assert (await browser.get("/console/history")).status == 200


async def test_guessing_elsewhere_locks_nobody_out_of_their_browser(env: Environment) -> None:
    name = await make_user(env)
    known = await sign_in(env, name)
    cookie = known.cookies["pabal_device"]
    statuses = []
    for number in range(51):
        thief = Browser(env.service, peer=f"203.0.113.{number}")
        statuses.append((await thief.submit("/console/login", name=name, password="wrong")).status)

    stranger = Browser(env.service, peer="198.51.100.7")
    delayed = await stranger.submit("/console/login", name=name, password=PASSWORD)
    await known.submit("/console/logout")
    signed = await known.submit("/console/login", name=name, password=PASSWORD)

    assert set(statuses) == {401, 429}
    assert (delayed.status, signed.status) == (429, 303)
    assert "초 뒤에 다시 시도하세요" in delayed.text
    assert int(delayed.headers["retry-after"]) <= 60
    (device,) = [each for each in signed.cookies if each.startswith("pabal_device=")]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(device.split("; "))
    assert known.cookies["pabal_device"] != cookie

"""Every page of the console with bad paths, queries and forms: an answer for people, never an error of ours."""

import os
import re
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest

from pabal import console
from pabal.console.pages import PAGES
from pabal.console.shell.page import OPERATORS, Page
from pabal.domain.people.user import Role
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import register_channel

SOURCES = [file.read_text(encoding="utf-8") for file in Path(console.__file__).parent.rglob("*.py")]
TEMPLATES = [file.read_text(encoding="utf-8") for file in Path(console.__file__).parent.rglob("*.html")]
_NAMES = (
    {name for text in SOURCES for name in re.findall(r'(?:field|fields\.get|query\.get)\("(\w+)"', text)}
    | {name for text in TEMPLATES for name in re.findall(r'name="([\w.\[\]]+)"', text)}
    | {"subject", "receivers", "imageLink", "resendPhoneNumber", "resendContent", "emphasisTitle", "emphasisType"}
    | {f"buttons[{number}].{name}" for number in (0, 4, 9) for name in ("buttonType", "name", "mobileUrl", "extra")}
    | {"receiver", "requestId", "messageId", "from", "until", "product", "result", "template", "profile"}
) - {"csrf", "password"}
FIELDS = sorted(_NAMES)
"""Every field that a form has or a page reads."""
BAD_VALUES = [
    "",
    " ",
    "\0",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "\ufeff\u202e",
    "-1",
    "0",
    "1e400",
    "NaN",
    "9" * 30,
    "true",
    "null",
    "[]",
    "{}",
    '{"a":[1,{"b":null}]}',
    "2026-02-30",
    "2026-11-15T25:61",
    "0001-01-01~9999-12-31",
    "010-1234-5678",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "' or 1=1 --",
    "{{ 7 * 7 }}",
    "f" * 26,
    "f" * 32,
    "x" * 5000,
    "가" * 2000,
    "\r\nset-cookie: a=b",
    "#{" * 500,
]
TRIES = 200 if os.environ.get("PABAL_TORTURE") else 10
"""How many bad forms each page gets."""
KINDS = ["sms", "lms", "mms", "alimtalk", "friendtalk"]
PATH_VALUES = ["0", "-1", "9" * 30, "f" * 26, "f" * 32, "%00", "..%2f..", "가", "x" * 500, "%ff", "a b"]
each_page = pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.path != "/console/logout"],
    ids=lambda page: f"{page.method} {page.path}",
)


def _fill_path(page: Page, value: str) -> str:
    return re.sub(r"\{\w+\}", value, page.path)


async def _open_browser(env: Environment, page: Page) -> Browser:
    role = Role.OPERATOR if page.roles == OPERATORS and not page.needs_account else Role.OWNER
    return await signed_in_browser(env, role)


def _is_answer(status: int) -> bool:
    return status < 500 or status == 503


@pytest.mark.first_case
@each_page
async def test_page_answers_bad_paths_and_fields(env: Environment, page: Page) -> None:
    await register_channel(await env.caller())
    browser = await _open_browser(env, page)
    csrf = await browser.csrf()
    rng = Random(1)
    paths = [_fill_path(page, value) for value in PATH_VALUES] if "{" in page.path else [page.path]

    for path in paths:
        for _ in range(max(2, TRIES // len(paths))):
            given = {name: rng.choice(BAD_VALUES) for name in rng.sample(FIELDS, rng.randint(1, 30))}
            if rng.random() < 0.7:
                given["kind"] = rng.choice(KINDS)
            if page.method == "GET":
                answer = await browser.get(f"{path}?{urlencode(given)}")
            else:
                answer = await browser.post(path, {"csrf": csrf, **given})

            assert _is_answer(answer.status), (path, given, answer.text[:2000])
            assert "<script>alert(1)" not in answer.text, (path, given)
            assert not any("a=b" in cookie for cookie in answer.cookies), (path, given)

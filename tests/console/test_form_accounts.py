"""Every form carries the account that its page was made for, and acts on no other one."""

from html.parser import HTMLParser
from typing import Any

import pytest

from pabal.console.pages import PAGES
from pabal.domain.people.user import Role
from pabal.store.accounts import accounts, numbers
from tests.console.test_roles import every_path, things
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import SENDER

NAMES_ITS_ACCOUNT = (
    "/console/login", "/console/logout", "/console/language", "/console/accounts", "/console/operate",
    "/console/me", "/console/invite",
)  # fmt: skip
"""Pages that belong to no account, or whose path or fields name the account they change."""
BOUND = [page for page in PAGES if page.method == "POST" and page.needs_account]


class FormParser(HTMLParser):
    """Collects the fields of forms that post, and what htmx posts with."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self.htmx_paths: list[str] = []
        self.htmx_headers = ""
        self._is_posting = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_posting = given.get("method", "").lower() == "post"
            self.forms += [{"": given.get("action", "")}] if self._is_posting else []
        if tag in ("input", "button") and self._is_posting and "name" in given:
            self.forms[-1].setdefault(given["name"], given.get("value", ""))
        if "hx-post" in given:
            self.htmx_paths.append(given["hx-post"])
        if "hx-headers" in given:
            self.htmx_headers = given["hx-headers"]

    def handle_endtag(self, tag: str) -> None:
        self._is_posting = self._is_posting and tag != "form"


def forms_of(page: PageResponse) -> FormParser:
    parser = FormParser()
    parser.feed(page.text)
    return parser


async def two_accounts(env: Environment) -> tuple[Browser, str]:
    """Return an operator who has switched from the first account to the second, and the first one's token."""
    for name in ("acme", "other"):
        await env.store.write(accounts.ensure_account, name, 0)
    operator = await signed_in_browser(env, Role.OPERATOR)
    token = await operator.csrf()
    await operator.submit("/console/accounts", account="2")
    return operator, token


def test_posting_pages_without_account_are_only_those_that_name_it() -> None:
    others = {page.path for page in PAGES if page.method == "POST"} - {page.path for page in BOUND}

    assert {path for path in others if not path.startswith(NAMES_ITS_ACCOUNT)} == set()
    assert [page.path for page in BOUND if page.path.startswith(NAMES_ITS_ACCOUNT)] == []
    assert len(BOUND) > 20


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
async def test_every_form_of_every_page_carries_its_account(env: Environment, role: Role) -> None:
    named = await things(env)
    browser = await signed_in_browser(env, role)
    await browser.submit("/console/numbers", number=SENDER)
    posted_to: set[str] = set()
    for page, path in every_path(named):
        if page.method != "GET" or (page.roles is not None and role not in page.roles):
            continue
        shown = forms_of(await browser.get(path))

        for form in shown.forms:
            assert form.get("csrf", "").endswith("-1"), (path, form)
            posted_to.add(form[""])
        if shown.htmx_paths and shown.htmx_headers:
            assert '-1"' in shown.htmx_headers, path
    assert len(posted_to) > 8


async def test_every_posting_page_refuses_the_form_of_another_account(env: Environment) -> None:
    operator, token = await two_accounts(env)
    before = await env.store.read(latest_entries, None, 100)
    for page in BOUND:
        path = page.path.replace("{", "").replace("}", "")

        shown = await operator.post(path, {"csrf": token, "number": SENDER, "typed": "<b>잃지 않음"})
        part = await operator.post(path, {}, x_csrf_token=token, hx_request="true")
        bare = await operator.post(path, {"csrf": token.partition("-")[0]})

        assert (shown.status, part.status, bare.status) == (409, 409, 409), path
        assert "acme" in shown.text
        assert page.is_preview or "&lt;b&gt;잃지 않음" in shown.text
        assert part.headers["hx-reswap"].partition(" ")[0] == ("none" if page.is_preview else "outerHTML")
    assert await env.store.read(latest_entries, None, 100) == before
    assert await env.store.read(numbers.list_all) == []


async def test_refused_form_can_be_sent_again_for_its_own_account(env: Environment) -> None:
    operator, token = await two_accounts(env)
    refused = await operator.post("/console/numbers", {"csrf": token, "number": SENDER})
    (again,) = [form for form in forms_of(refused).forms if form.get("number")]

    done = await operator.post(again.pop(""), again)
    forged = await operator.post("/console/numbers", {**again, "csrf": await operator.csrf()})

    assert done.status == 303
    assert [each.account for each in await env.store.read(numbers.list_all)] == ["acme"]
    assert "acme 계정을 대신해" in (await operator.get("/console/numbers")).text
    assert forged.status == 409, "it is registered already"


async def test_form_with_a_file_is_refused_without_an_offer_to_repeat_it(env: Environment) -> None:
    operator, token = await two_accounts(env)
    file = ("a.jpg", "image/jpeg", b"x")

    shown = await operator.submit_with_file("/console/templates/new", file, {"csrf": token, "name": "잃음"})

    assert shown.status == 409
    assert "파일은 다시 선택해야 합니다" in shown.text
    assert "잃음" not in shown.text


async def test_only_operators_can_switch_with_a_form(env: Environment) -> None:
    await env.store.write(accounts.ensure_account, "secret account", 0)
    owner = await signed_in_browser(env)
    secret = (await owner.csrf()).partition("-")[0]
    fields: dict[str, Any] = {"csrf": f"{secret}-1", "switch_account": "1", "number": SENDER}

    shown = await owner.post("/console/numbers", fields)

    assert shown.status == 409
    assert "secret account" not in shown.text
    assert await env.store.read(numbers.list_all) == []


async def test_operator_sends_only_after_choosing_an_account(env: Environment, operator: Browser) -> None:
    await env.store.write(accounts.ensure_account, "acme", 0)

    unchosen = await operator.get("/console/send?kind=sms")
    refused = await operator.submit("/console/send", kind="sms")
    chosen = await operator.submit("/console/accounts", account="1", next="/console/send?kind=sms")
    shown = await operator.get(chosen.location)
    stopped = await operator.submit("/console/accounts", account="")
    after = await operator.get("/console/send")

    assert unchosen.location == "/console/accounts?next=%2Fconsole%2Fsend%3Fkind%3Dsms"
    assert refused.status == 409
    assert chosen.location == "/console/send?kind=sms"
    assert "운영자로서 acme 계정을 대신해 작업하고 있습니다" in shown.text
    assert stopped.location == "/console/accounts"
    assert after.location.startswith("/console/accounts")


async def test_users_of_an_account_see_no_band(owner: Browser) -> None:
    assert "대신해" not in (await owner.get("/console/send")).text


async def test_operator_without_account_is_asked_to_choose_one(env: Environment) -> None:
    operator, _ = await two_accounts(env)
    chosen = await operator.get("/console/accounts")
    await operator.submit("/console/accounts", account="")

    asked = await operator.get("/console/accounts")

    assert "<h1>계정 변경</h1>" in chosen.text
    assert "<h1>계정 선택</h1>" in asked.text
    assert '<a href="/console/accounts">계정 선택</a>' in asked.text

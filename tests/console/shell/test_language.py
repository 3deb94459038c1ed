"""The language can be switched on every page, also on the answer to a form."""

import re

from pabal.console.pages import PAGES
from pabal.domain.people.user import Role
from tests.console.test_roles import every_path, things
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment

LEAVING = ("/console/login", "/console/logout", "/console/accounts", "/console/language")
"""Forms that end a session, or say what is shown next."""
POSTED_ONLY = re.compile(r"/test$|/import$|/accounts/[^/]+/keys$")
"""Paths that only take forms."""
NEXT = re.compile(r'name="next" value="([^"]+)"')


async def test_answer_to_every_form_leads_back_to_a_page_that_opens(env: Environment) -> None:
    named = await things(env)
    browser = await signed_in_browser(env, Role.OPERATOR)
    seen: set[str] = set()
    for page, path in every_path(named):
        if page.method != "POST" or page.path in LEAVING:
            continue
        shown = await browser.submit(path)
        if found := NEXT.search(shown.text):
            switched = await browser.submit("/console/language", language="ko", next=found[1])

            assert switched.location == found[1], path
            assert (await browser.get(found[1])).status not in (403, 405, 500), (path, found[1])
            assert not POSTED_ONLY.search(found[1]), path
            seen.add(page.path)
    assert len(seen) > 15


async def test_form_is_answered_with_its_own_page_to_come_back_to(env: Environment) -> None:
    named = await things(env)
    browser = await signed_in_browser(env)
    webhook = f"/console/webhooks/{named['webhook']}"
    expected = {
        f"{webhook}/test": webhook,
        f"{webhook}/replay": webhook,
        f"{webhook}/edit": f"{webhook}/edit",
        "/console/opt-outs/import": "/console/opt-outs",
        "/console/privacy/erase": "/console/privacy",
        "/console/numbers": "/console/numbers",
    }

    found = {path: NEXT.findall((await browser.submit(path)).text) for path in expected}

    assert found == {path: [page] for path, page in expected.items()}
    assert {page.path for page in PAGES if page.method == "GET"} >= {"/console/opt-outs", "/console/privacy"}

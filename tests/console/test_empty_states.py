"""Lists without rows: each says what to do next, and leads there."""

import re

import pytest

from pabal.domain.people.user import Role
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment

EMPTY = re.compile(r'<div class="empty">.*?</div>', re.DOTALL)
NEXT = {
    "/console": "/console/send",
    "/console/history": "/console/send",
    "/console/history?receiver=010-1111-2222": "/console/history",
    "/console/requests": "/console/send",
    "/console/requests?state=ended": "/console/requests",
    "/console/requests/approvals": "/console/send",
    "/console/texts": "/console/send",
    "/console/templates": "/console/templates/new",
    "/console/templates?status=approval": "/console/templates",
    "/console/profiles": "/console/profiles/new",
    "/console/contacts": "/console/contacts/file",
    "/console/contacts?q=nobody": "/console/contacts",
    "/console/send": "/console/contacts/groups",
    "/console/opt-outs?number=010-1111-2222": "/console/opt-outs",
    "/console/inbound": "/console/numbers",
    "/console/audit?user=nobody": "/console/audit",
    "/console/phone?number=010-1111-2222": "/console/send",
}
"""Where each empty page leads."""
HERE = {
    "/console/contacts/groups": "이름을 정해 만드세요",
    "/console/opt-outs": "위에서 추가하세요",
    "/console/numbers": "위에서 등록하세요",
    "/console/webhooks": "아래에서 첫 웹훅을 등록하세요",
}
"""What pages say whose own form is the next step."""
OF_OPERATORS = {
    "/console/operate/mail": "/console/operate/settings",
    "/console/operate/quotas": "/console/operate/accounts",
}


async def test_empty_lists_lead_to_the_next_step(env: Environment) -> None:
    owner, operator = await signed_in_browser(env), await signed_in_browser(env, Role.OPERATOR)

    for browser, expected in ((owner, NEXT), (operator, OF_OPERATORS)):
        for path, next_path in expected.items():
            shown = EMPTY.findall((await browser.get(path)).text)
            assert any(f'href="{next_path}"' in each for each in shown), (path, shown)
    for path, told in HERE.items():
        assert told in (await owner.get(path)).text, path


@pytest.mark.parametrize("path", ["/console/history", "/console/templates", "/console/profiles"])
async def test_empty_lists_lead_viewers_nowhere_they_may_not_go(env: Environment, path: str) -> None:
    viewer = await signed_in_browser(env, Role.VIEWER)

    (shown,) = EMPTY.findall((await viewer.get(path)).text)

    assert "href" not in shown

"""Viewers see masked numbers, and no page or export lets them find out what is hidden."""

from collections.abc import Iterator

import pytest

from pabal.console.history.filters import FIELDS
from pabal.console.pages import PAGES
from pabal.domain.people.user import Role
from tests.console.test_roles import paths, things
from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_forms import RECEIVER
from tests.fixtures.virtual import Environment

OTHER = "010-4000-8765"
"""A number that nothing was sent to, and that looks the same when it is masked."""
SEARCHES = {*FIELDS, "number", "phone", "phoneNumber", "user", "name", "q"}


def viewer_paths(named: dict[str, str]) -> Iterator[str]:
    """Yield every page that viewers may open, without a search."""
    for page in PAGES:
        if page.method == "GET" and (page.roles is None or Role.VIEWER in page.roles):
            yield paths(page, named)[0].partition("?")[0]


async def test_viewer_cannot_tell_by_searching_whether_a_number_got_a_message(env: Environment) -> None:
    named = await things(env)
    viewer = await signed_in_browser(env, Role.VIEWER)
    for path in viewer_paths(named):
        for field in sorted(SEARCHES):
            known = await viewer.get(f"{path}?{field}={RECEIVER}")
            unknown = await viewer.get(f"{path}?{field}={OTHER}")

            assert known.status < 500, (path, field)
            assert (known.status, len(known.text)) == (unknown.status, len(unknown.text)), (path, field)


@pytest.mark.parametrize("path", ["/console/history", "/console/history.csv", "/console/history.xlsx"])
async def test_viewer_is_refused_a_search_by_number(env: Environment, path: str) -> None:
    await things(env)
    viewer, sender = await signed_in_browser(env, Role.VIEWER), await signed_in_browser(env, Role.SENDER)

    refused = await viewer.get(f"{path}?receiver={RECEIVER}")
    plain = await viewer.get(path)
    found = await sender.get(f"{path}?receiver={RECEIVER}")

    assert refused.status == 400
    assert "수신번호로 검색할 수 없습니다" in refused.text
    assert "8765" not in refused.text.replace(RECEIVER, ""), "nothing but what was typed"
    assert "010-****-8765" in plain.text
    assert 'name="receiver"' not in plain.text
    assert RECEIVER in found.text

"""Cursors that were changed, or belong to something else: refused, or own data only, on every endpoint and page."""

import base64
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from pabal.carriers.base import InboundMessage
from pabal.console.pages import PAGES
from pabal.domain.events.event import format_cursor
from pabal.domain.people.phone import NumberState
from pabal.domain.people.user import Role
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import accounts, numbers
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.console import make_user, sign_in
from tests.fixtures.console_upload import create_campaign
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import call_ok, sms_body

pytestmark = pytest.mark.slow

TODAY = {"requestDate": "2026-11-15"}
OURS, THEIRS = "우리의 글", "남의 글"


class Endpoint(NamedTuple):
    """How an endpoint is asked for its first page, and where its answer has the cursor of the next."""

    ask: Callable[[Caller, Mapping[str, Any]], Any]
    next_cursor: Callable[[ApiResponse], str]
    has_check: bool
    """Whether a cursor in which anything was changed is refused; of others any position is a valid one."""


CASES = {
    "message/list": Endpoint(
        lambda call, given: call("message/list", {**TODAY, "pageSize": 1, **given}),
        lambda answer: str(answer.body["nextCursor"]),
        True,
    ),
    "message/results": Endpoint(
        lambda call, given: call("message/results", query={"limit": 1, **given}),
        lambda answer: str(answer.item["nextCursor"]),
        True,
    ),
    "message/inbound": Endpoint(
        lambda call, given: call("message/inbound", query={"limit": 1, **given}),
        lambda answer: str(answer.item["nextCursor"]),
        False,
    ),
    "webhook/events": Endpoint(
        lambda call, given: call("webhook/events", query=given or {"since": "2026-11-15 12:00"}),
        lambda answer: str(answer.item["nextCursor"]),
        True,
    ),
}
PAGE_CURSORS = {
    "/console/history": "before",
    "/console/history.csv": "before",
    "/console/history.xlsx": "before",
    "/console/requests": "before",
    "/console/requests/unsent": "before",
    "/console/inbound": "before",
    "/console/contacts": "after",
    "/console/audit": "before",
    "/console/operate/reviews": "after",
    "/console/operate/quotas": "after",
    "/console/operate/inbound": "before",
}
"""The pages of a list, each with the field that says where it begins."""
GARBAGE = (
    "", " ", "0", "-1", "f", "F" * 52, "g" * 52, "0" * 52, "f" * 52, "f" * 44, "1e9", "null", "[]", "..", "\0",
    "가" * 10, "=" * 8, "AQ==", "////", "9" * 18, "9" * 400, "a" * 9_000, "' or 1=1 --", format_cursor({}),
    format_cursor({1023: (1 << 62)}), base64.urlsafe_b64encode(bytes(50)).decode(),
)  # fmt: skip
"""What was never a cursor, or one of nobody."""


def _changed(cursor: str) -> Iterator[str]:
    """Yield a cursor with each of its characters changed, and cut or longer ones."""
    for place, character in enumerate(cursor):
        yield cursor[:place] + ("0" if character != "0" else "1") + cursor[place + 1 :]
    yield from (cursor[:-1], cursor[1:], cursor + "0", cursor * 2, cursor.upper() + "A", cursor[::-1] + "0")


def test_every_endpoint_with_a_cursor_has_a_case() -> None:
    taking = {each.path for each in ENDPOINTS if "cursor" in each.known_fields}

    assert taking == {f"/api/{operation}.v1.0" for operation in CASES}


def test_every_page_with_a_cursor_has_a_case() -> None:
    files = {page: inspect.getfile(page.handle) for page in PAGES if page.method == "GET"}
    reading = {
        file
        for file in files.values()
        if re.search(r'field\("(before|after)"\)', Path(file).read_text(encoding="utf-8"))
    }

    assert reading <= {file for page, file in files.items() if page.path in PAGE_CURSORS}


async def _fill(env: Environment, account: str, text: str) -> Caller:
    """Give an account three messages that have ended, and three replies."""
    call = await env.caller(account)
    number = "0299998888" if account == "theirs" else "0288887777"
    account_id = await env.store.write(accounts.ensure_account, account, env.world.now())
    await env.store.write(numbers.add, account_id, number, env.world.now(), NumberState.APPROVED)
    for place in range(3):
        await call_ok(call, "message/sendSMS", sms_body(content=f"{text} {place}"))
        reply = InboundMessage("01055555555", number, f"{text} {place}")
        await store_messages(env.context, "simulator", [reply])
        await env.wait(2)
    await env.wait(10)
    return call


def _check(answer: ApiResponse, *, is_refused: bool | None, case: str) -> None:
    """Check that an answer is a refusal that names the cursor, or has own data only; None: either will do."""
    assert THEIRS not in str(answer.body), case
    if answer.status == 200 and not is_refused:
        assert all(OURS in str(each) for each in answer.items), case
        return
    assert is_refused is not False, case
    assert answer.status == 400, (case, answer.body)
    assert answer.result == ("UNSUPPORTED_CHARACTER" if "\0" in case else "INVALID_PARAMETER"), case
    assert [each["field"] for each in answer.body["errors"]] == ["cursor"], case


@pytest.mark.parametrize("operation", CASES)
async def test_changed_cursor_is_refused_or_finds_own_data_only(env: Environment, operation: str) -> None:
    endpoint = CASES[operation]
    ours, theirs = await _fill(env, "ours", OURS), await _fill(env, "theirs", THEIRS)
    cursor, of_theirs = [endpoint.next_cursor(await endpoint.ask(call, {})) for call in (ours, theirs)]

    _check(await endpoint.ask(ours, {"cursor": cursor}), is_refused=False, case=cursor)
    for changed in _changed(cursor):
        _check(
            await endpoint.ask(ours, {"cursor": changed}),
            is_refused=True if endpoint.has_check else None,
            case=changed,
        )
    for garbage in GARBAGE:
        _check(await endpoint.ask(ours, {"cursor": garbage}), is_refused=None, case=garbage)
    for other in CASES.values():
        if other is not endpoint:
            foreign = other.next_cursor(await other.ask(ours, {}))
            _check(await endpoint.ask(ours, {"cursor": foreign}), is_refused=None, case=foreign)
    _check(await endpoint.ask(ours, {"cursor": of_theirs}), is_refused=None, case=of_theirs)


async def test_events_are_listed_by_cursor_or_since_a_time(env: Environment) -> None:
    call = await _fill(env, "ours", OURS)
    cursor = (await call_ok(call, "webhook/events")).item["nextCursor"]

    both = await call("webhook/events", query={"cursor": cursor, "since": "2026-11-15 12:00"})

    assert (both.status, [each["field"] for each in both.body["errors"]]) == (400, ["since"])
    assert (await call_ok(call, "webhook/events", query={"cursor": cursor})).items == []
    assert (await call_ok(call, "webhook/events", query={"since": "2026-11-15 12:00"})).items


async def test_cursor_of_another_search_or_account_is_refused(env: Environment) -> None:
    ours, theirs = await _fill(env, "ours", OURS), await _fill(env, "theirs", THEIRS)
    ask = CASES["message/list"].ask
    cursor, of_theirs = [(await ask(call, {})).body["nextCursor"] for call in (ours, theirs)]

    for changes in ({"requestDate": "2026-11-14~2026-11-15"}, {"sendingStatus": "fail"}, {"templateCode": "T1"}):
        _check(await ask(ours, {"cursor": cursor, **changes}), is_refused=True, case=str(changes))
    _check(await ask(ours, {"cursor": of_theirs}), is_refused=True, case="theirs")
    for name, value in (("pageSize", 2), ("partial", True)):
        _check(await ask(ours, {"cursor": cursor, name: value}), is_refused=False, case=name)


async def test_pages_with_a_changed_cursor_show_own_data_only(env: Environment) -> None:
    ours, theirs = await _fill(env, "ours", OURS), await _fill(env, "theirs", THEIRS)
    owner = await sign_in(env, await make_user(env, Role.OWNER, "ours"))
    other = await sign_in(env, await make_user(env, Role.OWNER, "theirs"))
    operator = await sign_in(env, await make_user(env, Role.OPERATOR))
    await create_campaign(other, content=f"#{{이름}} {THEIRS}")
    await other.submit("/console/contacts", phoneNumber="010-4444-5555", name=THEIRS)
    found = [each for call in (ours, theirs) for each in (await call("message/list", TODAY)).items]
    ids = [word for each in found for word in (each["messageId"], each["requestId"])]
    cursors = [*GARBAGE, *ids, *_changed(ids[0]), "00-1", "ffff-9999999", f"{'ab' * 300}-1", "1", "999999999"]
    for path, field in PAGE_CURSORS.items():
        browser = operator if path.startswith("/console/operate") else owner
        for cursor in cursors:
            shown = await browser.get(f"{path}?{urlencode({field: cursor})}")

            assert shown.status < 500, (path, cursor)
            assert browser is operator or THEIRS not in shown.text, (path, cursor)

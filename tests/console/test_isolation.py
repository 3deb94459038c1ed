"""Every page and form of the console with the ids of another account: as if these did not exist."""

import difflib
import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from pabal.carriers.base import InboundMessage
from pabal.console.pages import PAGES
from pabal.console.shell.page import Page
from pabal.domain.people.phone import NumberState
from pabal.domain.people.user import Role
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import Tx
from tests.console.test_roles import QUERIES as ROLE_QUERIES
from tests.console.test_roles import SECRET, things
from tests.fixtures.console import Browser, PageResponse, make_user, sign_in
from tests.fixtures.console_forms import FILE, FORMS, MORE_QUERIES, RECEIVER, WITHOUT_QUERY
from tests.fixtures.console_upload import send_campaign, upload_file
from tests.fixtures.engines import sqlite_only
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, channel_body, get_latest_token, register_channel, sms_body

pytestmark = pytest.mark.slow

THEIR_NUMBER = "0299998888"
COLLEAGUE = "colleague"
QUERIES = {
    path: [*ROLE_QUERIES.get(path, []), *MORE_QUERIES.get(path, [])] for path in {**ROLE_QUERIES, **MORE_QUERIES}
}
VOLATILE = frozenset(
    {
        "sessions",
        "slots",
        "workers",
        "carriers",
        "carrier_states",
        "counters",
        "limit_usage",
        "event_numbers",
        "sign_in_attempts",
        "statistics_quarters",
        "webhook_positions",
    }
)
"""Tables that the service itself changes, whoever calls."""


class Found(NamedTuple):
    """An answer without the ids and the random values of its call."""

    status: int
    text: str
    location: str
    cookies: list[str]


def of_accounts(page: Page) -> bool:
    """Say whether a page belongs to users of an account; operators may see every account."""
    return page.roles is not None and Role.OWNER in page.roles


def test_every_page_has_a_case() -> None:
    forms = {page.path for page in PAGES if of_accounts(page) and page.method == "POST"}
    shown = {page.path for page in PAGES if of_accounts(page) and page.method == "GET"}
    named = {path for path in shown if "{" in path or path in QUERIES}

    assert set(FORMS) == forms
    assert shown - named == WITHOUT_QUERY


async def _objects(env: Environment) -> dict[str, str]:
    """Give an account an object of every kind, and return how each is named."""
    named = await things(env)
    call = await env.caller()
    owner = await sign_in(env, "uploader")
    account_id = await env.store.write(accounts.ensure_account, "acme", env.world.now())
    await env.store.write(numbers.add, account_id, THEIR_NUMBER, env.world.now(), NumberState.APPROVED)
    await store_messages(env.context, "simulator", [InboundMessage("01043218765", THEIR_NUMBER, SECRET)])
    await call_ok(call, "sender/create", channel_body(channelId="@waiting", cellphone="010-9999-7777"))
    later = await call_ok(call, "message/sendSMS", sms_body(RECEIVER, content=SECRET, sendDate="2026-11-20 12:00"))
    await call_ok(call, "optOut/add", {"phoneNumber": RECEIVER})
    await owner.submit("/console/team/invite", role="sender")
    await owner.submit("/console/preferences", approval_receivers="2")
    await make_user(env, Role.SENDER, name=COLLEAGUE)
    colleague = await sign_in(env, COLLEAGUE)
    waiting = await upload_file(colleague, "phone,이름\n010-1111-2222,가\n010-3333-4444,나\n010-5555-6666,다\n")
    await send_campaign(colleague, waiting, name=SECRET)
    await owner.submit("/console/send/form", kind="sms", content=SECRET, sender=THEIR_NUMBER)
    (profile,) = [each for each in (await call("sender/list")).items if each["channelId"] == "@shop"]
    sessions = (await owner.get("/console/me")).text
    return {
        **named,
        "approval": waiting.rpartition("/")[2],
        "later": later.request_id,
        "sender_key": profile["senderKey"],
        "code": "T1",
        "channel": "@shop",
        "waiting": "@waiting",
        "token": await get_latest_token(call, "010-9999-7777"),
        "number": THEIR_NUMBER,
        "user": COLLEAGUE,
        "session": _first(r'name="session" value="([0-9a-f]+)"', sessions),
        "invite": _first(r'name="invite" value="(\d+)"', (await owner.get("/console/team")).text),
        "key": str((await env.store.read(accounts.list_keys))[0].id),
        "opt_out": _first(r'name="id" value="(\d+)"', (await owner.get("/console/opt-outs")).text),
    }


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, pattern
    return found[1]


SPELLED = ("02-9999-8888", "02-7777-6666")
"""Both numbers as pages show them."""
NOBODYS = {
    "template": "999997", "webhook": "999997", "contact": "999997", "group": "999997", "text": "999997",
    "invite": "999997", "key": "999997", "opt_out": "999997", "sender_key": "0" * 40, "code": "T1",
    "channel": "@nobody", "waiting": "@no-one-", "token": "000000", "number": "0277776666", "user": "nobody",
    "session": "0" * 64,
}  # fmt: skip


def _unused(ids: Mapping[str, str]) -> dict[str, str]:
    """Return ids of the same times that nobody has."""
    return {name: f"{ids[name][:-4]}ffff" for name in ("message", "request", "later", "campaign", "approval")}


async def _own_objects(env: Environment, stranger: Browser) -> dict[str, str]:
    call = await env.caller("other")
    own_key = await register_channel(call, channelId="@ours", cellphone="010-9999-2222")
    await stranger.submit("/console/contacts/groups", name="ours")
    group = _first(r"/console/contacts/groups/(\d+)", (await stranger.get("/console/contacts/groups")).text)
    await stranger.submit("/console/contacts", phoneNumber="010-6666-7777", name="ours")
    contact = _first(r"/console/contacts/person/(\d+)", (await stranger.get("/console/contacts")).text)
    return {"own_key": own_key, "own_group": group, "own_contact": contact}


def _read_rows(tx: Tx) -> set[str]:
    """Return every row of every table that only callers change."""
    tables = sorted(row[0] for row in tx.fetch_all("select t.name from {tables} as t"))
    return {
        f"{table}: {row}"
        for table in tables
        if table not in VOLATILE and not table.startswith("sqlite_")
        for row in map(tuple, tx.fetch_all(f"select * from {table}"))
    }


def _strip(shown: PageResponse, named: Iterable[str]) -> Found:
    """Return an answer without what its call named, and without what is random."""
    text = html.unescape(shown.text)
    for pattern in (r'name="next" value="[^"]*"', r'value="[0-9a-f]{16,}(-\d+)?"', r"[0-9a-f]{26,}", r"pb_\w+"):
        text = re.sub(pattern, "RANDOM", text)
    for value in named:
        text = text.replace(value, "NAMED")
    location = re.sub(r"[0-9a-f]{26}|%40[\w-]+|\d+", "ID", shown.location)
    return Found(shown.status, text, location, sorted(each.partition("=")[0] for each in shown.cookies))


class Walk:
    """Calls pages as the owner of one account, with ids of another."""

    def __init__(self, env: Environment, stranger: Browser, ids: dict[str, str], own: dict[str, str]) -> None:
        self._env, self._stranger = env, stranger
        self._theirs, self._nobodys = {**ids, **own}, {**NOBODYS, **_unused(ids), **own}
        self._count = 0

    def calls(self) -> list[tuple[Page, str, Mapping[str, str] | None]]:
        """Return each page with the templates of its path and its fields; None: it is shown, not posted to."""
        found: list[tuple[Page, str, Mapping[str, str] | None]] = []
        for page in filter(of_accounts, PAGES):
            paths = [page.path]
            if "{campaign}" in page.path:
                paths.append(page.path.replace("{campaign}", "{approval}"))
            if "{request}" in page.path:
                paths += [page.path.replace("{request}", each) for each in ("{campaign}", "{later}", "{approval}")]
            for path in paths:
                if page.method == "POST":
                    found += [(page, path, each) for each in FORMS[page.path]]
                else:
                    found += [(page, f"{path}?{each}", None) for each in QUERIES.get(page.path, [""])]
        return found

    async def ask(
        self, path: str, fields: Mapping[str, str] | None, *, of_theirs: bool
    ) -> tuple[PageResponse, Any]:
        """Call a page with another account's ids, or with those of nobody."""
        if not self._stranger.is_signed_in:
            await sign_in(self._env, "stranger", self._stranger)
        self._count += 1
        named = {**(self._theirs if of_theirs else self._nobodys), "fresh": f"010-7{self._count:03}-0000"}
        address = path.format(**named)
        if fields is None:
            shown = await self._stranger.get(address)
        else:
            given = {name.format(**named): value.format(**named) for name, value in fields.items()}
            if path.endswith(("/file", "/columns", "/import")):
                shown = await self._stranger.upload(address, FILE.format(**named).encode(), **given)
            else:
                shown = await self._stranger.submit(address, **given)
        words = {*self._theirs.values(), *self._nobodys.values(), named["fresh"], *SPELLED}
        return shown, _strip(shown, sorted((each for each in words if len(each) > 5), key=len, reverse=True))

    async def find_wrong(self, before: set[str]) -> list[tuple[Any, ...]]:
        """Call everything; return what shows or changes the rows of `before`, or differs from nobody's."""
        wrong: list[tuple[Any, ...]] = []
        for page, path, fields in self.calls():
            _, of_nobodys = await self.ask(path, fields, of_theirs=False)
            shown, of_theirs = await self.ask(path, fields, of_theirs=True)

            case = (page.method, path, fields)
            lost = before - await self._env.store.read(_read_rows)
            before -= lost  # reported once
            if shown.status >= 500 or SECRET in shown.text:
                wrong.append((*case, "shows", shown.status))
            if of_theirs != of_nobodys:
                wrong.append((*case, "differs", _difference(of_theirs, of_nobodys)))
            if lost:
                wrong.append((*case, "changes", lost))
        await self._env.wait(60)
        lost = before - await self._env.store.read(_read_rows)
        return [*wrong, ("later", "changes", lost)] if lost else wrong


def _difference(one: Found, other: Found) -> list[str]:
    lines = difflib.unified_diff(
        other.text.splitlines(), one.text.splitlines(), "nobody's", "theirs", n=0, lineterm=""
    )
    return [str(one._replace(text="")), str(other._replace(text="")), *lines][:20]


@pytest.mark.settings(owner_keys=True)
async def test_pages_tell_nothing_of_another_account_and_change_nothing(env: Environment) -> None:
    ids = await _objects(env)
    await env.wait(60)
    before = await env.store.read(_read_rows)
    await make_user(env, Role.OWNER, "other", "stranger")
    stranger = await sign_in(env, "stranger")

    assert await Walk(env, stranger, ids, await _own_objects(env, stranger)).find_wrong(before) == []


@sqlite_only
@pytest.mark.settings(owner_keys=True)
async def test_same_calls_of_the_account_itself_show_and_change_a_lot(env: Environment) -> None:
    ids = await _objects(env)
    await env.wait(60)
    before = await env.store.read(_read_rows)
    await make_user(env, Role.OWNER, "acme", "stranger")
    own = await sign_in(env, "stranger")

    found = await Walk(env, own, ids, await _own_objects(env, own)).find_wrong(before)

    by_kind = Counter(each[3] for each in found if len(each) > 3)
    assert by_kind["shows"] > 100
    assert by_kind["differs"] > 100
    assert by_kind["changes"] > 15  # a row that one call has changed is not reported again

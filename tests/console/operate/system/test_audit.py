"""The audit log: owners see their account, operators everything; paged and filtered by user."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate

import pabal
from pabal.console.pages import TEXTS
from pabal.domain.people.user import Role
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry, run_audited
from pabal.store.engine.base import StoreUnavailable, Tx
from tests.console.manage.test_profiles import CELLPHONE
from tests.console.manage.test_templates import form_fields
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_send import form, hidden_fields, review, send
from tests.fixtures.virtual import (
    NOON,
    Caller,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    run_in_virtual_time,
)
from tests.fixtures.web import CATEGORY, FailingStore, P, T, call_ok, get_latest_token, register_channel

SOURCE = Path(pabal.__file__).parent
WHAT = re.compile(r'"([a-z]+\.[a-z_]+)"')
CELL = re.compile(r"<td[^>]*>(?:<time>)?([^<]*)")


def rows(shown: PageResponse) -> list[list[str]]:
    """Return the cells of each row."""
    return [CELL.findall(row) for row in re.findall(r"<tr>\s*<td.*?</tr>", shown.text, re.DOTALL)]


async def test_owner_sees_audit_log_of_account_and_operator_sees_all(env: Environment) -> None:
    await env.caller()
    owner = await signed_in_browser(env)
    await signed_in_browser(env, Role.OWNER, "other")
    operator = await signed_in_browser(env, Role.OPERATOR)

    mine = rows(await owner.get("/console/audit"))
    everything = rows(await operator.get("/console/audit"))

    assert [row[1:] for row in mine] == [
        ["operator-of-acme", "조회할 계정 변경", ""],
        ["owner-of-acme", "로그인", ""],
        ["명령줄", "사용자 생성", "owner-of-acme"],
    ]
    assert mine[0][0] == "2026-11-15 12:00:00"
    assert [row[1:] for row in everything] == [
        ["operator-of-acme", "acme", "조회할 계정 변경", ""],
        ["operator-of-acme", "", "로그인", ""],
        ["명령줄", "", "사용자 생성", "operator-of-acme"],
        ["owner-of-other", "other", "로그인", ""],
        ["명령줄", "other", "사용자 생성", "owner-of-other"],
        ["owner-of-acme", "acme", "로그인", ""],
        ["명령줄", "acme", "사용자 생성", "owner-of-acme"],
    ]


async def test_command_is_shown_with_the_user_of_the_system(env: Environment, operator: Browser) -> None:
    await env.store.write(audit_log.add, AuditEntry(NOON, None, "command line: kim", None, "store.restore", "a.db"))

    shown = rows(await operator.get("/console/audit"))
    by_all = rows(await operator.get("/console/audit?user=command+line"))
    by_kim = rows(await operator.get("/console/audit?user=command+line:+kim"))

    assert shown[0][1:] == ["명령줄: kim", "", "백업에서 복원", "a.db"]
    assert (len(by_all), len(by_kim)) == (2, 1)


async def test_audit_log_is_filtered_by_user_and_paged(env: Environment) -> None:
    acme = await env.store.write(accounts.ensure_account, "acme", NOON)

    def fill(tx: Tx) -> None:
        for number in range(120):
            who = "lee" if number % 2 else "kim"
            audit_log.add(tx, AuditEntry(NOON, number % 2 + 90, who, acme, "odd.deed", f"<b>{number}"))

    await env.store.write(fill)
    owner = await signed_in_browser(env)

    pages = [await owner.get("/console/audit?user=Kim")]
    while older := re.search(r'href="([^"]+)" rel="next"', pages[-1].text):
        pages.append(await owner.get(older[1].replace("&amp;", "&")))
    nobody = await owner.get("/console/audit?user=%22%3E%3Cb%3E&before=9999999999999999999")

    assert [len(rows(page)) for page in pages] == [50, 10]
    assert [row[3] for page in pages for row in rows(page)] == [f"&lt;b&gt;{n}" for n in range(118, -1, -2)]
    assert {row[2] for row in rows(pages[0])} == {"odd.deed"}
    assert 'href="/console/audit?user=Kim"' in pages[1].text
    assert (nobody.status, rows(nobody)) == (200, [])
    assert "<b>" not in nobody.text


async def test_history_export_is_recorded_in_audit_log(env: Environment, viewer: Browser) -> None:
    for ending in ("csv", "xlsx"):
        await viewer.get(f"/console/history.{ending}")
    await viewer.get("/console/history.csv?receiver=1")

    found = [(each.actor, each.action, each.target) for each in await env.store.read(latest_entries, None, 3)]
    assert found[:2] == [("viewer-of-acme", "history.export", ending) for ending in ("xlsx", "csv")]
    assert found[2][1] == "session.begin", "what was refused took nothing away"


class DyingStore(FailingStore):
    """A store that fails after the next audited write, as if the service had been killed there."""

    is_dying = False

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        done = await super().write(work, *args, **kwargs)
        if self.is_dying and work is run_audited:
            self.write_error = StoreUnavailable()
        return done


def test_audit_entry_is_stored_even_if_service_dies_right_after_the_change(tmp_path: Path) -> None:
    async def scenario(env: Environment, store: DyingStore) -> None:
        owner, call = await signed_in_browser(env), await env.caller()

        async def done(path: str, **fields: str) -> None:
            given = {"csrf": await owner.csrf(), **fields}
            store.is_dying = True
            await owner.post(path, given)
            store.is_dying, store.write_error = False, None
            (last,) = await env.store.read(latest_entries, None, 1)
            found.append((last.action, last.target, last.actor))

        found: list[tuple[str, str, str]] = []
        channel = {"channelId": "@new", "category": CATEGORY, "cellphone": CELLPHONE}
        await done("/console/profiles/new", **channel)
        await owner.submit("/console/profiles/resend", channel="@new")
        await done("/console/profiles/token", channel="@new", token=await get_latest_token(call))
        await done("/console/profiles/delete", channel="@new")
        texts = form_fields(await register_channel(call))
        await done("/console/templates/new", **texts)
        await done("/console/templates/1/edit", **{**texts, "content": "다른 말"})
        await done("/console/templates/1/request")
        await done("/console/templates/new", **{**texts, "templateCode": "T2"})
        await done("/console/templates/2/delete")
        await done("/console/send", **form(), **hidden_fields(await review(owner, form())))

        assert [(what, who) for what, _, who in found] == [
            (what, "owner-of-acme")
            for what in (
                "profile.register", "profile.approve", "profile.delete", "template.create", "template.update",
                "template.request", "template.create", "template.delete", "message.send",
            )
        ]  # fmt: skip
        targets = [target for _, target, _ in found]
        assert targets[:-1] == ["@new"] * 3 + ["T1"] * 3 + ["T2"] * 2
        assert (await owner.get(f"/console/requests/{targets[-1]}")).status == 200

    async def whole() -> None:
        world = VirtualWorld()
        store = DyingStore(open_store(tmp_path, world))
        env = await build_environment(tmp_path, world=world, store=store)
        await scenario(env, store)
        await env.service.stop()

    run_in_virtual_time(whole())


def test_every_audit_action_has_a_text() -> None:
    lines = [line for file in SOURCE.rglob("*.py") for line in file.read_text(encoding="utf-8").splitlines()]
    actions = {
        what
        for line in lines
        if re.search(r"deed\(|audit_entry\(|AuditEntry\(", line, re.IGNORECASE)
        for what in WHAT.findall(line)
    }

    assert actions >= {"session.begin", "user.create", "template.approve", "template.reject"}
    assert [action for action in actions if f"audit_action.{action}" not in TEXTS.texts] == []


async def test_sent_targets_are_named_by_their_time_and_linked(env: Environment) -> None:
    await env.caller()
    owner = await signed_in_browser(env)
    sent = await send(owner, form())
    operator = await signed_in_browser(env, Role.OPERATOR)
    await operator.submit("/console/accounts", account="")

    mine = await owner.get("/console/audit")
    everything = await operator.get("/console/audit")

    assert f'<a href="/console/requests/{sent}">발송 요청 2026-11-15 12:00:00</a>' in mine.text
    assert "발송 요청 2026-11-15 12:00:00" in everything.text
    assert f"requests/{sent}" not in everything.text, "the operator acts for no account"


async def test_programs_and_invited_roles_are_named_in_the_language_of_the_page(
    env: Environment, call: Caller
) -> None:
    await call_ok(call, "webhook/create", {"url": "https://hooks.example/pabal", "events": ["message.result"]})
    owner = await signed_in_browser(env)
    await owner.submit("/console/team/invite", role="viewer")

    shown = re.sub(r"<[^>]+>|\s+", " ", (await owner.get("/console/audit")).text)

    assert re.search("사용자 초대 +조회 전용", shown)
    assert re.search("API 키 +웹훅 등록", shown)


async def test_changed_preferences_are_told_in_words(browser: Browser) -> None:
    await browser.submit("/console/preferences", lms="1", approval_receivers="100")
    told = rows(await browser.get("/console/audit"))[0]
    assert told[-1] == "긴 문자를 LMS로: 사용 · 승인이 필요한 수신자 수: 100"

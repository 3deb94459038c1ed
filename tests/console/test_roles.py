"""Who may: every page is walked by every role and by nobody."""

from collections.abc import Sequence

from pabal.console.pages import PAGES
from pabal.console.shell.page import Page
from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, make_user, sign_in, signed_in_browser
from tests.fixtures.console_forms import RECEIVER
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, get_message, set_up_sender, sms_body, template_body

SECRET = "남의 비밀 메시지"
QUERIES = {
    "/console/history": ["", f"receiver={RECEIVER}", "request={request}", "message={message}", "status=completed"],
    "/console/history.csv": ["", f"receiver={RECEIVER}", "request={request}"],
    "/console/history.xlsx": ["", f"receiver={RECEIVER}", "request={request}"],
    "/console/templates/new": ["", "copy={template}"],
    "/console/requests/progress": ["ids={request}", "ids={campaign}"],
    "/console/send": [
        "",
        "copy={request}",
        "resend={request}",
        "edit={request}",
        "copy={campaign}",
        "text={text}",
        "group={group}",
    ],
    "/console/contacts": ["", f"q={RECEIVER}", "group={group}"],
    "/console/contacts.csv": ["", "group={group}"],
    "/console/opt-outs": ["", f"number={RECEIVER}", "page=2"],
    "/console/inbound": ["", "before=9", f"number={RECEIVER}"],
    "/console/inbound.csv": ["", f"number={RECEIVER}"],
    "/console/statistics": ["", "from=2026-11-15&interval=day&by.sender=1&by.key=1&by.templateCode=1"],
    "/console/statistics/table.csv": ["", "from=2026-11-15&interval=day&by.sender=1"],
    "/console/phone": ["", f"number={RECEIVER}", "number=010-9999-0000"],
    "/console/phone/messages": [f"number={RECEIVER}", "number=010-9999-0000"],
}
"""What to ask pages for that show what belongs to someone, in every way that could name it."""


async def things(env: Environment) -> dict[str, str]:
    """Have an account send something, and return how it can be named."""
    call, sender_key = await set_up_sender(env)
    await call_ok(call, "template/update", template_body(sender_key, content=SECRET))
    sent = await call_ok(call, "message/sendSMS", sms_body(RECEIVER, content=SECRET))
    await env.wait(5)
    (written,) = (await call("template/list")).items
    message = (await get_message(call, RECEIVER))["messageId"]
    named = {"message": message, "request": sent.request_id, "template": written["id"]}
    hook = {"url": "https://shop.example/hook", "events": ["message.result"], "description": SECRET}
    made = await call_ok(call, "webhook/create", hook)
    await call_ok(call, "webhook/test", {"webhookId": made.item["webhookId"]})
    named |= {"campaign": await campaign(env), "webhook": made.item["webhookId"]}
    return {**named, **await kept_things(env)}


async def kept_things(env: Environment) -> dict[str, str]:
    """Have the uploader keep contacts, a group, a text and a draft, and return how the first three can be named."""
    uploader = await sign_in(env, "uploader")
    await uploader.submit("/console/contacts/groups/fields", fields=SECRET)
    await uploader.submit("/console/contacts/groups", name=SECRET)
    await uploader.submit("/console/contacts", phoneNumber=RECEIVER, name=SECRET, field0=SECRET, g1="1")
    await uploader.submit("/console/send/save", kind="sms", content=SECRET, text_name=SECRET)
    return {"contact": "1", "group": "1", "text": "1"}


async def campaign(env: Environment) -> str:
    """Have someone of the account upload a file, which is not sent yet, and return the campaign's id."""
    uploader = await sign_in(env, await make_user(env, name="uploader"))
    begun = await uploader.submit(
        "/console/send/upload", kind="sms", sender="02-1234-5678", content=f"#{{{SECRET}}}"
    )
    assert begun.status == 303, begun
    file = f"phone,{SECRET}\n{RECEIVER},{SECRET}\n123,{SECRET}\n".encode()
    assert (await uploader.upload(f"{begun.location}/file", file)).status == 303
    return begun.location.rpartition("/")[2]


def paths(page: Page, named: dict[str, str]) -> Sequence[str]:
    """Return every address by which a page may be asked for those things; a part of a path needs an example."""
    path = page.path.format(account="1", **named)
    return [f"{path}?{query.format(**named)}" if query else path for query in QUERIES.get(page.path, [""])]


def every_path(named: dict[str, str]) -> list[tuple[Page, str]]:
    """Return every page with each address by which it may be asked for those things."""
    return [(page, path) for page in PAGES for path in paths(page, named)]


async def ask(browser: Browser, page: Page, path: str) -> int:
    if page.method == "GET":
        return (await browser.get(path)).status
    csrf = await browser.csrf()
    return (await browser.post(path, {"csrf": csrf}, x_csrf_token=csrf)).status


def test_pages_are_for_no_more_roles_than_their_folders() -> None:
    of_owners = ("numbers", "preferences", "privacy", "webhooks", "team", "keys", "audit", "profiles/")
    viewers_forms = ("/console/me/", "/console/logout")
    for page in PAGES:
        if page.path.startswith("/console/operate"):
            assert page.roles == frozenset({Role.OPERATOR}), page
        if page.path.startswith(tuple(f"/console/{each}" for each in of_owners)):
            assert page.roles == frozenset({Role.OWNER, Role.OPERATOR}), page
        if page.method == "POST" and page.roles and Role.VIEWER in page.roles:
            assert page.path.startswith(viewers_forms), page


async def test_page_opens_only_for_its_roles(env: Environment) -> None:
    named = await things(env)
    for role in Role:
        name = await make_user(env, role)
        browser = Browser(env.service)
        for page in PAGES:
            if not browser.is_signed_in:
                await sign_in(env, name, browser)

            answers = {await ask(browser, page, path) for path in paths(page, named)}

            if page.roles is None or role in page.roles:
                assert not answers & {403, 405, 500}, (page, role)
            else:
                assert answers == {403}, (page, role)


async def test_without_session_only_public_pages_open(env: Environment) -> None:
    named = await things(env)
    browser = Browser(env.service)
    csrf = await browser.csrf()
    for page, path in every_path(named):
        shown = await (browser.get(path) if page.method == "GET" else browser.post(path, {"csrf": csrf}))

        assert SECRET not in shown.text
        if page.roles is not None:
            assert shown.status == 303, page
            assert shown.location.startswith("/console/login"), page


async def test_form_without_csrf_token_is_refused(env: Environment) -> None:
    name = await make_user(env, Role.OPERATOR)
    thief = await signed_in_browser(env, Role.OWNER, "other")
    other = await thief.csrf()
    for page in [page for page in PAGES if page.method == "POST"]:
        victim = await sign_in(env, name) if page.roles else Browser(env.service)
        right = await victim.csrf()
        before = await env.store.read(latest_entries, None, 100)

        tries = [
            await victim.post(page.path),
            await victim.post(page.path, {"csrf": ""}),
            await victim.post(page.path, {"csrf": other}),
            await victim.post(page.path, {}, x_csrf_token=other),
            await victim.post(page.path, {"csrf": right}, sec_fetch_site="cross-site"),
            await victim.post(page.path, {"csrf": right}, sec_fetch_site="same-site"),
        ]

        assert [shown.status for shown in tries] == [403] * len(tries), page
        assert await env.store.read(latest_entries, None, 100) == before, page


async def test_csrf_token_may_be_sent_in_a_header(browser: Browser) -> None:
    shown = await browser.post("/console/logout", {}, x_csrf_token=await browser.csrf())

    assert (shown.status, shown.location) == (303, "/console/login")


async def test_operator_without_accounts_is_told_how_to_create_one(env: Environment, operator: Browser) -> None:
    before = await operator.get("/console/history")
    account_id = await env.store.write(accounts.ensure_account, "acme", env.world.now())
    await operator.submit("/console/accounts", account=str(account_id))
    after = await operator.get("/console/history")
    unknown = await operator.submit("/console/accounts", account="999")

    assert (before.status, after.status, unknown.status) == (404, 200, 404)
    assert 'href="/console/operate/accounts"' in before.text

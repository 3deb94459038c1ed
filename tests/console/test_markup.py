"""Markup in everything that anyone could have written: no page of the console takes any of it for its own."""

import re
from importlib import resources
from urllib.parse import urlencode

from pabal.carriers.base import InboundMessage
from pabal.console.history.filters import FIELDS as SEARCH_FIELDS
from pabal.console.manage.template_form import FIELDS as TEMPLATE_FIELDS
from pabal.domain.people.phone import NumberState
from pabal.domain.people.user import Role
from pabal.service.delivery.inbound import store_messages
from pabal.store.accounts import numbers
from pabal.store.engine.base import Tx
from pabal.store.kakao import profile_mappings
from pabal.store.kakao.profile_mappings import ProfileMapping
from tests.console.test_roles import SECRET, every_path, things
from tests.fixtures.brand_bodies import card_of_feed, typed_body
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.mailers import confirm_directly
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    alimtalk_body,
    approve_template,
    call_ok,
    describe_outcome,
    image_body,
    list_messages,
    receivers_of,
    sms_body,
    template_body,
)

MARK = "\"'><x-mark>"
ESCAPED = "&#34;&#39;&gt;&lt;x-mark&gt;"
IN_JSON = MARK.replace('"', '\\"')
PHONE = "010-4321-8765"
_ITEM = {"title": "상품", "description": SECRET}
ITEMS = {"emphasisType": "itemList", "content": "내역", "header": SECRET, "itemList": {"items": [_ITEM, _ITEM]}}

JSON_COLUMNS = {
    "campaign_blocks": ("body",),
    "campaign_invalid_rows": ("cells", "reason"),
    "campaigns": ("body", "columns", "reason", "sending", "unused_columns"),
    "address_books": ("fields",),
    "contacts": ("fields",),
    "drafts": ("fields",),
    "saved_texts": ("fields",),
    "messages": ("content", "variables"),
    "requests": ("brand", "buttons", "parts", "variables"),
    "simulated_messages": ("brand", "buttons", "parts"),
    "templates": ("design", "in_use"),
}
"""Columns with such a text inside: the test replaces the secret by markup."""

SAFE_COLUMNS = {
    "accounts": ("opt_out_number", "origin_code"),
    "alerts": ("kind", "subject"),
    "mail_servers": ("name",),
    "mails": ("items", "kind", "state"),
    "notice_settings": ("kinds", "language"),
    "notices": ("data", "kind"),
    "attempts": ("verdict",),
    "budget_corrections": ("carrier",),
    "campaigns": ("kind", "state"),
    "carrier_latencies": ("carrier", "counts", "worker"),
    "carrier_states": ("name", "quotas", "state", "worker"),
    "carriers": ("kind", "name"),
    "compat_differences": ("detail", "difference", "kind"),
    "compat_files": ("content_type", "name"),
    "compat_group_messages": ("body", "receiver"),
    "compat_keys": ("kind", "public_id"),
    "compat_requests": ("kind", "sequence"),
    "erased_tables": ("name",),
    "workers": ("rates",),
    "cursors": ("name",),
    "drafts": ("form", "sent_page"),
    "saved_texts": ("kind",),
    "send_preferences": ("fallback_number",),
    "campaign_requests": ("failures",),
    "hash_keys": ("name",),
    "event_data": ("data",),
    "idempotency_keys": ("key",),
    "images": ("content_type",),
    "inbound_messages": ("carrier",),
    "inbound_parts": ("carrier", "receiver", "sender"),
    "jobs": ("reference",),
    "keys": ("allow", "scopes"),
    "limit_usage": ("name",),
    "numbers": ("number", "state"),
    "openid_identities": ("issuer",),
    "opt_out_changes": ("opt_out_number",),
    "opt_outs": ("sender",),
    "profile_mappings": ("carrier", "problem"),
    "profiles": ("carrier", "category", "cellphone", "status", "suspension"),
    "postponed_receipts": ("carrier", "code", "in_doubt_reference", "reference"),
    "receipts": ("carrier", "code", "reference"),
    "requests": ("fallback_sender", "opt_out_number", "sender", "reserved"),
    "invites": ("role",),
    "sessions": ("browser", "csrf"),
    "simulated_busy": ("carrier",),
    "simulated_messages": ("carrier", "kind"),
    "simulated_receipts": ("carrier",),
    "statistics_quarters": ("queue_digest",),
    "template_images": ("content_type",),
    "templates": ("status", "suspension"),
    "tokens": ("cellphone",),
    "users": ("hash", "role", "test_number"),
    "webhook_posts": ("format",),
    "webhooks": ("events", "format", "products", "state"),
}
"""Columns with our own words, digits, or what pages never show: nobody can put markup there.

The test appends markup to every other column of text: what a person wrote or a peer sent.
"""


QUERY_FIELDS = (
    "number", "user", "next", "copy", "page", "kind", "name", "token", "joined",
    "days", "before", "done", "added", "rows", "saved", "deleted", "from", "to", "interval", f"by.{MARK}",
    "compare", "show", "span", "carrier", "after",
)  # fmt: skip
"""What pages may be asked for besides a search."""
FORM_FIELDS = (
    "role", "token", "code", "current", "session", "comment", "decision", "number", "account", "url",
    "description", "since", "enabled", "webhook", "address", "mail_language", "kind.template",
    "event.message.result", f"event.{MARK}", f"product.{MARK}", "phoneNumber", "senderNumber", "reason", "id",
)  # fmt: skip
"""What forms have besides the fields of a template."""


def columns() -> set[tuple[str, str]]:
    """Return every column of text that the schema has."""
    folder = resources.files("pabal.store.engine").joinpath("schema")
    text = "\n".join(file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".sql"))
    made = re.findall(r"create table (\w+) \((.*?)\n\)", text, re.DOTALL)
    found = {(table, name) for table, body in made for name in re.findall(r"^ +(\w+) text\b", body, re.MULTILINE)}
    return found | set(re.findall(r"alter table (\w+) add column (?:\{if_new\} )?(\w+) text\b", text))


def pairs(named: dict[str, tuple[str, ...]]) -> set[tuple[str, str]]:
    return {(table, name) for table, names in named.items() for name in names}


def insert_markup(tx: Tx) -> None:
    """Put markup into everything that pages can show."""
    for table, name in sorted(columns() - pairs(JSON_COLUMNS) - pairs(SAFE_COLUMNS)):
        tx.execute(f"update {table} set {name} = coalesce({name}, '') || ?", (MARK,))
    for table, name in sorted(pairs(JSON_COLUMNS) & columns()):
        tx.execute(f"update {table} set {name} = replace({name}, ?, ?)", (SECRET, IN_JSON))


async def fill_store(env: Environment) -> tuple[dict[str, str], dict[Role, Browser]]:
    """Store everything that pages show, with markup in it; return names for paths, and a browser of each role."""
    named = await things(env)
    call = await env.caller()
    (profile,) = (await call("sender/list")).items
    key = profile["senderKey"]
    every = dict.fromkeys(("name", "content", "emphasisTitle", "emphasisAssistPhrase", "moreInfo"), SECRET)
    buttons = [{"buttonType": "webLink", "name": SECRET, "mobileUrl": f"https://a.example/{SECRET}"}]
    made = await call_ok(
        call, "template/create",
        template_body(key, templateCode="ALL", **every, messageType="extraInfo", emphasisType="text",
                      buttons=buttons),
    )  # fmt: skip
    await call_ok(
        call, "template/create", template_body(key, templateCode="P", emphasisType="image", image=image_body())
    )
    receivers = receivers_of(PHONE, reference=SECRET, templateData={"v": SECRET})
    await call_ok(call, "message/sendLMS", sms_body(content="#{v}", subject=SECRET, receivers=receivers))
    await call_ok(call, "message/sendMMS", sms_body(PHONE, content=SECRET, image=image_body(fileName=MARK)))
    await call_ok(call, "message/sendSMS", sms_body("010-0000-0005", content=SECRET))
    cards = {"carousel": {"list": [card_of_feed(message=SECRET), card_of_feed()]}}
    await call_ok(call, "message/sendBrandMessage", typed_body("carouselFeed", cards, senderKey=key))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(key, NO_USER, **FALLBACK, resendContent=SECRET))
    await approve_template(call, key, templateCode="PARTS", **ITEMS)
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(key, PHONE, templateCode="PARTS"))
    for code in (profile_mappings.WHOLE_PROFILE, "PARTS"):
        mapping = ProfileMapping(1, "other", code, "theirs", is_manual=True, problem=None)
        await env.store.write(profile_mappings.save, mapping, env.world.now())
    await env.wait(60)
    for number, state in (("0212345678", NumberState.PENDING), ("15880000", NumberState.REJECTED)):
        await env.store.write(numbers.add, 1, number, env.world.now(), state)
    await call_ok(call, "optOut/add", {"phoneNumber": PHONE, "reason": SECRET})
    await env.store.write(numbers.add, 1, "0299999999", env.world.now())
    for number in ("0299999999", "1234"):
        await store_messages(env.context, "simulator", [InboundMessage(PHONE, number, SECRET)])
    (failed, *_) = [
        each for each in await list_messages(call, NO_USER) if describe_outcome(each).startswith("fail")
    ]
    browsers = {role: await signed_in_browser(env, role) for role in Role}
    for role in Role:
        await env.store.write(confirm_directly, f"{role.code}-of-acme")
    await env.store.write(insert_markup)
    return {**named, "all": made.item["id"], "failed": failed["messageId"]}, browsers


def check(shown: PageResponse, told: object) -> None:
    """See that nothing of the markup is markup; files are no pages, and say so."""
    assert shown.status < 500, told
    if not shown.headers.get("content-type", "").startswith("text/html"):
        assert shown.headers["x-content-type-options"] == "nosniff", told
        return
    assert "<x-mark" not in shown.text, told
    assert "\"'>" not in shown.text, told


def addresses(named: dict[str, str]) -> list[str]:
    """Return every address of every page, also with markup in all that it may be asked for."""
    asked = urlencode(dict.fromkeys([*SEARCH_FIELDS, *QUERY_FIELDS], MARK))
    plain = [path for page, path in every_path(named) if page.method == "GET"]
    more = [path for page, path in every_path(named | {"template": named["all"], "message": named["failed"]})
            if page.method == "GET" and "{" in page.path]  # fmt: skip
    return [*plain, *more, *(f"{path}?{asked}" for path in plain if "?" not in path)]


async def test_no_page_renders_stored_text_as_markup(env: Environment) -> None:
    named, browsers = await fill_store(env)
    seen: dict[Role, int] = {}
    for role, browser in browsers.items():
        for path in addresses(named):
            shown = await browser.get(path)

            check(shown, (role, path))
            if "<main" in shown.text and browser.is_signed_in:
                assert ESCAPED in shown.text, "the names at the top contain markup, so each page has some"
                seen[role] = seen.get(role, 0) + shown.text.count(ESCAPED)

    assert all(count > 100 for count in seen.values()), seen


async def test_no_form_renders_typed_text_as_markup(env: Environment) -> None:
    named, browsers = await fill_store(env)
    fields = dict.fromkeys([*SEARCH_FIELDS, *TEMPLATE_FIELDS, *FORM_FIELDS], MARK)
    owner = browsers[Role.OWNER]
    for path in ("/console/webhooks", f"/console/webhooks/{named['webhook']}/edit", "/console/opt-outs"):
        typed = await owner.submit(path, **fields)
        assert typed.text.count(f'value="{ESCAPED}"') >= 2, "what was typed is kept"
    file = f"phone,{MARK}\n{MARK},{MARK}\n".encode()
    check(await owner.upload("/console/opt-outs/import", file, name=MARK), "file")
    for role, browser in browsers.items():
        for page, path in every_path(named):
            if page.method == "POST" and page.path not in ("/console/logout", "/console/login"):
                shown = await browser.post(path, {**fields, "csrf": await browser.csrf()})

                check(shown, (role, path))

    wrong = await Browser(env.service).submit("/console/login", name=MARK, password=MARK, next=MARK)
    check(wrong, "sign-in")
    assert ESCAPED in wrong.text

"""The worst form or query of a page costs at most ten times the decoding of it, in time and in memory."""

import inspect
import itertools
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import pytest

from pabal.console.pages import PAGES
from pabal.console.send.review import MAX_TYPED_RECEIVERS
from pabal.console.shell.page import OPERATORS, Page
from pabal.domain.people.user import Role
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import form, hidden_fields
from tests.fixtures.console_upload import create_campaign
from tests.fixtures.virtual import Environment
from tests.fixtures.web import approve_template, register_channel
from tests.hostile import form_shapes, shapes
from tests.hostile.cost import IS_TORTURE, MAX_FACTOR, Plain, excess_factor, run_undelivered, search
from tests.hostile.form_shapes import FORM_GENES, MESSAGE_GENES, EncodedForm
from tests.hostile.shapes import Genes
from tests.hostile.test_pages import FIELDS

MESSAGE_ROUNDS = 100 if IS_TORTURE else 15
"""How many shapes a search tries for one page, unless its time is up."""
ROUNDS = 25 if IS_TORTURE else 4
MESSAGE_SEARCH_S = 6.0 if IS_TORTURE else 1.0
"""The CPU time after which a search for one page ends."""
SEARCH_S = 0.6 if IS_TORTURE else 0.2
MAX_FORM_BYTES = 200_000 if IS_TORTURE else 40_000
MAX_QUERY_BYTES = 60_000 if IS_TORTURE else 20_000
QUICK = (
    "POST /console/send/check", "POST /console/templates/new", "POST /console/numbers", "POST /console/login",
    "GET /console/history", "GET /console/requests/progress",
)  # fmt: skip
"""One page of each kind; the others are searched in the torture tests."""
TEMPLATE_PAGES = ("/console/templates/new", "/console/templates/preview", "/console/templates/{template}/edit")
MESSAGE_PAGES = [
    page for page in PAGES if page.method == "POST" and re.fullmatch(r"/console/send(/\w+)?", page.path)
]
OTHER_PAGES = [page for page in PAGES if page not in MESSAGE_PAGES]
KEY = "k" * 64
"""Stands for the idempotency key in an encoded form."""
_serial = itertools.count(1)


def _each(pages: list[Page]) -> pytest.MarkDecorator:
    names = {f"{page.method} {page.path}": page for page in pages}
    return pytest.mark.parametrize(
        "page",
        [
            pytest.param(page, id=name, marks=() if name in QUICK else pytest.mark.torture)
            for name, page in names.items()
        ],
    )


class Prepared(NamedTuple):
    """A store with one of everything that a path can name."""

    browser: Browser
    csrf: str
    sender_key: str
    path: str


async def _prepare(env: Environment, page: Page) -> Prepared:
    call = await env.caller()
    sender_key = await register_channel(call)
    await approve_template(call, sender_key, **shapes.template_with_variables(sender_key) | {"templateCode": "T1"})
    await approve_template(call, sender_key, templateCode=shapes.PLAIN_TEMPLATE)
    owner = await signed_in_browser(env)
    campaign = await create_campaign(owner)
    path = page.path.replace("{campaign}", campaign.rpartition("/")[2])
    path = re.sub(r"\{\w+\}", "1", path)
    browser = owner
    if page.roles is None:
        browser = Browser(env.service)
    elif page.roles == OPERATORS:
        browser = await signed_in_browser(env, Role.OPERATOR)
    return Prepared(browser, await browser.csrf(), sender_key, path)


def _next_browser(browser: Browser) -> Browser:
    """Return the same browser at another address: failed sign-ins slow down one address."""
    number = next(_serial)
    moved = Browser(browser._service, f"10.1.{number // 250}.{number % 250 + 1}")
    moved.cookies = dict(browser.cookies)
    return moved


def _field_names(page: Page) -> list[str]:
    """Return the names of all fields, first those that the module of the page mentions."""
    module = inspect.getmodule(page.handle)
    assert module is not None
    source = inspect.getsource(module)
    return sorted(FIELDS, key=lambda name: f'"{name}"' not in source)


def test_every_page_is_searched() -> None:
    assert {*MESSAGE_PAGES, *OTHER_PAGES} == set(PAGES)
    assert set(QUICK) <= {f"{page.method} {page.path}" for page in PAGES}


@_each(MESSAGE_PAGES)
def test_worst_message_costs_ten_times_its_decoding_and_its_receivers(tmp_path: Path, page: Page) -> None:
    """Receivers cost what those of a plain message cost: each is checked, and stored if it is accepted."""

    async def scenario(env: Environment) -> None:
        prepared = await _prepare(env, page)
        browser, csrf = prepared.browser, prepared.csrf

        def encode(fields: dict[str, str], genes: Genes) -> EncodedForm:
            whole = {"csrf": csrf, "key": KEY, "test_key": KEY, "own_number": "01012345678", **fields}
            return form_shapes.encode_form(whole, genes)

        async def post(encoded: EncodedForm) -> None:
            """Post a form with a new idempotency key; a browser encoded it, so that is no cost of the service."""
            key = f"{env.world.now():012x}{next(_serial):052x}"
            await browser.post_body(
                prepared.path, encoded.body.replace(KEY.encode(), key.encode()), encoded.content_type
            )

        async def with_digest(fields: dict[str, str]) -> dict[str, str]:
            if page.path != "/console/send":
                return fields
            reviewed = await browser.post("/console/send/check", {"csrf": csrf, **fields})
            return fields | {"digest": hidden_fields(reviewed).get("digest", "")}

        plains: dict[tuple[str, int], Plain] = {}

        async def plain(kind: str, count: int) -> Plain:
            if (kind, count) not in plains:
                receivers = "\n".join(f"010{number:08}" for number in range(count))
                talk = {"senderKey": prepared.sender_key, "templateCode": shapes.PLAIN_TEMPLATE}
                fields = await with_digest(form(kind, receivers=receivers, subject="x", **talk))
                encoded = encode(fields, {"is_multipart": False})
                plains[kind, count] = Plain(lambda: post(encoded))
            return plains[kind, count]

        async def factor_of(genes: Genes) -> float:
            fields, count = form_shapes.message_fields(prepared.sender_key, genes, MAX_FORM_BYTES)
            fields = form_shapes.change_fields(fields, FIELDS, genes, MAX_FORM_BYTES)
            fields = await with_digest(fields)
            encoded = encode(fields, genes)
            return await excess_factor(
                lambda: post(encoded),
                form_shapes.decode_message(encoded, fields),
                await plain(str(genes["kind"]), min(count, MAX_TYPED_RECEIVERS)),
            )

        factor, genes = await search(MESSAGE_GENES, factor_of, MESSAGE_ROUNDS, MESSAGE_SEARCH_S)

        print(f"{page.path}: {factor:.1f} times its decoding, for {shapes.describe(genes)}")
        assert factor <= MAX_FACTOR, shapes.describe(genes)

    run_undelivered(tmp_path, scenario)


@_each(OTHER_PAGES)
def test_worst_form_or_query_of_a_page_costs_ten_times_its_decoding(tmp_path: Path, page: Page) -> None:
    async def scenario(env: Environment) -> None:
        prepared = await _prepare(env, page)
        path, names = prepared.path, _field_names(page)
        fields: dict[str, str] = {}
        if page.path in TEMPLATE_PAGES:
            fields = form_shapes.template_fields(prepared.sender_key)
        # A form without its token is refused as soon as it is decoded: signing out would end the session.
        csrf = "" if page.path == "/console/logout" else prepared.csrf

        async def post(encoded: EncodedForm) -> None:
            await _next_browser(prepared.browser).post_body(path, encoded.body, encoded.content_type)

        async def from_form(genes: Genes) -> float:
            changed = form_shapes.change_fields(fields, names, genes, min(MAX_FORM_BYTES, page.max_body_bytes))
            encoded = form_shapes.encode_form({"csrf": csrf, **changed}, genes)
            return await excess_factor(lambda: post(encoded), form_shapes.decode_form(encoded), plain)

        async def from_query(genes: Genes) -> float:
            query = urlencode(form_shapes.change_fields(fields, names, genes, MAX_QUERY_BYTES))[:MAX_QUERY_BYTES]
            return await excess_factor(
                lambda: prepared.browser.get(f"{path}?{query}"), lambda: parse_qsl(query, True), plain
            )

        if page.method == "GET":
            plain = Plain(lambda: prepared.browser.get(path))
            factor, genes = await search(FORM_GENES, from_query, ROUNDS, SEARCH_S)
        else:
            harmless = form_shapes.encode_form({"csrf": csrf, **fields}, {"is_multipart": False})
            plain = Plain(lambda: post(harmless))
            factor, genes = await search(FORM_GENES, from_form, ROUNDS, SEARCH_S)

        print(f"{page.method} {page.path}: {factor:.1f} times its decoding, for {shapes.describe(genes)}")
        assert factor <= MAX_FACTOR, shapes.describe(genes)

    run_undelivered(tmp_path, scenario)

"""The most expensive forms, queries and files of the console cost at most ten times their decoding."""

import csv
import io
import itertools
import re
import unicodedata
import zipfile
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode
from xml.parsers import expat

import pytest
from python_multipart.multipart import MultipartParser

from pabal.console.pages import PAGES
from pabal.console.send.review import MAX_TYPED_RECEIVERS
from pabal.console.shell.page import OPERATORS, Page
from pabal.domain.people.user import Role
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import IMAGE, form, hidden_fields
from tests.fixtures.console_upload import create_campaign
from tests.fixtures.sheets import MAIN, excel_of
from tests.fixtures.virtual import Environment
from tests.fixtures.web import approve_template, encode_jpeg, register_channel, template_body
from tests.hostile import shapes
from tests.hostile.cost import IS_TORTURE, MAX_FACTOR, Plain, excess_factor, run_undelivered
from tests.hostile.shapes import FIELD_SHAPES
from tests.hostile.test_pages import FIELDS

MAX_BYTES = 200_000 if IS_TORTURE else 40_000
MAX_QUERY_BYTES = 60_000 if IS_TORTURE else 20_000
ROWS = MAX_BYTES // 80
KEY = "k" * 64
"""Stands for the idempotency key in an encoded form."""
QUICK = (
    "POST /console/send/check", "POST /console/templates/new", "POST /console/numbers", "POST /console/login",
    "GET /console/history", "GET /console/requests/progress",
)  # fmt: skip
"""One page of each kind; the others are measured in the torture tests."""
MESSAGE_PAGES = [
    page for page in PAGES if page.method == "POST" and re.fullmatch(r"/console/send(/\w+)?", page.path)
]
OTHER_PAGES = [page for page in PAGES if page not in MESSAGE_PAGES]
_VARIABLE = re.compile(r"#\{([^{}]+)\}")
_serial = itertools.count(1)


class EncodedForm(NamedTuple):
    """A form as a browser sends it."""

    content_type: str
    body: bytes


def encode_form(fields: Mapping[str, str]) -> EncodedForm:
    return EncodedForm("application/x-www-form-urlencoded", urlencode(fields).encode())


def encode_multipart(fields: Mapping[str, str], file: bytes, field: str = "file", more: bytes = b"") -> EncodedForm:
    """Return a form with a file; `more` are headers of each part."""
    cut = b"--cut\r\nContent-Disposition: form-data; name="
    parts = [cut + f'"{name}"\r\n'.encode() + more + b"\r\n" + value.encode() for name, value in fields.items()]
    head = f'"{field}"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n'.encode()
    body = b"\r\n".join([*parts, cut + head + more + b"\r\n" + file, b"--cut--\r\n"])
    return EncodedForm("multipart/form-data; boundary=cut", body)


def decode_form(encoded: EncodedForm) -> list[str]:
    """Decode a form with standard parsers, and normalize its texts: the yardstick of forms."""
    if not encoded.content_type.startswith("multipart"):
        pairs = parse_qsl(encoded.body.decode(), True)
        return [unicodedata.normalize("NFC", value) for _, value in pairs]
    parts: list[list[bytes]] = []
    callbacks: Any = {
        "on_part_begin": lambda: parts.append([]),
        "on_part_data": lambda data, start, end: parts[-1].append(data[start:end]),
    }
    MultipartParser(b"cut", callbacks).write(encoded.body)
    return [unicodedata.normalize("NFC", b"".join(pieces).decode(errors="replace")) for pieces in parts]


class Prepared(NamedTuple):
    """A store with one of everything that a path can name."""

    browser: Browser
    csrf: str
    sender_key: str
    path: str


async def prepare(env: Environment, page: Page) -> Prepared:
    call = await env.caller()
    sender_key = await register_channel(call)
    await approve_template(call, sender_key, **shapes.template_with_variables(sender_key))
    await approve_template(call, sender_key, templateCode=shapes.PLAIN_TEMPLATE)
    owner = await signed_in_browser(env)
    campaign = await create_campaign(owner)
    path = page.path.replace("{campaign}", campaign.rpartition("/")[2])
    browser = owner
    if page.roles is None:
        browser = Browser(env.service)
    elif page.roles == OPERATORS:
        browser = await signed_in_browser(env, Role.OPERATOR)
    return Prepared(browser, await browser.csrf(), sender_key, re.sub(r"\{\w+\}", "1", path))


def each_of(pages: list[Page]) -> pytest.MarkDecorator:
    names = {f"{page.method} {page.path}": page for page in pages}
    marks = {name: () if name in QUICK else pytest.mark.torture for name in names}
    return pytest.mark.parametrize(
        "page", [pytest.param(page, id=name, marks=marks[name]) for name, page in names.items()]
    )


def test_every_page_is_measured() -> None:
    assert {*MESSAGE_PAGES, *OTHER_PAGES} == set(PAGES)
    assert set(QUICK) <= {f"{page.method} {page.path}" for page in PAGES}


def phones(count: int, spelling: str = "010{:04}{:04}{}", values: str = "") -> str:
    """Return so many receivers as they are typed."""
    return "\n".join(spelling.format(number // 10_000, number % 10_000, values) for number in range(count))


NAMES = [f"n{number}" for number in range(200)]
VARIABLES = [f"#{{{name}}}" for name in NAMES]
RESEND = {"resend": "1", "resendPhoneNumber": "02-1234-5678"}
LINK_FIELDS = ("mobileUrl", "pcUrl", "androidUrl", "iosUrl", "name")
MESSAGES: dict[str, dict[str, str]] = {
    "receivers": {"receivers": phones(1000)},
    "spelled receivers": {"receivers": phones(1000, "+82 10-{:04}-{:04}")},
    "same receivers": {"receivers": "01012345678\n" * 3000},
    "bad receivers": {"receivers": "1\n" * 10_000},
    "commas": {"receivers": phones(20, values="," * 500)},
    "tabs": {"content": "#{n0}", "receivers": phones(1000, values="\tx")},
    "quoted values": {"content": "".join(VARIABLES[:20]), "receivers": phones(100, values=',"가"' * 20)},
    "many variables": {"content": "".join(VARIABLES), "receivers": phones(20, values=",x" * 200)},
    "one variable often": {"content": "#{n0}" * 1900, "receivers": phones(100, values=f",{'x' * 100}")},
    "emoji": {"content": "#{n0}😀", "receivers": phones(300, values=",😀")},
    "combining characters": {"content": "x\u0301" * 3000, "receivers": phones(1000)},
    "fallback": {"kind": "alimtalk", **RESEND, "resendContent": "#{n0}" * 200, "receivers": phones(9, values=",x")},
    "buttons": {"kind": "friendtalk"}
    | {f"buttons[{row}].{name}": "https://a/#{n0}" * 20 for row in range(5) for name in LINK_FIELDS},
    "picture": {"kind": "mms", **IMAGE, "image_body": encode_jpeg(20_000)},
    "unknown fields": {f"unknown{number}": "x" for number in range(900)},
}  # fmt: skip
"""What differs between messages on the send page."""


@each_of(MESSAGE_PAGES)
def test_message_of_any_shape_costs_ten_times_its_decoding_and_its_receivers(tmp_path: Path, page: Page) -> None:
    """Receivers cost what those of a plain message cost: each is checked, and stored if it is accepted."""

    async def scenario(env: Environment) -> None:
        browser, csrf, sender_key, path = await prepare(env, page)

        async def post(encoded: EncodedForm) -> None:
            """Post a form with a new idempotency key; a browser encoded it, so that is no cost of the service."""
            key = f"{env.world.now():012x}{next(_serial):052x}"
            await browser.post_body(path, encoded.body.replace(KEY.encode(), key.encode()), encoded.content_type)

        async def encode(fields: dict[str, str]) -> EncodedForm:
            whole = {"csrf": csrf, "key": KEY, "test_key": KEY, "own_number": "01012345678", **fields}
            if page.path == "/console/send":
                reviewed = await browser.post("/console/send/check", whole)
                whole["digest"] = hidden_fields(reviewed).get("digest", "")
            return encode_form(whole)

        @cache
        def plain_fields(kind: str, count: int) -> dict[str, str]:
            talk = {"senderKey": sender_key, "templateCode": shapes.PLAIN_TEMPLATE}
            return form(kind, receivers=phones(count), subject="x", **talk)

        for name, changes in MESSAGES.items():
            fields = form("lms", subject="가", senderKey=sender_key, templateCode="T1") | changes
            fields["receivers"] = fields["receivers"][: MAX_BYTES // 2]
            encoded, lines = await encode(fields), fields["receivers"].splitlines()
            plain = await encode(plain_fields(fields["kind"], min(len(lines), MAX_TYPED_RECEIVERS)))

            def decode(encoded: EncodedForm = encoded, lines: list[str] = lines) -> object:
                return decode_form(encoded), list(csv.reader(lines)), _VARIABLE.split(encoded.body.decode())

            factor = await excess_factor(partial(post, encoded), decode, Plain(partial(post, plain)))
            print(f"{page.path}: {factor:.1f} times its decoding, for {name}")
            assert factor <= MAX_FACTOR, name

    run_undelivered(tmp_path, scenario)


def next_browser(browser: Browser) -> Browser:
    """Return the same browser at another address: failed sign-ins slow down one address."""
    number = next(_serial)
    moved = Browser(browser._service, f"10.1.{number // 250}.{number % 250 + 1}")
    moved.cookies = dict(browser.cookies)
    return moved


@each_of(OTHER_PAGES)
def test_form_or_query_of_any_shape_costs_ten_times_its_decoding(tmp_path: Path, page: Page) -> None:
    async def scenario(env: Environment) -> None:
        browser, csrf, sender_key, path = await prepare(env, page)
        # A form without its token is refused as soon as it is decoded: signing out would end the session.
        fields = {"csrf": "" if page.path == "/console/logout" else csrf}
        if page.path.startswith("/console/templates"):
            fields |= {name: each for name, each in template_body(sender_key).items() if isinstance(each, str)}
            fields |= {f"buttons[{row}].{name}": "https://a/" for row in range(5) for name in LINK_FIELDS}

        async def post(encoded: EncodedForm) -> None:
            await next_browser(browser).post_body(path, encoded.body, encoded.content_type)

        plain = Plain(partial(browser.get, path) if page.method == "GET" else partial(post, encode_form(fields)))
        for name, text in FIELD_SHAPES.items():
            most = MAX_QUERY_BYTES if page.method == "GET" else min(MAX_BYTES, page.max_body_bytes)
            long = text[: most // (10 * len(FIELDS))]
            changed = fields | dict.fromkeys(FIELDS, long)
            if page.method == "GET":
                query = urlencode(changed)[:MAX_QUERY_BYTES]
                found = {
                    "": await excess_factor(
                        partial(browser.get, f"{path}?{query}"), partial(parse_qsl, query), plain
                    )
                }
            else:
                parts = encode_multipart(changed, b"\xff\xd8\xff" + b"x" * 300, "image", b"X-A: b\r\n" * 6)
                found = {
                    each.content_type: await excess_factor(partial(post, each), partial(decode_form, each), plain)
                    for each in (encode_form(changed), parts)
                }
            print(f"{page.method} {page.path}: {found} times their decoding, for {name}")
            assert max(found.values()) <= MAX_FACTOR, name

    run_undelivered(tmp_path, scenario)


def rows_of(values: str = "", spelling: str = "010{:04}{:04}", head: str = "phone,n0") -> bytes:
    """Return a CSV file of many receivers."""
    return "\n".join([head, *phones(ROWS, spelling + "{}", values).split("\n")]).encode()


def xlsx_of(cells: str, count: int = ROWS, **parts: str) -> bytes:
    """Return an Excel file whose rows have these cells behind a phone number."""
    rows = [f'<row><c t="inlineStr"><is><t>010{number:08}</t></is></c>{cells}</row>' for number in range(count)]
    head = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("phone", "n0"))
    return excel_of(f"<row>{head}</row>{''.join(rows)}", **parts)


TEXT = '<c t="inlineStr"><is>{}</is></c>'
STRINGS = f'<sst xmlns="{MAIN}">' + "<si><t>x</t></si>" * 20_000 + "</sst>"
STYLES = f'<styleSheet xmlns="{MAIN}"><cellXfs>' + '<xf numFmtId="14"/>' * 20_000 + "</cellXfs></styleSheet>"
FILES: dict[str, bytes] = {
    "values": rows_of(",x"),
    "long values": rows_of("," + "가나다라 " * 40),
    "combining characters": rows_of("," + "x\u0301" * 50),
    "emoji": rows_of(",😀"),
    "many columns": rows_of(",x" * 20, head="phone," + ",".join(NAMES[:20])),
    "quotes": rows_of(',"a""\nb"'),
    "bad rows": rows_of(",x", "1"),
    "blank lines": rows_of(",x") + b"\n," * 10_000,
    "same columns": rows_of(",x", head="phone,n0" + ",n0" * 100),
    "open quote": rows_of(",x") + b'\n"' + b"x\n" * 5000,
    "Korean encoding": rows_of(",가나다").decode().encode("cp949"),
    "cells": xlsx_of(TEXT.format("<t>x</t>")),
    "runs": xlsx_of(TEXT.format("<r><t>x</t></r>" * 50), ROWS // 10),
    "escapes": xlsx_of(TEXT.format(f"<t>{'_x0041_' * 100}</t>"), ROWS // 10),
    "dates": xlsx_of('<c s="1"><v>45000.25</v></c>'),
    "empty cells": xlsx_of('<c s="1"/>' * 150, ROWS // 10),
    "nesting": xlsx_of("<z>" * 1000 + "</z>" * 1000, 5),
    "comments": xlsx_of("<!--x-->" * 1000, 5),
    "strings": xlsx_of('<c t="s"><v>0</v></c>', 10, sharedStrings=STRINGS),
    "styles": xlsx_of("", 10, styles=STYLES),
}


def decode_file(raw: bytes) -> object:
    """Decode a file with the standard library, into the cells or the texts that it has: the yardstick of files."""
    if not raw.startswith(b"PK"):
        return list(csv.reader(io.StringIO(raw.decode("utf-8", "replace"), newline="")))
    texts: list[str] = []
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        for name in parts.namelist():
            parser = expat.ParserCreate()
            parser.CharacterDataHandler = texts.append
            parser.StartElementHandler = lambda name, attributes: None
            parser.Parse(parts.read(name), True)
    return texts


def test_file_of_any_shape_costs_ten_times_its_decoding_and_its_rows(tmp_path: Path) -> None:
    """Rows cost what those of a plain file cost: each is checked and stored."""

    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        csrf = await browser.csrf()

        async def upload(encoded: EncodedForm) -> None:
            address = await create_campaign(browser, kind="lms", content="#{n0}")
            answer = await browser.post_body(f"{address}/file", encoded.body, encoded.content_type)
            assert answer.status == 303

        def encode(file: bytes) -> EncodedForm:
            return encode_multipart({"csrf": csrf, "once": "1"}, file)

        def decode_upload(file: bytes) -> object:
            return decode_form(encode(file)), decode_file(file)

        plain = Plain(partial(upload, encode(rows_of(",x"))))
        for name, file in FILES.items():
            factor = await excess_factor(partial(upload, encode(file)), partial(decode_upload, file), plain)
            print(f"{factor:.1f} times its decoding, for {name}")
            assert factor <= MAX_FACTOR, name

    run_undelivered(tmp_path, scenario)

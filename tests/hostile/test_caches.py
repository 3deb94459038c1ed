"""No cache keeps long input: a caller could fill the memory with it."""

import gc
import importlib
import pkgutil
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import pabal
from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.pdu import Address
from pabal.checks.body import locale
from pabal.console.shell import page_request
from pabal.domain.base import dates
from pabal.domain.base.codes import Refused
from pabal.domain.content import variables
from pabal.domain.people import phone
from pabal.domain.sends import filled
from pabal.service.setup_cache import SetupCache
from pabal.web.http import api, head
from tests.fixtures.console import Browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import alimtalk_body, friendtalk_body, sms_body

LONG = 1_000_000
MAX_KEPT_CHARACTERS = 4096
"""The longest text that a cache may keep; the longest key is an address of the console."""
SEOUL = ZoneInfo("Asia/Seoul")

HOSTILE_CALLS: dict[str, list[Callable[[], object]]] = {
    "pabal.domain.people.phone._parse_short_sender": [
        lambda: phone.parse_sender("02-123-4567" + " " * LONG),
        lambda: phone.parse_sender(" " * LONG + "02-123-4567"),
        lambda: phone.parse_sender("02-" + " " * LONG + "123-4567"),
        lambda: phone.parse_sender("0" * LONG),
    ],
    "pabal.checks.body.locale._choose_language": [
        lambda: locale.choose_language(b"en" + b" " * LONG),
        lambda: locale.choose_language(b"en;q=" + b"0" * LONG),
        lambda: locale.choose_language(b"x" * LONG),
    ],
    "pabal.web.http.api._parse_short_media_type": [
        lambda: api._parse_media_type(b"application/json;" + b" " * LONG),
        lambda: api._parse_media_type(b"x" * LONG),
    ],
    "pabal.web.http.head._is_short_host": [
        lambda: head._is_host(b"x" * LONG),
        lambda: head._is_host(b"host:" + b"0" * LONG),
    ],
    "pabal.domain.base.dates._minute": [
        lambda: dates.parse_send_date("2026-11-15 12:00" + " " * LONG, 0, SEOUL, 60),
        lambda: dates.parse_send_date("2" * LONG, 0, SEOUL, 60),
    ],
    "pabal.domain.content.variables._split_and_keep": [
        lambda: variables.split("x" * LONG),
        lambda: variables.find_names("#{a}" * LONG),
        lambda: variables.find_names("#{" + "a" * LONG + "}"),
    ],
    "pabal.domain.sends.filled._make_and_keep": [
        lambda: filled.get_byte_length_checker("x" * LONG, (), 90),
        lambda: filled.get_byte_length_checker("x", ("a" * LONG,), 90),
    ],
    "pabal.carriers.smpp.pdu._encode_source": [
        lambda: pdu._encode_source("", Address(1, 1, "1" * LONG)),
        lambda: pdu._encode_source("x" * LONG, Address(1, 1, "1")),
    ],
    "urllib.parse.urlsplit": [
        lambda: page_request.safe_redirect_path("/console/" + "x" * LONG),
        lambda: page_request.safe_redirect_path("/console?" + "x" * LONG),
    ],
}
"""Caches whose keys come from outside, and calls that try to make them keep a long text."""

KEYED_BY_US = {
    "pabal.carriers.relay.http._trust",
    "pabal.checks.body.forms._field_types",
    "pabal.checks.body.forms._inner_type",
    "pabal.checks.body.forms._is_struct",
    "pabal.checks.body.forms.create_decoder",
    "pabal.checks.body.forms.plain_type",
    "pabal.checks.body.large_bodies._outline",
    "pabal.checks.body.large_bodies._outline_receiver",
    "pabal.checks.body.unknown_fields._known_fields",
    "pabal.checks.body.unknown_fields._pairs_of_fields",
    "pabal.checks.body.unknown_fields.closed_type",
    "pabal.compat.differences._fields_of",
    "pabal.console.components.components.read_tokens",
    "pabal.console.shell.rendering.load_assets",
    "pabal.console.shell.rendering.load_templates",
    "pabal.domain.base.dates._second",
    "pabal.domain.sends.price.Prices.costs_of",
    "pabal.service.access.users.passwords._hasher",
    "pabal.service.access.users.passwords._unmatchable_hash",
    "pabal.settings.field._type_hints",
    "pabal.store.engine.base.expand_placeholders",
    "pabal.store.engine.citus.distribution.writes_to_workers",
    "pabal.store.engine.citus.shards._find_place",
    "pabal.store.engine.citus.shards.names_shards",
    "pabal.store.engine.citus.shards.spell",
    "pabal.store.engine.citus.values.parse",
    "pabal.store.engine.citus.values.parse_join",
    "pabal.store.engine.citus.values.spell",
    "pabal.store.engine.postgres.arrays._integers",
    "pabal.store.engine.postgres.postgres_tx._translate",
    "pabal.store.engine.postgres.postgres_tx.translate_for_rows",
    "pabal.store.engine.sqlite.sqlite_store._to_dialect",
    "pabal.web.api_document.schemas._schemas_with_defaults",
    "pabal.web.api_document.schemas.build_schemas",
    "pabal.web.api_document.openapi.encode_document",
    "pabal.web.http.exchange._encode_date",
    "pabal.web.guide.documents._files",
    "pabal.web.guide.documents._pages_by_file",
    "pabal.web.guide.documents._pictures",
    "pabal.web.guide.documents.read_texts",
    "pabal.web.guide.documents._render",
    "pabal.web.guide.search._everything",
    "pabal.web.guide.search._sections",
}
"""Caches keyed by our own types, numbers, statements, languages and documents only."""


def test_every_cache_is_known() -> None:
    assert set(_find_caches()) == KEYED_BY_US | set(HOSTILE_CALLS) - {"urllib.parse.urlsplit"}


@pytest.mark.parametrize("name", HOSTILE_CALLS)
def test_cache_keeps_no_long_text(name: str) -> None:
    cache = _get(name)
    cache.cache_clear()

    for call in HOSTILE_CALLS[name]:
        with suppress(Refused, ValueError):
            call()

    assert max((len(text) for text in _texts_in(cache)), default=0) <= MAX_KEPT_CHARACTERS


async def test_requests_with_long_headers_and_fields_leave_nothing_behind(env: Environment, call: Caller) -> None:
    browser = Browser(env.service)

    async def send(number: int) -> None:
        blanks = f"{number}" + " " * LONG
        fields: dict[str, Any] = {"sender": f"02-123-45{number:02}{blanks[2:]}", "sendDate": blanks}
        await call("message/sendSMS", sms_body(**fields))
        await call("message/sendLMS", sms_body(content=f"#{{{blanks}}}", subject="#{a}" * (LONG // 4)))
        await call("message/list", {"receivers": blanks, "requestDate": f"2026-11-15{blanks}~"})
        headers = {"accept-language": f"en;q=0.{number}{blanks}", "content-type": f"application/json;{blanks}"}
        await call("message/sendSMS", sms_body(), headers=headers)
        await browser.get(f"/console/history?x={number}{'x' * LONG}")
        await browser.get("/console/history", hx_request="true", hx_current_url=f"/{blanks}")

    await send(0)
    tracemalloc.start()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]

    for number in range(1, 6):
        await send(number)

    gc.collect()
    pinned = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert pinned < LONG, f"{pinned:,} bytes are still held"


@pytest.mark.settings(check_sender_numbers=True)
async def test_look_ups_of_what_does_not_exist_leave_nothing_behind(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    await call("message/sendAlimtalk", alimtalk_body(alimtalk_key))
    every = (each for each in gc.get_objects() if isinstance(each, SetupCache))
    caches = [each for each in every if each._changes is env.context.setup.changes]
    before = [len(each) for each in caches]
    assert len(caches) == 5, "keys, limits, numbers, profiles, templates"

    for number in range(20):
        unknown = Caller(env.service, f"pb_{number:040}")
        assert (await unknown("message/sendSMS", sms_body())).result == "UNAUTHORIZED"
        await call("message/sendSMS", sms_body(sender=f"02-1234-{number:04}"))
        await call("message/sendFriendtalk", friendtalk_body(f"{number:040}" + "x" * LONG))
        await call("message/sendAlimtalk", alimtalk_body(alimtalk_key, templateCode=f"{number}" + "x" * LONG))

    assert [len(each) for each in caches] == before


def _find_caches() -> Iterator[str]:
    """Yield the name of every `lru_cache` in the package."""
    for found in pkgutil.walk_packages(pabal.__path__, "pabal."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for owner in (module, *(each for each in vars(module).values() if isinstance(each, type))):
            for each in vars(owner).values():
                if hasattr(each, "cache_info") and each.__module__ == found.name:
                    yield f"{each.__module__}.{each.__qualname__}"


def _get(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)


def _texts_in(cache: Any) -> Iterator[str | bytes]:
    """Yield every text that a cache holds, in keys and results."""
    to_visit = [each for each in gc.get_referents(cache) if not callable(each)]
    seen: set[int] = set()
    while to_visit:
        each = to_visit.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, str | bytes):
            yield each
        elif isinstance(each, tuple | dict) or type(each).__name__ == "_lru_list_elem":
            to_visit += gc.get_referents(each)

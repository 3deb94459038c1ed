"""Categories of sender profiles and templates: a relay's own, or the bundled tables."""

import json
from collections.abc import Mapping

from pabal.carriers.provider import RelayProvider, RemoteCategories
from pabal.domain.base.codes import Refused
from pabal.domain.kakao.profile import Category
from pabal.service.context import Context
from pabal.store.engine.base import Tx
from pabal.store.queue import cursors

_CURSOR_PREFIX = "categories "


async def sender_categories(context: Context) -> Mapping[str, Category]:
    """Return the categories of sender profiles, by code."""
    found = await _stored(context)
    return {each.code: each for each in found.profiles} if found else context.sender_categories


def read_sender_categories(tx: Tx, context: Context) -> Mapping[str, Category]:
    """Return the categories of sender profiles, by code, as a transaction sees them."""
    carrier = _relay_name(context)
    found = _read(tx, carrier) if carrier is not None else None
    return {each.code: each for each in found.profiles} if found else context.sender_categories


async def template_categories(context: Context) -> Mapping[str, Category]:
    """Return the categories of templates, by code."""
    found = await _stored(context)
    return {each.code: each for each in found.templates} if found else context.template_categories


async def refresh(context: Context, carrier: str, relay: RelayProvider) -> None:
    """Store the categories of a relay, for every process; an empty list is ignored.

    Raises Refused where the relay does not answer.
    """
    found = await relay.list_categories()
    if found.profiles and found.templates:
        await context.store.write(cursors.put, _CURSOR_PREFIX + carrier, json.dumps(found).encode())


async def _stored(context: Context) -> RemoteCategories | None:
    """Return the stored categories of the relay; None where there is no relay or it was not asked yet."""
    carrier = _relay_name(context)
    return await context.store.read(_read, carrier) if carrier is not None else None


def _relay_name(context: Context) -> str | None:
    try:
        return context.provider().relay_name
    except Refused:
        return None


def _read(tx: Tx, carrier: str) -> RemoteCategories | None:
    mark = cursors.get(tx, _CURSOR_PREFIX + carrier)
    if mark is None:
        return None
    senders, templates = json.loads(mark)
    return RemoteCategories(
        tuple(Category(*each) for each in senders), tuple(Category(*each) for each in templates)
    )

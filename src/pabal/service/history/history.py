"""Looks up what became of messages."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Status
from pabal.service.context import Context
from pabal.store import history, messages, requests
from pabal.store.engine.base import Tx
from pabal.store.history import Filter, Page
from pabal.store.requests import Request


class Outlook(NamedTuple):
    """What became of one send: the request, how many messages stand where, and a page of them."""

    request: Request
    counts: dict[Status, int]
    page: Page


async def find(context: Context, wanted: Filter, page: int, page_size: int) -> Page:
    """Return a page of an account's messages, newest first."""
    return await context.store.read(history.find, wanted, page, page_size)


async def outlook(
    context: Context, account_id: int, request_id: bytes | None, page: int, page_size: int
) -> Outlook:
    """Return what became of one send.

    Raises Refused(REQUEST_NOT_FOUND), also for one that is another account's.
    """
    if request_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    return await context.store.read(_outlook, account_id, request_id, page, page_size)


def _outlook(tx: Tx, account_id: int, request_id: bytes, page: int, page_size: int) -> Outlook:
    request = requests.get(tx, [request_id]).get(request_id)
    if request is None or request.account_id != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    counts = messages.count(tx, account_id, *identifiers.bounds(request_id))
    found = history.find(tx, Filter(account_id, request_id=request_id), page, page_size)
    return Outlook(request, counts, found)

"""Looks up messages and requests."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Status
from pabal.service.context import Context
from pabal.store import history, messages, requests
from pabal.store.engine.base import Tx
from pabal.store.history import MessageFilter, MessagePage
from pabal.store.requests import Request


class RequestDetails(NamedTuple):
    """A request, its number of messages by status, and a page of them."""

    request: Request
    counts: dict[Status, int]
    page: MessagePage


async def find_messages(context: Context, message_filter: MessageFilter, page: int, page_size: int) -> MessagePage:
    """Return a page of an account's messages, newest first."""
    return await context.store.read(history.find, message_filter, page, page_size)


async def get_request_details(
    context: Context, account_id: int, request_id: bytes | None, page: int, page_size: int
) -> RequestDetails:
    """Return the details of a request.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's.
    """
    if request_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    return await context.store.read(_read_request_details, account_id, request_id, page, page_size)


def _read_request_details(tx: Tx, account_id: int, request_id: bytes, page: int, page_size: int) -> RequestDetails:
    request = requests.get(tx, [request_id]).get(request_id)
    if request is None or request.account_id != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    counts = messages.count_by_status(tx, account_id, *identifiers.message_id_range(request_id))
    found = history.find(tx, MessageFilter(account_id, request_id=request_id), page, page_size)
    return RequestDetails(request, counts, found)

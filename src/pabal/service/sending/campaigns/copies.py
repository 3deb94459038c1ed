"""Reads what was sent before, to be sent again, to the failed receivers only, or in another form."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, require
from pabal.domain.content.image import Image
from pabal.domain.sends.campaign import is_correctable
from pabal.domain.sends.message import Outcome, Status
from pabal.service.context import Context
from pabal.service.sending.campaigns.campaign_files import get_sending
from pabal.service.sending.campaigns.campaigns import decode_receivers
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import Campaign, InvalidRow
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import campaign_requests, images, messages, requests
from pabal.store.messages.messages import Message as Message  # for pages, which do not import the store
from pabal.store.messages.requests import Request as Request

FAILED_BATCH = 1000
"""Failed messages that are read at a time."""
_NOT_REACHED = (Status.FAIL, Status.CANCEL)
"""How the fallback of a receiver ends whom it does not reach; one that is on its way may still arrive."""


class KnownReceiver(NamedTuple):
    """A number, and what fills in variables."""

    phone: str
    values: Mapping[str, str]
    reference: str = ""


class RequestCopy(NamedTuple):
    """A request with its images and some of its messages; fallbacks are not among them."""

    request: Request
    images: tuple[Image, ...]
    messages: list[Message]
    has_more: bool
    """Whether it has more messages than were asked for."""


class CampaignCopy(NamedTuple):
    """The message of a campaign, as it was written, and the receivers that it did not reach."""

    body: str
    failed: list[Message]
    variables: tuple[str, ...]
    """The names of their values."""
    has_more: bool


class RestCopy(NamedTuple):
    """The message of a campaign, as it was written, and the rows of its file to be corrected."""

    body: str
    columns: tuple[str, ...]
    """Names of the file's columns."""
    rows: list[InvalidRow]
    has_more: bool


async def copy_request(
    context: Context, account_id: int, request_id: bytes | None, limit: int, only: Status | None = None
) -> RequestCopy:
    """Return a request of an account with its messages: all, or only those that wait.

    Only those that failed are the ones whose receivers it did not reach, not even by a fallback.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's.
    """
    found = None
    if request_id is not None:
        found = await context.store.read(_read_request, account_id, request_id, limit, only)
    return require(found, Code.REQUEST_NOT_FOUND, "requestId")


@transaction(reader=Reader.SEARCHES)
def copy_campaign(tx: Tx, account_id: int, campaign_id: bytes, limit: int) -> CampaignCopy | None:
    """Return a campaign of an account and the receivers that it did not reach; None if there is none."""
    if campaigns.get_account_id(tx, campaign_id) != account_id:
        return None
    failed: list[Message] = []
    variables: tuple[str, ...] = ()
    for part in campaign_requests.list_requests(tx, campaign_id):
        if part.is_ended and not part.progress.fail:
            continue
        request = requests.get(tx, [part.request_id]).get(part.request_id)
        if request:
            variables = request.variables
            failed += _list_failed(tx, request, limit + 1 - len(failed))
        if len(failed) > limit:
            break
    return CampaignCopy(campaigns.get_body(tx, campaign_id), failed[:limit], variables, len(failed) > limit)


@transaction(reader=Reader.SEARCHES)
def copy_rest(tx: Tx, account_id: int, campaign_id: bytes, limit: int) -> RestCopy | None:
    """Return a campaign of an account that was sent, and the rows that could not be; None if there is none."""
    campaign = campaigns.get(tx, campaign_id)
    if campaign is None or campaign.account_id != account_id or not campaign.state.is_sent:
        return None
    rows: list[InvalidRow] = []
    after: int | None = 0
    while after is not None and len(rows) <= limit:
        some = campaign_list.list_invalid_rows(tx, campaign_id, after, FAILED_BATCH)
        rows += [each for each in some if is_correctable(each.reason)]
        after = some[-1].number if len(some) == FAILED_BATCH else None
    body = campaigns.get_body(tx, campaign_id)
    return RestCopy(body, campaign.columns, rows[:limit], len(rows) > limit)


async def check_owner(context: Context, account_id: int, sent_id: bytes | None) -> None:
    """Raise Refused(REQUEST_NOT_FOUND) for what is neither a request nor a campaign of the account."""
    owner = await context.store.read(_read_owner, sent_id) if sent_id else None
    if owner != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")


async def iterate_failed(
    context: Context, account_id: int, sent_id: bytes | None
) -> AsyncIterator[tuple[Sequence[str], list[Message]]]:
    """Yield the names of the values, and some messages whose receivers a request or campaign did not reach."""
    for request_id in await context.store.read(_list_request_ids, sent_id or b""):
        after: bytes | None = b""
        while after is not None:
            variables, found, after = await context.store.read(_read_failed, account_id, request_id, after)
            yield variables, found


async def iterate_receivers(context: Context, campaign: Campaign) -> AsyncIterator[list[KnownReceiver]]:
    """Yield everybody to whom a campaign that has not begun will be sent, some at a time."""
    sending = await get_sending(context, campaign.id)
    names: Sequence[str] = sending.variables if sending else ()
    number = 0
    while block := await context.store.read(campaigns.next_block, campaign.id, number):
        number = block.number
        yield [_known(each.phone, names, each.values, each.reference) for each in decode_receivers(block)]
    for request_id in await context.store.read(_list_request_ids, campaign.id):
        after: bytes | None = b""
        while after is not None:
            names, found, after = await context.store.read(_read_waiting, campaign.account_id, request_id, after)
            yield [_known(each.receiver, names, each.values, each.reference) for each in found if each.receiver]


def _known(number: str, names: Sequence[str], values: Sequence[str], reference: str | None) -> KnownReceiver:
    return KnownReceiver(number, dict(zip(names, values, strict=False)), reference or "")


def _read_waiting(
    tx: Tx, account_id: int, request_id: bytes, after: bytes
) -> tuple[Sequence[str], list[Message], bytes | None]:
    request = requests.get(tx, [request_id]).get(request_id)
    if request is None:
        return (), [], None
    found = messages.list_of_request(tx, account_id, request_id, request.total, Status.WAITING, FAILED_BATCH, after)
    return request.variables, found, found[-1].id if len(found) == FAILED_BATCH else None


def _read_owner(tx: Tx, sent_id: bytes) -> int | None:
    owner = campaigns.get_account_id(tx, sent_id)
    return requests.account_ids(tx, [sent_id]).get(sent_id) if owner is None else owner


def _list_request_ids(tx: Tx, sent_id: bytes) -> list[bytes]:
    if campaigns.get_account_id(tx, sent_id) is None:
        return [sent_id]
    return [part.request_id for part in campaign_requests.list_requests(tx, sent_id)]


def _read_failed(
    tx: Tx, account_id: int, request_id: bytes, after: bytes
) -> tuple[Sequence[str], list[Message], bytes | None]:
    """Return the names of the values, some messages, and the id to continue after, None at the end."""
    request = requests.get(tx, [request_id]).get(request_id)
    if request is None or request.account_id != account_id:
        return (), [], None
    found, last = _list_some_failed(tx, request, FAILED_BATCH, after)
    return request.variables, found, last


@transaction(reader=Reader.SEARCHES)
def _read_request(
    tx: Tx, account_id: int, request_id: bytes, limit: int, only: Status | None
) -> RequestCopy | None:
    request = requests.get(tx, [request_id]).get(request_id)
    if request is None or request.account_id != account_id:
        return None
    found = (
        _list_failed(tx, request, limit + 1)
        if only is Status.FAIL
        else messages.list_of_request(tx, account_id, request_id, request.total, only, limit + 1)
    )
    pictures = images.get(tx, request_id) if request.images else ()
    return RequestCopy(request, pictures, found[:limit], len(found) > limit)


def _list_failed(tx: Tx, request: Request, limit: int) -> list[Message]:
    """Return messages that failed, and whose fallback has failed too, if there is one."""
    found: list[Message] = []
    after: bytes | None = b""
    while len(found) < limit and after is not None:
        some, after = _list_some_failed(tx, request, limit, after)
        found += some
    return found[:limit]


def _list_some_failed(tx: Tx, request: Request, limit: int, after: bytes) -> tuple[list[Message], bytes | None]:
    """Return those of some failed messages that were not reached, and the id to continue after, None at the end.

    A duplicate was not sent because its receiver has got the same text already.
    """
    some = messages.list_of_request(tx, request.account_id, request.id, request.total, Status.FAIL, limit, after)
    fallbacks = messages.get(tx, [_fallback_id(each.id, request) for each in some])
    reached = {one for one, each in fallbacks.items() if each.status not in _NOT_REACHED}
    found = [
        each
        for each in some
        if each.receiver and each.outcome is not Outcome.DUPLICATE and _fallback_id(each.id, request) not in reached
    ]
    return found, some[-1].id if len(some) == limit else None


def _fallback_id(message_id: bytes, request: Request) -> bytes:
    return identifiers.make_message_id(request.id, identifiers.number_of(message_id) + request.total)

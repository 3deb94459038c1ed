"""Lists the results of messages by when they were reported: a time in the number of their event."""

from collections.abc import Collection
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import NUMBERS_PER_MS, EventType, lowest_number
from pabal.domain.sends.message import Product
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events.events import last_positions
from pabal.store.messages import history, messages
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request


class ReportedFilter(NamedTuple):
    """Which results are wanted: from one time on and before another."""

    account_id: int
    since: Instant
    before: Instant
    products: tuple[Product, ...]
    is_code: bool | None = None


class ReportedResult(NamedTuple):
    """The result of a message, and when it was reported."""

    message: Message
    request: Request
    at: Instant


class ReportedPage(NamedTuple):
    """One page of results, and how many there are; their order never changes, new ones come last in their slot."""

    total: int
    found: list[ReportedResult]


@transaction(reader=Reader.SEARCHES)
def list_reported(
    tx: Tx, wanted: ReportedFilter, page: int, page_size: int, slots: Collection[int] | None = None
) -> ReportedPage:
    """Return a page of results."""
    known = sorted(last_positions(tx, slots))
    if not known:
        return ReportedPage(0, [])
    products = ", ".join(str(each.number) for each in wanted.products)
    join = ""
    if wanted.is_code is not None:
        join = (
            " join requests r on r.id = substr(e.id, 1, 13) and r.slot = e.slot"
            f" and coalesce(r.is_code, 0) = {int(wanted.is_code)}"
        )
    where = (
        f" from events e{join} where e.account_id = ? and e.slot in ({', '.join(map(str, known))})"
        f" and e.number >= ? and e.number < ? and e.type = {EventType.MESSAGE_RESULT.number}"
        f" and e.product in ({products})"
    )
    args = (wanted.account_id, lowest_number(wanted.since), lowest_number(wanted.before))
    total = int(tx.fetch_all(f"select count(*){where}", args)[0][0])
    rows = tx.fetch_all(
        f"select e.id, e.number{where} order by e.slot, e.number limit ? offset ?",
        (*args, page_size, (page - 1) * page_size),
    )
    ids = [row[0] for row in rows]
    pairs = {found[0].id: found for found in history.join_requests(tx, ids, messages.get(tx, ids)).found}
    return ReportedPage(
        total, [ReportedResult(*pairs[id], number // NUMBERS_PER_MS) for id, number in rows if id in pairs]
    )

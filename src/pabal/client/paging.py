"""Which page of a list follows another."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from pabal.models.answers import MessagesAnswer, PagedEnvelope
from pabal.models.bodies import MAX_PAGE_SIZE, ListMessages

B = TypeVar("B", bound=msgspec.Struct)
T_co = TypeVar("T_co", covariant=True)


class ItemsPage(Protocol[T_co]):
    """An answer with items."""

    @property
    def items(self) -> Sequence[T_co]:
        """The items of this page."""


def first_page(body: B) -> B:
    """Return the body that asks for the first page: a large one, unless the caller has chosen its size."""
    sizes = {each.name: each.default for each in msgspec.structs.fields(body) if each.name == "pageSize"}
    if sizes and getattr(body, "pageSize") == sizes["pageSize"]:  # noqa: B009 - only some bodies have it
        return msgspec.structs.replace(body, pageSize=MAX_PAGE_SIZE)
    return body


def next_page(body: B, answer: Any) -> B | None:
    """Return the body that asks for the page after an answer; None if that was the last one.

    Messages without a receiver, results and inbound messages follow a cursor, others are numbered.
    """
    changes = _follow_number(body, answer) if isinstance(answer, PagedEnvelope) else _follow_position(answer)
    return msgspec.structs.replace(body, **changes) if changes else None


def _follow_number(body: Any, answer: Any) -> dict[str, Any]:
    is_capped = False
    if isinstance(answer, MessagesAnswer):
        if answer.nextCursor:
            return {"cursor": answer.nextCursor}
        if isinstance(body, ListMessages) and not (body.receivers or body.receiver):
            return {}
        is_capped = bool(answer.totalCountIsCapped)
    if not answer.items or (answer.currentPage >= answer.pageCount and not is_capped):
        return {}
    return {"page": answer.currentPage + 1}


def _follow_position(answer: Any) -> dict[str, Any]:
    return {"cursor": answer.item.nextCursor} if answer.items else {}

"""Bodies and answers of the endpoint that lists results."""

from typing import Annotated

from msgspec import Meta, Struct

from pabal.models.answers import Envelope, MessageItem

MAX_RESULTS = 1000


class ListResults(Struct, kw_only=True, omit_defaults=True):
    """From where on to list results."""

    cursor: Annotated[
        str | None, Meta(description="The `nextCursor` of the last answer; absent: from the oldest result on.")
    ] = None
    limit: Annotated[int, Meta(description=f"Most results to list, from 1 to {MAX_RESULTS:,}.")] = MAX_RESULTS


class ResultItem(MessageItem, kw_only=True):
    """A message that has ended, and the id of that event."""

    eventId: Annotated[str, Meta(description="Unique for good, and the same in webhooks.")]


class ResultsItem(Struct, kw_only=True):
    """Where to go on."""

    nextCursor: Annotated[str, Meta(description="`cursor` of the next call, also where there is nothing new yet.")]


class ResultsAnswer(Envelope, kw_only=True):
    """Messages that have ended."""

    item: ResultsItem
    resultCount: int
    items: list[ResultItem]

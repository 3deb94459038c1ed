"""Reads who has opted out at Solapi by its free 080 number."""

import logging
from collections.abc import AsyncIterator, Sequence

import msgspec

from pabal.carriers.base import RelayOptOut
from pabal.carriers.relay.opt_out_reader import OptOutList
from pabal.carriers.solapi.client import SolapiClient, format_date
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Instant
from pabal.domain.people import phone

LIST_PATH = "/iam/v1/black"
LIST_TYPE = "DENIAL"
"""The only type of entries in the client's own source: those by the 080 number."""
PAGE_SIZE = 500

log = logging.getLogger("pabal.solapi")


class DeniedSender(msgspec.Struct):
    """A receiver who wants no more texts from a sender number."""

    senderNumber: str
    recipientNumber: str


class DeniedPage(msgspec.Struct):
    """A page of the list."""

    blackList: list[DeniedSender]
    nextKey: str | None = None


class DenialList(OptOutList):
    """The list of those who have opted out; there is no call to change it."""

    name = "080 opt-outs"

    def __init__(self, client: SolapiClient, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    @property
    def server_time(self) -> Instant | None:
        return self._client.server_time

    async def pages(self, since: Instant | None) -> AsyncIterator[Sequence[RelayOptOut]]:
        query: dict[str, str | int] = {"type": LIST_TYPE, "limit": PAGE_SIZE}
        if since is not None:
            query["dateCreated[gte]"] = format_date(since)
        async for page in self._client.pages(LIST_PATH, DeniedPage, query, lambda: self._timeout_s):
            yield _parse(page.blackList)


def _parse(rows: Sequence[DeniedSender]) -> list[RelayOptOut]:
    """Return the opt-outs in rows, but for numbers that cannot be ours, or of which digits are hidden."""
    found: list[RelayOptOut] = []
    for row in rows:
        try:
            receiver, sender = phone.parse_mobile(row.recipientNumber), phone.parse_sender(row.senderNumber)
        except Refused:
            continue
        found.append(RelayOptOut(receiver, sender=sender))
    if len(found) < len(rows):
        log.warning(
            "the relay reports opt-outs with numbers that cannot be read; they are ignored",
            extra={"count": len(rows) - len(found)},
        )
    return found

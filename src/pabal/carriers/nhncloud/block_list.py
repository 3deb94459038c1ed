"""Reads who has opted out at NHN Cloud by calling an 080 number, from its webhook and its block service."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from pabal.carriers.base import RelayOptOut
from pabal.carriers.nhncloud.client import SEOUL, NhnCloudClient, expect_documented_shape
from pabal.carriers.relay.carrier import OptOutList
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.domain.base import dates
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Instant
from pabal.domain.people import phone
from pabal.domain.people.opt_out import OptOutChange

OPT_OUT_EVENT = "UNSUBSCRIBE"
"""The event of the webhook (SMS ko/webhook.md, "광고 문자 수신 번호 등록")."""
MAX_RECIPIENTS = 10
"""Receivers in one call: the "최대 길이" of recipientNoList."""
UPDATE_USER = "pabal"
"""Who removes receivers, for the relay's records."""
_PATH = "/sms/v3.0/appKeys/{appkey}/blockservice/recipients"

log = logging.getLogger("pabal.nhncloud")


def parse_opt_outs(rows: Sequence[Mapping[str, Any]]) -> list[RelayOptOut]:
    """Return the opt-outs in rows of the webhook or of the block service, but for numbers that cannot be ours.

    Raises KeyError, TypeError for another shape.
    """
    found = []
    for row in rows:
        recipient, number = str(row["recipientNo"]), str(row["unsubscribeNo"])
        try:
            found.append(RelayOptOut(phone.parse_mobile(recipient), phone.parse_opt_out(number)))
        except Refused:
            log.warning("the relay reports an opt-out with an unknown kind of number; it is ignored")
    return found


def _group(changes: Sequence[OptOutChange]) -> list[list[OptOutChange]]:
    """Return the changes in calls: neighbours of the same kind and number, as many as a call takes."""
    groups: list[list[OptOutChange]] = []
    for each in changes:
        last = groups[-1] if groups else []
        is_alike = bool(last) and last[0][1:] == each[1:] and each not in last
        if is_alike and len(last) < MAX_RECIPIENTS:
            last.append(each)
        else:
            groups.append([each])
    return groups


class BlockList(OptOutList):
    """The block service: read for opt-outs, and told what changes here."""

    name = "block service"

    def __init__(self, carrier: str, client: NhnCloudClient, timeout_s: float) -> None:
        self._carrier = carrier
        self._client = client
        self._timeout_s = timeout_s

    @property
    def server_time(self) -> Instant | None:
        return self._client.server_time

    async def update(self, changes: Sequence[OptOutChange]) -> list[OptOutChange]:
        """Add and remove receivers there, in order; return those that are done, or that it refuses for good."""
        done: list[OptOutChange] = []
        for alike in _group(changes):
            try:
                await self._update(alike)
            except (NotProcessed, NoResponse, Throttled) as error:
                log.warning(
                    "the relay was not told about opt-outs; retrying",
                    extra={"carrier": self._carrier, "reason": str(error) or type(error).__name__},
                )
                break
            except ErrorAnswer as error:
                log.warning(
                    "the relay refuses opt-outs; they are kept here only",
                    extra={"carrier": self._carrier, "reason": str(error)},
                )
            done += alike
        return done

    async def _update(self, alike: Sequence[OptOutChange]) -> None:
        """Add or remove receivers of one number for opting out."""
        number, phones = alike[0].opt_out_number, [each.phone for each in alike]
        if alike[0].is_removed:
            query = {"unsubscribeNo": number, "updateUser": UPDATE_USER, "recipientNoList": ",".join(phones)}
            await self._client.request("DELETE", f"{_PATH}/removes", query=query, timeout_s=self._timeout_s)
        else:
            body = {"unsubscribeNo": number, "recipientNoList": phones}
            await self._client.request("POST", _PATH, body=body, timeout_s=self._timeout_s)

    async def pages(self, since: Instant | None) -> AsyncIterator[Sequence[RelayOptOut]]:
        query = {} if since is None else {"startRequestDate": dates.format_timestamp(since, SEOUL)}
        async for rows in self._client.pages(_PATH, ("body", "data"), query, lambda: self._timeout_s):
            with expect_documented_shape():
                found = parse_opt_outs(rows)
            yield found

"""How often messages were read and clicked, by template and day, where a relay knows it."""

import asyncio
import logging
from collections import defaultdict
from datetime import date
from typing import NamedTuple

from pabal.carriers.base import Carrier, TemplateReads
from pabal.carriers.relay.http import ErrorAnswer, NoResponse, NotProcessed, Throttled
from pabal.service.context import Context
from pabal.store.kakao import profiles
from pabal.store.kakao.profiles import ProfileFilter

MAX_PROFILES = 100
"""Most profiles of an account that are asked for."""

log = logging.getLogger("pabal.profiles")


class Reads(NamedTuple):
    """How many messages were read, and how often something in them was clicked."""

    read: int = 0
    clicked: int = 0


async def get_reads(context: Context, account_id: int, first: date, last: date) -> dict[tuple[str, str], Reads]:
    """Return the figures of an account by day (2026-11-15) and template code; a relay that fails has none."""
    _, found = await context.store.read(profiles.find, ProfileFilter(account_id), 1, MAX_PROFILES)
    wanted = [
        (context.carriers[each.carrier], each.sender_key)
        for each in found
        if each.sender_key and each.carrier and each.carrier in context.carriers
    ]
    answers = await asyncio.gather(*(_ask(carrier, key, first, last) for carrier, key in wanted))
    reads: dict[tuple[str, str], Reads] = defaultdict(Reads)
    for each in (row for rows in answers for row in rows):
        known = reads[each.day, each.template_code]
        reads[each.day, each.template_code] = Reads(known.read + each.read, known.clicked + each.clicked)
    return dict(reads)


async def _ask(carrier: Carrier, sender_key: str, first: date, last: date) -> list[TemplateReads]:
    try:
        return list(await carrier.list_template_reads(sender_key, first, last))
    except (NotProcessed, NoResponse, Throttled, ErrorAnswer) as error:
        reason = str(error) or type(error).__name__
        log.warning("figures of reads cannot be had", extra={"carrier": carrier.name, "reason": reason})
        return []

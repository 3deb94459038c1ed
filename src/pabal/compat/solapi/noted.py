"""Notes in what calls differ from Solapi's: fields that are ignored, and messages that cannot be sent."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from pabal.compat.differences import CallDifference
from pabal.compat.ignored import MAX_READ_ITEMS, decode_short, list_ignored
from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import MessageBody
from pabal.compat.solapi.call import CompatCall
from pabal.compat.solapi.translation import KOREA, Item

_HARMLESS = ("agent", "appId", "strict", "sdkVersion", "osPlatform", "autoTypeDetect")
"""What changes nothing of a message; `autoTypeDetect` has a rule of its own."""
_OF_A_MESSAGE = re.compile(r"messages?\.")
_QUERY = {
    *("limit", "startKey", "startDate", "endDate", "dateType", "criteria", "cond", "value", "messageId"),
    *("messageIds", "groupId", "to", "from", "type", "statusCode", "status", "searchId", "channelId", "templateId"),
}


def note_body(call: CompatCall, shape: type[Struct], messages: Sequence[MessageBody]) -> None:
    """Note the fields of a body that nothing is done with, by their names; those of messages without a prefix."""
    for name in list_ignored(decode_short(call.raw), shape):
        plain = _OF_A_MESSAGE.sub("", name, count=1)
        if plain.rpartition(".")[2] not in _HARMLESS:
            call.note(CallDifference.FIELD, plain)
    if any(each.autoTypeDetect is False and not each.type for each in messages[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "autoTypeDetect")


def note_ignored_query(call: CompatCall, *more: str) -> None:
    """Note the parameters of a query that nothing is done with."""
    for name, value in call.query.items():
        if value and name not in _QUERY and name not in more:
            call.note(CallDifference.QUERY, name)


def note_refusals(call: CompatCall, items: Iterable[Item], refusals: Mapping[int, str]) -> None:
    """Note the messages that were refused: by what cannot be sent here, else by their codes."""
    noted: Counter[tuple[CallDifference, str]] = Counter()
    for item in items if refusals else ():
        code = refusals.get(item.place)
        if code == codes.WRONG_TYPE:
            noted[CallDifference.KIND, item.type] += 1
        elif code == codes.MALFORMED and str(item.body.country or KOREA) != KOREA:
            noted[CallDifference.COUNTRY, str(item.body.country)] += 1
        elif code is not None:
            noted[CallDifference.REFUSED, code] += 1
    for (difference, detail), uses in noted.items():
        call.note(difference, detail, uses)

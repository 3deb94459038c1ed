"""Notes in what calls differ from Solapi's: fields that are ignored, and messages that cannot be sent."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pabal.compat.differences import MAX_READ_ITEMS, CallDifference, decode_short, list_ignored
from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import MessageBody, T, decode
from pabal.compat.solapi.call import CompatCall
from pabal.compat.solapi.translation import KOREA, Item

_HARMLESS = ("agent", "appId", "strict", "sdkVersion", "osPlatform", "autoTypeDetect", "allowDuplicates")
"""What changes nothing of a message; `autoTypeDetect` has a rule of its own, and one message has no duplicates."""
_OF_A_MESSAGE = re.compile(r"messages?\.")


def read_body(call: CompatCall, shape: type[T]) -> T:
    """Return the body of a call, and note its fields that nothing is done with; those of messages without a prefix.

    Raises CallRefused.
    """
    given = None if b"\\u0000" in call.raw else decode_short(call.raw)
    try:
        body = decode(call.raw, shape) if given is None else msgspec.convert(given, shape)
    except msgspec.ValidationError:
        return decode(call.raw, shape)
    for name in list_ignored(given, shape):
        plain = _OF_A_MESSAGE.sub("", name, count=1)
        if plain.rpartition(".")[2] not in _HARMLESS:
            call.note(CallDifference.FIELD, plain)
    one: MessageBody | None = getattr(body, "message", None)
    messages: Sequence[MessageBody] = [one] if one else getattr(body, "messages", ())
    if any(each.autoTypeDetect is False and not each.type for each in messages[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "autoTypeDetect")
    return body


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

"""Notes in what calls differ from Solapi's: fields that are ignored, and messages that cannot be sent."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pabal.compat.differences import CallDifference
from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import KakaoOptions, MessageBody, SendManyBody, SendOneBody, T, decode
from pabal.compat.solapi.call import CompatCall
from pabal.compat.solapi.translation import KOREA, Item

MAX_READ_BYTES = 16 * 1024
"""Longer bodies are not read a second time to find what is ignored in them: that would cost as much as sending."""
MAX_READ_MESSAGES = 20
"""Messages of a body whose fields are looked at."""
MAX_NAMES = 20
"""Unknown names in one place that are noted."""
_HARMLESS = {"agent", "appId", "strict", "sdkVersion", "osPlatform", "autoTypeDetect", "message"}
"""What changes nothing of a message; `autoTypeDetect` has a rule of its own."""
_CALL = {*SendManyBody.__struct_fields__, *SendOneBody.__struct_fields__, *_HARMLESS}
_MESSAGE = {*MessageBody.__struct_encode_fields__, *_HARMLESS}
_KAKAO = {*KakaoOptions.__struct_fields__}
_QUERY = {
    *("limit", "startKey", "startDate", "endDate", "dateType", "criteria", "cond", "value", "messageId"),
    *("messageIds", "groupId", "to", "from", "type", "statusCode", "status", "searchId", "channelId", "templateId"),
}


def read_body(call: CompatCall, shape: type[T]) -> T:
    """Return the body of a call, and note its fields that nothing is done with, by their names.

    Raises CallRefused.
    """
    raw = call.raw
    if len(raw) > MAX_READ_BYTES or b"\\u0000" in raw:
        return decode(raw, shape)
    try:
        given = msgspec.json.decode(raw or b"{}", type=dict[str, Any])
        body = msgspec.convert(given, shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # what is ignored may be malformed
        return decode(raw, shape)
    ignored = _unknown(given, _CALL)
    several = given.get("messages")
    for each in several[:MAX_READ_MESSAGES] if isinstance(several, list) else (given.get("message"),):
        if isinstance(each, dict):
            ignored += _ignored_of(each)
    for name in ignored:
        call.note(CallDifference.FIELD, name)
    return body


def _ignored_of(message: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields of a message that nothing is done with."""
    found = _unknown(message, _MESSAGE)
    if message.get("autoTypeDetect") is False and not message.get("type"):
        found.append("autoTypeDetect")
    options = message.get("kakaoOptions")
    if isinstance(options, dict):
        found += [f"kakaoOptions.{name}" for name in _unknown(options, _KAKAO)]
    return found


def _unknown(given: Mapping[str, Any], known: set[str]) -> list[str]:
    """Return the names of fields with a value that are not known."""
    if given.keys() <= known:
        return []
    return [name for name in given.keys() - known if given[name] not in (None, [], {}, "")][:MAX_NAMES]


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

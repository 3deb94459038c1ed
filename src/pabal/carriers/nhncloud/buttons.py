"""Buttons in NHN Cloud's words, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.domain.button import DEFAULT_NAMES

_TYPES = {
    "webLink": "WL",
    "appLink": "AL",
    "deliveryTracking": "DS",
    "botKeyword": "BK",
    "messageDelivery": "MD",
    "counselingTalkConversion": "BC",
    "botConversion": "BT",
    "channelAddition": "AC",
}
_OUR_TYPES = {theirs: ours for ours, theirs in _TYPES.items()}
_FIELDS = {
    "name": "name",
    "mobileUrl": "linkMo",
    "pcUrl": "linkPc",
    "androidUrl": "schemeAndroid",
    "iosUrl": "schemeIos",
    "chatExtra": "chatExtra",
    "chatEvent": "chatEvent",
    "target": "target",
}
_BEYOND_US = ("bizFormId", "pluginId", "relayId", "oneClickId", "productId", "telNumber")


def to_relay(button: Mapping[str, str | int], ordering: int = 1) -> dict[str, Any]:
    """Return one of our buttons as it is written there; `ordering` is its place, from 1."""
    ours = str(button["buttonType"])
    theirs: dict[str, Any] = {"ordering": ordering, "type": _TYPES[ours]}
    theirs.update({word: button[field] for field, word in _FIELDS.items() if field in button})
    if ours == "channelAddition":
        theirs["name"] = DEFAULT_NAMES[ours]  # the only name that it may have there
    return theirs


def all_to_relay(buttons: Sequence[Mapping[str, str | int]]) -> list[dict[str, Any]]:
    """Return our buttons as they are written there, in the order they are shown."""
    return [to_relay(button, place) for place, button in enumerate(buttons, 1)]


def from_relay(theirs: Mapping[str, Any]) -> dict[str, str | int] | None:
    """Return a button as we keep one; None: it is of a kind that we do not carry."""
    kind = _OUR_TYPES.get(str(theirs.get("type")))
    if kind is None or any(theirs.get(field) for field in _BEYOND_US):
        return None
    ours: dict[str, str | int] = {"buttonType": kind, "name": DEFAULT_NAMES[kind]}
    ours.update({field: str(theirs[word]) for field, word in _FIELDS.items() if theirs.get(word)})
    return ours

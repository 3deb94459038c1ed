"""Buttons in NHN Cloud's words, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.domain.button import DEFAULT_NAMES, Button

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
    "mobile_url": "linkMo",
    "pc_url": "linkPc",
    "android_url": "schemeAndroid",
    "ios_url": "schemeIos",
    "chat_extra": "chatExtra",
    "chat_event": "chatEvent",
    "target": "target",
}
_BEYOND_US = ("bizFormId", "pluginId", "relayId", "oneClickId", "productId", "telNumber")


def to_relay(button: Button, ordering: int = 1) -> dict[str, Any]:
    """Return one of our buttons as it is written there; `ordering` is its place, from 1."""
    theirs: dict[str, Any] = {"ordering": ordering, "type": _TYPES[button.type]}
    for field, their_field in _FIELDS.items():
        value = getattr(button, field)
        if value is not None:
            theirs[their_field] = value
    if button.type == "channelAddition":
        theirs["name"] = DEFAULT_NAMES[button.type]  # the only name that it may have there
    return theirs


def all_to_relay(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return our buttons as they are written there, in the order they are shown."""
    return [to_relay(button, place) for place, button in enumerate(buttons, 1)]


def from_relay(theirs: Mapping[str, Any]) -> Button | None:
    """Return a button as we keep one; None: it is of a kind that we do not carry."""
    kind = _OUR_TYPES.get(str(theirs.get("type")))
    if kind is None or any(theirs.get(field) for field in _BEYOND_US):
        return None
    given = {field: str(theirs[their_field]) for field, their_field in _FIELDS.items() if theirs.get(their_field)}
    return Button(kind, given.pop("name", DEFAULT_NAMES[kind]), **given)  # type: ignore[arg-type]

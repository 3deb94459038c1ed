"""Converts buttons to NHN Cloud's format and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.domain.content.button import DEFAULT_NAMES, Button

_TYPES = {
    "webLink": "WL",
    "appLink": "AL",
    "deliveryTracking": "DS",
    "botKeyword": "BK",
    "messageDelivery": "MD",
    "counselingTalkConversion": "BC",
    "botConversion": "BT",
    "channelAddition": "AC",
    "phoneCall": "TN",
}
FRIEND_TALK_TYPES = frozenset(("webLink", "appLink", "botKeyword", "messageDelivery"))
"""The buttons that friend talk has: fewer than Alimtalk."""
_OUR_TYPES = {remote: ours for ours, remote in _TYPES.items()}
_FIELDS = {
    "name": "name",
    "mobile_url": "linkMo",
    "pc_url": "linkPc",
    "android_url": "schemeAndroid",
    "ios_url": "schemeIos",
    "chat_extra": "chatExtra",
    "chat_event": "chatEvent",
    "target": "target",
    "tel_number": "telNumber",
}
_UNSUPPORTED_FIELDS = ("bizFormId", "pluginId", "relayId", "oneClickId", "productId")


def to_remote(button: Button, ordering: int = 1) -> dict[str, Any]:
    """Return a button in NHN Cloud's format; `ordering` is its position, from 1."""
    remote: dict[str, Any] = {"ordering": ordering, "type": _TYPES[button.type]}
    for field, remote_field in _FIELDS.items():
        value = getattr(button, field)
        if value is not None:
            remote[remote_field] = value
    if button.type == "channelAddition":
        remote["name"] = DEFAULT_NAMES[button.type]  # NHN Cloud accepts no other name
    return remote


def all_to_remote(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return buttons in NHN Cloud's format, in the order they are shown."""
    return [to_remote(button, ordering) for ordering, button in enumerate(buttons, 1)]


def fit_friend_talk(buttons: Sequence[Button]) -> bool:
    """Return whether friend talk has all of these buttons."""
    return all(button.type in FRIEND_TALK_TYPES for button in buttons)


def from_remote(remote: Mapping[str, Any]) -> Button | None:
    """Return a button in our format; None if it is of an unsupported kind."""
    kind = _OUR_TYPES.get(str(remote.get("type")))
    if kind is None or any(remote.get(field) for field in _UNSUPPORTED_FIELDS):
        return None
    given = {
        field: str(remote[remote_field]) for field, remote_field in _FIELDS.items() if remote.get(remote_field)
    }
    return Button(kind, given.pop("name", DEFAULT_NAMES[kind]), **given)  # type: ignore[arg-type]

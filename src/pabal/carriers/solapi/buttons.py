"""Converts buttons to Solapi's format and back."""

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
}
_OUR_TYPES = {remote: ours for ours, remote in _TYPES.items()}
_LINKS = {"mobile_url": "linkMo", "pc_url": "linkPc", "android_url": "linkAnd", "ios_url": "linkIos"}
_LINKS_OF = {"WL": ("linkMo", "linkPc"), "AL": ("linkAnd", "linkIos")}
"""The links that a type of button has; the others have none."""


def are_supported(buttons: Sequence[Button]) -> bool:
    """Return whether Solapi has all of these buttons."""
    return all(button.type in _TYPES for button in buttons)


def to_remote(button: Button) -> dict[str, Any]:
    """Return a button of an Alimtalk in Solapi's format; links that its type does not have are left out."""
    kind = _TYPES[button.type]
    remote: dict[str, Any] = {"buttonType": kind, "buttonName": button.name}
    if button.type == "channelAddition":
        remote["buttonName"] = DEFAULT_NAMES[button.type]
    for field, link in _LINKS.items():
        if link in _LINKS_OF.get(kind, ()) and (value := getattr(button, field)) is not None:
            remote[link] = value
    return remote


def all_to_remote(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return buttons in Solapi's format, in the order they are shown."""
    return [to_remote(button) for button in buttons]


def from_remote(remote: Mapping[str, Any]) -> Button | None:
    """Return a button in our format; None if it is of an unsupported kind."""
    kind = _OUR_TYPES.get(str(remote.get("buttonType")))
    if kind is None:
        return None
    links = {field: str(remote[link]) for field, link in _LINKS.items() if remote.get(link)}
    return Button(kind, str(remote.get("buttonName") or DEFAULT_NAMES[kind]), **links)  # type: ignore[arg-type]

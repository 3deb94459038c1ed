"""Translates buttons between the API's field names and the domain's."""

import re
from collections.abc import Collection, Mapping, Sequence

from pabal.domain.base.codes import Refused
from pabal.domain.content import button
from pabal.domain.content.button import Button

API_FIELDS = {
    "type": "buttonType",
    "name": "name",
    "mobile_url": "mobileUrl",
    "pc_url": "pcUrl",
    "android_url": "androidUrl",
    "ios_url": "iosUrl",
    "chat_extra": "chatExtra",
    "chat_event": "chatEvent",
    "target": "target",
    "order_number": "orderNo",
    "tel_number": "telNumber",
}
"""What the API calls each field of a `Button`."""
API_LINK_FIELDS = tuple(API_FIELDS[field] for field in button.LINK_FIELDS)
_DOMAIN_FIELDS = {api_field: field for field, api_field in API_FIELDS.items()}
_FIELD_PATH = re.compile(r"(buttons\[\d+\])\.(\w+)", re.ASCII)


def parse_buttons(
    given: Sequence[Mapping[str, str | int | None]],
    limit: int,
    types: Collection[str] = button.DEFAULT_NAMES,
    max_link: int = button.MAX_LINK_CHARACTERS,
) -> tuple[Button, ...]:
    """Return the buttons of a body, in the order in which they are shown; `types` are the allowed ones.

    Raises Refused(INVALID_BUTTON), naming every wrong field as `buttons[0].mobileUrl`.
    """
    try:
        return button.parse_buttons(
            [{_DOMAIN_FIELDS[field]: value for field, value in fields.items()} for fields in given],
            limit,
            types,
            max_link,
        )
    except Refused as refused:
        raise Refused.from_problems(
            [problem._replace(field=_to_api_path(problem.field)) for problem in refused.problems]
        ) from None


def to_api_fields(given: Button) -> dict[str, str | int]:
    """Return the given fields of a button by the API's names."""
    return {API_FIELDS[field]: value for field, value in given.given_fields().items()}


def _to_api_path(path: str) -> str:
    return _FIELD_PATH.sub(lambda match: f"{match[1]}.{API_FIELDS[match[2]]}", path)

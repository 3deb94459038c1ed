"""Writes calls that submit brand messages, and reads which recipients of a call were accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.carriers.relay.brand import CHAT_BUBBLE_TYPES
from pabal.carriers.relay.brand import as_sent as as_sent
from pabal.carriers.relay.brand import is_by_template as is_by_template
from pabal.carriers.relay.brand import is_deliverable as is_deliverable
from pabal.domain.brand.buttons import from_button
from pabal.domain.brand.message import BrandImage, encode_brand, to_documented
from pabal.domain.sends.message import Attempt

FREE_FORM_PATH = "freestyle-messages"
TEMPLATE_PATH = "basic-messages"


def shared_key(attempt: Attempt) -> tuple[Any, ...]:
    """Return what must be equal for brand messages to share a call: all but the number, and a template's values."""
    key = attempt.sender_key, attempt.template_code, attempt.opt_out_number, encode_brand(attempt.brand)
    return key if is_by_template(attempt) else (*key, attempt.content, attempt.buttons, attempt.image_link)


def shared_fields(attempt: Attempt) -> dict[str, Any]:
    """Return the fields of a call that apply to all its recipients, without the address of an uploaded image."""
    brand = attempt.brand
    assert brand is not None
    fields: dict[str, Any] = {"senderKey": attempt.sender_key}
    if attempt.opt_out_number and brand.opt_out_auth_number:
        fields["unsubscribeAuthNo"] = brand.opt_out_auth_number
    if attempt.opt_out_number:
        fields["unsubscribeNo"] = attempt.opt_out_number
    if is_by_template(attempt):
        return fields | {"templateCode": attempt.template_code}
    assert brand.type is not None
    fields["chatBubbleType"] = CHAT_BUBBLE_TYPES[brand.type]
    if attempt.content:
        fields["content"] = attempt.content
    buttons = [each for each in map(from_button, attempt.buttons) if each is not None]
    if buttons:
        fields["buttons"] = [to_documented(each) for each in buttons]
    return fields | to_documented(brand.attachment)


def image_fields(attempt: Attempt, address: str | None) -> dict[str, Any]:
    """Return the field of the image that was uploaded for a call, if it has one."""
    if address is None:
        return {}
    return {"image": to_documented(BrandImage(image_url=address, image_link=attempt.image_link))}


def recipient(attempt: Attempt) -> dict[str, Any]:
    """Return the entry of a message in the list of recipients."""
    assert attempt.brand is not None
    fields: dict[str, Any] = {
        "recipientNo": attempt.receiver,
        "targeting": attempt.brand.targeting.value,
        "resendParameter": {"isResend": False},  # overrides NHN Cloud's console: we send the fallback
        "recipientGroupingKey": attempt.message_id.hex(),
    }
    if attempt.parameters:
        fields["templateParameter"] = attempt.parameters
    return fields


def match_rows(attempts: Sequence[Attempt], rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the rows of an answer by message id: they name no grouping keys, but are numbered as the recipients.

    Raises ValueError where it is not certain which row is whose.
    """
    ordered = sorted(rows, key=lambda row: int(row["recipientSeq"]))
    numbers = [int(row["recipientSeq"]) for row in ordered]
    if len(ordered) != len(attempts) or numbers != list(range(numbers[0], numbers[0] + len(attempts))):
        raise ValueError("not one row for each recipient")
    for attempt, row in zip(attempts, ordered, strict=True):
        number = row.get("recipientNo")
        if number and str(number).replace("-", "") != attempt.receiver:
            raise ValueError("a row with the number of another recipient")
    return {attempt.message_id.hex(): row for attempt, row in zip(attempts, ordered, strict=True)}

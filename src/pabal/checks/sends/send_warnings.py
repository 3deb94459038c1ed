"""Warnings about a send that is accepted all the same."""

from typing import Any

from pabal.checks.body.forms import Form
from pabal.domain.base.codes import Text
from pabal.domain.sends.field_warning import MAX_WARNINGS, FieldWarning, WarningCode
from pabal.domain.sends.sending import Sending


def add_send_warnings(form: Form[Any], sending: Sending) -> None:
    """Add what looks like a mistake in a send to the warnings of its form."""
    if sending.is_ad and sending.product.is_text and not form.body.adFlag:
        form.warn(FieldWarning(WarningCode.LOOKS_LIKE_ADVERTISING, "content"))
    for warning in find_repeated(sending).values():
        form.warn(warning)


def find_repeated(sending: Sending) -> dict[int, FieldWarning]:
    """Return a warning for each receiver whose number was there before, by its index."""
    receivers = sending.receivers
    if len(receivers) == 1 or len({each.phone for each in receivers}) == len(receivers):
        return {}
    first: dict[str, int] = {}
    found: dict[int, FieldWarning] = {}
    for index, receiver in enumerate(receivers):
        before = first.setdefault(receiver.phone, index)
        if before != index:
            detail = Text(f"receivers[{before}]와 같습니다.", f"It is that of receivers[{before}].")
            found[index] = FieldWarning(WarningCode.DUPLICATE_RECEIVER, f"receivers[{index}].phoneNumber", detail)
            if len(found) == MAX_WARNINGS:
                break
    return found

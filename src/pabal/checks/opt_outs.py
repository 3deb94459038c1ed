"""From the bodies of the endpoints of opt-outs to checked numbers, and back to records."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pabal.checks.body.forms import Form
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import MAX_PROBLEMS, Code, Problem, Refused, Text
from pabal.domain.people import phone
from pabal.domain.people.opt_out import EVERY_SENDER, MAX_PHONE_NUMBERS, OptOut, to_record
from pabal.models.opt_outs import OptOutItem

_ONE_OF_BOTH = Text("phoneNumber와 phoneNumbers 중 하나만 보내세요.", "Send phoneNumber or phoneNumbers, not both.")


def read_phones(form: Form[Any]) -> list[str]:
    """Return the numbers of a body; `raise_problems` reports each that is missing or wrong, with its index."""
    one, several = form.body.phoneNumber or None, form.body.phoneNumbers or None
    if one is not None and several is not None:
        form.add(Problem(Code.INVALID_PARAMETER, "phoneNumber", _ONE_OF_BOTH))
        return []
    if several is None:
        return [form.read("phoneNumber", phone.parse_mobile)]
    if len(several) > MAX_PHONE_NUMBERS:
        limit = MAX_PHONE_NUMBERS
        detail = Text(f"최대 {limit:,}개입니다.", f"At most {limit:,}.")
        form.add(Problem(Code.INVALID_PARAMETER, "phoneNumbers", detail))
        return []
    return _parse_each(form, several)


def read_sender(form: Form[Any]) -> str:
    """Return the sender number of a body, empty where it has none."""
    return (
        form.read_optional("senderNumber", phone.parse_sender) if form.body.senderNumber else None
    ) or EVERY_SENDER


def build_opt_out_item(opt_out: OptOut, locale: Locale) -> OptOutItem:
    """Return the record of an opt-out."""
    return msgspec.convert(to_record(opt_out, locale.zone, locale.language), OptOutItem)


def _parse_each(form: Form[Any], spellings: Sequence[str | None]) -> list[str]:
    """Return the numbers; stop at so many problems as an answer can name."""
    found: list[str] = []
    problems = 0
    for index, spelling in enumerate(spellings):
        field = f"phoneNumbers[{index}]"
        try:
            if not spelling:
                raise Refused(Code.MISSING_PARAMETER)
            found.append(phone.parse_mobile(spelling))
        except Refused as refusal:
            form.add_refusal(refusal, field)
            problems += 1
            if problems >= MAX_PROBLEMS:
                break
    return found

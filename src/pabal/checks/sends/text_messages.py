"""From the body of an SMS, LMS or MMS to a checked `Sending`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pabal.checks.body.fields import (
    check_shared_text,
    clean,
    clean_all,
    read_expire_minutes,
    read_images,
    read_send_date,
)
from pabal.checks.body.forms import Form
from pabal.checks.sends.one_time_codes import lifetime_of, read_is_code, refuse_advertising
from pabal.checks.sends.receivers import CheckedText, accept_unchanged, check_receivers, read_receivers, read_values
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import advertising, text, variables
from pabal.domain.people import phone
from pabal.domain.sends.filled import get_byte_length_checker
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import MAX_BYTES, Receiver, Sending, check_text
from pabal.models import bodies
from pabal.service.policy import Policy

_NO_OPT_OUT_NUMBER = Text(
    "광고 문자에는 무료 수신거부 번호(080)가 필요합니다.",
    "An advertisement needs a free number for opting out (080).",
)


def check_text_message(
    product: Product, form: Form[Any], policy: Policy, now: Instant, opt_out_number: str = ""
) -> Sending:
    """Return the checked send of an SMS, LMS or MMS; whether it may be sent at that hour is not checked.

    `opt_out_number` is the default number for opting out of advertisements; empty: the request must name one.

    Raises Refused.
    """
    clean_text = make_text_cleaner(product, policy)
    subject = form.read_optional("subject", clean_text) if product is not Product.SMS else None
    content = form.read("content", clean_text)
    scheduled_at = read_send_date(form, policy, now)
    is_code = read_is_code(form)
    expire_minutes = lifetime_of(read_expire_minutes(form), is_code=is_code)
    content = _mark_advertisement(form, content, opt_out_number)
    sender = form.read("sender", phone.parse_sender)
    images = read_images(form, policy.image_limits_of(product)) if product is Product.MMS else ()
    given = read_receivers(form, policy)
    names = variables.find_names(content, subject)
    check_shared_text(form, content, _check_literals if names else partial(check_text, product), "content")
    check_shared_text(form, subject, _check_literals if names else _check_subject, "subject")
    form.raise_problems()

    check = (
        make_text_checker(product, content, subject, names, make_value_cleaner(product, policy))
        if names
        else accept_unchanged
    )
    receivers = check_receivers(form, given, check)
    if is_code:
        refuse_advertising({"subject": subject, "content": content}, names, receivers)
    return Sending(
        product,
        content,
        receivers,
        scheduled_at,
        sender,
        subject or None,
        images,
        is_ad=bool(form.body.adFlag) or _looks_like_ad(content, subject, names, receivers),
        variables=names,
        expire_minutes=expire_minutes,
        is_code=is_code,
    )


def _mark_advertisement(form: Form[Any], content: str, default_number: str) -> str:
    """Return the text with the marks of an advertisement, if it is one."""
    body = form.body
    number = form.read_optional("optOutNumber", phone.parse_opt_out) if body.optOutNumber else None
    if not body.adFlag or not content:
        return content
    number = number or default_number
    if not number and not advertising.has_opt_out(content):
        form.add(Problem(Code.MISSING_PARAMETER, "optOutNumber", _NO_OPT_OUT_NUMBER))
    return advertising.add_marks(content, number)


def _looks_like_ad(content: str, subject: str | None, names: Sequence[str], receivers: Sequence[Receiver]) -> bool:
    values = [each.values for each in receivers]
    return advertising.looks_like_ad(content, names, values) or advertising.looks_like_ad(subject, names, values)


def make_text_cleaner(product: Product, policy: Policy) -> Callable[[str], str]:
    """Return the function that normalizes the texts of a product and refuses forbidden characters.

    Where it replaces them instead, it leaves the names of variables as they are.
    """
    return _clean_and_replace_literals if _replaces(product, policy) else clean


def make_value_cleaner(product: Product, policy: Policy) -> Callable[[Sequence[str]], Sequence[str]]:
    """Return the same function for the values of variables, whose texts have no variables of their own."""
    return _clean_and_replace_all if _replaces(product, policy) else clean_all


def _replaces(product: Product, policy: Policy) -> bool:
    return policy.replaces_unsupported_characters and product.is_text


def make_text_checker(
    product: Product,
    content: str,
    subject: str | None,
    names: tuple[str, ...],
    clean: Callable[[Sequence[str]], Sequence[str]],
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return a function that reads a receiver's values and refuses them if the filled-in text is too long."""
    length_checkers = [get_byte_length_checker(content, names, MAX_BYTES[product])]
    if subject is not None:
        length_checkers.append(get_byte_length_checker(subject, names, text.SUBJECT_MAX_BYTES))

    def check(receiver: bodies.ReceiverBody) -> CheckedText:
        values = read_values(receiver, names, clean)
        for length_checker in length_checkers:
            length_checker.check(values)
        return values, None

    return check


def _clean_and_replace_all(given: Sequence[str]) -> Sequence[str]:
    cleaned = clean_all(given)
    return text.replace_unsupported("\0".join(cleaned)).split("\0") if cleaned else cleaned


def _clean_and_replace_literals(given: str) -> str:
    return variables.change_literals(clean(given), text.replace_unsupported)


def _check_literals(content: str) -> None:
    """Check what is around the variables of a text; its length is known only with their values."""
    text.carried_bytes("".join(variables.split(content)[::2]))


def _check_subject(subject: str) -> None:
    text.check_fits(subject, text.SUBJECT_MAX_BYTES)

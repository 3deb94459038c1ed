"""From the body of a sending endpoint to a checked `Sending`: every rule on fields and receivers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pabal.checks.buttons import parse_buttons
from pabal.checks.forms import Form
from pabal.checks.receivers import CheckedText, accept_unchanged, check_receivers, read_receivers, read_values
from pabal.domain import button, dates, phone, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.dates import Instant
from pabal.domain.image import Image, parse_image
from pabal.domain.message import Product
from pabal.domain.profile import Profile
from pabal.domain.sending import (
    MAX_BYTES,
    Fallback,
    LengthChecker,
    Sending,
    check_text,
    fill_buttons,
    fill_text,
)
from pabal.domain.template import MAX_EMPHASIS_CHARACTERS, TemplateContent
from pabal.models import bodies
from pabal.service.policy import Policy

FRIENDTALK_TYPES = {
    "friendTalkText": Product.FRIENDTALK_TEXT,
    "FT": Product.FRIENDTALK_TEXT,
    "friendTalkImage": Product.FRIENDTALK_IMAGE,
    "FI": Product.FRIENDTALK_IMAGE,
    "friendTalkWideImage": Product.FRIENDTALK_WIDE_IMAGE,
    "FW": Product.FRIENDTALK_WIDE_IMAGE,
}
MIN_RECEIVERS_TO_PREMEASURE = 4
"""From so many receivers on, measuring the template first makes up for itself."""


def check_text_message(product: Product, form: Form[Any], policy: Policy, now: Instant) -> Sending:
    """Return the checked send of an SMS, LMS or MMS.

    Raises Refused.
    """
    clean = make_cleaner(product, policy)
    is_titled = product is not Product.SMS
    subject = form.read_optional("subject", clean) if is_titled else None
    content = form.read("content", clean)
    scheduled_at = _read_send_date(form, policy, now)
    sender = form.read("sender", phone.parse_sender)
    image = read_image_field(form) if product is Product.MMS else None
    given = read_receivers(form, policy)
    names = variables.find_names(content, subject)
    if not names:
        _check_shared_text(form, content, partial(check_text, product), "content")
        _check_shared_text(form, subject, _check_subject, "subject")
    form.raise_problems()

    fit = make_text_checker(product, content, subject, names, clean, len(given)) if names else accept_unchanged
    receivers = check_receivers(form, given, fit)
    return Sending(
        product,
        content,
        receivers,
        scheduled_at,
        sender,
        subject or None,
        image,
        variables=names,
    )


def make_cleaner(product: Product, policy: Policy) -> Callable[[str], str]:
    """Return what cleans the texts of a product; it says no to what nothing may hold."""
    return _clean_and_replace if product.is_text and policy.replaces_unsupported_characters else _clean


def make_text_checker(
    product: Product,
    content: str,
    subject: str | None,
    names: Sequence[str],
    clean: Callable[[str], str],
    receiver_count: int,
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return what gives so many receivers of a text message their values, and says no where a text does not fit."""
    fit = _make_plain_checker if receiver_count < MIN_RECEIVERS_TO_PREMEASURE else _make_premeasured_checker
    return fit(product, content, subject, names, clean)


def _make_plain_checker(
    product: Product, content: str, subject: str | None, names: Sequence[str], clean: Callable[[str], str]
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return what gives a receiver of a text message its values, and says no where its text does not fit."""

    def fit(each: bodies.ReceiverBody) -> CheckedText:
        values = read_values(each, names, clean)
        check_text(product, fill_text(content, names, values))
        if subject is not None:
            _check_subject(fill_text(subject, names, values))
        return values, None

    return fit


def _make_premeasured_checker(
    product: Product, content: str, subject: str | None, names: Sequence[str], clean: Callable[[str], str]
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return the same as `_fitted`, quicker for many receivers."""
    gauges = [LengthChecker(content, names, partial(check_text, product), MAX_BYTES[product])]
    if subject is not None:
        gauges.append(LengthChecker(subject, names, _check_subject, text.SUBJECT_MAX_BYTES))

    def fit(each: bodies.ReceiverBody) -> CheckedText:
        values = read_values(each, names, clean)
        for gauge in gauges:
            gauge.check(values)
        return values, None

    return fit


def make_talk_checker(
    product: Product, content: str, buttons: Sequence[Button], names: Sequence[str], title: str | None = None
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return what gives a receiver of a talk its values, and says no where its text or a link does not fit."""

    def fit(each: bodies.ReceiverBody) -> CheckedText:
        values = read_values(each, names, _clean)
        if title:
            text.check_characters(fill_text(title, names, values), MAX_EMPHASIS_CHARACTERS)
        check_text(product, fill_text(content, names, values))
        fill_buttons(buttons, names, values)
        return values, None

    return fit


def check_alimtalk_fields(form: Form[bodies.SendAlimtalk], policy: Policy, now: Instant) -> "AlimtalkFields":
    """Return what can be checked of an Alimtalk before its profile and template are known.

    Raises Refused.
    """
    form.read("senderKey", text.normalize)
    code = form.read("templateCode", text.normalize)
    scheduled_at = _read_send_date(form, policy, now)
    fallback = _read_fallback(form)
    read_receivers(form, policy)
    form.raise_problems()
    check_receivers(form, form.body.receivers, accept_unchanged)
    return AlimtalkFields(form, code, scheduled_at, fallback)


class AlimtalkFields:
    """A checked Alimtalk that waits for its template."""

    def __init__(
        self,
        form: Form[bodies.SendAlimtalk],
        template_code: str,
        scheduled_at: Instant | None,
        fallback: Fallback | None,
    ) -> None:
        self.sender_key = form.body.senderKey
        self.template_code = template_code
        self._form = form
        self._scheduled_at = scheduled_at
        self._fallback = fallback

    def complete(self, profile: Profile, template: TemplateContent) -> Sending:
        """Return the send of a template's text.

        Raises Refused: MISSING_VARIABLE, CONTENT_TOO_LONG, INVALID_BUTTON.
        """
        buttons = template.buttons
        resent = self._fallback.content if self._fallback else None
        title = template.title
        names = variables.find_names(title, template.content, *button.links_of(buttons), resent)
        fit = (
            make_talk_checker(Product.ALIMTALK, template.content, buttons, names, title)
            if names
            else accept_unchanged
        )
        receivers = check_receivers(self._form, self._form.body.receivers, fit)
        return Sending(
            Product.ALIMTALK,
            template.content,
            receivers,
            self._scheduled_at,
            subject=title,
            buttons=buttons,
            fallback=self._fallback,
            profile_id=profile.id,
            template_code=self.template_code,
            variables=names,
        )


def check_friendtalk_fields(form: Form[bodies.SendFriendtalk], policy: Policy, now: Instant) -> Sending:
    """Return the checked send of a friend talk, its profile and the time of day still to be looked at.

    Raises Refused.
    """
    body = form.body
    form.read("senderKey", text.normalize)
    scheduled_at = _read_send_date(form, policy, now)
    is_ad = bool(body.adFlag)
    mark: Callable[[str], str] = text.add_ad_label if is_ad else str
    product = form.read_optional("messageType", _parse_friendtalk_type)
    image = read_image_field(form)
    if product is None:
        product = Product.FRIENDTALK_TEXT if body.image is None else Product.FRIENDTALK_IMAGE
    elif product is not Product.FRIENDTALK_TEXT and body.image is None:
        form.add(Problem(Code.MISSING_PARAMETER, "image"))
    content = form.read_optional("content", lambda given: mark(_clean(given))) if body.content else None
    image_link = form.read_optional("imageLink", parse_web_link)
    fallback = _read_fallback(form)
    if fallback and fallback.content:
        fallback = fallback._replace(content=mark(fallback.content))
    most = button.MAX_BUTTONS_WIDE_IMAGE if product is Product.FRIENDTALK_WIDE_IMAGE else button.MAX_BUTTONS
    buttons = form.read_optional("buttons", lambda given: read_buttons(form, given, most)) or ()
    given = read_receivers(form, policy)
    if content is None and any(not each.content for each in given):
        form.add(Problem(Code.MISSING_PARAMETER, "content"))
    around = (*button.links_of(buttons), fallback.content if fallback else None)
    own = [_clean_or_empty(_clean, each.content) for each in given if each.content]
    names = variables.find_names(content, *around, *own)
    if not variables.find_names(content):
        _check_shared_text(form, content, partial(check_text, product), "content")
    form.raise_problems()

    def fit_own(each: bodies.FriendtalkReceiverBody) -> CheckedText:
        whole = mark(_clean(each.content)) if each.content else content or ""
        wanted = variables.find_names(whole, *around)
        known = dict(zip(wanted, read_values(each, wanted, _clean), strict=True))
        values = tuple(known.get(name, "") for name in names)
        check_text(product, fill_text(whole, names, values))
        fill_buttons(buttons, names, values)
        return values, whole if each.content else None

    fit: Callable[[Any], CheckedText] = accept_unchanged
    if own:
        fit = fit_own
    elif names:
        fit = make_talk_checker(product, content or "", buttons, names)
    receivers = check_receivers(form, given, fit)
    return Sending(
        product,
        content or "",
        receivers,
        scheduled_at,
        image=image,
        image_link=image_link,
        buttons=buttons,
        is_ad=is_ad,
        fallback=fallback,
        variables=names,
    )


def check_ad_hours(sending: Sending, policy: Policy, now: Instant) -> Sending:
    """Return the send with an advertisement kept out of the night.

    Raises Refused(NIGHT_AD_RESTRICTED) unless the operator has such sends moved to the morning.
    """
    at = now if sending.scheduled_at is None else sending.scheduled_at
    if not sending.is_ad or not dates.is_night(at, policy.zone):
        return sending
    if not policy.postpones_night_ads:
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
    return sending._replace(scheduled_at=dates.next_night_end(at, policy.zone))


def _clean_or_empty(clean: Callable[[str], str], given: str) -> str:
    """Return a text cleaned, or nothing where it is refused: its receiver will be told so."""
    try:
        return clean(given)
    except Refused:
        return ""


def _check_shared_text(form: Form[Any], shared_text: str | None, check: Callable[[str], None], field: str) -> None:
    """Check once, for all receivers, a text that has no variables."""
    if shared_text is None:
        return
    try:
        check(shared_text)
    except Refused as refusal:
        form.add_refusal(refusal, field)


def _read_send_date(form: Form[Any], policy: Policy, now: Instant) -> Instant | None:
    return form.read_optional(
        "sendDate", lambda spelling: dates.parse_send_date(spelling, now, policy.zone, policy.max_days_ahead)
    )


def _read_fallback(form: Form[Any]) -> Fallback | None:
    number = form.read_optional("resendPhoneNumber", phone.parse_sender) if form.body.resendPhoneNumber else None
    content = form.read_optional("resendContent", _clean)
    if not form.body.resend:
        return None
    if not form.body.resendPhoneNumber:
        form.add(Problem(Code.MISSING_PARAMETER, "resendPhoneNumber"))
    return Fallback(number or "", content or None)


def read_image_field(form: Form[Any]) -> Image | None:
    """Return the image of a form, if it has one; what is wrong with it, `done` will say."""
    given: bodies.ImageBody | None = form.body.image
    if given is None or any(problem.field.startswith("image") for problem in form.problems):
        return None
    absent = [field for field in ("contentType", "fileName", "body") if not getattr(given, field)]
    for field in absent:
        form.add(Problem(Code.MISSING_PARAMETER, f"image.{field}"))
    if absent:
        return None
    return form.read_optional("image", lambda _: parse_image(given.contentType, given.fileName, given.body))


def read_buttons(form: Form[Any], given: Sequence[bodies.ButtonBody], limit: int) -> tuple[Button, ...]:
    """Return the buttons of a form; none where some are known to be wrong.

    Raises Refused(INVALID_BUTTON).
    """
    if any(problem.field.startswith("buttons") for problem in form.problems):
        return ()
    return parse_buttons(
        [{field: getattr(each, field) for field in each.__struct_fields__} for each in given], limit
    )


def _parse_friendtalk_type(word: str) -> Product:
    try:
        return FRIENDTALK_TYPES[word]
    except KeyError:
        allowed = ", ".join(FRIENDTALK_TYPES)
        detail = Text(f"허용되는 값: {allowed}", f"Allowed values: {allowed}")
        raise Refused(Code.INVALID_PARAMETER, detail=detail) from None


def parse_web_link(link: str) -> str:
    """Return a link that a browser opens.

    Raises Refused(INVALID_PARAMETER).
    """
    if not button.is_web_link(link) or len(link) > button.MAX_LINK_CHARACTERS:
        detail = Text(
            "http:// 나 https:// 로 시작하는 주소여야 합니다.",
            "It must be a link that starts with http(s)://.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return link


def _clean(given: str) -> str:
    """Return a text cleaned; one that is beyond all limits is not even looked at."""
    text.check_characters(given, text.MAX_INPUT_CHARACTERS)
    return text.normalize(given)


def _clean_and_replace(given: str) -> str:
    return text.replace_unsupported(_clean(given))


def _check_subject(subject: str) -> None:
    text.check_fits(subject, text.SUBJECT_MAX_BYTES)

"""From the body of a sending endpoint to a checked `Sending`: every rule on fields and receivers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pabal.checks.forms import Form
from pabal.checks.receivers import Fitted, as_it_is, checked, given_receivers, values_of
from pabal.domain import button, dates, phone, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Code, Problem, Refused, Words
from pabal.domain.dates import Instant
from pabal.domain.image import Image, read_image
from pabal.domain.message import Product
from pabal.domain.profile import Profile
from pabal.domain.sending import (
    MAX_BYTES,
    Fallback,
    Gauge,
    Sending,
    check_text,
    filled,
    filled_buttons,
)
from pabal.domain.template import MAX_EMPHASIS_CHARACTERS, Design
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
GAUGED_RECEIVERS = 4
"""From so many receivers on, measuring the template first makes up for itself."""


def text_message(product: Product, form: Form[Any], policy: Policy, now: Instant) -> Sending:
    """Return the checked send of an SMS, LMS or MMS.

    Raises Refused.
    """
    clean = cleaner(product, policy)
    is_titled = product is not Product.SMS
    subject = form.read_optional("subject", clean) if is_titled else None
    content = form.read("content", clean)
    scheduled_at = _send_date(form, policy, now)
    sender = form.read("sender", phone.sender)
    image = read_image_field(form) if product is Product.MMS else None
    given = given_receivers(form, policy)
    names = variables.names(content, subject)
    if not names:
        _check_shared(form, content, partial(check_text, product), "content")
        _check_shared(form, subject, _check_subject, "subject")
    form.done()

    fit = fit_text(product, content, subject, names, clean, len(given)) if names else as_it_is
    receivers = checked(form, given, fit)
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


def cleaner(product: Product, policy: Policy) -> Callable[[str], str]:
    """Return what cleans the texts of a product; it says no to what nothing may hold."""
    return _cleaned_and_carried if product.is_text and policy.replaces_characters else _cleaned


def fit_text(
    product: Product,
    content: str,
    subject: str | None,
    names: Sequence[str],
    clean: Callable[[str], str],
    receivers: int,
) -> Callable[[bodies.Receiver], Fitted]:
    """Return what gives so many receivers of a text message their values, and says no where a text does not fit."""
    fit = _fitted if receivers < GAUGED_RECEIVERS else _gauged
    return fit(product, content, subject, names, clean)


def _fitted(
    product: Product, content: str, subject: str | None, names: Sequence[str], clean: Callable[[str], str]
) -> Callable[[bodies.Receiver], Fitted]:
    """Return what gives a receiver of a text message its values, and says no where its text does not fit."""

    def fit(each: bodies.Receiver) -> Fitted:
        values = values_of(each, names, clean)
        check_text(product, filled(content, names, values))
        if subject is not None:
            _check_subject(filled(subject, names, values))
        return values, None

    return fit


def _gauged(
    product: Product, content: str, subject: str | None, names: Sequence[str], clean: Callable[[str], str]
) -> Callable[[bodies.Receiver], Fitted]:
    """Return the same as `_fitted`, quicker for many receivers."""
    gauges = [Gauge(content, names, partial(check_text, product), MAX_BYTES[product])]
    if subject is not None:
        gauges.append(Gauge(subject, names, _check_subject, text.SUBJECT_MAX_BYTES))

    def fit(each: bodies.Receiver) -> Fitted:
        values = values_of(each, names, clean)
        for gauge in gauges:
            gauge.check(values)
        return values, None

    return fit


def fitted_talk(
    product: Product, content: str, buttons: Sequence[Button], names: Sequence[str], title: str | None = None
) -> Callable[[bodies.Receiver], Fitted]:
    """Return what gives a receiver of a talk its values, and says no where its text or a link does not fit."""

    def fit(each: bodies.Receiver) -> Fitted:
        values = values_of(each, names, _cleaned)
        if title:
            text.check_characters(filled(title, names, values), MAX_EMPHASIS_CHARACTERS)
        check_text(product, filled(content, names, values))
        filled_buttons(buttons, names, values)
        return values, None

    return fit


def alimtalk_form(form: Form[bodies.SendAlimtalk], policy: Policy, now: Instant) -> "AlimtalkForm":
    """Return what can be checked of an Alimtalk before its profile and template are known.

    Raises Refused.
    """
    form.read("senderKey", text.cleaned)
    code = form.read("templateCode", text.cleaned)
    scheduled_at = _send_date(form, policy, now)
    fallback = _fallback(form)
    given_receivers(form, policy)
    form.done()
    checked(form, form.body.receivers, as_it_is)
    return AlimtalkForm(form, code, scheduled_at, fallback)


class AlimtalkForm:
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

    def sending(self, profile: Profile, template: Design) -> Sending:
        """Return the send of a template's text.

        Raises Refused: MISSING_VARIABLE, CONTENT_TOO_LONG, INVALID_BUTTON.
        """
        buttons = tuple(Button(**fields) for fields in template.buttons)  # type: ignore[arg-type]
        resent = self._fallback.content if self._fallback else None
        title = template.title
        names = variables.names(title, template.content, *button.links_of(buttons), resent)
        fit = fitted_talk(Product.ALIMTALK, template.content, buttons, names, title) if names else as_it_is
        receivers = checked(self._form, self._form.body.receivers, fit)
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


def friendtalk(form: Form[bodies.SendFriendtalk], policy: Policy, now: Instant) -> Sending:
    """Return the checked send of a friend talk, its profile and the time of day still to be looked at.

    Raises Refused.
    """
    body = form.body
    form.read("senderKey", text.cleaned)
    scheduled_at = _send_date(form, policy, now)
    is_ad = bool(body.adFlag)
    mark: Callable[[str], str] = text.marked_as_ad if is_ad else str
    product = form.read_optional("messageType", _friendtalk_type)
    image = read_image_field(form)
    if product is None:
        product = Product.FRIENDTALK_TEXT if body.image is None else Product.FRIENDTALK_IMAGE
    elif product is not Product.FRIENDTALK_TEXT and body.image is None:
        form.add(Problem(Code.MISSING_PARAMETER, "image"))
    content = form.read_optional("content", lambda given: mark(_cleaned(given))) if body.content else None
    image_link = form.read_optional("imageLink", web_link)
    fallback = _fallback(form)
    if fallback and fallback.content:
        fallback = fallback._replace(content=mark(fallback.content))
    most = button.MAX_BUTTONS_WIDE_IMAGE if product is Product.FRIENDTALK_WIDE_IMAGE else button.MAX_BUTTONS
    buttons = form.read_optional("buttons", lambda given: read_buttons(form, given, most)) or ()
    given = given_receivers(form, policy)
    if content is None and any(not each.content for each in given):
        form.add(Problem(Code.MISSING_PARAMETER, "content"))
    around = (*button.links_of(buttons), fallback.content if fallback else None)
    own = [_or_nothing(_cleaned, each.content) for each in given if each.content]
    names = variables.names(content, *around, *own)
    if not variables.names(content):
        _check_shared(form, content, partial(check_text, product), "content")
    form.done()

    def fit_own(each: bodies.TalkReceiver) -> Fitted:
        whole = mark(_cleaned(each.content)) if each.content else content or ""
        wanted = variables.names(whole, *around)
        known = dict(zip(wanted, values_of(each, wanted, _cleaned), strict=True))
        values = tuple(known.get(name, "") for name in names)
        check_text(product, filled(whole, names, values))
        filled_buttons(buttons, names, values)
        return values, whole if each.content else None

    fit: Callable[[Any], Fitted] = as_it_is
    if own:
        fit = fit_own
    elif names:
        fit = fitted_talk(product, content or "", buttons, names)
    receivers = checked(form, given, fit)
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


def at_a_decent_hour(sending: Sending, policy: Policy, now: Instant) -> Sending:
    """Return the send with an advertisement kept out of the night.

    Raises Refused(NIGHT_AD_RESTRICTED) unless the operator has such sends moved to the morning.
    """
    at = now if sending.scheduled_at is None else sending.scheduled_at
    if not sending.is_ad or not dates.is_night(at, policy.zone):
        return sending
    if not policy.moves_night_ads:
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
    return sending._replace(scheduled_at=dates.next_morning(at, policy.zone))


def _or_nothing(clean: Callable[[str], str], given: str) -> str:
    """Return a text cleaned, or nothing where it is refused: its receiver will be told so."""
    try:
        return clean(given)
    except Refused:
        return ""


def _check_shared(form: Form[Any], whole: str | None, check: Callable[[str], None], field: str) -> None:
    """Check once, for all receivers, a text that has no variables."""
    if whole is None:
        return
    try:
        check(whole)
    except Refused as refusal:
        form.add_all(refusal, field)


def _send_date(form: Form[Any], policy: Policy, now: Instant) -> Instant | None:
    return form.read_optional(
        "sendDate", lambda spelling: dates.send_at(spelling, now, policy.zone, policy.most_days_ahead)
    )


def _fallback(form: Form[Any]) -> Fallback | None:
    number = form.read_optional("resendPhoneNumber", phone.sender) if form.body.resendPhoneNumber else None
    content = form.read_optional("resendContent", _cleaned)
    if not form.body.resend:
        return None
    if not form.body.resendPhoneNumber:
        form.add(Problem(Code.MISSING_PARAMETER, "resendPhoneNumber"))
    return Fallback(number or "", content or None)


def read_image_field(form: Form[Any]) -> Image | None:
    """Return the image of a form, if it has one; what is wrong with it, `done` will say."""
    given: bodies.Image | None = form.body.image
    if given is None or any(problem.field.startswith("image") for problem in form.problems):
        return None
    absent = [field for field in ("contentType", "fileName", "body") if not getattr(given, field)]
    for field in absent:
        form.add(Problem(Code.MISSING_PARAMETER, f"image.{field}"))
    if absent:
        return None
    return form.read_optional("image", lambda _: read_image(given.contentType, given.fileName, given.body))


def read_buttons(form: Form[Any], given: Sequence[bodies.Button], most: int) -> tuple[Button, ...]:
    """Return the buttons of a form; none where some are known to be wrong.

    Raises Refused(INVALID_BUTTON).
    """
    if any(problem.field.startswith("buttons") for problem in form.problems):
        return ()
    return button.read_buttons(
        [{field: getattr(each, field) for field in each.__struct_fields__} for each in given], most
    )


def _friendtalk_type(word: str) -> Product:
    try:
        return FRIENDTALK_TYPES[word]
    except KeyError:
        allowed = ", ".join(FRIENDTALK_TYPES)
        detail = Words(f"허용되는 값: {allowed}", f"Allowed values: {allowed}")
        raise Refused(Code.INVALID_PARAMETER, detail=detail) from None


def web_link(link: str) -> str:
    """Return a link that a browser opens.

    Raises Refused(INVALID_PARAMETER).
    """
    if not button.is_web_link(link) or len(link) > button.MAX_LINK_CHARACTERS:
        detail = Words(
            "http:// 나 https:// 로 시작하는 주소여야 합니다.",
            "It must be a link that starts with http(s)://.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return link


def _cleaned(given: str) -> str:
    """Return a text cleaned; one that is beyond all limits is not even looked at."""
    text.check_characters(given, text.MAX_CHARACTERS)
    return text.cleaned(given)


def _cleaned_and_carried(given: str) -> str:
    return text.replaced(_cleaned(given))


def _check_subject(whole: str) -> None:
    text.check_fits(whole, text.SUBJECT_MAX_BYTES)

"""Checks the body of a friend talk and returns it as a `Sending`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from pabal.checks.alimtalk import make_talk_checker
from pabal.checks.call import ApiCall
from pabal.checks.choices import one_of
from pabal.checks.fields import (
    check_shared_text,
    clean,
    parse_web_link,
    read_buttons,
    read_fallback,
    read_image_field,
    read_send_date,
)
from pabal.checks.forms import Form
from pabal.checks.receivers import CheckedText, accept_unchanged, check_receivers, read_receivers, read_values
from pabal.domain import button, dates, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Code, Problem, Refused
from pabal.domain.dates import Instant
from pabal.domain.message import Product
from pabal.domain.sending import Fallback, Sending, check_text, fill_buttons, fill_text
from pabal.models import bodies
from pabal.service.policy import Policy
from pabal.service.sending.accept import get_usable_profile

FRIENDTALK_TYPES = {
    "friendTalkText": Product.FRIENDTALK_TEXT,
    "FT": Product.FRIENDTALK_TEXT,
    "friendTalkImage": Product.FRIENDTALK_IMAGE,
    "FI": Product.FRIENDTALK_IMAGE,
    "friendTalkWideImage": Product.FRIENDTALK_WIDE_IMAGE,
    "FW": Product.FRIENDTALK_WIDE_IMAGE,
}


class _Texts(NamedTuple):
    """The texts of a friend talk that may contain variables."""

    content: str | None
    buttons: Sequence[Button]
    fallback_content: str | None
    add_label: Callable[[str], str]
    """Puts the advertisement label in front of a text, or returns it as it is."""

    @property
    def other_texts(self) -> tuple[str | None, ...]:
        """Button links and the fallback text."""
        return (*button.links_of(self.buttons), self.fallback_content)


async def check_friendtalk(call: ApiCall) -> Sending:
    """Check a friend talk with its profile and the advertising hours; return it as a `Sending`.

    Raises Refused.
    """
    policy = call.context.policy
    sending = check_friendtalk_fields(call.form, policy, call.now)
    profile = await get_usable_profile(call.context, call.account_id, call.form.body.senderKey)
    sending = apply_ad_hours(sending, policy, call.now)
    return sending._replace(profile_id=profile.id)


def check_friendtalk_fields(form: Form[bodies.SendFriendtalk], policy: Policy, now: Instant) -> Sending:
    """Check the fields of a friend talk; return it as a `Sending`, without profile and advertising hours.

    Raises Refused.
    """
    body = form.body
    is_ad = bool(body.adFlag)
    add_label: Callable[[str], str] = text.add_ad_label if is_ad else str
    form.read("senderKey", text.normalize)
    scheduled_at = read_send_date(form, policy, now)
    product = form.read_optional("messageType", one_of(FRIENDTALK_TYPES))
    image = read_image_field(form)
    product = _choose_product(form, product)
    content = form.read_optional("content", lambda raw: add_label(clean(raw))) if body.content else None
    image_link = form.read_optional("imageLink", parse_web_link)
    fallback = _label_fallback(read_fallback(form), add_label)
    limit = button.MAX_BUTTONS_WIDE_IMAGE if product is Product.FRIENDTALK_WIDE_IMAGE else button.MAX_BUTTONS
    buttons = form.read_optional("buttons", lambda raw: read_buttons(form, raw, limit)) or ()
    receivers = read_receivers(form, policy)
    if content is None and any(not each.content for each in receivers):
        form.add(Problem(Code.MISSING_PARAMETER, "content"))
    if not variables.find_names(content):
        check_shared_text(form, content, partial(check_text, product), "content")
    form.raise_problems()

    texts = _Texts(content, buttons, fallback.content if fallback else None, add_label)
    own_texts = [_clean_or_empty(each.content) for each in receivers if each.content]
    names = variables.find_names(content, *texts.other_texts, *own_texts)
    check: Callable[[Any], CheckedText] = accept_unchanged
    if own_texts:
        check = _make_own_text_checker(product, texts, names)
    elif names:
        check = make_talk_checker(product, content or "", buttons, names)
    return Sending(
        product,
        content or "",
        check_receivers(form, receivers, check),
        scheduled_at,
        image=image,
        image_link=image_link,
        buttons=buttons,
        is_ad=is_ad,
        fallback=fallback,
        variables=names,
    )


def apply_ad_hours(sending: Sending, policy: Policy, now: Instant) -> Sending:
    """Return the send, with an advertisement at night postponed to the morning.

    Raises Refused(NIGHT_AD_RESTRICTED) for one at night unless `postpones_night_ads` is set.
    """
    at = now if sending.scheduled_at is None else sending.scheduled_at
    if not sending.is_ad or not dates.is_night(at, policy.zone):
        return sending
    if not policy.postpones_night_ads:
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
    return sending._replace(scheduled_at=dates.next_night_end(at, policy.zone))


def _choose_product(form: Form[bodies.SendFriendtalk], product: Product | None) -> Product:
    """Return the product that was asked for, else the one that suits; the image kinds need an image."""
    has_image = form.body.image is not None
    if product is None:
        return Product.FRIENDTALK_IMAGE if has_image else Product.FRIENDTALK_TEXT
    if product is not Product.FRIENDTALK_TEXT and not has_image:
        form.add(Problem(Code.MISSING_PARAMETER, "image"))
    return product


def _label_fallback(fallback: Fallback | None, add_label: Callable[[str], str]) -> Fallback | None:
    if fallback and fallback.content:
        return fallback._replace(content=add_label(fallback.content))
    return fallback


def _make_own_text_checker(
    product: Product, texts: _Texts, names: Sequence[str]
) -> Callable[[bodies.FriendtalkReceiverBody], CheckedText]:
    """Return a checker for a request in which some receivers have their own text."""

    def check(receiver: bodies.FriendtalkReceiverBody) -> CheckedText:
        content = texts.add_label(clean(receiver.content)) if receiver.content else texts.content or ""
        wanted = variables.find_names(content, *texts.other_texts)
        known = dict(zip(wanted, read_values(receiver, wanted, clean), strict=True))
        values = tuple(known.get(name, "") for name in names)
        check_text(product, fill_text(content, names, values))
        fill_buttons(texts.buttons, names, values)
        return values, content if receiver.content else None

    return check


def _clean_or_empty(given: str) -> str:
    """Return a clean text, or an empty one if it is refused: `check_receivers` reports that."""
    try:
        return clean(given)
    except Refused:
        return ""

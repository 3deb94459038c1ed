"""Checks the body of a friend talk and returns it as a `Sending`."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pabal.checks.body.call import ApiCall
from pabal.checks.body.fields import (
    check_shared_text,
    clean_template,
    one_of,
    parse_web_link,
    read_buttons,
    read_expire_minutes,
    read_fallback,
    read_image_field,
    read_send_date,
)
from pabal.checks.body.forms import Form
from pabal.checks.sends.receivers import accept_unchanged, check_receivers, read_receivers
from pabal.checks.sends.talk_texts import TalkTexts
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.brand.rules import check_picture
from pabal.domain.content import button, text, variables
from pabal.domain.content.image import MAX_IMAGE_BYTES, Image
from pabal.domain.sends.field_warning import FieldWarning, WarningCode
from pabal.domain.sends.message import BRAND_TYPE_OF_FRIEND_TALK, Product
from pabal.domain.sends.sending import MAX_CHARACTERS, Fallback, Sending, check_text
from pabal.models import bodies
from pabal.service.policy import Policy
from pabal.service.sending.preconditions import get_usable_profile

FRIENDTALK_TYPES = {
    "friendTalkText": Product.FRIENDTALK_TEXT,
    "FT": Product.FRIENDTALK_TEXT,
    "friendTalkImage": Product.FRIENDTALK_IMAGE,
    "FI": Product.FRIENDTALK_IMAGE,
    "friendTalkWideImage": Product.FRIENDTALK_WIDE_IMAGE,
    "FW": Product.FRIENDTALK_WIDE_IMAGE,
}


async def check_friendtalk(call: ApiCall) -> Sending:
    """Check a friend talk with its profile and the advertising hours; return it as a `Sending`.

    Raises Refused.
    """
    policy = call.context.policy
    sending = check_friendtalk_fields(call.form, policy, call.now)
    profile = await get_usable_profile(call.context, call.account_id, call.form.body.senderKey)
    sending = apply_ad_hours(sending, policy, call.now, call.form)
    return sending._replace(profile_id=profile.id)


def check_friendtalk_fields(form: Form[bodies.SendFriendtalk], policy: Policy, now: Instant) -> Sending:
    """Check the fields of a friend talk; return it as a `Sending`, without profile and advertising hours.

    Raises Refused.
    """
    body = form.body
    form.read("senderKey", text.normalize)
    scheduled_at = read_send_date(form, policy, now)
    expire_minutes = read_expire_minutes(form)
    product = form.read_optional("messageType", one_of(FRIENDTALK_TYPES))
    product = _choose_product(form, product)
    image = read_image_field(form, policy.image_limits_of(product))
    brand = BrandMessage(BRAND_TYPE_OF_FRIEND_TALK[product]) if policy.sends_as_brand(product) else None
    if brand and image:
        _check_brand_picture(form, BRAND_TYPE_OF_FRIEND_TALK[product], image)
    add_label: Callable[[str], str] = text.add_ad_label if body.adFlag and brand is None else str
    content = form.read_optional("content", lambda raw: add_label(clean_template(raw))) if body.content else None
    image_link = form.read_optional("imageLink", parse_web_link)
    fallback = _label_fallback(read_fallback(form), add_label)
    limit = button.MAX_BUTTONS_WIDE_IMAGE if product is Product.FRIENDTALK_WIDE_IMAGE else button.MAX_BUTTONS
    buttons = (
        form.read_optional("buttons", lambda raw: read_buttons(form, raw, limit, button.FRIENDTALK_BUTTON_TYPES))
        or ()
    )
    receivers = read_receivers(form, policy)
    if content is None and any(not each.content for each in receivers):
        form.add(Problem(Code.MISSING_PARAMETER, "content"))
    if not variables.find_names(content):
        check_shared_text(form, content, partial(check_text, product), "content")
    form.raise_problems()

    texts = TalkTexts(
        content,
        buttons,
        fallback.content if fallback else None,
        max_characters=MAX_CHARACTERS[product],
        add_label=add_label,
    )
    has_own_texts = any(each.content for each in receivers)
    names = texts.find_names(has_own_texts=has_own_texts)
    check = texts.make_checker(names) if names or has_own_texts else accept_unchanged
    return Sending(
        product,
        content or "",
        check_receivers(form, receivers, check),
        scheduled_at,
        images=(image,) if image else (),
        image_link=image_link,
        buttons=buttons,
        is_ad=bool(body.adFlag) or brand is not None,
        fallback=fallback,
        variables=names,
        expire_minutes=expire_minutes,
        brand=brand,
    )


def _check_brand_picture(form: Form[Any], kind: BrandType, image: Image) -> None:
    """Refuse a picture whose shape no brand message has; warn of a small one, which is always accepted."""
    try:
        check_picture(kind, image)
    except Refused as refused:
        if len(image.body) > MAX_IMAGE_BYTES:
            form.add_refusal(refused, "image")
        else:
            form.warn(FieldWarning(WarningCode.UNSUITABLE_IMAGE, "image.body", refused.problems[0].detail))


def apply_ad_hours(sending: Sending, policy: Policy, now: Instant, form: Form[Any] | None = None) -> Sending:
    """Return the send, with an advertisement at night postponed to the morning; the form gets a warning.

    Raises Refused(NIGHT_AD_RESTRICTED) for one at night unless `postpones_night_ads` is set.
    """
    at = now if sending.scheduled_at is None else sending.scheduled_at
    if not sending.is_ad or not dates.is_night(at, policy.zone):
        return sending
    if not policy.postpones_night_ads:
        raise Refused(Code.NIGHT_AD_RESTRICTED, "sendDate")
    morning = dates.next_night_end(at, policy.zone)
    if form:
        shown = dates.format_timestamp(morning, policy.zone)
        form.warn(
            FieldWarning(
                WarningCode.POSTPONED_TO_MORNING,
                "sendDate",
                Text(f"{shown}에 보냅니다.", f"It is sent at {shown}."),
            )
        )
    return sending._replace(scheduled_at=morning)


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

"""Checks the body of a brand message and returns it as a `Sending`."""

from collections.abc import Sequence
from itertools import islice

import msgspec
from msgspec import structs

from pabal.checks.body.call import ApiCall
from pabal.checks.body.fields import (
    clean_template,
    clean_values,
    one_of,
    parse_web_link,
    read_buttons,
    read_expire_minutes,
    read_fallback,
    read_image_field,
    read_send_date,
)
from pabal.checks.body.forms import Form
from pabal.checks.sends.friendtalk import apply_ad_hours
from pabal.checks.sends.receivers import CheckedText, check_receivers, read_receivers, read_values
from pabal.checks.sends.talk_texts import TalkTexts
from pabal.domain.base.codes import MAX_PROBLEMS, Code, Problem, Refused, Text, at_most_characters
from pabal.domain.base.dates import Instant
from pabal.domain.brand import limits, rules
from pabal.domain.brand.buttons import check_own_buttons
from pabal.domain.brand.message import BrandAttachment, BrandMessage, BrandType, Targeting
from pabal.domain.brand.report import Report, check_line_breaks
from pabal.domain.content import text, variables
from pabal.domain.content.button import Button
from pabal.domain.people import phone
from pabal.domain.sends.filled import LengthChecker
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Sending
from pabal.models.bodies import FriendtalkReceiverBody
from pabal.models.brand_bodies import AttachmentBody, SendBrandMessage
from pabal.service.policy import Policy
from pabal.service.sending.preconditions import get_usable_profile

BRAND_TYPES = {each.value: each for each in BrandType}
TARGETINGS = {each.value: each for each in Targeting}
_FREE_FORM_FIELDS = ("messageType", "content", "image", "imageLink", "attachment", "buttons", "adult")
_TEMPLATE_HAS_IT = Text(
    "templateCode를 쓰면 템플릿의 내용으로 보내므로 함께 쓸 수 없습니다.",
    "It cannot be used with templateCode: the template decides.",
)
_TEMPLATE_HAS_TEXT = Text(
    "templateCode를 쓰면 수신자별 content를 쓸 수 없습니다.", "A receiver has no own content with templateCode."
)
_NO_TEXT = Text("이 형식에는 본문이 없습니다.", "A message of this type has no text.")
_GIVEN_TWICE = Text("attachment와 함께 쓸 수 없습니다. 하나만 쓰세요.", "It is also in the attachment; give one.")
_NO_NUMBER = Text("optOutNumber와 함께 쓰세요.", "Use it with optOutNumber.")


async def check_brand_message(call: ApiCall) -> Sending:
    """Check a brand message with its profile and the advertising hours; return it as a `Sending`.

    Raises Refused.
    """
    policy = call.context.policy
    sending = check_brand_fields(call.form, policy, call.now)
    profile = await get_usable_profile(call.context, call.account_id, call.form.body.senderKey)
    return apply_ad_hours(sending, policy, call.now, call.form)._replace(profile_id=profile.id)


def check_brand_fields(form: Form[SendBrandMessage], policy: Policy, now: Instant) -> Sending:
    """Check the fields of a brand message; return it as a `Sending`, without profile and advertising hours.

    Raises Refused.
    """
    form.read("senderKey", text.normalize)
    code = form.read_optional("templateCode", _parse_template_code) if form.body.templateCode else None
    shared = Sending(
        Product.BRAND_MESSAGE,
        "",
        (),
        read_send_date(form, policy, now),
        is_ad=True,
        expire_minutes=read_expire_minutes(form),
        opt_out_number=form.read_optional("optOutNumber", phone.parse_opt_out),
        template_code=code,
    )
    targeting = form.read_optional("targeting", one_of(TARGETINGS)) or Targeting.FRIENDS
    auth_number = form.read_optional("optOutAuthNumber", rules.parse_opt_out_auth_number)
    if auth_number is not None and form.body.optOutNumber is None:
        form.add(Problem(Code.INVALID_PARAMETER, "optOutAuthNumber", _NO_NUMBER))
    brand = BrandMessage(
        targeting=targeting,
        opt_out_auth_number=auth_number,
        is_adult=form.body.adult is True,
        is_silent=form.body.pushAlarm is False,
    )
    if form.body.templateCode:
        return _check_template(form, policy, shared, brand)
    return _check_free_form(form, policy, shared, brand)


def _parse_template_code(given: str) -> str:
    if len(given) > limits.MAX_TEMPLATE_CODE_CHARACTERS:
        limit = limits.MAX_TEMPLATE_CODE_CHARACTERS
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(limit))
    return text.normalize(given)


def _check_template(form: Form[SendBrandMessage], policy: Policy, shared: Sending, brand: BrandMessage) -> Sending:
    """Return a send by a template of the relay: it has the values of its variables, and no text that we know."""
    for field in _FREE_FORM_FIELDS:
        if getattr(form.body, field) is not None:
            form.add(Problem(Code.INVALID_PARAMETER, field, _TEMPLATE_HAS_IT))
    fallback = read_fallback(form)
    if fallback and not fallback.content:
        form.add(Problem(Code.MISSING_PARAMETER, "resendContent"))
    receivers = read_receivers(form, policy)
    _refuse_own_texts(form, receivers, _TEMPLATE_HAS_TEXT)
    form.raise_problems()

    content = fallback.content if fallback else None
    names = _parameter_names(receivers, content)
    checker = LengthChecker(content or "", names, text.MAX_INPUT_CHARACTERS)

    def check(receiver: FriendtalkReceiverBody) -> CheckedText:
        values = read_values(receiver, names, _clean_parameters)
        checker.check(values)
        return values, None

    return shared._replace(
        receivers=check_receivers(form, receivers, check), fallback=fallback, variables=names, brand=brand
    )


def _parameter_names(receivers: Sequence[FriendtalkReceiverBody], fallback_content: str | None) -> tuple[str, ...]:
    """Return the names of all values that any receiver has: which of them the template uses, the relay knows.

    Raises Refused(INVALID_PARAMETER) for too many, or for a name that is too long.
    """
    found = dict.fromkeys(variables.find_names(fallback_content))
    for index, receiver in enumerate(receivers):
        for key in receiver.templateData or ():
            name = key[2:-1] if key.startswith("#{") and key.endswith("}") else key
            if len(name) > limits.MAX_PARAMETER_CHARACTERS:
                raise _too_long_parameter(f"receivers[{index}].templateData")
            found[name] = None
        if len(found) > limits.MAX_PARAMETERS:
            limit = limits.MAX_PARAMETERS
            detail = Text(f"변수는 {limit}개까지 쓸 수 있습니다.", f"At most {limit} variables.")
            raise Refused(Code.INVALID_PARAMETER, f"receivers[{index}].templateData", detail)
    return tuple(dict.fromkeys(map(text.normalize, found)))


def _clean_parameters(values: Sequence[str]) -> Sequence[str]:
    if any(len(value) > limits.MAX_PARAMETER_CHARACTERS for value in values):
        raise _too_long_parameter("")
    return clean_values(values)


def _too_long_parameter(field: str) -> Refused:
    return Refused(Code.INVALID_PARAMETER, field, at_most_characters(limits.MAX_PARAMETER_CHARACTERS))


def _check_free_form(form: Form[SendBrandMessage], policy: Policy, shared: Sending, brand: BrandMessage) -> Sending:
    body = form.body
    kind = form.read_optional("messageType", one_of(BRAND_TYPES))
    image = read_image_field(form, policy.image_limits_of(Product.BRAND_MESSAGE))
    if kind is None:
        kind = BrandType.IMAGE if body.image is not None else BrandType.TEXT
    if image is not None:
        form.read_optional("image", lambda _: rules.check_picture(kind, image))
    content = _read_content(form, kind)
    attachment = _read_attachment(form, kind)
    image_link = form.read_optional("imageLink", _parse_link) if body.imageLink else None
    _check_image(form, kind, attachment)
    fallback = read_fallback(form)
    buttons = _read_buttons(form, kind, attachment)
    receivers = read_receivers(form, policy)
    _check_text_is_given(form, kind, receivers)
    if fallback and not fallback.content and not rules.RULES[kind].needs_text and not body.content:
        form.add(Problem(Code.MISSING_PARAMETER, "resendContent"))
    form.raise_problems()

    texts = brand_texts(kind, content, buttons, fallback.content if fallback else None)
    has_own_texts = any(each.content for each in receivers)
    names = texts.find_names(has_own_texts=has_own_texts)
    return shared._replace(
        content=content or "",
        receivers=check_receivers(form, receivers, texts.make_checker(names)),
        images=(image,) if image else (),
        image_link=image_link,
        buttons=buttons,
        fallback=fallback,
        variables=names,
        brand=structs.replace(brand, type=kind, attachment=attachment),
    )


def _parse_link(given: str) -> str:
    if len(given) > limits.MAX_LINK_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(limits.MAX_LINK_CHARACTERS))
    return parse_web_link(given)


def _read_content(form: Form[SendBrandMessage], kind: BrandType) -> str | None:
    if not form.body.content:
        return None
    if not rules.RULES[kind].max_characters:
        form.add(Problem(Code.INVALID_PARAMETER, "content", _NO_TEXT))
        return None
    content = form.read_optional("content", clean_template)
    if content is not None and not variables.find_names(content):
        try:
            check_text(kind, content)
        except Refused as refused:
            form.add_refusal(refused, "content")
    return content


def check_text(kind: BrandType, content: str) -> None:
    """Raises Refused(CONTENT_TOO_LONG) for the text of a brand message that has too many characters or lines."""
    text.check_characters(content, rules.RULES[kind].max_characters)
    check_line_breaks(content.count("\n"), rules.RULES[kind].max_line_breaks)


def _read_attachment(form: Form[SendBrandMessage], kind: BrandType) -> BrandAttachment:
    is_bad = any(problem.field.startswith("attachment") for problem in form.problems)
    given = AttachmentBody() if is_bad else form.body.attachment or AttachmentBody()
    attachment = msgspec.convert(msgspec.to_builtins(given), BrandAttachment)
    problems = [] if is_bad else rules.find_problems(kind, attachment)
    for problem in problems:
        form.add(problem)
    return BrandAttachment() if problems else rules.normalize_part(attachment)


def _check_image(form: Form[SendBrandMessage], kind: BrandType, attachment: BrandAttachment) -> None:
    """Check that a type with an image has one, given in one of two ways, and that others have none."""
    body, needs_image = form.body, rules.RULES[kind].needs_image
    for field in ("image", "imageLink"):
        if not getattr(body, field):
            continue
        if attachment.image is not None:
            form.add(Problem(Code.INVALID_PARAMETER, field, _GIVEN_TWICE))
        elif not needs_image:
            detail = Text(f"{kind.value}에는 쓸 수 없습니다.", f"A message of type {kind.value} does not have it.")
            form.add(Problem(Code.INVALID_PARAMETER, field, detail))
    has_any = body.image is not None or (body.attachment is not None and body.attachment.image is not None)
    if needs_image and not has_any:
        form.add(Problem(Code.MISSING_PARAMETER, "image"))


def _read_buttons(form: Form[SendBrandMessage], kind: BrandType, attachment: BrandAttachment) -> tuple[Button, ...]:
    given = form.body.buttons
    type_rules = rules.RULES[kind]
    if given is None:
        has_others = form.body.attachment is not None and form.body.attachment.buttons is not None
        if type_rules.min_buttons and not has_others:
            form.add(Problem(Code.MISSING_PARAMETER, "buttons"))
        return ()
    if attachment.buttons is not None:
        form.add(Problem(Code.INVALID_PARAMETER, "buttons", _GIVEN_TWICE))
        return ()
    limit = rules.max_buttons(kind, attachment)
    buttons = form.read_optional("buttons", lambda raw: read_buttons(form, raw, limit)) or ()
    if type_rules.min_buttons and not given:
        form.add(Problem(Code.MISSING_PARAMETER, "buttons"))
    report = Report()
    check_own_buttons(report, buttons, kind, type_rules.max_name_characters)
    for problem in report.problems:
        form.add(problem)
    return buttons


def _check_text_is_given(
    form: Form[SendBrandMessage], kind: BrandType, receivers: Sequence[FriendtalkReceiverBody]
) -> None:
    if not rules.RULES[kind].max_characters:
        _refuse_own_texts(form, receivers, _NO_TEXT)
    elif rules.RULES[kind].needs_text and not form.body.content and any(not each.content for each in receivers):
        form.add(Problem(Code.MISSING_PARAMETER, "content"))


def _refuse_own_texts(
    form: Form[SendBrandMessage], receivers: Sequence[FriendtalkReceiverBody], detail: Text
) -> None:
    wrong = (index for index, each in enumerate(receivers) if each.content)
    form.problems += [
        Problem(Code.INVALID_PARAMETER, f"receivers[{index}].content", detail)
        for index in islice(wrong, MAX_PROBLEMS)
    ]


def brand_texts(
    kind: BrandType, content: str | None, buttons: Sequence[Button], fallback_content: str | None
) -> TalkTexts:
    """Return the texts of a brand message in free form, with the limits of its type."""
    return TalkTexts(
        content,
        buttons,
        fallback_content,
        max_characters=rules.RULES[kind].max_characters,
        max_line_breaks=rules.RULES[kind].max_line_breaks,
        max_link=limits.MAX_LINK_CHARACTERS,
    )

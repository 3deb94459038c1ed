"""From the body of an Alimtalk to a checked `Sending`."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pabal.checks.body.call import ApiCall
from pabal.checks.body.fields import clean_values, read_expire_minutes, read_fallback, read_send_date
from pabal.checks.body.forms import Form
from pabal.checks.sends.one_time_codes import lifetime_of, read_is_code, refuse_advertising
from pabal.checks.sends.receivers import CheckedText, accept_unchanged, check_receivers, read_receivers, read_values
from pabal.checks.template_parts import NOT_AN_AMOUNT
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.domain.content import text, variables
from pabal.domain.content.button import MAX_LINK_CHARACTERS, MAX_TEMPLATE_LINK_CHARACTERS, Button
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import MAX_EMPHASIS_CHARACTERS, TemplateContent
from pabal.domain.kakao.template_parts import MAX_CONTENT_CHARACTERS_WITH_ITEMS, NO_PARTS, TemplateParts, is_amount
from pabal.domain.sends.filled import ButtonChecker, LengthChecker
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import MAX_CHARACTERS, Fallback, Receiver, Sending, fill_text
from pabal.models import bodies
from pabal.service.policy import Policy
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template


async def check_alimtalk(call: ApiCall) -> Sending:
    """Return the checked send of an Alimtalk.

    Raises Refused.
    """
    fields = check_alimtalk_fields(call.form, call.context.policy, call.now)
    profile = await get_usable_profile(call.context, call.account_id, call.form.body.senderKey)
    template = await get_usable_template(call.context, profile, fields.template_code)
    return fields.complete(profile, template)


def check_alimtalk_fields(form: Form[bodies.SendAlimtalk], policy: Policy, now: Instant) -> "AlimtalkFields":
    """Return an Alimtalk checked as far as possible without its profile and template.

    Raises Refused.
    """
    form.read("senderKey", text.normalize)
    code = form.read("templateCode", text.normalize)
    scheduled_at = read_send_date(form, policy, now)
    is_code = read_is_code(form)
    expire_minutes = lifetime_of(read_expire_minutes(form), is_code=is_code)
    fallback = read_fallback(form)
    read_receivers(form, policy)
    form.raise_problems()
    receivers = check_receivers(form, form.body.receivers, accept_unchanged)
    return AlimtalkFields(form, code, scheduled_at, expire_minutes, fallback, receivers, is_code)


class AlimtalkFields(NamedTuple):
    """The checked fields of an Alimtalk; `complete` adds profile and template."""

    form: Form[bodies.SendAlimtalk]
    template_code: str
    scheduled_at: Instant | None
    expire_minutes: int | None
    fallback: Fallback | None
    receivers: Sequence[Receiver]
    is_code: bool

    def complete(self, profile: Profile, template: TemplateContent) -> Sending:
        """Return the send of a template's text.

        Raises Refused: MISSING_VARIABLE, CONTENT_TOO_LONG, INVALID_BUTTON, INVALID_PARAMETER.
        """
        buttons = template.buttons
        fallback_content = self.fallback.content if self.fallback else None
        title = template.title
        names = variables.find_names(*template.texts, fallback_content)
        receivers = self.receivers
        if names:
            check = make_talk_checker(
                Product.ALIMTALK, template.content, buttons, names, title, fallback_content, template.parts
            )
            receivers = self._read_values(check)
        if self.is_code:
            texts = {"templateCode": template.content, "resendContent": fallback_content}
            refuse_advertising(texts, names, receivers)
        return Sending(
            Product.ALIMTALK,
            template.content,
            receivers,
            self.scheduled_at,
            subject=title,
            buttons=buttons,
            fallback=self.fallback,
            profile_id=profile.id,
            template_code=self.template_code,
            variables=names,
            expire_minutes=self.expire_minutes,
            parts=template.parts,
            is_code=self.is_code,
        )

    def _read_values(self, check: Callable[[bodies.ReceiverBody], CheckedText]) -> Sequence[Receiver]:
        """Return the receivers with their values; everything else about them has been checked.

        Raises Refused naming every bad receiver, by index.
        """
        given = self.form.body.receivers
        try:
            return [
                Receiver(known.phone, check(receiver)[0], None, known.reference)
                for known, receiver in zip(self.receivers, given, strict=True)
            ]
        except Refused:
            return check_receivers(self.form, given, check)


def make_talk_checker(
    product: Product,
    content: str,
    buttons: Sequence[Button],
    names: Sequence[str],
    title: str | None = None,
    fallback_content: str | None = None,
    parts: TemplateParts = NO_PARTS,
) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return a function that reads a receiver's values and refuses them if a text or link is then invalid."""
    most = MAX_CONTENT_CHARACTERS_WITH_ITEMS if parts.items else MAX_CHARACTERS[product]
    limits = [(title, MAX_EMPHASIS_CHARACTERS), (content, most), *parts.limited_texts]
    limits.append((fallback_content, text.MAX_INPUT_CHARACTERS))
    checkers = [LengthChecker(each, names, limit) for each, limit in limits if each]
    max_link = MAX_TEMPLATE_LINK_CHARACTERS if product is Product.ALIMTALK else MAX_LINK_CHARACTERS
    button_checker = ButtonChecker((*buttons, *parts.buttons), names, max_link)
    summary = (
        parts.summary.description if parts.summary and variables.find_names(parts.summary.description) else None
    )

    def check(receiver: bodies.ReceiverBody) -> CheckedText:
        values = read_values(receiver, names, clean_values)
        for checker in checkers:
            checker.check(values)
        button_checker.check(values)
        if summary is not None and not is_amount(fill_text(summary, names, values)):
            raise Refused(Code.INVALID_PARAMETER, detail=NOT_AN_AMOUNT)
        return values, None

    return check

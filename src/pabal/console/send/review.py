"""The review of a draft: its size, its receivers, its errors, and its preview."""

import asyncio
import hashlib
import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pabal.checks.body.call import ApiCall
from pabal.checks.body.forms import Form
from pabal.checks.sends.alimtalk import check_alimtalk, check_alimtalk_fields
from pabal.checks.sends.brand import check_brand_fields, check_brand_message
from pabal.checks.sends.friendtalk import apply_ad_hours, check_friendtalk, check_friendtalk_fields
from pabal.checks.sends.receivers import check_receivers
from pabal.checks.sends.text_messages import check_text_message
from pabal.console.send import preview, typed_receivers
from pabal.console.send.draft import ALIMTALK, FRIENDTALK, MessageDraft, write_roles
from pabal.console.send.field_errors import errors_by_field
from pabal.console.send.preview import ComposedMessage, MessagePreview
from pabal.console.send.typed_receivers import TypedReceiver, TypedReceivers
from pabal.console.sheets.mapping import FIELD
from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.problem_texts import RECEIVER_FIELD, group_by_receiver, is_missing
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content.advertising import begins_like_ad
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.people import phone
from pabal.domain.people.contact import values_of
from pabal.domain.sends.sending import Sending
from pabal.models import bodies
from pabal.service.access.contacts import contacts
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template

MAX_TYPED_RECEIVERS = 1000
"""All of them are validated whenever someone stops typing, within about 20 ms."""
SHOWN_VALID_ROWS = 10
SHOWN_INVALID_ROWS = 20
SHOWN_COLUMNS = 20
"""Variables in the table of receivers: a text of the largest size has 2,500, and each row would show them."""
SHOWN_NAME_CHARACTERS = 50
DATE_WITHOUT_SCHEDULE = Text(
    "예약하려면 ‘예약 발송’을 선택하고, 지금 보내려면 시각을 비우세요.",
    "Tick the box to schedule it, or clear the date to send it now.",
)
NO_AD_SENDER = Text(
    "광고 문자에는 보내는 사람의 이름(상호)을 밝혀야 합니다.", "An advertisement by text must name who sends it."
)


class ReceiverRow(NamedTuple):
    """A receiver as the page shows it."""

    line_number: int
    phone_number: str
    cells: list[str]
    error: str = ""
    is_duplicate: bool = False
    is_too_long: bool = False


class Review(NamedTuple):
    """What the page shows of a draft."""

    draft: MessageDraft
    message: ComposedMessage
    receivers: TypedReceivers
    columns: list[str]
    """The names of the first variables, shortened."""
    has_more_columns: bool
    rows: list[ReceiverRow]
    """The valid ones of the first receivers and of the first duplicates."""
    invalid_rows: list[ReceiverRow]
    errors: dict[str, str]
    """Errors by the field that they are shown at."""
    preview: MessagePreview
    night_key: str
    """The key of the text about night hours, if they affect the message."""
    opt_out_number: str
    """The number for opting out that an advertisement has by default, if any."""
    is_upgraded: bool = False
    """Whether it is an SMS that is sent as an LMS, because it is too long."""
    morning: str = ""
    """When advertisements may be sent again, as the field of the form has it, if the night affects the message."""
    has_values: bool = False
    """Whether a receiver is known whose values the preview shows."""

    @property
    def sent_draft(self) -> MessageDraft:
        """The draft as it is sent."""
        return preview.as_lms(self.draft) if self.is_upgraded else self.draft

    @property
    def lacks_columns(self) -> bool:
        """Whether variables have no column in the table that was pasted."""
        held = {each.role for each in self.receivers.columns}
        return any(f"{FIELD}{name}" not in held for name in self.message.variables)

    @property
    def columns_guess(self) -> str:
        """What the columns hold as they are shown, which is no choice unless it is changed."""
        return write_roles([each.role for each in self.receivers.columns]) if not self.draft.columns else ""

    @property
    def sendable(self) -> list[TypedReceiver]:
        """The receivers to send to: the valid ones.

        All of them where nobody is valid, and where a scheduled request is edited, so that what is wrong is told.
        """
        bad = {each.line_number for each in self.invalid_rows}
        valid = [line for line in self.receivers.entries if line.line_number not in bad]
        return valid if valid and not self.draft.texts["edits"] else self.receivers.entries

    @property
    def left_out_count(self) -> int:
        """How many lines are not sent to, because they are not valid."""
        return len(self.receivers.entries) - len(self.sendable)

    @property
    def valid_count(self) -> int:
        """How many receivers can be sent to; if there are too many of them, how many were typed."""
        looked_at = {each.line_number for each in (*self.receivers.entries, *self.receivers.duplicates)}
        if self.receivers.total > len(looked_at):
            return self.receivers.total
        return len(self.receivers.entries) - len(self.invalid_rows)


async def review_draft(request: PageRequest, draft: MessageDraft, groups: Collection[int] = ()) -> Review:
    """Return the review of a draft; fields that are still empty are no errors.

    Its preview shows the first typed receiver, or else the first contact of these groups.
    An SMS that is too long is reviewed as the LMS that it becomes, where the account's owners want that.
    """
    found = await _review_as(request, draft, groups)
    is_too_long = found.preview.size.is_over or any(each.is_too_long for each in found.invalid_rows)
    if is_too_long and await preview.is_upgrade_wanted(request.context, request.account_id, draft.kind.word):
        return (await _review_as(request, preview.as_lms(draft), groups))._replace(draft=draft, is_upgraded=True)
    return found


async def _review_as(request: PageRequest, draft: MessageDraft, groups: Collection[int]) -> Review:
    policy = request.context.policy
    profile, template = await _chosen_profile_and_template(request, draft)
    default_number = await preview.default_opt_out_number(request.context, request.account_id, is_ad=draft.is_ad)
    message = preview.compose_message(draft, template, policy, default_number)
    typed = typed_receivers.read_receivers(
        draft.texts["receivers"],
        message.variables,
        _max_receivers(request),
        skips_duplicates=draft.checkboxes["once"],
        chosen=draft.columns,
    )
    await asyncio.sleep(0)  # other calls run between reading and checking
    call = _api_call(request, draft, typed.entries[:1], default_number)
    found = [*_field_problems(draft, call), *_schedule_problems(draft)]
    empty = () if draft.texts["sendDate"] else ("sendDate",)
    problems = [each for each in found if not is_missing(each) and each.field not in empty]
    invalid_rows = _invalid_rows(request, draft, message, typed)
    sender = _sender(draft, profile)
    values = _first_valid_values(typed, invalid_rows) if typed.entries else await _contact_values(request, groups)
    night_key, morning = _night(request, draft, message)
    return Review(
        draft=draft,
        message=message,
        receivers=typed,
        columns=[_shorten(name) for name in message.variables[:SHOWN_COLUMNS]],
        has_more_columns=len(message.variables) > SHOWN_COLUMNS,
        rows=_valid_rows(request, message, typed, {each.line_number for each in invalid_rows}),
        invalid_rows=invalid_rows,
        errors=errors_by_field(request, problems, draft.fields),
        preview=preview.build_preview(draft, message, template, sender, values, policy),
        night_key=night_key,
        opt_out_number=default_number,
        morning=morning,
        has_values=bool(values) or bool(typed.entries),
    )


async def build_sending(request: PageRequest, review: Review) -> Sending:
    """Return the checked send of a draft to its valid receivers.

    Raises Refused.
    """
    problems = [
        *_schedule_problems(review.draft),
        *ad_problems(review.draft),
        *_receiver_problems(request, review.receivers, review.sendable),
    ]
    if problems:
        raise Refused.from_problems(problems)
    await asyncio.sleep(0)  # other calls run between the review and the check
    return await build_sending_to(request, review.sent_draft, review.sendable)


async def build_sending_to(
    request: PageRequest, draft: MessageDraft, receivers: Sequence[TypedReceiver]
) -> Sending:
    """Return the checked send of a draft to these receivers.

    Raises Refused as the API does, and for an advertisement by text message at night.
    """
    default_number = await preview.default_opt_out_number(request.context, request.account_id, is_ad=draft.is_ad)
    call = _api_call(request, draft, receivers, default_number)
    if draft.kind.word == ALIMTALK:
        return await check_alimtalk(call)
    if draft.kind.word == FRIENDTALK:
        return await check_friendtalk(call)
    if draft.is_brand:
        return await check_brand_message(call)
    policy = request.context.policy
    found = check_text_message(draft.product, call.form, policy, call.now, call.opt_out_number)
    return apply_ad_hours(found, policy, call.now)


def first_values(receivers: TypedReceivers) -> dict[str, str]:
    """Return the values of the first receiver, empty if there is none."""
    return receivers.entries[0].values if receivers.entries else {}


def _first_valid_values(receivers: TypedReceivers, invalid: Sequence[ReceiverRow]) -> dict[str, str]:
    bad = {each.line_number for each in invalid}
    valid = (line.values for line in receivers.entries if line.line_number not in bad)
    return next(valid, first_values(receivers))


async def _contact_values(request: PageRequest, groups: Collection[int]) -> dict[str, str]:
    """Return the values of the first contact of these groups, empty without groups."""
    found = await contacts.list_some(request.context, request.account_id, [*groups], 0, 1) if groups else []
    return values_of(found[0]) if found else {}


async def _chosen_profile_and_template(
    request: PageRequest, draft: MessageDraft
) -> tuple[Profile | None, TemplateContent | None]:
    """Return the chosen profile and template, None where one cannot be used."""
    if draft.product.is_text or not draft.texts["senderKey"]:
        return None, None
    try:
        profile = await get_usable_profile(request.context, request.account_id, draft.texts["senderKey"])
    except Refused:
        return None, None
    if draft.kind.word != ALIMTALK or not draft.texts["templateCode"]:
        return profile, None
    try:
        return profile, await get_usable_template(request.context, profile, draft.texts["templateCode"])
    except Refused:
        return profile, None


def _sender(draft: MessageDraft, profile: Profile | None) -> str:
    """Return the sender as the receiver sees it."""
    if not draft.product.is_text:
        return profile.channel_id if profile else ""
    try:
        return phone.hyphenate(phone.parse_sender(draft.texts["sender"]))
    except Refused:
        return draft.texts["sender"]


def _api_call(
    request: PageRequest, draft: MessageDraft, receivers: Sequence[TypedReceiver], opt_out_number: str
) -> ApiCall:
    call = request.api_call(draft.kind.shape, draft.body([line.fields for line in receivers]))
    return call._replace(opt_out_number=opt_out_number)


def _field_problems(draft: MessageDraft, call: ApiCall) -> Sequence[Problem]:
    """Return the problems of all fields but the receivers, and but an image that this request leaves out."""
    policy, now = call.context.policy, call.now
    try:
        if draft.product.is_text:
            check_text_message(draft.product, call.form, policy, now, call.opt_out_number)
        elif draft.kind.word == ALIMTALK:
            check_alimtalk_fields(call.form, policy, now)
        elif draft.is_brand:
            check_brand_fields(call.form, policy, now)
        else:
            check_friendtalk_fields(call.form, policy, now)
    except Refused as refused:
        skipped = ("receivers", "image.", "images") if draft.has_unseen_image else ("receivers",)
        return [each for each in refused.problems if not each.field.startswith(skipped)]
    return []


def ad_problems(draft: MessageDraft) -> list[Problem]:
    """Return the problem of an advertisement by text that does not say who advertises."""
    return [Problem(Code.MISSING_PARAMETER, "adSender", NO_AD_SENDER)] if draft.lacks_ad_sender else []


def _schedule_problems(draft: MessageDraft) -> list[Problem]:
    """Return the problem of a time without a schedule, or of a schedule without a time."""
    if bool(draft.texts["sendDate"]) is draft.checkboxes["later"]:
        return []
    if draft.checkboxes["later"]:
        return [Problem(Code.MISSING_PARAMETER, "sendDate")]
    return [Problem(Code.INVALID_DATE, "sendDate", DATE_WITHOUT_SCHEDULE)]


def _max_receivers(request: PageRequest) -> int:
    return min(request.context.policy.max_receivers, MAX_TYPED_RECEIVERS)


def _receiver_problems(
    request: PageRequest, receivers: TypedReceivers, lines: Sequence[TypedReceiver]
) -> list[Problem]:
    """Return the problems that only typed lines can have; `lines` are those to be sent to."""
    most = _max_receivers(request)
    if receivers.total > most:
        return [
            Problem(Code.TOO_MANY_RECEIVERS, "receivers", typed_receivers.describe_too_many(most, receivers.total))
        ]
    return [
        Problem(Code.INVALID_PARAMETER, f"{RECEIVER_FIELD}{index}]", typed_receivers.SURPLUS_VALUES)
        for index, line in enumerate(lines)
        if line.surplus
    ]


def _invalid_rows(
    request: PageRequest, draft: MessageDraft, message: ComposedMessage, receivers: TypedReceivers
) -> list[ReceiverRow]:
    """Return every receiver that cannot be sent to, with its errors."""
    problems = _receiver_problems(request, receivers, receivers.entries)
    given = [
        bodies.ReceiverBody(phoneNumber=line.phone_number, templateData=line.values) for line in receivers.entries
    ]
    try:
        check_receivers(Form(bodies.NoFields(), []), given, preview.length_check(draft, message))
    except Refused as refused:
        problems += refused.problems
    found, _ = group_by_receiver(problems)
    rows: list[ReceiverRow] = []
    for index, some in sorted(found.items()):
        told = " ".join(request.tell(each) for each in some)
        is_too_long = any(each.code is Code.CONTENT_TOO_LONG for each in some)
        row = _row(request, message, receivers.entries[index], told)
        rows.append(row._replace(is_too_long=is_too_long))
    return rows


def _valid_rows(
    request: PageRequest, message: ComposedMessage, receivers: TypedReceivers, invalid: set[int]
) -> list[ReceiverRow]:
    """Return the first valid receivers, and the first duplicates."""
    again = {line.line_number for line in receivers.duplicates}
    lines = {
        line.line_number: line
        for line in (*receivers.entries[:SHOWN_VALID_ROWS], *receivers.duplicates[:SHOWN_VALID_ROWS])
    }
    return [
        _row(request, message, line)._replace(is_duplicate=place in again)
        for place, line in sorted(lines.items())
        if place not in invalid
    ]


def _row(request: PageRequest, message: ComposedMessage, receiver: TypedReceiver, error: str = "") -> ReceiverRow:
    try:
        number = request.phone_number(phone.parse_mobile(receiver.phone_number))
    except Refused:
        number = receiver.phone_number
    shown = message.variables[:SHOWN_COLUMNS]
    return ReceiverRow(receiver.line_number, number, [receiver.values.get(name, "") for name in shown], error)


def _shorten(name: str) -> str:
    return name if len(name) <= SHOWN_NAME_CHARACTERS else f"{name[:SHOWN_NAME_CHARACTERS]}…"


def _night(request: PageRequest, draft: MessageDraft, message: ComposedMessage) -> tuple[str, str]:
    """Return the key of what to say of the night, and when it ends; both empty where it does not matter."""
    looks_like_ad = draft.product.is_text and any(map(begins_like_ad, (message.content, message.subject)))
    policy, at = request.context.policy, request.now
    if not draft.is_ad and not looks_like_ad and not policy.sends_as_brand(draft.product):
        return "", ""
    if draft.checkboxes["later"]:
        try:
            spelled = str(draft.body([])["sendDate"])
            at = dates.parse_send_date(spelled, request.now, policy.zone, policy.max_days_ahead) or request.now
        except Refused:
            return "", ""
    if not dates.is_night(at, policy.zone):
        return "", ""
    morning = request.minute(dates.next_night_end(at, policy.zone)).replace(" ", "T")
    return "send.night.moved" if policy.postpones_night_ads else "send.night.refused", morning


def review_digest(review: Review) -> str:
    """Return a hash of what was confirmed beside the draft; if it has changed, the send is not made."""
    left_out_lines = [each.line_number for each in review.invalid_rows]
    message = review.message
    whole = [message.content, message.subject, message.buttons, left_out_lines, review.is_upgraded]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()

"""All that is to be seen of a draft: its sizes, its receivers, what is wrong with it, how it will arrive."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.checks import sends
from pabal.checks.call import ApiCall
from pabal.checks.forms import Form
from pabal.checks.receivers import check_receivers
from pabal.console.send import preview, typed_receivers
from pabal.console.send.draft import ALIMTALK, FRIENDTALK, Draft
from pabal.console.send.preview import Preview, Written
from pabal.console.send.typed_receivers import Line, Typed
from pabal.console.shell.page_request import PageRequest
from pabal.domain import dates, phone
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.profile import Profile
from pabal.domain.sending import Sending
from pabal.domain.template import TemplateContent
from pabal.models import bodies
from pabal.service.sending.accept import get_usable_profile, get_usable_template
from pabal.web import sending

MOST_LINES = 1000
"""As many are looked at again whenever someone stops typing, within some 20 ms."""
MOST_ROWS = 10
MOST_BAD = 20
UNCLEAR = Text(
    "예약하려면 ‘예약 발송’을 선택하고, 지금 보내려면 시각을 비우세요.",
    "Tick the box to schedule it, or clear the date to send it now.",
)
_RECEIVER = "receivers["


class Row(NamedTuple):
    """A receiver as the page shows it."""

    place: int
    number: str
    cells: list[str]
    told: str = ""
    is_repeated: bool = False


class Seen(NamedTuple):
    """All that is to be seen of a draft."""

    draft: Draft
    done: Written
    typed: Typed
    rows: list[Row]
    """Some that can be sent to."""
    bad: list[Row]
    told: dict[str, str]
    """What is wrong, by the field that it is told beside."""
    shown: Preview
    night: str
    """The key of what the night does to an advertisement, empty by day."""


async def seen(request: PageRequest, draft: Draft) -> Seen:
    """Return what is to be seen of a draft; what is still absent is not held against it."""
    policy = request.context.policy
    profile, design = await _chosen(request, draft)
    done = preview.written(draft, design, policy)
    typed = typed_receivers.read(
        draft.texts["receivers"], done.names, _most_lines(request), is_once=draft.boxes["once"]
    )
    found = [*_field_problems(draft, _call(request, draft, typed.lines[:1])), *_unclear(draft)]
    problems = [each for each in found if not _is_absent(each)]
    bad = _bad(request, draft, done, typed)
    sender = _sender(draft, profile)
    return Seen(
        draft,
        done,
        typed,
        _rows(request, done, typed, {each.place for each in bad}),
        bad,
        told_of(request, problems),
        preview.preview(draft, done, design, sender, first_values(typed), policy),
        _night(request, draft),
    )


async def as_sending(request: PageRequest, found: Seen) -> Sending:
    """Return the send that a draft is.

    Raises Refused.
    """
    problems = [*_unclear(found.draft), *_line_problems(request, found.typed)]
    if problems:
        raise Refused.from_problems(problems)
    return await checked_as_by_the_interface(request, found.draft, found.typed.lines)


async def checked_as_by_the_interface(request: PageRequest, draft: Draft, lines: Sequence[Line]) -> Sending:
    """Return the send of a draft to these receivers.

    Raises Refused as the interface does; an advertisement by text is kept out of the night as well.
    """
    call = _call(request, draft, lines)
    if draft.kind.word == ALIMTALK:
        return await sending.check_alimtalk(call)
    if draft.kind.word == FRIENDTALK:
        return await sending.check_friendtalk(call)
    policy = request.context.policy
    found = sends.check_text_message(draft.product, call.form, policy, call.now)
    return sends.check_ad_hours(found._replace(is_ad=draft.is_ad), policy, call.now)


def told_of(request: PageRequest, problems: Sequence[Problem]) -> dict[str, str]:
    """Return what is wrong, by the field of the form it is told beside; what belongs to none is told on top."""
    told: dict[str, str] = {}
    for each in problems:
        field = "receivers" if each.field.startswith(_RECEIVER) else each.field
        told.setdefault("image" if field.startswith("image.") else field, each.message(request.locale.language))
    return told


def first_values(typed: Typed) -> dict[str, str]:
    """Return the values of the first receiver."""
    return typed.lines[0].values if typed.lines else {}


async def _chosen(request: PageRequest, draft: Draft) -> tuple[Profile | None, TemplateContent | None]:
    """Return the profile and the template that were chosen, as far as they can be used."""
    if draft.product.is_text or not draft.texts["senderKey"]:
        return None, None
    try:
        profile = await get_usable_profile(request.context, request.account_id, draft.texts["senderKey"])
    except Refused:
        return None, None
    if draft.kind.word == FRIENDTALK or not draft.texts["templateCode"]:
        return profile, None
    try:
        return profile, await get_usable_template(request.context, profile, draft.texts["templateCode"])
    except Refused:
        return profile, None


def _sender(draft: Draft, profile: Profile | None) -> str:
    """Return whom the receiver sees it from."""
    if not draft.product.is_text:
        return profile.channel_id if profile else ""
    try:
        return phone.hyphenate(phone.parse_sender(draft.texts["sender"]))
    except Refused:
        return draft.texts["sender"]


def _call(request: PageRequest, draft: Draft, lines: Sequence[Line]) -> ApiCall:
    return request.api_call(draft.kind.shape, draft.body([line.fields for line in lines]))


def _is_absent(problem: Problem) -> bool:
    return problem.code is Code.MISSING_PARAMETER


def _field_problems(draft: Draft, call: ApiCall) -> Sequence[Problem]:
    """Return what is wrong with fields: all but the receivers, and a picture that was not sent along."""
    policy, now = call.context.policy, call.now
    try:
        if draft.product.is_text:
            sends.check_text_message(draft.product, call.form, policy, now)
        elif draft.kind.word == ALIMTALK:
            sends.check_alimtalk_fields(call.form, policy, now)
        else:
            sends.check_friendtalk_fields(call.form, policy, now)
    except Refused as refused:
        is_unseen = bool(draft.texts["image_name"]) and not draft.texts["image_body"]
        skipped = ("receivers", "image.") if is_unseen else ("receivers",)
        return [each for each in refused.problems if not each.field.startswith(skipped)]
    return []


def _unclear(draft: Draft) -> list[Problem]:
    """Return what is wrong with a date that was picked although the message is not to be scheduled."""
    is_unclear = draft.texts["sendDate"] and not draft.boxes["later"]
    return [Problem(Code.INVALID_DATE, "sendDate", UNCLEAR)] if is_unclear else []


def _most_lines(request: PageRequest) -> int:
    return min(request.context.policy.max_receivers, MOST_LINES)


def _line_problems(request: PageRequest, typed: Typed) -> list[Problem]:
    """Return what only lines of text can have wrong."""
    most = _most_lines(request)
    if typed.total > most:
        return [Problem(Code.TOO_MANY_RECEIVERS, "receivers", typed_receivers.too_many(most, typed.total))]
    return [
        Problem(Code.INVALID_PARAMETER, f"{_RECEIVER}{index}]", typed_receivers.SURPLUS)
        for index, line in enumerate(typed.lines)
        if line.surplus
    ]


def _bad(request: PageRequest, draft: Draft, done: Written, typed: Typed) -> list[Row]:
    """Return every receiver that cannot be sent to, with the reasons."""
    problems = _line_problems(request, typed)
    given = [bodies.ReceiverBody(phoneNumber=line.number, templateData=line.values) for line in typed.lines]
    try:
        check_receivers(Form(bodies.NoFields(), []), given, preview.fit_of(draft, done, len(given)))
    except Refused as refused:
        problems += refused.problems
    reasons: dict[int, list[str]] = {}
    for each in problems:
        if each.field.startswith(_RECEIVER):
            index = int(each.field[len(_RECEIVER) :].split("]")[0])
            reasons.setdefault(index, []).append(each.message(request.locale.language))
    return [_row(request, done, typed.lines[index], " ".join(told)) for index, told in sorted(reasons.items())]


def _rows(request: PageRequest, done: Written, typed: Typed, bad: set[int]) -> list[Row]:
    """Return the first receivers, and the first of those that are there twice."""
    again = {line.place for line in typed.repeated}
    lines = {line.place: line for line in (*typed.lines[:MOST_ROWS], *typed.repeated[:MOST_ROWS])}
    return [
        _row(request, done, line)._replace(is_repeated=place in again)
        for place, line in sorted(lines.items())
        if place not in bad
    ]


def _row(request: PageRequest, done: Written, line: Line, told: str = "") -> Row:
    try:
        number = request.phone_number(phone.parse_mobile(line.number))
    except Refused:
        number = line.number
    return Row(line.place, number, [line.values.get(name, "") for name in done.names], told)


def _night(request: PageRequest, draft: Draft) -> str:
    if not draft.is_ad:
        return ""
    policy, at = request.context.policy, request.now
    if draft.boxes["later"]:
        try:
            spelled = str(draft.body([])["sendDate"])
            at = dates.parse_send_date(spelled, request.now, policy.zone, policy.max_days_ahead) or request.now
        except Refused:
            return ""
    if not dates.is_night(at, policy.zone):
        return ""
    return "send.night.moved" if policy.postpones_night_ads else "send.night.refused"

"""Accepts the recipients of a call as sends of ours, with their fallbacks, and answers what became of each."""

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.checks.body.call import ApiCall
from pabal.checks.body.forms import Form
from pabal.compat.differences import CallDifference
from pabal.compat.nhncloud.call import KIND, SEOUL, NhnCall, NhnRefused, accept_once, format_request_id
from pabal.compat.nhncloud.talk.bodies import BrandBody, ResendParameter, TalkBody, TalkRecipient
from pabal.compat.nhncloud.talk.codes import TalkCode, refusal_code, refuse
from pabal.compat.own_values import receiver_of
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.base.dates import MINUTE
from pabal.domain.content import text, variables
from pabal.domain.kakao.profile import Profile
from pabal.domain.sends.sending import Sending
from pabal.service.sending.accept_call import CallSize
from pabal.service.sending.preconditions import choose_carrier, get_usable_profile

MAX_RECIPIENTS = 1000
MAX_NAME_CHARACTERS = 100
OF_THE_CALL = ("senderKey", "sendDate", "templateCode")
"""Fields of ours that all recipients of a call have in common; what is wrong with them refuses the call."""


class Resend(NamedTuple):
    """The text to send if a message fails: from which number, and what."""

    sender: str
    content: str | None = None


class PreparedSend(NamedTuple):
    """What a recipient is to get."""

    own: Any
    """What has been found out about it."""
    shared: Hashable
    """What recipients of one send have in common."""
    resend: Resend | None


class TalkItem(NamedTuple):
    """A recipient of a call, its number there, and what its draft says."""

    seq: int
    recipient: Any
    own: Any = None
    resend: Resend | None = None


class RecipientRefused(Exception):
    """A recipient that nothing can be sent to; `code` says why."""

    def __init__(self, code: TalkCode) -> None:
        super().__init__(code.name)
        self.code = code


Prepare = Callable[[Any], Awaitable[PreparedSend]]
"""Returns what a recipient is to get. Raises RecipientRefused, Refused."""
Check = Callable[[Sequence[TalkItem]], Awaitable[Sending]]
"""Checks recipients as one send. Raises Refused."""


class Refusals:
    """Why recipients of a call are refused, by their numbers."""

    def __init__(self) -> None:
        self.by_seq: dict[int, TalkCode] = {}

    def add(self, item: TalkItem, code: TalkCode) -> None:
        """Refuse a recipient, unless it is refused already."""
        self.by_seq.setdefault(item.seq, code)

    def left(self, items: Iterable[TalkItem]) -> list[TalkItem]:
        """Return the recipients that are not refused."""
        return [each for each in items if each.seq not in self.by_seq]

    def add_problems(self, items: Sequence[TalkItem], problems: Sequence[Problem]) -> None:
        """Refuse the recipients that problems name, or all of them where one concerns all."""
        for problem in problems:
            if receiver_of(problem) is None:
                for each in items:
                    self.add(each, refusal_code(problem))
                return
        for problem in problems:
            self.add(
                items[receiver_of(problem) or 0], refusal_code(problem._replace(field=problem.field.split(".")[-1]))
            )


class OpenedCall(NamedTuple):
    """What a call says for all its recipients."""

    items: list[TalkItem]
    date: str | None
    """When to send, as our bodies have it; None for now."""
    profile: Profile


async def open_call(call: NhnCall, body: TalkBody, recipients: Sequence[TalkRecipient] | None) -> OpenedCall:
    """Return the recipients of a call, and what it says for all of them.

    Raises NhnRefused, and Refused where the sender profile cannot be used.
    """
    items = check_call(body, recipients)
    date = read_date(call, body)
    return OpenedCall(items, date, await get_usable_profile(call.context, call.account_id, body.senderKey or ""))


def check_call(body: TalkBody, recipients: Sequence[TalkRecipient] | None) -> list[TalkItem]:
    """Return the recipients of a call.

    Raises NhnRefused for what concerns the whole call, and for what has no place here.
    """
    if recipients is None:
        raise refuse(TalkCode.MISSING, "recipientList")
    if not 1 <= len(recipients) <= MAX_RECIPIENTS:
        raise refuse(TalkCode.TOO_MANY)
    if not (body.senderKey or "").strip():
        raise refuse(TalkCode.BLANK, "senderKey")
    for name in ("statsId", "messageOption"):
        if getattr(body, name):
            raise refuse(TalkCode.BAD_FIELD, name)
    for name in ("senderGroupingKey", "createUser"):
        if len(getattr(body, name) or "") > MAX_NAME_CHARACTERS:
            raise refuse(TalkCode.TOO_LONG, name)
    if isinstance(body, BrandBody) and body.resellerCode:
        raise refuse(TalkCode.BAD_FIELD, "resellerCode")
    return [TalkItem(seq, each) for seq, each in enumerate(recipients, 1)]


def refuse_malformed(items: Iterable[TalkItem]) -> Refusals:
    """Return the refusals of recipients without a number, and of those whose name is too long."""
    refusals = Refusals()
    for item in items:
        if not (item.recipient.recipientNo or "").strip():
            refusals.add(item, TalkCode.BLANK)
        if len(item.recipient.recipientGroupingKey or "") > MAX_NAME_CHARACTERS:
            refusals.add(item, TalkCode.TOO_LONG)
    return refusals


def cut(items: Sequence[TalkItem], most: int) -> list[Sequence[TalkItem]]:
    """Return recipients in groups of at most so many."""
    return [items[begin : begin + most] for begin in range(0, len(items), most)]


def read_date(call: NhnCall, body: TalkBody) -> str | None:
    """Return when to send, as our bodies have it; None for now.

    Raises NhnRefused.
    """
    if not body.requestDate:
        return None
    policy = call.context.policy
    try:
        at = dates.parse_minute(body.requestDate, SEOUL)
    except Refused:
        raise refuse(TalkCode.BAD_DATE) from None
    if at + MINUTE <= call.now:
        raise refuse(TalkCode.PAST_DATE)
    spelling = dates.format_timestamp(at, policy.zone)[: len("yyyy-MM-dd HH:mm")]
    try:
        dates.parse_send_date(spelling, call.now, policy.zone, policy.max_days_ahead)
    except Refused:
        raise refuse(TalkCode.FAR_DATE) from None
    return spelling


def opt_out_number_of(call: NhnCall) -> str:
    """Return the number for opting out of advertisements that name no other."""
    return call.key.opt_out_number or call.context.policy.opt_out_number


def keep_literal(texts: Iterable[str | None]) -> dict[str, str]:
    """Return values with which what looks like a variable in finished texts stays as it is."""
    return {name: f"#{{{name}}}" for name in variables.find_names(*texts)}


def api_call(call: NhnCall, body: Any) -> ApiCall:
    """Return the call with a body of ours, of which every bad receiver is named."""
    form = Form[Any](body, [], max_receiver_problems=len(body.receivers) + 1)
    return ApiCall(
        call.context,
        call.account_id,
        form,
        call.locale,
        call.now,
        opt_out_number=opt_out_number_of(call),
        key_id=call.key.id,
    )


async def send_recipients(
    call: NhnCall,
    body: TalkBody,
    opened: OpenedCall,
    prepare: Prepare,
    check: Check,
    *,
    most: int | None = None,
    is_shared: Callable[[str], bool] = OF_THE_CALL.__contains__,
) -> dict[str, Any]:
    """Send what can be sent, to at most so many recipients at a time, and return the answer.

    `is_shared` tells whether a field of ours is one that all recipients of the call have in common.

    Raises NhnRefused where nothing can be sent, and for a repeated call; Refused as `accept_once` does.
    """
    items, refusals = opened.items, refuse_malformed(opened.items)
    groups: dict[Hashable, list[TalkItem]] = {}
    for item in refusals.left(items):
        try:
            own, shared, resend = await prepare(item.recipient)
        except RecipientRefused as refused:
            refusals.add(item, refused.code)
        except Refused as refused:
            refusals.add_problems([item], refused.problems)
        else:
            drafted = item._replace(own=own, resend=resend)
            groups.setdefault((shared, _shared_of(resend)), []).append(drafted)
    checked = []
    for group in groups.values():
        for part in cut(group, most or call.context.policy.max_receivers):
            found = await _check(call, part, check, is_shared, refusals)
            if found:
                checked.append(found)
    request_id = await _accept(call, body, items, checked, refusals) if checked else None
    if any(each.recipient.resendParameter is None for each in items):
        call.note(CallDifference.FALLBACK)
    call.note_refusals(each.number for each in refusals.by_seq.values())
    answer = _describe(body, items, refusals, request_id)
    if request_id is None:
        raise NhnRefused(TalkCode.ALL_FAILED.number, TalkCode.ALL_FAILED.message, answer)
    return answer


async def _check(
    call: NhnCall, items: Sequence[TalkItem], check: Check, is_shared: Callable[[str], bool], refusals: Refusals
) -> tuple[Sequence[TalkItem], Sending] | None:
    """Return the recipients that pass the checks, and their send; refuse the others."""
    while items:
        try:
            sending = await check(items)
            await choose_carrier(call.context, call.account_id, sending)
            return items, sending
        except Refused as refused:
            if is_shared(refused.problems[0].field):
                raise
            refusals.add_problems(items, refused.problems)
            items = refusals.left(items)
    return None


async def _accept(
    call: NhnCall,
    body: TalkBody,
    items: Sequence[TalkItem],
    checked: Sequence[tuple[Sequence[TalkItem], Sending]],
    refusals: Refusals,
) -> bytes | None:
    """Store the sends and return the id of the call; None where a limit of the account refuses them all."""
    sequences = [[item.seq for item in some] for some, _ in checked]
    is_plain = len(checked) == 1 and sequences[0] == list(range(1, len(sequences[0]) + 1))
    size = CallSize(
        KIND,
        len(items),
        len(refusals.by_seq),
        allows_duplicates=True,
        sender_name=body.senderGroupingKey or None,
        caller=body.createUser or None,
        has_names=True,
        sequences=() if is_plain else sequences,
    )
    sends = [_name(some, sending) for some, sending in checked]
    try:
        return (await accept_once(call, sends, size))[0]
    except Refused as refused:
        if refused.code is not Code.LIMIT_EXCEEDED:
            raise
        for some, _ in checked:
            refusals.add_problems(some, refused.problems)
        return None


def _name(items: Sequence[TalkItem], sending: Sending) -> Sending:
    """Return a send whose messages have the names of their recipients."""
    if not any(each.recipient.recipientGroupingKey for each in items):
        return sending
    receivers = [
        receiver._replace(reference=item.recipient.recipientGroupingKey or None)
        for item, receiver in zip(items, sending.receivers, strict=True)
    ]
    return sending._replace(receivers=receivers)


def _describe(
    body: TalkBody, items: Sequence[TalkItem], refusals: Refusals, request_id: bytes | None
) -> dict[str, Any]:
    return {
        "message": {
            "requestId": None if request_id is None else format_request_id(request_id),
            "senderGroupingKey": body.senderGroupingKey,
            "sendResults": [_describe_item(item, refusals.by_seq.get(item.seq)) for item in items],
        }
    }


def _describe_item(item: TalkItem, refusal: TalkCode | None) -> dict[str, Any]:
    code = refusal or TalkCode.SUCCESS
    return {
        "recipientSeq": item.seq,
        "recipientNo": item.recipient.recipientNo,
        "resultCode": code.number,
        "resultMessage": code.message,
        "recipientGroupingKey": item.recipient.recipientGroupingKey,
    }


_TYPES = ("SMS", "LMS")
_VARIABLE = "resendContent"


def read_resend(given: ResendParameter | None, channel_id: str, opt_out_number: str = "") -> Resend | None:
    """Return the text that a recipient gets if its message fails; None where there is to be none.

    Without isResend there is none: at NHN Cloud the console would decide. `opt_out_number` is the one that the text
    of an advertisement gets.

    Raises RecipientRefused: a text needs a number; a long one has the name of the channel as its title.
    """
    if given is None or not given.isResend:
        return None
    if not given.resendSendNo:
        raise RecipientRefused(TalkCode.NO_RESEND_NUMBER)
    number = (given.resendUnsubscribeNo or "").replace("-", "")
    has_own_title = given.resendTitle and given.resendTitle != channel_id and _may_be_long(given)
    if given.resendType not in (None, "", *_TYPES) or has_own_title or (number and number != opt_out_number):
        raise RecipientRefused(TalkCode.BAD_RESEND)
    return Resend(given.resendSendNo, given.resendContent or None)


def _may_be_long(given: ResendParameter) -> bool:
    """Return whether a text is sent as LMS, which has a title."""
    if given.resendType == "SMS":
        return False
    if given.resendType == "LMS" or not given.resendContent:
        return True
    try:
        return text.carried_bytes(given.resendContent) > text.SMS_MAX_BYTES
    except Refused:  # it is refused later
        return False


def _shared_of(resend: Resend | None) -> tuple[str, bool] | None:
    """Return what recipients of one send have in common of their fallbacks: everything but the text itself."""
    return (resend.sender, resend.content is not None) if resend else None


class JoinedResends(NamedTuple):
    """The fields of a send of ours for the fallbacks of its recipients."""

    fields: dict[str, Any]
    variable: str | None
    """The variable in their text, if recipients have texts of their own."""

    def values_of(self, item: TalkItem, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return a recipient's values of variables, with that of its fallback."""
        assert item.resend or not self.variable
        return {**values, self.variable: item.resend.content} if self.variable and item.resend else dict(values)


def join_resends(items: Sequence[TalkItem], taken: Collection[str]) -> JoinedResends:
    """Return one text for the fallbacks of a send; `taken` are the names of other variables.

    A finished text has no variables of ours, whatever it looks like.
    """
    resend = items[0].resend
    fields = {"resend": resend is not None, "resendPhoneNumber": resend.sender if resend else None}
    content = resend.content if resend else None
    is_same = all(each.resend == resend for each in items) and not variables.find_names(content)
    if content is None or is_same:
        return JoinedResends({**fields, "resendContent": content}, None)
    name = _VARIABLE
    while name in taken:
        name += "_"
    return JoinedResends({**fields, "resendContent": f"#{{{name}}}"}, name)

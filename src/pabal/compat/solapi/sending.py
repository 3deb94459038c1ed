"""Sends messages by send and send-many/detail, and refuses what cannot be sent message by message."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pabal.checks.body.call import ApiCall
from pabal.checks.body.forms import Form
from pabal.checks.sends.alimtalk import check_alimtalk
from pabal.checks.sends.brand import check_brand_message
from pabal.checks.sends.friendtalk import apply_ad_hours, check_friendtalk
from pabal.checks.sends.text_messages import check_text_message
from pabal.compat.differences import CallDifference
from pabal.compat.own_values import receiver_of
from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import MessageBody, SendManyBody, SendOneBody
from pabal.compat.solapi.brand import build_brand_body
from pabal.compat.solapi.call import (
    KIND,
    CompatCall,
    format_group_id,
    format_message_id,
    let_others_run,
    parse_time,
)
from pabal.compat.solapi.codes import CallRefused, from_refusal, invalid, is_other_use
from pabal.compat.solapi.groups import describe_new_group
from pabal.compat.solapi.storage import get_image
from pabal.compat.solapi.translation import (
    Item,
    build_alimtalk_body,
    build_friendtalk_body,
    build_text_body,
    encode_custom_fields,
    find_refusal,
    group_items,
    list_items,
    note_refusals,
    read_body,
    variables_of,
)
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import MINUTE
from pabal.domain.base.identifiers import MAX_MESSAGE_NUMBER, make_message_id
from pabal.domain.content import variables
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import SMALL_RECEIVERS, Sending
from pabal.service.sending.accept import NewRequest, choose_slot, prepare_request
from pabal.service.sending.accept_call import MAX_STORED_TOGETHER, CallSize, accept_call
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template
from pabal.world import new_request_id

MAX_MESSAGES = 10_000


class CheckedSend(NamedTuple):
    """Messages that can be sent as one send."""

    number: int
    """Its place among the sends of the call, also where others are refused: a repeat finds it by that."""
    items: list[Item]
    sending: Sending


class CheckedMessages(NamedTuple):
    """The messages of a call, those that can be sent as sends, and why the others are refused, by their places."""

    items: Sequence[Item]
    sends: Sequence[CheckedSend]
    refusals: dict[int, str]
    is_scheduled: bool


class SentMessages(NamedTuple):
    """What became of a call: the id of its group, and of each message its id, and why it was refused, if it was."""

    group_id: bytes
    is_scheduled: bool
    items: Sequence[Item]
    message_ids: Mapping[int, bytes]
    refusals: Mapping[int, str]


async def send_many(call: CompatCall) -> dict[str, Any]:
    """Send many messages; the answer names those that were refused."""
    body = read_body(call, SendManyBody)
    allows_duplicates = bool(body.allowDuplicates)
    sent = await send_messages(call, body.messages, body.scheduledDate, allows_duplicates=allows_duplicates)
    note_refusals(call, sent.items, sent.refusals)
    total, refused = len(sent.items), len(sent.refusals)
    answer: dict[str, Any] = {
        "failedMessageList": [_describe(call, sent, item) for item in sent.items if item.place in sent.refusals],
        "groupInfo": describe_new_group(
            call,
            sent.group_id,
            total,
            refused,
            allows_duplicates=allows_duplicates,
            is_scheduled=sent.is_scheduled,
        ),
    }
    if body.showMessageList:
        answer["messageList"] = [_describe_short(sent, item) for item in sent.items]
    return answer


async def send_one(call: CompatCall) -> dict[str, Any]:
    """Send one message.

    Raises CallRefused where it is refused.
    """
    body = read_body(call, SendOneBody)
    if not isinstance(body.message.to, str):
        raise invalid("to 의 데이터 타입은 문자열이어야 됩니다.")
    sent = await send_messages(call, [body.message], body.scheduledDate, allows_duplicates=True)
    if sent.refusals:
        code = sent.refusals[0]
        raise CallRefused(400, code, codes.MESSAGES.get(code, code))
    return {"groupId": format_group_id(sent.group_id), **_describe(call, sent, sent.items[0])}


async def send_all(call: CompatCall) -> dict[str, Any]:
    """Send many messages, by the call of older clients: the answer only counts those that were refused."""
    return (await send_many(call))["groupInfo"]  # type: ignore[no-any-return]


async def check_messages(
    call: CompatCall, messages: Sequence[MessageBody], scheduled: str | None, *, allows_duplicates: bool
) -> CheckedMessages:
    """Return messages as sends, and why others are refused.

    Raises CallRefused for too many or none, Refused(INVALID_DATE).
    """
    items = list_items(messages)
    if not items:
        raise invalid("messages 의 데이터는 1건 이상이어야 됩니다.")
    if len(items) > MAX_MESSAGES:
        words = f"한 번에 추가할 수 있는 수신번호는 최대 {MAX_MESSAGES}건 입니다."
        raise CallRefused(413, "RecipientsTooMany", words)
    refusals: dict[int, str] = {}
    _refuse_at_once(items, refusals, allows_duplicates=allows_duplicates)
    send_date = _send_date(call, scheduled)
    most = min(call.context.policy.max_receivers, MAX_STORED_TOGETHER)
    sends: list[CheckedSend] = []
    for number, group in enumerate(group_items([each for each in items if each.place not in refusals], most)):
        await let_others_run(number)
        found = await _check_group(call, group, send_date, refusals)
        if found:
            sends.append(CheckedSend(number, *found))
    return CheckedMessages(items, sends, refusals, send_date is not None)


async def send_messages(
    call: CompatCall,
    messages: Sequence[MessageBody],
    scheduled: str | None,
    *,
    allows_duplicates: bool,
    group_id: bytes | None = None,
) -> SentMessages:
    """Send messages as one call, which has an id already or gets one."""
    checked = await check_messages(call, messages, scheduled, allows_duplicates=allows_duplicates)
    items, sends, refusals, is_scheduled = checked
    parts, prepared = await _prepare(call, sends, refusals)
    request_ids: list[bytes] = []
    if prepared:
        size = CallSize(KIND, len(items), len(refusals), allows_duplicates)
        request_ids = await _accept(call, parts, prepared, size, refusals, group_id)
    message_ids = {
        item.place: make_message_id(request_id, number)
        for request_id, part in zip(request_ids, parts, strict=False)
        for number, item in enumerate(part, 1)
    }
    if group_id is None:
        group_id = request_ids[0] if request_ids else new_request_id(call.context.world, 0)
    return SentMessages(group_id, is_scheduled, items, message_ids, refusals)


def _refuse_at_once(items: Sequence[Item], refusals: dict[int, str], *, allows_duplicates: bool) -> None:
    """Refuse what cannot be sent here, and receivers that are there twice."""
    known: set[str] = set()
    for item in items:
        to = item.to.replace("-", "")
        code = find_refusal(item)
        if code is None and to in known and not allows_duplicates:
            code = codes.DUPLICATE_RECEIVER
        if code is not None:
            refusals[item.place] = code
        known.add(to)


def _send_date(call: CompatCall, scheduled: str | None) -> str | None:
    """Return when to send, to the minute and never early; None for now and for a time in the past.

    Raises Refused(INVALID_DATE) for a time that is too far ahead.
    """
    if not scheduled:
        return None
    at = parse_time(scheduled)
    if at <= call.now:
        return None
    rounded_at = at + -at % MINUTE
    policy = call.context.policy
    spelling = dates.format_timestamp(rounded_at, policy.zone)[: len("yyyy-MM-dd HH:mm")]
    dates.parse_send_date(spelling, call.now, policy.zone, policy.max_days_ahead)
    if at != rounded_at:
        call.note(CallDifference.SCHEDULE)
    return spelling


async def _check_group(
    call: CompatCall, items: list[Item], send_date: str | None, refusals: dict[int, str]
) -> tuple[list[Item], Sending] | None:
    """Return the messages that pass the checks, as one send; refuse the others."""
    while items:
        try:
            items, sending = await _check(call, items, send_date, refusals)
            if not any(each.body.customFields for each in items):
                return items, sending
            receivers = [
                receiver._replace(reference=encode_custom_fields(item.body.customFields))
                for item, receiver in zip(items, sending.receivers, strict=True)
            ]
            return items, sending._replace(receivers=receivers)
        except Refused as refused:
            items = _refuse(items, refused, refusals)
    return None


def _refuse(items: Sequence[Item], refused: Refused, refusals: dict[int, str]) -> list[Item]:
    """Refuse the messages that problems name, or all of them where one concerns all; return the others."""
    bad: dict[int, str] = {}
    for problem in refused.problems:
        index = receiver_of(problem)
        if index is None:
            bad = dict.fromkeys(range(len(items)), codes.refusal_code(problem))
            break
        bad.setdefault(index, codes.refusal_code(problem))
    refusals.update({items[index].place: code for index, code in bad.items()})
    return [item for index, item in enumerate(items) if index not in bad]


async def _check(
    call: CompatCall, items: list[Item], send_date: str | None, refusals: dict[int, str]
) -> tuple[list[Item], Sending]:
    context, product = call.context, items[0].product
    assert product is not None
    if product is Product.ALIMTALK:
        items, values = await _solve_values(call, items, refusals)
        body: Any = build_alimtalk_body(items, send_date, values) if items else None
        return items, await check_alimtalk(_api_call(call, body))
    image = await get_image(call, items[0])
    if product.is_text:
        form = _form_of(build_text_body(items, send_date, image))
        opt_out_number = call.key.opt_out_number or context.policy.opt_out_number
        sending = check_text_message(product, form, context.policy, call.now, opt_out_number)
        return items, apply_ad_hours(sending, context.policy, call.now, form) if sending.is_ad else sending
    if product is Product.BRAND_MESSAGE:
        return items, await check_brand_message(_api_call(call, build_brand_body(items, send_date, image)))
    return items, await check_friendtalk(_api_call(call, build_friendtalk_body(items, send_date, image)))


def _form_of(body: Any) -> Form[Any]:
    return Form(body, [], max_receiver_problems=len(body.receivers) + 1)


def _api_call(call: CompatCall, body: Any) -> ApiCall:
    return ApiCall(call.context, call.account_id, _form_of(body), call.locale, call.now, key_id=call.key.id)


async def _solve_values(
    call: CompatCall, items: list[Item], refusals: dict[int, str]
) -> tuple[list[Item], list[Mapping[str, Any]]]:
    """Return the Alimtalks with the values of their variables: given, or found in a finished text.

    Raises Refused as `check_alimtalk` does, and where no text is that of the template.
    """
    options = items[0].body.kakaoOptions
    assert options is not None
    if all(each.body.text is None for each in items):
        return items, [variables_of(each.body.kakaoOptions) for each in items if each.body.kakaoOptions]
    profile = await get_usable_profile(call.context, call.account_id, options.pfId or "")
    template = await get_usable_template(call.context, profile, options.templateId or "")
    kept: list[Item] = []
    values: list[Mapping[str, Any]] = []
    for item in items:
        own = variables_of(item.body.kakaoOptions) if item.body.kakaoOptions else {}
        found = {} if item.body.text is None else variables.solve(template.content, _fill(item.body.text, own))
        if found is None:
            refusals[item.place] = codes.DIFFERS_FROM_TEMPLATE
        else:
            kept.append(item)
            values.append({**own, **found})
    if not kept:
        raise Refused(Code.MISSING_VARIABLE, "content")
    return kept, values


def _fill(text: str, values: Mapping[str, Any]) -> str:
    """Return an Alimtalk's own text with its variables; one that has no value stays as it is."""
    known = {name: str(values.get(name, f"#{{{name}}}")) for name in variables.find_names(text)}
    return variables.fill(text, known)


async def _prepare(
    call: CompatCall, checked: Sequence[CheckedSend], refusals: dict[int, str]
) -> tuple[list[list[Item]], list[NewRequest]]:
    """Return the sends that can be accepted, ready to be stored: all in one slot, in the lane of the whole call."""
    lane = int(sum(len(each.items) for each in checked) > SMALL_RECEIVERS)
    digest = call.digest()
    slot = choose_slot(call.context, call.account_id, call.idempotency_key(0, digest).key)
    parts: list[list[Item]] = []
    prepared: list[NewRequest] = []
    for number, items, sending in checked:
        await let_others_run(number)
        key = call.idempotency_key(number, digest)
        try:
            request = await prepare_request(
                call.context,
                call.account_id,
                sending,
                key,
                drops_duplicates=True,  # a refusal would be one of all messages of the call
                api_key_id=call.key.id,
                slot=slot,
                lane=lane,
            )
        except Refused as refused:
            _refuse(items, refused, refusals)
            continue
        parts.append(items)
        prepared.append(request)
    return parts, prepared


async def _accept(
    call: CompatCall,
    parts: Sequence[Sequence[Item]],
    prepared: Sequence[NewRequest],
    size: CallSize,
    refusals: dict[int, str],
    group_id: bytes | None,
) -> list[bytes]:
    """Store the sends and return the ids of their requests; none where a limit of the account refuses them."""
    try:
        accepted = await accept_call(call.context, call.account_id, prepared, size, group_id)
        if not any(each.is_new for each in accepted):
            call.note(CallDifference.REPEAT)
        return [each.request_id for each in accepted]
    except Refused as refused:
        if is_other_use(refused) or refused.code is Code.RATE_LIMITED:
            raise from_refusal(refused) from None
        for part in parts:
            _refuse(part, refused, refusals)
        return []


def _message_id(sent: SentMessages, item: Item) -> str:
    """Return the id of a message; that of a refused one leads nowhere, and no other message of the call has it."""
    found = sent.message_ids.get(item.place)
    return format_message_id(found or make_message_id(sent.group_id, MAX_MESSAGE_NUMBER - item.place))


def _describe(call: CompatCall, sent: SentMessages, item: Item) -> dict[str, Any]:
    described = describe_item(call, item, sent.refusals.get(item.place))
    return {**described, "messageId": _message_id(sent, item)}


def describe_item(call: CompatCall, item: Item, refusal: str | None) -> dict[str, Any]:
    """Return what an answer says of a message, but for its id."""
    code = refusal or codes.ACCEPTED
    return {
        "to": item.to,
        "from": item.body.sender or "",
        "type": item.type,
        "statusMessage": codes.MESSAGES.get(code, code),
        "country": "82",
        "messageId": "",
        "statusCode": code,
        "accountId": call.account_name,
        "customFields": item.body.customFields or {},
    }


def _describe_short(sent: SentMessages, item: Item) -> dict[str, Any]:
    code = sent.refusals.get(item.place, codes.ACCEPTED)
    return {
        "messageId": _message_id(sent, item),
        "statusCode": code,
        "customFields": item.body.customFields or {},
        "statusMessage": codes.MESSAGES.get(code, code),
    }

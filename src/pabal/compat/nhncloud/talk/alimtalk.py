"""Sends Alimtalk: by the values of a template's variables, or as finished texts that are solved against it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.checks.sends.alimtalk import check_alimtalk
from pabal.compat.differences import MAX_READ_ITEMS, CallDifference
from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.bodies import (
    AlimtalkBody,
    AlimtalkRecipient,
    FinishedBody,
    FinishedRecipient,
    TalkBody,
    TalkRecipient,
)
from pabal.compat.nhncloud.talk.fallbacks import Resend, ResendRefused, join_contents, read_resend, shared_of
from pabal.compat.nhncloud.talk.finished_texts import Differs, check_buttons, find_values
from pabal.compat.nhncloud.talk.sends import (
    RecipientPart,
    TalkItem,
    api_call,
    check_call,
    cut,
    read_date,
    refuse_malformed,
    send_parts,
)
from pabal.domain.base.codes import Refused
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.sends.sending import CODE_PURPOSE, MAX_CODE_RECEIVERS, Sending
from pabal.models.bodies import ReceiverBody, SendAlimtalk
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template

Values = Mapping[str, Any]
"""The values of one recipient's variables, by their names."""


async def send(
    call: NhnCall, *, shape: type[AlimtalkBody] | type[FinishedBody], is_code: bool = False
) -> dict[str, Any]:
    """Send the text of a template, or finished texts, which may have one-time codes."""
    body: AlimtalkBody | FinishedBody = call.decode(shape)
    items = check_call(body, body.recipientList)
    date = read_date(call, body)
    profile = await get_usable_profile(call.context, call.account_id, body.senderKey or "")
    template = await get_usable_template(call.context, profile, body.templateCode or "")
    if isinstance(body, AlimtalkBody) and any(_has_buttons(each.recipient) for each in items[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "recipientList.buttons")  # the message has those of its template
    refusals = refuse_malformed(items)
    values: dict[int, Values] = {}
    groups: dict[Any, list[TalkItem]] = {}
    resends: dict[int, Resend | None] = {}
    for item in refusals.left(items):
        try:
            resend = read_resend(item.recipient.resendParameter, profile.channel_id)
            values[item.seq] = _find_values(template, item.recipient)
        except (Differs, ResendRefused) as refused:
            refusals.add(item, refused.code)
            continue
        except Refused as refused:
            refusals.add_problems([item], refused.problems)
            continue
        resends[item.seq] = resend
        groups.setdefault(shared_of(resend), []).append(item)

    async def check(some: Sequence[TalkItem]) -> Sending:
        made = _build(body, some, values, resends, date, template, is_code=is_code)
        return await check_alimtalk(api_call(call, made))

    most = MAX_CODE_RECEIVERS if is_code else call.context.policy.max_receivers
    parts = [RecipientPart(some, check) for group in groups.values() for some in cut(group, most)]
    return await send_parts(call, body, items, parts, refusals)


def _has_buttons(recipient: TalkRecipient) -> bool:
    return isinstance(recipient, AlimtalkRecipient) and bool(recipient.buttons or recipient.quickReplies)


def _find_values(template: TemplateContent, recipient: Any) -> Values:
    if isinstance(recipient, FinishedRecipient):
        return find_values(template, recipient)
    assert isinstance(recipient, AlimtalkRecipient)
    check_buttons(template.buttons, recipient.buttons or ())
    check_buttons(template.parts.quick_replies, recipient.quickReplies or ())
    return recipient.templateParameter or {}


def _build(
    body: TalkBody,
    items: Sequence[TalkItem],
    values: Mapping[int, Values],
    resends: Mapping[int, Resend | None],
    date: str | None,
    template: TemplateContent,
    *,
    is_code: bool,
) -> SendAlimtalk:
    """Return the body of a send of ours."""
    assert isinstance(body, AlimtalkBody | FinishedBody)
    first = resends[items[0].seq]
    contents = [resend.content if (resend := resends[each.seq]) else None for each in items]
    content, variable = join_contents(contents, template.variables)
    receivers = []
    for item, own_content in zip(items, contents, strict=True):
        data = dict(values[item.seq])
        if variable is not None:
            data[variable] = own_content
        receivers.append(ReceiverBody(phoneNumber=item.recipient.recipientNo or "", templateData=data))
    return SendAlimtalk(
        senderKey=body.senderKey or "",
        templateCode=body.templateCode or "",
        sendDate=date,
        purpose=CODE_PURPOSE if is_code else None,
        resend=first is not None,
        resendPhoneNumber=first.sender if first else None,
        resendContent=content,
        receivers=receivers,
    )

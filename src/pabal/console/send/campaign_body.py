"""The message of a campaign as it is stored, also of a typed send that waits for the approval of a second user."""

import json
from typing import Any, NamedTuple

from pabal.console.send import kept_draft
from pabal.console.send.draft import MessageDraft
from pabal.console.shell.form_fields import tab_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS
from pabal.domain.sends.sending import Sending
from pabal.service.sending.campaigns import approvals
from pabal.service.sending.campaigns.campaign_files import CampaignDraft

EDITS_ARE_TYPED = Text(
    "예약을 바꿀 때는 수신자를 직접 입력해야 합니다. 파일이나 그룹에 보내려면 예약을 취소하고 새로 작성하세요.",
    "A scheduled send is changed with typed receivers. To send to a file or a group, cancel it and write another.",
)
CODES_ARE_TYPED = Text(
    "인증번호는 직접 입력한 수신자에게 바로 보냅니다. 파일이나 그룹에 보내거나 승인을 받아 보낼 수 없습니다.",
    "A one-time code goes to typed receivers at once: neither to a file or a group, nor after an approval.",
)


class CampaignMessage(NamedTuple):
    """What all receivers share: the kind of message, and its fields as the API takes them."""

    kind: str
    fields: dict[str, Any]
    send_date: str = ""
    """The time that was picked with the message; it can be changed until the campaign is sent."""
    draft: str = ""
    """The form whose draft it was written in; the draft is kept until the campaign is sent."""
    page: str = ""
    """The page that it was written on; empty: unknown."""
    replaces: str = ""
    """The campaign that is cancelled when this one is sent; empty: none."""

    def to_json(self) -> str:
        """Return it as the store holds it."""
        own = {"kind": self.kind, "sendDate": self.send_date, "draft": self.draft, "page": self.page}
        own |= {"replaces": self.replaces} if self.replaces else {}
        return json.dumps({**self.fields, **own}, ensure_ascii=False)

    @classmethod
    def from_json(cls, stored: str) -> "CampaignMessage":
        """Return what `to_json` stored."""
        fields = json.loads(stored)
        return cls(
            fields.pop("kind"),
            fields,
            fields.pop("sendDate"),
            fields.pop("draft", ""),
            fields.pop("page", ""),
            fields.pop("replaces", ""),
        )


def message_from_draft(draft: MessageDraft, replaces: str = "") -> CampaignMessage:
    """Return the message of a draft.

    Raises Refused, also for one-time codes, and for a draft that changes a scheduled request: a campaign would go
    out besides that. `replaces` is the campaign that it changes, if it changes one.
    """
    if draft.texts["edits"] != replaces:
        raise Refused(Code.INVALID_STATE, "receivers", EDITS_ARE_TYPED)
    fields = draft.body([])
    if "purpose" in fields:
        raise Refused(Code.INVALID_PARAMETER, "receivers", CODES_ARE_TYPED)
    send_date = str(fields.pop("sendDate", ""))
    del fields["receivers"]
    return CampaignMessage(draft.kind.word, fields, send_date, replaces=replaces)


async def submit_typed(request: PageRequest, draft: MessageDraft, sending: Sending, key: str) -> bytes:
    """Store a typed send as a campaign that waits for approval, once for each key; return its id.

    Raises Refused for a draft that changes a scheduled request.
    """
    message = message_from_draft(draft)
    campaign_id = _campaign_id(key)
    at = request.minute(request.now)
    name = " ".join((sending.subject or sending.content).split())
    new = CampaignDraft(
        campaign_id,
        request.account_id,
        request.user.id,
        draft.product.code,
        f"{name[: MAX_NAME_CHARACTERS - len(at) - 1]} {at}",
        message.to_json(),
    )
    audit_entry = request.audit_entry("campaign.submit", campaign_id.hex())
    await approvals.submit_typed(request.context, new, sending, audit_entry)
    await kept_draft.end(request, kept_draft.form_name(request), tab_id(request))
    return campaign_id


def _campaign_id(key: str) -> bytes:
    """Return the id of the campaign that a key of the send page makes: the time, and some of the random digits."""
    at, random_digits = key[: kept_draft.KEY_TIME_DIGITS], key[kept_draft.KEY_TIME_DIGITS :]
    random_bits = int(random_digits, 16) & ((1 << identifiers.RANDOM_BITS) - 1)
    return identifiers.make_request_id(int(at, 16), 0, random_bits)

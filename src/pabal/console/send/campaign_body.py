"""The message of a campaign, as it is stored until its receivers are known."""

import json
from typing import Any, NamedTuple

from pabal.console.send.draft import MessageDraft
from pabal.domain.base.codes import Code, Refused, Text

EDITS_ARE_TYPED = Text(
    "예약을 바꿀 때는 수신자를 직접 입력해야 합니다. 파일이나 그룹에 보내려면 예약을 취소하고 새로 작성하세요.",
    "A scheduled send is changed with typed receivers. To send to a file or a group, cancel it and write another.",
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

    def to_json(self) -> str:
        """Return it as the store holds it."""
        own = {"kind": self.kind, "sendDate": self.send_date, "draft": self.draft, "page": self.page}
        return json.dumps({**self.fields, **own}, ensure_ascii=False)

    @classmethod
    def from_json(cls, stored: str) -> "CampaignMessage":
        """Return what `to_json` stored."""
        fields = json.loads(stored)
        return cls(
            fields.pop("kind"), fields, fields.pop("sendDate"), fields.pop("draft", ""), fields.pop("page", "")
        )


def message_from_draft(draft: MessageDraft) -> CampaignMessage:
    """Return the message of a draft.

    Raises Refused, also for a draft that changes a scheduled request: a campaign would go out besides that.
    """
    if draft.texts["edits"]:
        raise Refused(Code.INVALID_STATE, "receivers", EDITS_ARE_TYPED)
    fields = draft.body([])
    send_date = str(fields.pop("sendDate", ""))
    del fields["receivers"]
    return CampaignMessage(draft.kind.word, fields, send_date)

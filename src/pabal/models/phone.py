"""What a simulated phone has received."""

from typing import Annotated, ClassVar

from msgspec import UNSET, UnsetType

from pabal.models.answers import ButtonItem, Date, PagedEnvelope, PartsItem
from pabal.models.brand_bodies import AttachmentBody
from pabal.models.description import describe


class PhoneItem(PartsItem, kw_only=True, rename={"sender": "from"}):
    """A message on a simulated phone."""

    ko: ClassVar[str] = "가상 휴대폰의 메시지"

    time: Date
    kind: Annotated[str, describe("messageProductType의 값 또는 `token`", "A messageProductType, or `token`.")]
    sender: str
    subject: str | UnsetType = UNSET
    content: str
    buttons: list[ButtonItem]
    image: bool
    messageType: Annotated[str | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET
    targeting: Annotated[str | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET
    attachment: Annotated[AttachmentBody | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET


class PhoneAnswer(PagedEnvelope, kw_only=True):
    """A message on a simulated phone."""

    ko: ClassVar[str] = "가상 휴대폰의 메시지"

    items: list[PhoneItem]

"""The bodies of Solapi's calls, as its clients write them; what no field names here is ignored, as Solapi does."""

from typing import Any, TypeVar

import msgspec

from pabal.compat.solapi.codes import invalid

T = TypeVar("T", bound=msgspec.Struct)


class KakaoOptions(msgspec.Struct):
    """What a message to KakaoTalk has besides its text."""

    pfId: str | None = None
    templateId: str | None = None
    variables: dict[str, Any] | None = None
    disableSms: bool | int | str | None = None
    adFlag: bool | int | None = None
    buttons: list[dict[str, Any]] | None = None
    imageId: str | None = None
    bms: dict[str, Any] | None = None


class Bms(msgspec.Struct, forbid_unknown_fields=True):
    """What a brand message has besides its text."""

    targeting: str | None = None
    chatBubbleType: str | None = None
    adult: bool | None = None
    header: str | None = None
    imageId: str | None = None
    imageLink: str | None = None
    additionalContent: str | None = None
    content: str | None = None
    carousel: dict[str, Any] | None = None
    mainWideItem: dict[str, Any] | None = None
    subWideItemList: list[dict[str, Any]] | None = None
    buttons: list[dict[str, Any]] | None = None
    coupon: dict[str, Any] | None = None
    commerce: dict[str, Any] | None = None
    video: dict[str, Any] | None = None


class MessageBody(msgspec.Struct, rename={"sender": "from"}):
    """A message to one receiver, or the same to several."""

    to: str | list[str]
    sender: str | None = None
    text: str | None = None
    type: str | None = None
    country: str | int | None = None
    subject: str | None = None
    imageId: str | None = None
    kakaoOptions: KakaoOptions | None = None
    naverOptions: dict[str, Any] | None = None
    rcsOptions: dict[str, Any] | None = None
    faxOptions: dict[str, Any] | None = None
    voiceOptions: dict[str, Any] | None = None
    customFields: dict[str, Any] | None = None
    replacements: list[Any] | None = None
    autoTypeDetect: Any = None


class SendManyBody(msgspec.Struct):
    """The body of send-many/detail."""

    messages: list[MessageBody]
    allowDuplicates: bool | None = False
    scheduledDate: str | None = None
    showMessageList: bool | None = False


class SendOneBody(msgspec.Struct):
    """The body of send."""

    message: MessageBody
    scheduledDate: str | None = None


class CreateGroupBody(msgspec.Struct):
    """The body that creates a group."""

    allowDuplicates: bool | None = False


class AddMessagesBody(msgspec.Struct):
    """The body that adds messages to a group."""

    messages: list[MessageBody]


class ScheduleBody(msgspec.Struct):
    """The body that schedules a group."""

    scheduledDate: str


class FileBody(msgspec.Struct):
    """A file in Base64."""

    file: str
    type: str = "DOCUMENT"
    name: str | None = None
    link: str | None = None


def decode(raw: bytes, shape: type[T]) -> T:
    """Return the body of a call.

    Raises CallRefused.
    """
    if b"\\u0000" in raw:
        raise invalid("Non Printable Characters는 사용할 수 없습니다.")
    try:
        return msgspec.json.decode(raw or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise invalid(f"데이터 타입이 올바르지 않습니다. {error}") from None

"""The bodies of NHN Cloud's calls for KakaoTalk, with every field that is documented; others are ignored."""

from typing import Any

import msgspec


class TalkButton(msgspec.Struct, gc=False):
    """A button under a message, or a quick reply."""

    ordering: int | None = None
    type: str | None = None
    name: str | None = None
    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None
    chatExtra: str | None = None
    chatEvent: str | None = None
    bizFormId: int | None = None
    bizFormKey: str | None = None
    pluginId: str | None = None
    relayId: str | None = None
    oneClickId: str | None = None
    productId: str | None = None
    target: str | None = None
    telNumber: str | None = None

    @property
    def has_plugin(self) -> bool:
        """Whether it needs what cannot be sent from here: a plugin, a payment or a business form by its number."""
        return any((self.bizFormId, self.pluginId, self.relayId, self.oneClickId, self.productId))


class ResendParameter(msgspec.Struct, gc=False):
    """The text that is sent if a message fails."""

    isResend: bool | None = None
    resendType: str | None = None
    resendTitle: str | None = None
    resendContent: str | None = None
    resendSendNo: str | None = None
    resendUnsubscribeNo: str | None = None


class ItemLine(msgspec.Struct, gc=False):
    """A line of an item list, or its summary."""

    title: str | None = None
    description: str | None = None


class ItemList(msgspec.Struct, rename={"lines": "list"}, gc=False):
    """The lines of an item list."""

    lines: list[ItemLine] | None = None
    summary: ItemLine | None = None


class HighlightLine(ItemLine, gc=False):
    """What is emphasized above an item list."""

    imageUrl: str | None = None


class RepresentLink(msgspec.Struct, gc=False):
    """What a tap on a message opens."""

    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None


class TalkRecipient(msgspec.Struct, gc=False):
    """What every recipient has."""

    recipientNo: str | None = None
    resendParameter: ResendParameter | None = None
    recipientGroupingKey: str | None = None


class AlimtalkRecipient(TalkRecipient, gc=False):
    """A recipient with the values of a template's variables."""

    templateParameter: dict[str, Any] | None = None
    buttons: list[TalkButton] | None = None
    quickReplies: list[TalkButton] | None = None


class FinishedRecipient(TalkRecipient, gc=False):
    """A recipient with the finished texts of an Alimtalk."""

    content: str | None = None
    templateTitle: str | None = None
    templateHeader: str | None = None
    templateItem: ItemList | None = None
    templateItemHighlight: HighlightLine | None = None
    templateRepresentLink: RepresentLink | None = None
    buttons: list[TalkButton] | None = None
    quickReplies: list[TalkButton] | None = None


class FriendtalkRecipient(TalkRecipient, gc=False):
    """A recipient of friend talk, each with a message of its own."""

    content: str | None = None
    imageUrl: str | None = None
    imageLink: str | None = None
    buttons: list[TalkButton] | None = None
    isAd: bool | None = None
    adult: bool | None = None
    coupon: dict[str, Any] | None = None
    header: str | None = None
    item: dict[str, Any] | None = None
    carousel: dict[str, Any] | None = None
    commerce: dict[str, Any] | None = None
    video: dict[str, Any] | None = None
    additionalContent: str | None = None


class BrandRecipient(TalkRecipient, gc=False):
    """A recipient of a brand message; the values are those of a template."""

    targeting: str | None = None
    templateParameter: dict[str, Any] | None = None
    unsubscribeNo: str | None = None
    unsubscribeAuthNo: str | None = None
    imageParameters: list[Any] | None = None
    videoParameter: dict[str, Any] | None = None


class TalkBody(msgspec.Struct):
    """What every call that sends has besides its recipients."""

    senderKey: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    createUser: str | None = None
    statsId: str | None = None
    messageOption: dict[str, Any] | None = None


class AlimtalkBody(TalkBody):
    """The body of `messages` for Alimtalk."""

    templateCode: str | None = None
    recipientList: list[AlimtalkRecipient] | None = None


class FinishedBody(TalkBody):
    """The body of `raw-messages`."""

    templateCode: str | None = None
    recipientList: list[FinishedRecipient] | None = None


class FriendtalkBody(TalkBody):
    """The body of `messages` for friend talk."""

    recipientList: list[FriendtalkRecipient] | None = None


class BrandBody(TalkBody):
    """What both kinds of brand messages have."""

    pushAlarm: bool | None = None
    unsubscribeNo: str | None = None
    unsubscribeAuthNo: str | None = None
    resellerCode: str | None = None
    recipientList: list[BrandRecipient] | None = None


class BasicBody(BrandBody):
    """The body of `basic-messages`: by a template."""

    templateCode: str | None = None


class FreestyleBody(BrandBody):
    """The body of `freestyle-messages`."""

    chatBubbleType: str | None = None
    adult: bool | None = None
    content: str | None = None
    header: str | None = None
    additionalContent: str | None = None
    image: dict[str, Any] | None = None
    buttons: list[dict[str, Any]] | None = None
    item: dict[str, Any] | None = None
    coupon: dict[str, Any] | None = None
    commerce: dict[str, Any] | None = None
    video: dict[str, Any] | None = None
    carousel: dict[str, Any] | None = None

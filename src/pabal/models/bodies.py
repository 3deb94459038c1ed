"""The bodies and parameters of the API, each with its fields in the order of the specification."""

from typing import Annotated, Any

from msgspec import Meta, Struct

MAX_PAGE = 1_000_000
MAX_PAGE_SIZE = 1000


def _describe(description: str) -> Meta:
    return Meta(description=description)


PHONE = Meta(description="Phone number, 010-0000-0000.", examples=["010-1234-5678"])
SEND_DATE = Meta(description="When to send it, `yyyy-MM-dd HH:mm`. Default: now.", examples=["2026-12-24 18:00"])
EXPIRE_MINUTES = Meta(
    description="Minutes after `sendDate` in which it must be with a carrier, else it fails with 9004."
    " From 1 to 4,320. Default: one day for texts, three days for others, unless the operator has set another.",
    examples=[5],
)
AD_FLAG = _describe(
    "Whether it is an advertisement: `(광고)` is put in front, and the number for opting out is added as the last"
    " line, unless they are there; both count towards the length. Not sent from 20:50 to 08:00. Default: false."
)
OPT_OUT_NUMBER = Meta(
    description="Free number for opting out, 080-000-0000, of an advertisement."
    " Default: that of the account, else the operator's; required if there is none and the text names none.",
    examples=["080-123-4567"],
)
RESEND_PHONE_NUMBER = _describe("Sender number of that text message. Required with `resend`.")
RESEND_CONTENT = _describe("Content of that text message. Default: the text and links of this message.")


class ReceiverBody(Struct, kw_only=True, omit_defaults=True):
    """One receiver of a send."""

    phoneNumber: Annotated[str, PHONE]
    templateData: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Values of the variables `#{name}` in the text. At most 1 MiB as JSON.",
            examples=[{"name": "홍길동"}],
        ),
    ] = None
    reference: Annotated[
        str | None, _describe("Your own id for the message, at most 64 characters. Records return it.")
    ] = None


class FriendtalkReceiverBody(ReceiverBody, kw_only=True, omit_defaults=True):
    """One receiver of a friend talk."""

    content: Annotated[str | None, _describe("Text for this receiver. Replaces the request's `content`.")] = None


class ImageBody(Struct, kw_only=True, omit_defaults=True):
    """An image."""

    contentType: Annotated[
        str, Meta(description="image/jpeg, image/jpg or image/vnd.wap.sis.", examples=["image/jpeg"])
    ]
    fileName: Annotated[str, Meta(description="File name.", examples=["photo.jpg"])]
    body: Annotated[str, _describe("The file in Base64, at most 51,200 bytes when decoded.")]


class ButtonBody(Struct, kw_only=True, omit_defaults=True):
    """A button under a message."""

    buttonType: Annotated[
        str | None,
        _describe(
            "webLink (default), appLink, channelAddition, botKeyword, messageDelivery,"
            " counselingTalkConversion, botConversion or deliveryTracking; in templates also phoneCall."
        ),
    ] = None
    name: Annotated[str | None, _describe("At most 14 characters. Default: the Korean name of the type.")] = None
    mobileUrl: Annotated[str | None, _describe("Mobile web link. Required for webLink.")] = None
    pcUrl: Annotated[str | None, _describe("PC web link.")] = None
    androidUrl: Annotated[str | None, _describe("Android app link.")] = None
    iosUrl: Annotated[str | None, _describe("iOS app link.")] = None
    chatExtra: Annotated[
        str | None, _describe("Passed to the chat. Required for counselingTalkConversion and botConversion.")
    ] = None
    chatEvent: Annotated[str | None, _describe("Bot event to start. Required for botConversion.")] = None
    target: Annotated[str | None, _describe("`out` opens a webLink in the browser instead of the app.")] = None
    orderNo: Annotated[int | None, _describe("Order of the buttons.")] = None


class TemplateButtonBody(ButtonBody, kw_only=True, omit_defaults=True):
    """A button of a template."""

    telNumber: Annotated[
        str | None,
        _describe("Number that a phoneCall button calls: at most 14 digits and hyphens. Required for phoneCall."),
    ] = None


class ItemBody(Struct, kw_only=True, omit_defaults=True):
    """A line of an item list, or its summary."""

    title: Annotated[str, _describe("At most 6 characters, without variables.")]
    description: Annotated[
        str, _describe("At most 23 characters; of a summary 14, digits, `.`, `,` and currencies only.")
    ]


class ItemListBody(Struct, kw_only=True, omit_defaults=True):
    """The item list of a template."""

    items: Annotated[list[ItemBody], _describe("2 to 10 lines.")]
    summary: ItemBody | None = None


class ItemHighlightBody(Struct, kw_only=True, omit_defaults=True):
    """What is emphasized above an item list."""

    title: Annotated[str, _describe("At most 30 characters; 21 with a thumbnail.")]
    description: Annotated[str, _describe("At most 19 characters; 13 with a thumbnail.")]
    imageUrl: Annotated[str | None, _describe("Address of a thumbnail that was uploaded at the relay.")] = None
    image: Annotated[ImageBody | None, _describe("A thumbnail to upload there; JPEG, instead of imageUrl.")] = None


class RepresentLinkBody(Struct, kw_only=True, omit_defaults=True):
    """The link that a tap on a message opens; at least one address."""

    mobileUrl: Annotated[str | None, _describe("Mobile web link.")] = None
    pcUrl: Annotated[str | None, _describe("PC web link.")] = None
    androidUrl: Annotated[str | None, _describe("Android app link.")] = None
    iosUrl: Annotated[str | None, _describe("iOS app link.")] = None


class SendSms(Struct, kw_only=True, omit_defaults=True):
    """An SMS to each receiver."""

    content: Annotated[
        str, Meta(description="Text. At most 90 bytes for each receiver.", examples=["#{name}님, 안녕하세요"])
    ]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, Meta(description="Sender number.", examples=["02-1234-5678"])]
    receivers: list[ReceiverBody]


class SendLms(Struct, kw_only=True, omit_defaults=True):
    """An LMS to each receiver."""

    subject: Annotated[str | None, _describe("Subject. At most 40 bytes.")] = None
    content: Annotated[str, _describe("Text. At most 2,000 bytes for each receiver.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, Meta(description="Sender number.", examples=["02-1234-5678"])]
    receivers: list[ReceiverBody]


class SendMms(Struct, kw_only=True, omit_defaults=True):
    """An MMS to each receiver."""

    subject: Annotated[str | None, _describe("Subject. At most 40 bytes.")] = None
    content: Annotated[str, _describe("Text. At most 2,000 bytes for each receiver.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, Meta(description="Sender number.", examples=["02-1234-5678"])]
    image: ImageBody | None = None
    receivers: list[ReceiverBody]


class SendAlimtalk(Struct, kw_only=True, omit_defaults=True):
    """An Alimtalk to each receiver, with the text of the template."""

    senderKey: Annotated[str, _describe("Key of the sender profile.")]
    templateCode: Annotated[str, _describe("Code of the template.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    resend: Annotated[bool | None, _describe("Whether to send a text message if this message fails.")] = None
    resendPhoneNumber: Annotated[str | None, RESEND_PHONE_NUMBER] = None
    resendContent: Annotated[str | None, RESEND_CONTENT] = None
    receivers: list[ReceiverBody]


class SendFriendtalk(Struct, kw_only=True, omit_defaults=True):
    """A friend talk to each receiver."""

    senderKey: Annotated[str, _describe("Key of the sender profile.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[bool | None, _describe("Whether it is an advertisement. Default: false.")] = None
    messageType: Annotated[
        str | None,
        _describe(
            "friendTalkText, friendTalkImage or friendTalkWideImage."
            " Default: friendTalkImage with an image, else friendTalkText."
        ),
    ] = None
    content: Annotated[str | None, _describe("Text. Required unless every receiver has its own.")] = None
    image: ImageBody | None = None
    imageLink: Annotated[str | None, _describe("Link of the image.")] = None
    resend: Annotated[bool | None, _describe("Whether to send a text message if this message fails.")] = None
    resendPhoneNumber: Annotated[str | None, RESEND_PHONE_NUMBER] = None
    resendContent: Annotated[str | None, RESEND_CONTENT] = None
    buttons: list[ButtonBody] | None = None
    receivers: list[FriendtalkReceiverBody]


class CancelRequest(Struct, kw_only=True, omit_defaults=True):
    """The send request, or the message of it, to cancel."""

    requestId: str
    messageId: str | None = None


class CreateSender(Struct, kw_only=True, omit_defaults=True):
    """A channel to register."""

    category: Annotated[str, Meta(description="Category code.", examples=["00100010001"])]
    channelId: Annotated[str, Meta(description="Search id of the channel.", examples=["@my-channel"])]
    cellphone: Annotated[str, PHONE]


class DeleteSender(Struct, kw_only=True, omit_defaults=True):
    """The profile to delete: by its key, or by its channel if it has no key yet."""

    senderKey: str | None = None
    channelId: str | None = None


class AuthSender(Struct, kw_only=True, omit_defaults=True):
    """The token that the administrator's phone received."""

    channelId: str
    token: Annotated[str, Meta(examples=["123456"])]


class TemplateKey(Struct, kw_only=True, omit_defaults=True):
    """The template to delete or submit."""

    senderKey: str
    templateCode: str


class WriteTemplate(Struct, kw_only=True, omit_defaults=True):
    """A template to create or update."""

    senderKey: str
    templateCode: Annotated[str, _describe("At most 20 letters, digits and `.`, `_`, `-`.")]
    name: Annotated[str, _describe("At most 150 characters.")]
    content: Annotated[str, _describe("At most 1,300 characters, with variables `#{name}`.")]
    category: Annotated[str, Meta(description="Category code.", examples=["006003"])]
    messageType: Annotated[str | None, _describe("basic (default), extraInfo, channelAddition or mixed.")] = None
    emphasisType: Annotated[
        str | None,
        _describe("none (default), text, image or itemList (needs header, itemHighlight, itemList or image)."),
    ] = None
    emphasisTitle: Annotated[str | None, _describe("Required for emphasisType text.")] = None
    emphasisAssistPhrase: str | None = None
    moreInfo: Annotated[str | None, _describe("Required for messageType extraInfo and mixed.")] = None
    image: ImageBody | None = None
    imageLink: str | None = None
    securityTemplate: bool | None = None
    buttons: Annotated[list[TemplateButtonBody] | None, _describe("At most 5; 2 with quick replies.")] = None
    header: Annotated[str | None, _describe("At most 16 characters, for emphasisType itemList.")] = None
    itemHighlight: ItemHighlightBody | None = None
    itemList: ItemListBody | None = None
    representLink: RepresentLinkBody | None = None
    quickReplies: Annotated[
        list[ButtonBody] | None,
        _describe("At most 5: webLink, appLink, botKeyword, counselingTalkConversion or botConversion."),
    ] = None


class ListSenders(Struct, kw_only=True, omit_defaults=True):
    """The profiles to list."""

    channelId: str | None = None
    senderKey: str | None = None
    authStatus: Annotated[str | None, _describe("waiting or approval.")] = None
    page: int = 1
    pageSize: int = 10


class ListTemplates(Struct, kw_only=True, omit_defaults=True):
    """The templates to list."""

    senderKey: str | None = None
    templateCode: str | None = None
    status: Annotated[str | None, _describe("registered, inspecting, approved or rejected.")] = None
    page: int = 1
    pageSize: int = 10


class GetRequest(Struct, kw_only=True, omit_defaults=True):
    """The send request to get."""

    requestId: str
    page: int = 1
    pageSize: int = 10


class ListPhoneMessages(Struct, kw_only=True, omit_defaults=True):
    """The simulated phone whose messages to list."""

    phoneNumber: Annotated[str, PHONE]
    page: int = 1
    pageSize: int = 10


class ExportPersonalData(Struct, kw_only=True, omit_defaults=True):
    """The phone number whose data to export; the page is that of its messages."""

    phoneNumber: Annotated[str, PHONE]
    page: int = 1
    pageSize: int = 10


class ErasePersonalData(Struct, kw_only=True, omit_defaults=True):
    """The phone number to erase."""

    phoneNumber: Annotated[str, PHONE]


class NoFields(Struct, kw_only=True, omit_defaults=True):
    """No fields."""


PERIOD = Meta(description="A period `from~to` of which either end may be empty, or a single minute or day.")


class ListMessages(Struct, kw_only=True, omit_defaults=True):
    """The messages to list."""

    page: int = 1
    pageSize: int = 10
    requestId: str | None = None
    messageId: str | None = None
    messageProductType: str | None = None
    sendingStatus: str | None = None
    receivers: Annotated[
        str | None,
        Meta(
            description="Receiver number. Required, unless `requestId`, `messageId` or a `requestDate` of at most"
            " 31 days is given; then pages follow each other by `cursor`.",
            examples=["010-1234-5678"],
        ),
    ] = None
    receiver: Annotated[str | None, _describe("Another name for `receivers`.")] = None
    channelId: str | None = None
    senderKey: str | None = None
    templateCode: str | None = None
    yyyyMM: Annotated[str | None, _describe("Month of the scheduled date.")] = None
    requestDate: Annotated[str | None, PERIOD] = None
    scheduledDate: Annotated[str | None, PERIOD] = None
    completeDate: Annotated[str | None, PERIOD] = None
    completedDate: Annotated[str | None, _describe("Another name for `completeDate`.")] = None
    cursor: Annotated[
        str | None,
        _describe("Without `receivers`: the `nextCursor` of the last answer. Send the other parameters again."),
    ] = None
    partial: Annotated[
        bool,
        _describe(
            "Whether to answer also while a part of a distributed store cannot be reached: `warnings` says what was"
            " not looked at. Otherwise the answer is SERVICE_UNAVAILABLE then."
        ),
    ] = False

"""The bodies and parameters of the API, each with its fields in the order of the specification."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from pabal.models import describe

MAX_PAGE = 1_000_000
MAX_PAGE_SIZE = 1000


PHONE = describe("전화번호, 010-0000-0000", "Phone number, 010-0000-0000.", examples=["010-1234-5678"])
SEND_DATE = describe(
    "보낼 시각, `yyyy-MM-dd HH:mm`. 기본값: 지금",
    "When to send it, `yyyy-MM-dd HH:mm`. Default: now.",
    examples=["2026-12-24 18:00"],
)
EXPIRE_MINUTES = describe(
    "`sendDate` 뒤 이 분 안에 발송 경로에 넘어가야 하며, 아니면 9004로 실패합니다. 1부터 4,320까지."
    " 기본값: 운영자가 달리 정하지 않았으면 문자는 하루, 그 밖에는 사흘",
    "Minutes after `sendDate` in which it must be with a carrier, else it fails with 9004. From 1 to"
    " 4,320. Default: one day for texts, three days for others, unless the operator has set another.",
    examples=[5],
)
AD_FLAG = describe(
    "광고인지 여부. 없으면 앞에 `(광고)`를, 마지막 줄에 수신거부 번호를 붙이며 둘 다 길이에"
    " 들어갑니다. 20:50부터 08:00까지는 발송하지 않습니다. 기본값: false",
    "Whether it is an advertisement: `(광고)` is put in front, and the number for opting out is added"
    " as the last line, unless they are there; both count towards the length. Not sent from 20:50 to"
    " 08:00. Default: false.",
)
OPT_OUT_NUMBER = describe(
    "광고의 무료 수신거부 번호, 080-000-0000. 기본값: 계정의 번호, 없으면 운영자의 번호. 둘 다 없고"
    " 본문에도 없으면 필수입니다",
    "Free number for opting out, 080-000-0000, of an advertisement. Default: that of the account,"
    " else the operator's; required if there is none and the text names none.",
    examples=["080-123-4567"],
)
PURPOSE = describe(
    "`code`: 일회용 인증번호. 수신자는 최대 10명이고, 계정의 다른 발송보다 먼저 나갑니다. `expireMinutes`의"
    " 기본값은 5이며 광고일 수 없습니다. 끝난 뒤에는 기록에서 숫자를 `•`로 가립니다",
    "`code`: a one-time code. At most 10 receivers; it goes out before the account's other sends."
    " `expireMinutes` is 5 by default, and it is never advertising. Records show its digits as `•`"
    " once it has ended.",
    examples=["code"],
)
RESEND_PHONE_NUMBER = describe(
    "그 문자의 발신번호. `resend`를 쓰면 필수입니다", "Sender number of that text message. Required with `resend`."
)
RESEND_CONTENT = describe(
    "그 문자의 내용. 기본값: 이 메시지의 본문과 링크",
    "Content of that text message. Default: the text and links of this message.",
)


class ReceiverBody(Struct, kw_only=True, omit_defaults=True):
    """One receiver of a send."""

    phoneNumber: Annotated[str, PHONE]
    templateData: Annotated[
        dict[str, Any] | None,
        describe(
            "본문에 있는 변수 `#{name}`의 값. JSON으로 최대 1 MiB",
            "Values of the variables `#{name}` in the text. At most 1 MiB as JSON.",
            examples=[{"name": "홍길동"}],
        ),
    ] = None
    reference: Annotated[
        str | None,
        describe(
            "메시지의 자체 ID, 최대 64자. 기록에 그대로 나옵니다",
            "Your own id for the message, at most 64 characters. Records return it.",
        ),
    ] = None


class FriendtalkReceiverBody(ReceiverBody, kw_only=True, omit_defaults=True):
    """One receiver of a friend talk."""

    content: Annotated[
        str | None,
        describe(
            "이 수신자의 본문. 요청의 `content`를 대신합니다",
            "Text for this receiver. Replaces the request's `content`.",
        ),
    ] = None


class ImageBody(Struct, kw_only=True, omit_defaults=True):
    """An image."""

    contentType: Annotated[
        str,
        describe(
            "image/jpeg, image/jpg 또는 image/vnd.wap.sis. 발송 순서의 모든 발송 경로가 받으면 image/png도",
            "image/jpeg, image/jpg or image/vnd.wap.sis; image/png where every carrier of the route takes it.",
            examples=["image/jpeg"],
        ),
    ]
    fileName: Annotated[str, describe("파일 이름", "File name.", examples=["photo.jpg"])]
    body: Annotated[
        str,
        describe(
            "Base64로 된 파일. 풀었을 때 51,200바이트까지는 언제나 받고, 그보다 크면 발송 순서의 모든 발송 경로가"
            " 받는 크기까지 받습니다",
            "The file in Base64. Up to 51,200 bytes when decoded are always accepted; more, up to what every"
            " carrier of the route takes.",
        ),
    ]


class ButtonBody(Struct, kw_only=True, omit_defaults=True):
    """A button under a message."""

    buttonType: Annotated[
        str | None,
        describe(
            "webLink(기본값), appLink, channelAddition, botKeyword, messageDelivery,"
            " counselingTalkConversion, botConversion 또는 deliveryTracking. 템플릿에서는 phoneCall도",
            "webLink (default), appLink, channelAddition, botKeyword, messageDelivery,"
            " counselingTalkConversion, botConversion or deliveryTracking; in templates also phoneCall.",
        ),
    ] = None
    name: Annotated[
        str | None,
        describe(
            "최대 14자. 기본값: 종류의 한국어 이름", "At most 14 characters. Default: the Korean name of the type."
        ),
    ] = None
    mobileUrl: Annotated[
        str | None, describe("모바일 웹 링크. webLink에는 필수입니다", "Mobile web link. Required for webLink.")
    ] = None
    pcUrl: Annotated[str | None, describe("PC 웹 링크", "PC web link.")] = None
    androidUrl: Annotated[str | None, describe("Android 앱 링크", "Android app link.")] = None
    iosUrl: Annotated[str | None, describe("iOS 앱 링크", "iOS app link.")] = None
    chatExtra: Annotated[
        str | None,
        describe(
            "대화에 넘길 값. counselingTalkConversion과 botConversion에는 필수입니다",
            "Passed to the chat. Required for counselingTalkConversion and botConversion.",
        ),
    ] = None
    chatEvent: Annotated[
        str | None,
        describe(
            "시작할 봇 이벤트. botConversion에는 필수입니다", "Bot event to start. Required for botConversion."
        ),
    ] = None
    target: Annotated[
        str | None,
        describe(
            "`out`이면 webLink를 앱이 아니라 브라우저에서 엽니다",
            "`out` opens a webLink in the browser instead of the app.",
        ),
    ] = None
    orderNo: Annotated[int | None, describe("버튼의 순서", "Order of the buttons.")] = None


class SendSms(Struct, kw_only=True, omit_defaults=True):
    """An SMS to each receiver."""

    content: Annotated[
        str,
        describe(
            "본문. 수신자마다 90바이트까지",
            "Text. At most 90 bytes for each receiver.",
            examples=["#{name}님, 안녕하세요"],
        ),
    ]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    purpose: Annotated[str | None, PURPOSE] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, describe("발신번호", "Sender number.", examples=["02-1234-5678"])]
    receivers: list[ReceiverBody]


class SendLms(Struct, kw_only=True, omit_defaults=True):
    """An LMS to each receiver."""

    subject: Annotated[str | None, describe("제목. 40바이트까지", "Subject. At most 40 bytes.")] = None
    content: Annotated[
        str, describe("본문. 수신자마다 2,000바이트까지", "Text. At most 2,000 bytes for each receiver.")
    ]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    purpose: Annotated[str | None, PURPOSE] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, describe("발신번호", "Sender number.", examples=["02-1234-5678"])]
    receivers: list[ReceiverBody]


class SendMms(Struct, kw_only=True, omit_defaults=True):
    """An MMS to each receiver."""

    subject: Annotated[str | None, describe("제목. 40바이트까지", "Subject. At most 40 bytes.")] = None
    content: Annotated[
        str, describe("본문. 수신자마다 2,000바이트까지", "Text. At most 2,000 bytes for each receiver.")
    ]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[bool | None, AD_FLAG] = None
    optOutNumber: Annotated[str | None, OPT_OUT_NUMBER] = None
    sender: Annotated[str, describe("발신번호", "Sender number.", examples=["02-1234-5678"])]
    image: ImageBody | None = None
    images: list[ImageBody] | None = None
    receivers: list[ReceiverBody]


class SendAlimtalk(Struct, kw_only=True, omit_defaults=True):
    """An Alimtalk to each receiver, with the text of the template."""

    senderKey: Annotated[str, describe("발신 프로필의 키", "Key of the sender profile.")]
    templateCode: Annotated[str, describe("템플릿의 코드", "Code of the template.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    purpose: Annotated[str | None, PURPOSE] = None
    resend: Annotated[
        bool | None,
        describe(
            "이 메시지가 실패하면 문자를 보낼지 여부", "Whether to send a text message if this message fails."
        ),
    ] = None
    resendPhoneNumber: Annotated[str | None, RESEND_PHONE_NUMBER] = None
    resendContent: Annotated[str | None, RESEND_CONTENT] = None
    receivers: list[ReceiverBody]


class SendFriendtalk(Struct, kw_only=True, omit_defaults=True):
    """A friend talk to each receiver."""

    senderKey: Annotated[str, describe("발신 프로필의 키", "Key of the sender profile.")]
    sendDate: Annotated[str | None, SEND_DATE] = None
    expireMinutes: Annotated[int | None, EXPIRE_MINUTES] = None
    adFlag: Annotated[
        bool | None, describe("광고인지 여부. 기본값: false", "Whether it is an advertisement. Default: false.")
    ] = None
    messageType: Annotated[
        str | None,
        describe(
            "friendTalkText, friendTalkImage 또는 friendTalkWideImage. 기본값: 이미지가 있으면"
            " friendTalkImage, 없으면 friendTalkText",
            "friendTalkText, friendTalkImage or friendTalkWideImage. Default: friendTalkImage with an image,"
            " else friendTalkText.",
        ),
    ] = None
    content: Annotated[
        str | None,
        describe(
            "본문. 모든 수신자에게 각자의 본문이 있지 않으면 필수입니다",
            "Text. Required unless every receiver has its own.",
        ),
    ] = None
    image: ImageBody | None = None
    imageLink: Annotated[str | None, describe("이미지의 링크", "Link of the image.")] = None
    resend: Annotated[
        bool | None,
        describe(
            "이 메시지가 실패하면 문자를 보낼지 여부", "Whether to send a text message if this message fails."
        ),
    ] = None
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

    category: Annotated[str, describe("카테고리 코드", "Category code.", examples=["00100010001"])]
    channelId: Annotated[
        str, describe("채널의 검색용 아이디", "Search id of the channel.", examples=["@my-channel"])
    ]
    cellphone: Annotated[str, PHONE]


class DeleteSender(Struct, kw_only=True, omit_defaults=True):
    """The profile to delete: by its key, or by its channel if it has no key yet."""

    senderKey: str | None = None
    channelId: str | None = None


class AuthSender(Struct, kw_only=True, omit_defaults=True):
    """The token that the administrator's phone received."""

    channelId: str
    token: Annotated[str, Meta(examples=["123456"])]


class ListSenders(Struct, kw_only=True, omit_defaults=True):
    """The profiles to list."""

    channelId: str | None = None
    senderKey: str | None = None
    authStatus: Annotated[str | None, describe("waiting 또는 approval", "waiting or approval.")] = None
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


PERIOD = describe(
    "한쪽을 비울 수 있는 기간 `from~to`, 또는 1분이나 하루",
    "A period `from~to` of which either end may be empty, or a single minute or day.",
)


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
        describe(
            "수신번호. `requestId`, `messageId` 또는 31일 이하의 `requestDate`가 없으면 필수입니다. 이것들을"
            " 주면 페이지는 `cursor`로 이어집니다",
            "Receiver number. Required, unless `requestId`, `messageId` or a `requestDate` of at most 31 days"
            " is given; then pages follow each other by `cursor`.",
            examples=["010-1234-5678"],
        ),
    ] = None
    receiver: Annotated[str | None, describe("`receivers`의 다른 이름", "Another name for `receivers`.")] = None
    channelId: str | None = None
    senderKey: str | None = None
    templateCode: str | None = None
    yyyyMM: Annotated[str | None, describe("예약된 날짜의 달", "Month of the scheduled date.")] = None
    requestDate: Annotated[str | None, PERIOD] = None
    scheduledDate: Annotated[str | None, PERIOD] = None
    completeDate: Annotated[str | None, PERIOD] = None
    completedDate: Annotated[
        str | None, describe("`completeDate`의 다른 이름", "Another name for `completeDate`.")
    ] = None
    cursor: Annotated[
        str | None,
        describe(
            "`receivers` 없이: 지난 응답의 `nextCursor`. 다른 조건도 다시 보내세요",
            "Without `receivers`: the `nextCursor` of the last answer. Send the other parameters again.",
        ),
    ] = None
    partial: Annotated[
        bool,
        describe(
            "나뉜 저장소의 일부에 연결할 수 없을 때도 응답할지 여부. 조회하지 못한 것은 `warnings`에"
            " 있습니다. 아니면 그때의 응답은 SERVICE_UNAVAILABLE입니다",
            "Whether to answer also while a part of a distributed store cannot be reached: `warnings` says"
            " what was not looked at. Otherwise the answer is SERVICE_UNAVAILABLE then.",
        ),
    ] = False

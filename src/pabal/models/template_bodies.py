"""The bodies of the endpoints of templates."""

from typing import Annotated

from msgspec import Struct

from pabal.models import describe
from pabal.models.bodies import ButtonBody, ImageBody


class TemplateButtonBody(ButtonBody, kw_only=True, omit_defaults=True):
    """A button of a template."""

    telNumber: Annotated[
        str | None,
        describe(
            "phoneCall 버튼이 거는 번호: 숫자와 붙임표 최대 14자. phoneCall에는 필수입니다",
            "Number that a phoneCall button calls: at most 14 digits and hyphens. Required for phoneCall.",
        ),
    ] = None


class ItemBody(Struct, kw_only=True, omit_defaults=True):
    """A line of an item list, or its summary."""

    title: Annotated[str, describe("최대 6자, 변수 없이", "At most 6 characters, without variables.")]
    description: Annotated[
        str,
        describe(
            "최대 23자. 요약은 14자, 숫자와 `.`, `,`, 통화 단위만",
            "At most 23 characters; of a summary 14, digits, `.`, `,` and currencies only.",
        ),
    ]


class ItemListBody(Struct, kw_only=True, omit_defaults=True):
    """The item list of a template."""

    items: Annotated[list[ItemBody], describe("2~10줄", "2 to 10 lines.")]
    summary: ItemBody | None = None


class ItemHighlightBody(Struct, kw_only=True, omit_defaults=True):
    """What is emphasized above an item list."""

    title: Annotated[
        str, describe("최대 30자, 썸네일이 있으면 21자", "At most 30 characters; 21 with a thumbnail.")
    ]
    description: Annotated[
        str, describe("최대 19자, 썸네일이 있으면 13자", "At most 19 characters; 13 with a thumbnail.")
    ]
    imageUrl: Annotated[
        str | None,
        describe("중계사에 올린 썸네일의 주소", "Address of a thumbnail that was uploaded at the relay."),
    ] = None
    image: Annotated[
        ImageBody | None,
        describe(
            "그곳에 올릴 썸네일. imageUrl 대신 JPEG로", "A thumbnail to upload there; JPEG, instead of imageUrl."
        ),
    ] = None


class RepresentLinkBody(Struct, kw_only=True, omit_defaults=True):
    """The link that a tap on a message opens; at least one address."""

    mobileUrl: Annotated[str | None, describe("모바일 웹 링크", "Mobile web link.")] = None
    pcUrl: Annotated[str | None, describe("PC 웹 링크", "PC web link.")] = None
    androidUrl: Annotated[str | None, describe("Android 앱 링크", "Android app link.")] = None
    iosUrl: Annotated[str | None, describe("iOS 앱 링크", "iOS app link.")] = None


class TemplateKey(Struct, kw_only=True, omit_defaults=True):
    """The template to delete or submit."""

    senderKey: str
    templateCode: str


class WriteTemplate(Struct, kw_only=True, omit_defaults=True):
    """A template to create or update."""

    senderKey: str
    templateCode: Annotated[
        str, describe("영문자, 숫자, `.`, `_`, `-` 최대 20자", "At most 20 letters, digits and `.`, `_`, `-`.")
    ]
    name: Annotated[str, describe("최대 150자", "At most 150 characters.")]
    content: Annotated[
        str,
        describe("최대 1,300자, 변수 `#{name}` 사용 가능", "At most 1,300 characters, with variables `#{name}`."),
    ]
    category: Annotated[str, describe("카테고리 코드", "Category code.", examples=["006003"])]
    messageType: Annotated[
        str | None,
        describe(
            "basic(기본값), extraInfo, channelAddition 또는 mixed",
            "basic (default), extraInfo, channelAddition or mixed.",
        ),
    ] = None
    emphasisType: Annotated[
        str | None,
        describe(
            "none(기본값), text, image 또는 itemList(header, itemHighlight, itemList, image 중 하나 필요)",
            "none (default), text, image or itemList (needs header, itemHighlight, itemList or image).",
        ),
    ] = None
    emphasisTitle: Annotated[
        str | None, describe("emphasisType이 text이면 필수입니다", "Required for emphasisType text.")
    ] = None
    emphasisAssistPhrase: str | None = None
    moreInfo: Annotated[
        str | None,
        describe("messageType이 extraInfo나 mixed이면 필수입니다", "Required for messageType extraInfo and mixed."),
    ] = None
    image: ImageBody | None = None
    imageLink: str | None = None
    securityTemplate: bool | None = None
    buttons: Annotated[
        list[TemplateButtonBody] | None,
        describe("최대 5개, 바로연결이 있으면 2개", "At most 5; 2 with quick replies."),
    ] = None
    header: Annotated[
        str | None,
        describe("최대 16자, emphasisType이 itemList일 때", "At most 16 characters, for emphasisType itemList."),
    ] = None
    itemHighlight: ItemHighlightBody | None = None
    itemList: ItemListBody | None = None
    representLink: RepresentLinkBody | None = None
    quickReplies: Annotated[
        list[ButtonBody] | None,
        describe(
            "최대 5개: webLink, appLink, botKeyword, counselingTalkConversion 또는 botConversion",
            "At most 5: webLink, appLink, botKeyword, counselingTalkConversion or botConversion.",
        ),
    ] = None


class ListTemplates(Struct, kw_only=True, omit_defaults=True):
    """The templates to list."""

    senderKey: str | None = None
    templateCode: str | None = None
    status: Annotated[
        str | None,
        describe("registered, inspecting, approved 또는 rejected", "registered, inspecting, approved or rejected."),
    ] = None
    page: int = 1
    pageSize: int = 10

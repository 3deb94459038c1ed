"""Every limit of a field: the longest value is accepted, one more and ten times as much is refused by name."""

from typing import NamedTuple

from pabal.domain.brand import limits
from pabal.domain.content import button, image, text
from pabal.domain.events import webhook
from pabal.domain.kakao import profile, template, template_parts
from pabal.domain.people import opt_out
from pabal.domain.sends import sending
from tests.fixtures.cases import with_each
from tests.fixtures.full_bodies import FULL_BODIES, replace_value
from tests.fixtures.virtual import Caller


class FieldLimit(NamedTuple):
    """How long a field may be, and the character to fill it with."""

    operation: str
    path: str
    limit: int
    filler: str = "a"
    prefix: str = ""
    refused_as: str | None = None
    """The field that a refusal may also name: the text of one receiver, filled in."""


LINK = "https://shop.example/"
BRAND = "message/sendBrandMessage"
LIMITS = [
    FieldLimit("message/sendSMS", "content", text.SMS_MAX_BYTES),
    FieldLimit("message/sendSMS", "receivers[0].reference", sending.MAX_REFERENCE_CHARACTERS, "가"),
    FieldLimit("optOut/add", "reason", opt_out.MAX_REASON_CHARACTERS, "가"),
    FieldLimit("webhook/create", "description", webhook.MAX_DESCRIPTION_CHARACTERS, "가"),
    FieldLimit("webhook/create", "url", webhook.MAX_URL_CHARACTERS, prefix=LINK),
    FieldLimit("message/sendLMS", "subject", text.SUBJECT_MAX_BYTES),
    FieldLimit("message/sendLMS", "content", text.LMS_MAX_BYTES, refused_as="receivers[0].content"),
    FieldLimit("message/sendMMS", "content", text.LMS_MAX_BYTES, refused_as="receivers[0].content"),
    FieldLimit("message/sendMMS", "image.fileName", image.MAX_FILE_NAME_CHARACTERS),
    FieldLimit("message/sendAlimtalk", "resendContent", text.MAX_INPUT_CHARACTERS),
    FieldLimit("message/sendAlimtalk", "receivers[0].reference", sending.MAX_REFERENCE_CHARACTERS),
    FieldLimit(
        "message/sendFriendtalk",
        "receivers[0].content",
        text.FRIENDTALK_IMAGE_MAX_CHARACTERS,
        "가",
    ),
    FieldLimit("message/sendFriendtalk", "imageLink", button.MAX_LINK_CHARACTERS, prefix=LINK),
    FieldLimit("message/sendFriendtalk", "buttons[0].name", button.MAX_NAME_CHARACTERS, "가"),
    FieldLimit("message/sendFriendtalk", "buttons[0].mobileUrl", button.MAX_LINK_CHARACTERS, prefix=LINK),
    FieldLimit("message/sendFriendtalk", "buttons[0].pcUrl", button.MAX_LINK_CHARACTERS, prefix=LINK),
    *(
        FieldLimit(BRAND, f"attachment.carousel.{path}", limit, filler, prefix)
        for path, limit, filler, prefix in (
            ("head.header", limits.MAX_HEADER_CHARACTERS, "가", ""),
            ("head.content", limits.MAX_INTRODUCTION_CHARACTERS, "가", ""),
            ("head.linkMo", limits.MAX_LINK_CHARACTERS, "a", LINK),
            ("list[0].additionalContent", limits.MAX_ADDITIONAL_CHARACTERS, "가", ""),
            ("list[0].imageUrl", limits.MAX_LINK_CHARACTERS, "a", LINK),
            ("list[0].commerce.title", limits.MAX_PRODUCT_CHARACTERS, "가", ""),
            ("list[0].coupon.description", limits.MAX_COUPON_CHARACTERS, "가", ""),
            ("list[0].buttons[0].name", limits.MAX_SHORT_BUTTON_NAME_CHARACTERS, "가", ""),
            ("list[0].buttons[0].chatExtra", limits.MAX_CHAT_CHARACTERS, "가", ""),
            ("list[0].buttons[0].bizFormKey", limits.MAX_FORM_KEY_CHARACTERS, "가", ""),
            ("tail.linkMo", limits.MAX_LINK_CHARACTERS, "a", LINK),
        )
    ),
    FieldLimit("template/update", "name", template.MAX_NAME_CHARACTERS, "가"),
    FieldLimit("template/update", "content", template_parts.MAX_CONTENT_CHARACTERS_WITH_ITEMS, "가"),
    FieldLimit("template/update", "header", template_parts.MAX_HEADER_CHARACTERS, "가"),
    FieldLimit("template/update", "itemHighlight.title", template_parts.MAX_THUMBNAIL_TITLE_CHARACTERS, "가"),
    FieldLimit("template/update", "itemHighlight.description", template_parts.MAX_THUMBNAIL_CHARACTERS, "가"),
    FieldLimit("template/update", "itemHighlight.imageUrl", button.MAX_LINK_CHARACTERS, prefix=LINK),
    FieldLimit("template/update", "itemList.summary.title", template_parts.MAX_ITEM_TITLE_CHARACTERS, "가"),
    FieldLimit("template/update", "itemList.summary.description", template_parts.MAX_SUMMARY_CHARACTERS, "1"),
    FieldLimit("template/update", "representLink.pcUrl", button.MAX_TEMPLATE_LINK_CHARACTERS, prefix=LINK),
    FieldLimit("template/update", "quickReplies[0].name", button.MAX_NAME_CHARACTERS, "가"),
    FieldLimit("template/update", "buttons[0].telNumber", button.MAX_TEL_NUMBER_CHARACTERS, "1"),
    FieldLimit("template/update", "emphasisTitle", template.MAX_EMPHASIS_CHARACTERS, "가"),
    FieldLimit("template/update", "emphasisAssistPhrase", template.MAX_EMPHASIS_CHARACTERS, "가"),
    FieldLimit("template/update", "moreInfo", template.MAX_MORE_INFO_CHARACTERS, "가"),
    FieldLimit("template/create", "templateCode", template.MAX_CODE_CHARACTERS),
    FieldLimit("sender/create", "channelId", profile.MAX_CHANNEL_ID_CHARACTERS, prefix="@"),
]


def _fill(limit: FieldLimit, length: int) -> str:
    return limit.prefix + limit.filler * (length - len(limit.prefix))


@with_each("limit", LIMITS)
async def test_longest_value_is_accepted_and_a_longer_one_refused_by_name(
    call: Caller, alimtalk_key: str, limit: FieldLimit
) -> None:
    body = FULL_BODIES[limit.operation]
    given = {name: alimtalk_key if value == "KEY" else value for name, value in body.items()}

    refused = [
        await call(limit.operation, replace_value(given, limit.path, _fill(limit, length)))
        for length in (limit.limit + 1, 10 * limit.limit)
    ]
    accepted = await call(limit.operation, replace_value(given, limit.path, _fill(limit, limit.limit)))

    assert accepted.result == "SUCCESS", accepted.body
    for answer in refused:
        assert answer.status == 400, answer.body
        (error,) = answer.body["errors"]
        assert error["field"] in (limit.path, limit.refused_as), answer.body

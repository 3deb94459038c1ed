"""The name and the Korean description of each body and answer in the OpenAPI document, and limits of their fields.

Generated clients name their classes after these names, so they stay as they are when a class is renamed.
"""

from typing import Any

from msgspec import Struct

from pabal.domain.base.identifiers import MESSAGE_ID_BYTES, REQUEST_ID_BYTES
from pabal.domain.brand import limits as brand
from pabal.domain.brand.buttons import BUTTON_TYPES
from pabal.domain.brand.message import BrandType, Targeting
from pabal.domain.content import button, image, text
from pabal.domain.events import event, webhook
from pabal.domain.kakao import profile, template, template_parts
from pabal.domain.people import opt_out, phone
from pabal.domain.sends import sending
from pabal.domain.sends.message import Product, Status
from pabal.models import (
    answers,
    bodies,
    brand_bodies,
    lookup,
    opt_outs,
    send_answers,
    statistics,
    template_bodies,
    webhook_posts,
    webhooks,
)
from pabal.models.bodies import MAX_PAGE, MAX_PAGE_SIZE
from pabal.models.lookup import MAX_RESULTS

_SCHEMAS: dict[type[Struct], tuple[str, str]] = {
    answers.Envelope: ("Envelope", "모든 응답에 있는 항목"),
    answers.ErrorItem: ("ErrorItem", "요청의 문제 하나"),
    answers.WarningItem: ("WarningItem", "성공한 요청에 대해 알아 둘 것"),
    bodies.NoFields: ("Nothing", "항목 없음"),
    bodies.CreateSender: ("CreateSender", "등록할 채널"),
    bodies.DeleteSender: ("DeleteSender", "삭제할 프로필. 키로 지정하고, 아직 키가 없으면 채널로 지정합니다"),
    bodies.AuthSender: ("AuthSender", "관리자의 휴대폰이 받은 인증 토큰"),
    bodies.ListSenders: ("ListSenders", "조회할 프로필의 조건"),
    bodies.SendSms: ("SendSms", "수신자마다 보낼 단문(SMS)"),
    bodies.ReceiverBody: ("Receiver", "발송의 수신자 한 명"),
    bodies.SendLms: ("SendLms", "수신자마다 보낼 장문(LMS)"),
    bodies.SendMms: ("SendMms", "수신자마다 보낼 멀티미디어(MMS)"),
    bodies.ImageBody: ("Image", "이미지"),
    bodies.SendAlimtalk: ("SendAlimtalk", "수신자마다 템플릿 본문으로 보낼 알림톡"),
    bodies.SendFriendtalk: ("SendFriendtalk", "수신자마다 보낼 친구톡"),
    bodies.ButtonBody: ("Button", "메시지 아래의 버튼"),
    bodies.FriendtalkReceiverBody: ("TalkReceiver", "친구톡의 수신자 한 명"),
    bodies.ListMessages: ("ListMessages", "조회할 메시지의 조건"),
    bodies.CancelRequest: ("Cancel", "취소할 발송 요청 또는 그 요청의 메시지 하나"),
    bodies.GetRequest: ("LookUpRequest", "조회할 발송 요청"),
    template_bodies.WriteTemplate: ("WriteTemplate", "등록하거나 수정할 템플릿"),
    template_bodies.TemplateKey: ("TemplatePlace", "삭제하거나 검수를 요청할 템플릿"),
    template_bodies.ListTemplates: ("ListTemplates", "조회할 템플릿의 조건"),
    bodies.ListPhoneMessages: ("LookAtPhone", "메시지를 조회할 가상 휴대폰"),
    answers.CategoriesAnswer: ("CategoriesAnswer", "발신 프로필의 카테고리"),
    answers.CategoryItem: ("CategoryItem", "카테고리"),
    answers.SenderAnswer: ("SenderAnswer", "발신 프로필 하나"),
    answers.SenderItem: ("SenderItem", "발신 프로필"),
    answers.CategoryRef: ("CategoryRef", "프로필의 카테고리"),
    answers.LabelledValue: ("Labelled", "코드 값과 응답의 언어로 된 이름"),
    answers.EnvelopeOnly: ("Empty", "공통 항목만 있는 응답"),
    answers.SendersAnswer: ("SendersAnswer", "발신 프로필 목록"),
    send_answers.AcceptedAnswer: ("SentAnswer", "접수된 발송 요청"),
    send_answers.AcceptedItem: ("SentItem", "접수된 발송 요청. 모의 발송이면 일어날 일"),
    send_answers.DryRunReceiverItem: ("DryRunReceiver", "수신자가 받을 것"),
    answers.MessagesAnswer: ("MessagesAnswer", "메시지 목록"),
    answers.MessageItem: ("MessageItem", "메시지와 그 결과"),
    send_answers.CancelAnswer: ("CancelAnswer", "취소 결과"),
    send_answers.CancelItem: ("CancelItem", "취소할 메시지 수와 취소한 메시지 수"),
    answers.RequestAnswer: ("RequestAnswer", "발송 요청과 그 메시지"),
    answers.RequestItem: ("RequestItem", "발송 요청과 그 진행"),
    answers.StatusCounts: ("Counts", "상태별 메시지 수"),
    lookup.GetMessage: ("LookUpMessage", "조회할 메시지"),
    lookup.MessageDetailAnswer: ("MessageDetailAnswer", "메시지 하나와 그 처리 이력"),
    lookup.MessageDetailItem: ("MessageDetailItem", "메시지와 그 처리 이력"),
    lookup.MessageEventItem: ("MessageEventItem", "메시지에 일어난 일 하나"),
    statistics.ListStatistics: ("ListStatistics", "집계할 기간과 조건"),
    statistics.StatisticsAnswer: ("StatisticsAnswer", "메시지 통계"),
    statistics.StatisticsInfo: ("StatisticsInfo", "숫자의 기준 시각"),
    statistics.StatisticsItem: ("StatisticsItem", "한 시간, 하루 또는 한 달 동안 요청한 한 묶음의 메시지"),
    answers.TemplateCategoriesAnswer: ("TemplateCategoriesAnswer", "템플릿의 카테고리"),
    answers.TemplateCategoryItem: ("TemplateCategoryItem", "템플릿의 카테고리와 그 묶음"),
    answers.TemplateAnswer: ("TemplateAnswer", "템플릿"),
    answers.TemplateItem: ("TemplateItem", "템플릿"),
    answers.ImageItem: ("ImageItem", "내용이 없는 이미지"),
    answers.ButtonItem: ("ButtonItem", "메시지 아래의 버튼"),
    template_bodies.TemplateButtonBody: ("TemplateButton", "템플릿의 버튼"),
    template_bodies.ItemBody: ("Item", "아이템 리스트의 줄 또는 요약"),
    template_bodies.ItemListBody: ("ItemList", "템플릿의 아이템 리스트"),
    template_bodies.ItemHighlightBody: ("ItemHighlight", "아이템 리스트 위에 강조하는 것"),
    template_bodies.RepresentLinkBody: (
        "RepresentLink",
        "메시지를 누르면 열리는 링크. 주소가 하나 이상 있어야 합니다",
    ),
    answers.ItemLineItem: ("ItemLineItem", "아이템 리스트의 줄 또는 요약"),
    answers.ItemListItem: ("ItemListItem", "아이템 리스트"),
    answers.ItemHighlightItem: ("ItemHighlightItem", "아이템 리스트 위에 강조하는 것"),
    answers.RepresentLinkItem: ("RepresentLinkItem", "메시지를 누르면 열리는 링크"),
    answers.TemplatesAnswer: ("TemplatesAnswer", "템플릿 목록"),
    lookup.PhoneAnswer: ("PhoneAnswer", "가상 휴대폰의 메시지"),
    lookup.PhoneItem: ("PhoneItem", "가상 휴대폰의 메시지"),
    bodies.ExportPersonalData: (
        "ExportPersonalData",
        "데이터를 내보낼 전화번호. 페이지는 메시지 목록에 적용됩니다",
    ),
    bodies.ErasePersonalData: ("ErasePersonalData", "데이터를 파기할 전화번호"),
    opt_outs.PersonalDataAnswer: ("PersonalDataAnswer", "번호에 대해 저장된 것과 그 번호로 보낸 메시지"),
    opt_outs.ContactItem: ("ContactItem", "콘솔 주소록의 연락처"),
    opt_outs.PersonalDataItem: ("PersonalDataItem", "번호에 대해 메시지 외에 저장된 것"),
    opt_outs.StoredMessageItem: ("StoredMessageItem", "가상 휴대폰에 저장된 메시지나 토큰"),
    opt_outs.CampaignRowItem: ("CampaignRowItem", "캠페인 파일에서 아직 요청이 되지 않은 행"),
    opt_outs.ErasureAnswer: ("ErasureAnswer", "파기 결과"),
    opt_outs.ErasureItem: ("ErasureItem", "얼마나 파기했는지"),
    brand_bodies.SendBrandMessage: (
        "SendBrandMessage",
        "수신자마다 보낼 브랜드 메시지. 자유형 또는 중계사의 템플릿으로 보냅니다",
    ),
    brand_bodies.AttachmentBody: (
        "BrandAttachment",
        "브랜드 메시지가 본문, 이미지, 버튼 외에 보여 주는 것. 어떤 항목이 있는지는 유형에 따라 다릅니다",
    ),
    brand_bodies.BrandImageBody: ("BrandImage", "중계사에 올린 이미지"),
    brand_bodies.BrandButtonBody: ("BrandButton", "중계사의 문서대로 적은 버튼"),
    brand_bodies.LinksBody: ("BrandLinks", "누르면 가는 곳"),
    brand_bodies.CouponBody: ("Coupon", "쿠폰"),
    brand_bodies.CommerceBody: ("Commerce", "파는 것과 그 가격(원)"),
    brand_bodies.VideoBody: ("Video", "카카오TV 동영상"),
    brand_bodies.WideListBody: ("WideList", "와이드 리스트의 아이템"),
    brand_bodies.WideListItemBody: ("WideListItem", "와이드 리스트의 아이템 하나"),
    brand_bodies.CarouselBody: ("Carousel", "캐러셀의 카드"),
    brand_bodies.CarouselHeadBody: ("CarouselHead", "커머스 캐러셀의 인트로"),
    brand_bodies.CarouselItemBody: ("CarouselItem", "캐러셀의 카드"),
    lookup.ListResults: ("ListResults", "조회할 결과의 조건"),
    lookup.ResultsAnswer: ("ResultsAnswer", "끝난 메시지"),
    lookup.ResultsItem: ("ResultsItem", "이어 갈 곳"),
    lookup.ResultItem: ("ResultItem", "끝난 메시지와 그 이벤트의 ID"),
    lookup.ListInbound: ("ListInbound", "조회할 수신 메시지의 조건"),
    lookup.InboundItem: ("InboundItem", "수신자가 계정의 번호로 보낸 메시지(MO)"),
    lookup.InboundPosition: ("InboundPosition", "다음 호출이 이어 갈 곳"),
    lookup.InboundAnswer: ("InboundAnswer", "수신 메시지(MO) 목록"),
    opt_outs.AddOptOuts: ("AddOptOuts", "광고를 원하지 않는 사람"),
    opt_outs.RemoveOptOuts: ("RemoveOptOuts", "다시 광고 수신에 동의한 사람"),
    opt_outs.ListOptOuts: ("ListOptOuts", "조회할 수신거부의 조건"),
    opt_outs.OptOutItem: ("OptOutItem", "광고를 원하지 않는 수신자"),
    opt_outs.AddedOptOutsItem: ("AddedOptOutsItem", "요청에 있는 수신거부 수와 그중 없던 것의 수"),
    opt_outs.RemovedOptOutsItem: ("RemovedOptOutsItem", "요청에 있는 수신거부 수와 그중 있던 것의 수"),
    opt_outs.AddedOptOutsAnswer: ("AddedOptOutsAnswer", "수신거부를 등록한 결과"),
    opt_outs.RemovedOptOutsAnswer: ("RemovedOptOutsAnswer", "수신거부를 해제한 결과"),
    opt_outs.OptOutsAnswer: ("OptOutsAnswer", "수신거부 목록"),
    webhooks.CreateWebhook: ("CreateWebhook", "등록할 웹훅"),
    webhooks.UpdateWebhook: ("UpdateWebhook", "웹훅에서 바꿀 것. 없는 항목은 그대로 둡니다"),
    webhooks.DeleteWebhook: ("DeleteWebhook", "삭제할 웹훅"),
    webhooks.SendWebhookTest: ("TestWebhook", "시험할 웹훅"),
    webhooks.ReplayWebhook: ("ReplayWebhook", "다시 전송할 이벤트"),
    webhooks.ListWebhooks: ("ListWebhooks", "조회할 웹훅의 조건"),
    webhooks.ListDeliveries: ("ListDeliveries", "조회할 전송 시도의 조건"),
    webhooks.ListEvents: ("ListEvents", "조회할 이벤트의 조건"),
    webhooks.EventsItem: ("EventsItem", "이어 갈 곳"),
    webhooks.UnsignedPost: ("UnsignedPost", "웹훅이 받을 전송, 서명은 없음"),
    webhooks.EventsAnswer: ("EventsAnswer", "웹훅이 받을 이벤트"),
    webhooks.NewWebhookItem: ("NewWebhookItem", "새 웹훅"),
    webhooks.WebhookItem: ("WebhookItem", "웹훅"),
    webhooks.WebhookTestItem: ("WebhookTestItem", "전송에 대해 돌아온 것"),
    webhooks.DeliveryItem: ("DeliveryItem", "전송 시도 하나"),
    webhooks.NewWebhookAnswer: ("NewWebhookAnswer", "새 웹훅"),
    webhooks.WebhookAnswer: ("WebhookAnswer", "웹훅"),
    webhooks.WebhooksAnswer: ("WebhooksAnswer", "계정의 웹훅 목록"),
    webhooks.WebhookTestAnswer: ("WebhookTestAnswer", "시험 전송에 돌아온 응답"),
    webhooks.DeliveriesAnswer: ("DeliveriesAnswer", "최근 전송 시도, 새것부터. 최대 1,000개를 보관합니다"),
    webhook_posts.InboundEventItem: ("InboundEventItem", "수신자가 보낸 메시지(MO)와 그 이벤트의 ID"),
    webhook_posts.TemplateEventItem: ("TemplateEventItem", "상태가 바뀌었을 때의 템플릿과 그 이벤트의 ID"),
    webhook_posts.SenderEventItem: ("SenderEventItem", "바뀌었을 때의 발신 프로필과 그 이벤트의 ID"),
    webhook_posts.OptOutEventItem: ("OptOutEventItem", "새 수신거부와 그 이벤트의 ID"),
    webhook_posts.CampaignCounts: ("CampaignCounts", "캠페인의 메시지가 어떻게 끝났는지"),
    webhook_posts.CampaignFinishedItem: ("CampaignFinishedItem", "끝난 캠페인"),
    webhook_posts.LimitNearItem: ("LimitNearItem", "거의 다 썼거나 다 쓴 계정의 한도"),
    webhook_posts.FailureHighItem: (
        "FailureHighItem",
        "계정의 메시지가 많이 실패합니다. 실패가 줄 때까지 한 번, 많아야 한 시간에 한 번 알립니다",
    ),
    webhook_posts.CarrierStatusItem: ("CarrierStatusItem", "연결이 끊겼거나 복구된 발송 경로"),
    webhook_posts.WebhookTestEventItem: ("WebhookTestEventItem", "호출자가 요청한 시험"),
    webhook_posts.ResultEvents: ("ResultEvents", "끝난 메시지"),
    webhook_posts.InboundEvents: ("InboundEvents", "수신자가 보낸 메시지(MO)"),
    webhook_posts.TemplateEvents: ("TemplateEvents", "상태가 바뀐 템플릿"),
    webhook_posts.SenderEvents: ("SenderEvents", "바뀐 발신 프로필"),
    webhook_posts.CampaignEvents: ("CampaignEvents", "끝난 캠페인"),
    webhook_posts.OptOutEvents: ("OptOutEvents", "새 수신거부"),
    webhook_posts.LimitEvents: ("LimitEvents", "거의 다 쓴 한도"),
    webhook_posts.FailureEvents: ("FailureEvents", "높은 실패율"),
    webhook_posts.CarrierEvents: ("CarrierEvents", "연결이 끊겼거나 복구된 발송 경로"),
    webhook_posts.WebhookTestEvents: ("WebhookTestEvents", "시험"),
    webhook_posts.MessageResultPost: ("MessageResultPost", "메시지가 끝났습니다"),
    webhook_posts.MessageInboundPost: ("MessageInboundPost", "수신자가 계정의 번호로 메시지(MO)를 보냈습니다"),
    webhook_posts.TemplateStatusPost: (
        "TemplateStatusPost",
        "템플릿이 제출, 승인, 반려, 수정되었거나 중계사가 사용을 중지하거나 풀었습니다",
    ),
    webhook_posts.SenderAuthPost: (
        "SenderAuthPost",
        "발신 프로필이 승인, 사용 중지, 사용 재개되었거나 중계사가 사용을 중지하거나 풀었습니다",
    ),
    webhook_posts.CampaignFinishedPost: ("CampaignFinishedPost", "캠페인이 끝났습니다"),
    webhook_posts.OptOutAddedPost: ("OptOutAddedPost", "수신자가 광고를 더는 원하지 않습니다"),
    webhook_posts.LimitNearPost: ("LimitNearPost", "계정의 한도를 거의 다 썼습니다"),
    webhook_posts.FailureHighPost: ("FailureHighPost", "계정의 메시지가 많이 실패합니다"),
    webhook_posts.CarrierStatusPost: ("CarrierStatusPost", "발송 경로의 연결이 끊겼거나 복구되었습니다"),
    webhook_posts.WebhookTestPost: ("WebhookTestPost", "웹훅의 시험"),
}
SCHEMA_NAMES = {shape: name for shape, (name, _) in _SCHEMAS.items()}
KOREAN_DESCRIPTIONS = {shape: ko for shape, (_, ko) in _SCHEMAS.items()}
"""What each schema is; in English, that is the docstring of its class."""


Keywords = dict[str, Any]

MINUTE_PATTERN = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$"


def _most(characters: int) -> Keywords:
    return {"maxLength": characters}


def _one_of(*values: str) -> Keywords:
    return {"enum": [str(each) for each in values]}


def _between(lowest: int, highest: int) -> Keywords:
    return {"minimum": lowest, "maximum": highest}


def _items(fewest: int, most: int, **each: Any) -> Keywords:
    return {"minItems": fewest, "maxItems": most, **({"items": each} if each else {})}


_PHONE = _most(phone.MAX_SPELLING_CHARACTERS)
_TEXT = _most(text.MAX_INPUT_CHARACTERS)
_LINK = _most(button.MAX_LINK_CHARACTERS)
_TEMPLATE_LINK = _most(button.MAX_TEMPLATE_LINK_CHARACTERS)
_BRAND_LINK = _most(brand.MAX_LINK_CHARACTERS)
_SENDER_KEY = _most(profile.SENDER_KEY_CHARACTERS)
_PRODUCTS = [each.code for each in Product]
_SENDABLE = [each for each in _PRODUCTS if each not in (Product.EMAIL.code, Product.PUSH.code)]

CONSTRAINTS: dict[str, Keywords] = {
    # Receivers, images and buttons.
    "templateData": {"additionalProperties": {"type": "string", **_TEXT}},
    "reference": _most(sending.MAX_REFERENCE_CHARACTERS),
    "Image.contentType": _one_of("image/jpeg", "image/jpg", "image/vnd.wap.sis", "image/png"),
    "Image.fileName": _most(image.MAX_FILE_NAME_CHARACTERS),
    "Image.body": {"contentEncoding": "base64"},
    "SendMms.images": _items(1, image.MAX_IMAGES),
    "Button.buttonType": _one_of(*button.FRIENDTALK_BUTTON_TYPES),
    "TemplateButton.buttonType": _one_of(*button.DEFAULT_NAMES),
    "Button.name": _most(button.MAX_NAME_CHARACTERS),
    "TemplateButton.name": _most(button.MAX_NAME_CHARACTERS),
    "mobileUrl": _LINK,
    "pcUrl": _LINK,
    "androidUrl": _LINK,
    "iosUrl": _LINK,
    **{f"TemplateButton.{name}": _TEMPLATE_LINK for name in ("mobileUrl", "pcUrl", "androidUrl", "iosUrl")},
    **{f"RepresentLink.{name}": _TEMPLATE_LINK for name in ("mobileUrl", "pcUrl", "androidUrl", "iosUrl")},
    "chatExtra": _most(button.MAX_CHAT_CHARACTERS),
    "chatEvent": _most(button.MAX_CHAT_CHARACTERS),
    "target": _most(button.MAX_CHAT_CHARACTERS),
    "orderNo": _between(-button.MAX_ORDER_NUMBER, button.MAX_ORDER_NUMBER),
    "telNumber": _most(button.MAX_TEL_NUMBER_CHARACTERS),
    # What sends share.
    "content": _TEXT,
    "subject": _TEXT,
    "sendDate": {"pattern": MINUTE_PATTERN},
    "expireMinutes": _between(1, sending.MAX_EXPIRE_MINUTES),
    "sender": _PHONE,
    "optOutNumber": _PHONE,
    "resendPhoneNumber": _PHONE,
    "resendContent": _TEXT,
    "senderKey": _SENDER_KEY,
    "templateCode": _most(template.MAX_CODE_CHARACTERS),
    "imageLink": _LINK,
    "buttons": _items(0, button.MAX_BUTTONS),
    "receivers": {"minItems": 1},  # how many at most is a setting
    "purpose": _one_of(sending.CODE_PURPOSE),
    "SendFriendtalk.messageType": _one_of(*(each.code for each in Product if each.is_friend_talk)),
    # Profiles and templates.
    "CreateSender.channelId": _most(profile.MAX_CHANNEL_ID_CHARACTERS),
    "phoneNumber": _PHONE,
    "cellphone": _PHONE,
    "ListSenders.authStatus": _one_of(*profile.AUTH_STATUS_BY_CODE),
    "ListTemplates.status": _one_of(*template.TEMPLATE_STATUS_BY_CODE),
    "WriteTemplate.name": _most(template.MAX_NAME_CHARACTERS),
    "WriteTemplate.content": _most(template.MAX_CONTENT_CHARACTERS),
    "WriteTemplate.messageType": _one_of(*template.MESSAGE_TYPES),
    "WriteTemplate.emphasisType": _one_of(*template.EMPHASIS_TYPES),
    "WriteTemplate.header": _most(template_parts.MAX_HEADER_CHARACTERS),
    "emphasisTitle": _most(template.MAX_EMPHASIS_CHARACTERS),
    "emphasisAssistPhrase": _most(template.MAX_EMPHASIS_CHARACTERS),
    "moreInfo": _most(template.MAX_MORE_INFO_CHARACTERS),
    "quickReplies": _items(0, template_parts.MAX_QUICK_REPLIES),
    "Item.title": _most(template_parts.MAX_ITEM_TITLE_CHARACTERS),
    "Item.description": _most(template_parts.MAX_ITEM_CHARACTERS),
    "ItemList.items": _items(template_parts.MIN_ITEMS, template_parts.MAX_ITEMS),
    "ItemHighlight.title": _most(template_parts.MAX_HIGHLIGHT_TITLE_CHARACTERS),
    "ItemHighlight.description": _most(template_parts.MAX_HIGHLIGHT_CHARACTERS),
    "ItemHighlight.imageUrl": _LINK,
    # Brand messages.
    "SendBrandMessage.templateCode": _most(brand.MAX_TEMPLATE_CODE_CHARACTERS),
    "SendBrandMessage.messageType": _one_of(*BrandType),
    "SendBrandMessage.targeting": _one_of(*Targeting),
    "SendBrandMessage.content": _TEXT,
    "optOutAuthNumber": _most(brand.MAX_OPT_OUT_AUTH_DIGITS),
    "BrandButton.type": _one_of(*BUTTON_TYPES),
    "BrandButton.name": _most(brand.MAX_BUTTON_NAME_CHARACTERS),
    "bizFormKey": _most(brand.MAX_FORM_KEY_CHARACTERS),
    **dict.fromkeys(("linkMo", "linkPc", "schemeAndroid", "schemeIos", "imageUrl", "thumbnailUrl"), _BRAND_LINK),
    "videoUrl": _most(brand.MAX_VIDEO_URL_CHARACTERS),
    "Coupon.description": _most(brand.MAX_WIDE_COUPON_CHARACTERS),
    "Commerce.title": _most(brand.MAX_PRODUCT_CHARACTERS),
    "regularPrice": _between(0, brand.MAX_PRICE),
    "discountPrice": _between(0, brand.MAX_PRICE),
    "discountRate": _between(0, brand.MAX_DISCOUNT_RATE),
    "discountFixed": _between(0, brand.MAX_DISCOUNT_FIXED),
    "WideListItem.title": _most(brand.MAX_ITEM_CHARACTERS),
    "WideList.list": _items(brand.MIN_ITEMS, brand.MAX_ITEMS),
    "header": _most(brand.MAX_HEADER_CHARACTERS),
    "CarouselHead.content": _most(brand.MAX_INTRODUCTION_CHARACTERS),
    "CarouselItem.message": _most(brand.MAX_CARD_MESSAGE_CHARACTERS),
    "additionalContent": _most(brand.MAX_ADDITIONAL_CHARACTERS),
    "CarouselItem.buttons": _items(1, brand.MAX_CARD_BUTTONS),
    "Carousel.list": _items(1, brand.MAX_CARDS),
    # Lists and look-ups.
    "page": _between(1, MAX_PAGE),
    "pageSize": _between(1, MAX_PAGE_SIZE),
    "limit": _between(1, MAX_RESULTS),
    "cursor": _most(event.MAX_CURSOR_CHARACTERS),
    "requestId": _most(2 * REQUEST_ID_BYTES),
    "messageId": _most(2 * MESSAGE_ID_BYTES),
    "ListMessages.messageProductType": _one_of(*_PRODUCTS),
    "ListMessages.sendingStatus": _one_of(*(each.code for each in Status)),
    "ListMessages.receivers": _PHONE,
    "ListMessages.templateCode": _most(brand.MAX_TEMPLATE_CODE_CHARACTERS),
    "receiver": _PHONE,
    "yyyyMM": {"pattern": r"^\d{6}$"},
    "ListStatistics.interval": _one_of("hour", "day", "month"),
    # Opt-outs and webhooks.
    "phoneNumbers": _items(1, opt_out.MAX_PHONE_NUMBERS, **_PHONE),
    "senderNumber": _PHONE,
    "reason": _most(opt_out.MAX_REASON_CHARACTERS),
    "url": _most(webhook.MAX_URL_CHARACTERS),
    "events": _items(1, len(webhook.ORDERED_EVENTS), enum=[each.code for each in webhook.ORDERED_EVENTS]),
    "products": _items(0, len(_SENDABLE), enum=_SENDABLE),
    "CreateWebhook.description": _most(webhook.MAX_DESCRIPTION_CHARACTERS),
    "UpdateWebhook.description": _most(webhook.MAX_DESCRIPTION_CHARACTERS),
    "webhookId": _most(webhook.MAX_ID_DIGITS),
    "since": {"pattern": MINUTE_PATTERN},
}
"""By schema and field, else by the field alone; `items` says what each item of a list may be."""

"""The name of each body and answer in the OpenAPI document, and the limits of their fields."""

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
    privacy,
    send_answers,
    statistics,
    template_bodies,
    webhook_posts,
    webhooks,
)
from pabal.models.bodies import MAX_PAGE, MAX_PAGE_SIZE
from pabal.models.lookup import MAX_RESULTS

SCHEMA_NAMES: dict[type[Struct], str] = {
    answers.Envelope: "Envelope",
    answers.ErrorItem: "ErrorItem",
    answers.WarningItem: "WarningItem",
    bodies.NoFields: "Nothing",
    bodies.CreateSender: "CreateSender",
    bodies.DeleteSender: "DeleteSender",
    bodies.AuthSender: "AuthSender",
    bodies.ListSenders: "ListSenders",
    bodies.SendSms: "SendSms",
    bodies.ReceiverBody: "Receiver",
    bodies.SendLms: "SendLms",
    bodies.SendMms: "SendMms",
    bodies.ImageBody: "Image",
    bodies.SendAlimtalk: "SendAlimtalk",
    bodies.SendFriendtalk: "SendFriendtalk",
    bodies.ButtonBody: "Button",
    bodies.FriendtalkReceiverBody: "TalkReceiver",
    bodies.ListMessages: "ListMessages",
    bodies.CancelRequest: "Cancel",
    bodies.GetRequest: "LookUpRequest",
    template_bodies.WriteTemplate: "WriteTemplate",
    template_bodies.TemplateKey: "TemplatePlace",
    template_bodies.ListTemplates: "ListTemplates",
    bodies.ListPhoneMessages: "LookAtPhone",
    answers.CategoriesAnswer: "CategoriesAnswer",
    answers.CategoryItem: "CategoryItem",
    answers.SenderAnswer: "SenderAnswer",
    answers.SenderItem: "SenderItem",
    answers.CategoryRef: "CategoryRef",
    answers.LabelledValue: "Labelled",
    answers.EnvelopeOnly: "Empty",
    answers.SendersAnswer: "SendersAnswer",
    send_answers.AcceptedAnswer: "SentAnswer",
    send_answers.AcceptedItem: "SentItem",
    send_answers.DryRunReceiverItem: "DryRunReceiver",
    answers.MessagesAnswer: "MessagesAnswer",
    answers.MessageItem: "MessageItem",
    send_answers.CancelAnswer: "CancelAnswer",
    send_answers.CancelItem: "CancelItem",
    answers.RequestAnswer: "RequestAnswer",
    answers.RequestItem: "RequestItem",
    answers.StatusCounts: "Counts",
    lookup.GetMessage: "LookUpMessage",
    lookup.MessageDetailAnswer: "MessageDetailAnswer",
    lookup.MessageDetailItem: "MessageDetailItem",
    lookup.MessageEventItem: "MessageEventItem",
    statistics.ListStatistics: "ListStatistics",
    statistics.StatisticsAnswer: "StatisticsAnswer",
    statistics.StatisticsInfo: "StatisticsInfo",
    statistics.StatisticsItem: "StatisticsItem",
    answers.TemplateCategoriesAnswer: "TemplateCategoriesAnswer",
    answers.TemplateCategoryItem: "TemplateCategoryItem",
    answers.TemplateAnswer: "TemplateAnswer",
    answers.TemplateItem: "TemplateItem",
    answers.ImageItem: "ImageItem",
    answers.ButtonItem: "ButtonItem",
    template_bodies.TemplateButtonBody: "TemplateButton",
    template_bodies.ItemBody: "Item",
    template_bodies.ItemListBody: "ItemList",
    template_bodies.ItemHighlightBody: "ItemHighlight",
    template_bodies.RepresentLinkBody: "RepresentLink",
    answers.ItemLineItem: "ItemLineItem",
    answers.ItemListItem: "ItemListItem",
    answers.ItemHighlightItem: "ItemHighlightItem",
    answers.RepresentLinkItem: "RepresentLinkItem",
    answers.TemplatesAnswer: "TemplatesAnswer",
    lookup.PhoneAnswer: "PhoneAnswer",
    lookup.PhoneItem: "PhoneItem",
    bodies.ExportPersonalData: "ExportPersonalData",
    bodies.ErasePersonalData: "ErasePersonalData",
    privacy.PersonalDataAnswer: "PersonalDataAnswer",
    privacy.ContactItem: "ContactItem",
    privacy.PersonalDataItem: "PersonalDataItem",
    privacy.StoredMessageItem: "StoredMessageItem",
    privacy.CampaignRowItem: "CampaignRowItem",
    privacy.ErasureAnswer: "ErasureAnswer",
    privacy.ErasureItem: "ErasureItem",
    brand_bodies.SendBrandMessage: "SendBrandMessage",
    brand_bodies.AttachmentBody: "BrandAttachment",
    brand_bodies.BrandImageBody: "BrandImage",
    brand_bodies.BrandButtonBody: "BrandButton",
    brand_bodies.LinksBody: "BrandLinks",
    brand_bodies.CouponBody: "Coupon",
    brand_bodies.CommerceBody: "Commerce",
    brand_bodies.VideoBody: "Video",
    brand_bodies.WideListBody: "WideList",
    brand_bodies.WideListItemBody: "WideListItem",
    brand_bodies.CarouselBody: "Carousel",
    brand_bodies.CarouselHeadBody: "CarouselHead",
    brand_bodies.CarouselItemBody: "CarouselItem",
    lookup.ListResults: "ListResults",
    lookup.ResultsAnswer: "ResultsAnswer",
    lookup.ResultsItem: "ResultsItem",
    lookup.ResultItem: "ResultItem",
    lookup.ListInbound: "ListInbound",
    lookup.InboundItem: "InboundItem",
    lookup.InboundPosition: "InboundPosition",
    lookup.InboundAnswer: "InboundAnswer",
    opt_outs.AddOptOuts: "AddOptOuts",
    opt_outs.RemoveOptOuts: "RemoveOptOuts",
    opt_outs.ListOptOuts: "ListOptOuts",
    opt_outs.OptOutItem: "OptOutItem",
    opt_outs.AddedOptOutsItem: "AddedOptOutsItem",
    opt_outs.RemovedOptOutsItem: "RemovedOptOutsItem",
    opt_outs.AddedOptOutsAnswer: "AddedOptOutsAnswer",
    opt_outs.RemovedOptOutsAnswer: "RemovedOptOutsAnswer",
    opt_outs.OptOutsAnswer: "OptOutsAnswer",
    webhooks.CreateWebhook: "CreateWebhook",
    webhooks.UpdateWebhook: "UpdateWebhook",
    webhooks.DeleteWebhook: "DeleteWebhook",
    webhooks.SendWebhookTest: "TestWebhook",
    webhooks.ReplayWebhook: "ReplayWebhook",
    webhooks.ListWebhooks: "ListWebhooks",
    webhooks.ListDeliveries: "ListDeliveries",
    webhooks.NewWebhookItem: "NewWebhookItem",
    webhooks.WebhookItem: "WebhookItem",
    webhooks.WebhookTestItem: "WebhookTestItem",
    webhooks.DeliveryItem: "DeliveryItem",
    webhooks.NewWebhookAnswer: "NewWebhookAnswer",
    webhooks.WebhookAnswer: "WebhookAnswer",
    webhooks.WebhooksAnswer: "WebhooksAnswer",
    webhooks.WebhookTestAnswer: "WebhookTestAnswer",
    webhooks.DeliveriesAnswer: "DeliveriesAnswer",
    webhook_posts.InboundEventItem: "InboundEventItem",
    webhook_posts.TemplateEventItem: "TemplateEventItem",
    webhook_posts.SenderEventItem: "SenderEventItem",
    webhook_posts.OptOutEventItem: "OptOutEventItem",
    webhook_posts.CampaignCounts: "CampaignCounts",
    webhook_posts.CampaignFinishedItem: "CampaignFinishedItem",
    webhook_posts.LimitNearItem: "LimitNearItem",
    webhook_posts.FailureHighItem: "FailureHighItem",
    webhook_posts.CarrierStatusItem: "CarrierStatusItem",
    webhook_posts.WebhookTestEventItem: "WebhookTestEventItem",
    webhook_posts.ResultEvents: "ResultEvents",
    webhook_posts.InboundEvents: "InboundEvents",
    webhook_posts.TemplateEvents: "TemplateEvents",
    webhook_posts.SenderEvents: "SenderEvents",
    webhook_posts.CampaignEvents: "CampaignEvents",
    webhook_posts.OptOutEvents: "OptOutEvents",
    webhook_posts.LimitEvents: "LimitEvents",
    webhook_posts.FailureEvents: "FailureEvents",
    webhook_posts.CarrierEvents: "CarrierEvents",
    webhook_posts.WebhookTestEvents: "WebhookTestEvents",
    webhook_posts.MessageResultPost: "MessageResultPost",
    webhook_posts.MessageInboundPost: "MessageInboundPost",
    webhook_posts.TemplateStatusPost: "TemplateStatusPost",
    webhook_posts.SenderAuthPost: "SenderAuthPost",
    webhook_posts.CampaignFinishedPost: "CampaignFinishedPost",
    webhook_posts.OptOutAddedPost: "OptOutAddedPost",
    webhook_posts.LimitNearPost: "LimitNearPost",
    webhook_posts.FailureHighPost: "FailureHighPost",
    webhook_posts.CarrierStatusPost: "CarrierStatusPost",
    webhook_posts.WebhookTestPost: "WebhookTestPost",
}


Keywords = dict[str, Any]

MINUTE_PATTERN = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$"
MAX_IMAGE_CHARACTERS = -(-image.MAX_IMAGE_BYTES // 3) * 4
"""Longest Base64 of an image."""


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
    "Image.contentType": _one_of("image/jpeg", "image/jpg", "image/vnd.wap.sis"),
    "Image.fileName": _most(image.MAX_FILE_NAME_CHARACTERS),
    "Image.body": {"contentEncoding": "base64", **_most(MAX_IMAGE_CHARACTERS)},
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

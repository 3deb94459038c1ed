"""Descriptions of the fields that their types do not describe."""

from pabal.domain.base.codes import Text
from pabal.models.bodies import MAX_PAGE, MAX_PAGE_SIZE

# By schema and field, also of a schema that another one extends, else by the field alone.
DESCRIPTIONS = {
    "CategoryItem.id": Text("카테고리 코드", "Category code."),
    "CategoryItem.label": Text("카테고리 이름", "Category name."),
    "CategoryItem.code": Text("카테고리 코드", "Category code."),
    "CategoryItem.name": Text("카테고리 이름", "Category name."),
    "TemplateCategoryItem.groupName": Text("카테고리의 묶음", "Group of the category."),
    "CategoryRef.value": Text("카테고리 코드", "Category code."),
    "CategoryRef.label": Text("카테고리 이름", "Category name."),
    "CategoryRef.refId": Text("카테고리 코드", "Category code."),
    "StoredMessageItem.time": Text("휴대폰이 받은 시각", "When the phone got it."),
    "StoredMessageItem.kind": Text("messageProductType의 값 또는 `token`", "A messageProductType, or `token`."),
    "StoredMessageItem.from": Text("보낸 쪽", "Sender."),
    "StoredMessageItem.subject": Text("제목", "Subject."),
    "StoredMessageItem.content": Text("본문", "Text."),
    "CampaignRowItem.campaignId": Text("파일의 캠페인", "Campaign of the file."),
    "CampaignRowItem.cells": Text(
        "행의 칸: 번호, 값, 자체 ID. 잘못된 행이면 그 행의 칸",
        "The cells of the row: number, values and reference, or those of an invalid row.",
    ),
    "PersonalDataItem.phoneNumber": Text("번호", "The number."),
    "PersonalDataItem.simulatedPhone": Text(
        "이 번호의 가상 휴대폰에 저장된 것", "What the simulated phone of this number has stored."
    ),
    "PersonalDataItem.senderProfiles": Text(
        "관리자가 이 번호인 채널", "Channels whose administrator has this number."
    ),
    "PersonalDataItem.users": Text(
        "테스트 발송이 이 번호로 가는 콘솔 사용자", "Console users whose test sends go to this number."
    ),
    "PersonalDataItem.campaignRows": Text(
        "캠페인 파일에서 아직 요청이 되지 않은 행", "Rows of campaigns' files that are in no request."
    ),
    "ContactItem.created": Text("등록한 시각", "When it was added."),
    "ContactItem.changed": Text("마지막으로 바뀐 시각", "When it last changed."),
    "InboundItem.id": Text("수신자의 번호", "Its number."),
    "InboundItem.label": Text("보낸 사람의 번호", "The number of who sent it."),
    "InboundItem.sender": Text("보낸 사람", "Who sent it."),
    "InboundItem.receiver": Text("받은 계정의 번호", "The number of the account that it was sent to."),
    "InboundItem.content": Text(
        "본문. `…`는 긴 메시지에서 도착하지 않은 부분입니다",
        "Text; `…` stands for a part of a long message that did not arrive.",
    ),
    "InboundItem.optOut": Text("수신거부가 등록되었는지 여부", "Whether it has added an opt-out."),
    "InboundItem.receivedDate": Text("도착한 시각", "When it arrived."),
    "InboundPosition.nextCursor": Text(
        "다음 호출의 `cursor`. 아직 새것이 없을 때도 있습니다",
        "`cursor` of the next call, also where there is nothing new yet.",
    ),
    "OptOutItem.id": Text("수신자의 번호", "Its number."),
    "OptOutItem.label": Text("전화번호", "The phone number."),
    "OptOutItem.phoneNumber": Text("광고를 원하지 않는 사람", "Who wants no advertising."),
    "OptOutItem.reason": Text("등록할 때의 메모", "The note that it was added with."),
    "OptOutItem.source": Text(
        "`api`, `console`, `commandLine`, `reply` 또는 `relay`",
        "`api`, `console`, `commandLine`, `reply` or `relay`.",
    ),
    "OptOutItem.created": Text("수신거부한 시각", "Since when."),
    "AddedOptOutsItem.requestedCount": Text("요청에 있는 번호 수", "Numbers in the request."),
    "AddedOptOutsItem.addedCount": Text(
        "그중 전에 수신을 거부하지 않았던 번호 수", "Those of them that had not opted out before."
    ),
    "RemovedOptOutsItem.requestedCount": Text("요청에 있는 번호 수", "Numbers in the request."),
    "RemovedOptOutsItem.removedCount": Text("그중 수신을 거부했던 번호 수", "Those of them that had opted out."),
    "ErasureItem.erasedCount": Text("지금 파기한 메시지 수", "Messages erased now."),
    "ErasureItem.canceledCount": Text(
        "그중 대기 중이어서 먼저 취소한 수", "Those of them that waited, and were cancelled first."
    ),
    "ErasureItem.pendingCount": Text(
        "발송 중인 메시지 수. 끝나면 파기합니다", "Messages that are being sent: erased when they have ended."
    ),
    "ErasureItem.campaignRowCount": Text("파기한 캠페인 파일의 행 수", "Rows of campaigns' files erased."),
    "WebhookItem.id": Text("webhookId와 같음", "Same as webhookId."),
    "WebhookItem.previousSecretUntil": Text(
        "교체한 뒤 이전 비밀 키도 함께 서명하는 기한", "Until when the old secret signs along after a rotation."
    ),
    "WebhookItem.lastSuccess": Text(
        "전송이 마지막으로 2xx 응답을 받은 시각. 없었으면 생략합니다",
        "When a delivery was last answered with 2xx; absent: never.",
    ),
    "WebhookItem.created": Text("만든 시각", "When it was created."),
    "WebhookItem.changed": Text("관리자가 마지막으로 바꾼 시각", "When its owner last changed it."),
    "Labelled.value": Text("코드 값", "The coded value."),
    "Labelled.label": Text("응답의 언어로 된 이름", "Its name in the answer's language."),
    "SenderItem.id": Text("식별자. 목록에만 있습니다", "Identifier; in lists only."),
    "SenderItem.label": Text("channelId와 같음. 목록에만 있습니다", "Same as channelId; in lists only."),
    "SenderItem.category": Text("프로필의 카테고리", "Category of the profile."),
    "SenderItem.senderKey": Text(
        "프로필의 키. 승인되기 전에는 없습니다", "Key of the profile; absent until it is approved."
    ),
    "SenderItem.cellphone": Text("관리자의 번호", "Administrator's number."),
    "SenderItem.authStatus": Text("`waiting` 또는 `approval`", "`waiting` or `approval`."),
    "SenderItem.enable": Text(
        "프로필을 쓸 수 있는지 여부. 목록에만 있습니다", "Whether the profile can be used; in lists only."
    ),
    "SenderItem.disabledReason": Text(
        "사용 중지된 이유: `operator` 또는 중계사가 알린 이유",
        "Why it is disabled: `operator`, or the reason that the relay gives.",
    ),
    "SenderItem.created": Text("등록된 시각. 목록에만 있습니다", "When it was registered; in lists only."),
    "SenderItem.changed": Text("마지막으로 바뀐 시각. 목록에만 있습니다", "When it last changed; in lists only."),
    "StatisticsAnswer.item": Text("숫자의 기준 시각", "How new the numbers are."),
    "MessageDetailItem.events": Text("처리 이력, 오래된 것부터", "What happened to it, oldest first."),
    "MessageDetailItem.submittedDate": Text("마지막으로 전송한 시각", "When a carrier was given it last."),
    "MessageEventItem.date": Text("시각. 기록되지 않았으면 없습니다", "When; absent where that is not recorded."),
    "MessageEventItem.carrier": Text("전송한 발송 경로", "The carrier that it was given to."),
    "MessageItem.id": Text("messageId와 같음", "Same as messageId."),
    "MessageItem.label": Text("receiver와 같음", "Same as receiver."),
    "MessageItem.messageProductType": Text("메시지 종류", "Kind of message."),
    "MessageItem.sendingStatus": Text("메시지의 상태", "Status of the message."),
    "MessageItem.yyyyMM": Text("scheduledDate의 달", "Month of scheduledDate."),
    "MessageItem.requestDate": Text("요청이 접수된 시각", "When the request was accepted."),
    "MessageItem.scheduledDate": Text(
        "발송이 예약된(또는 예약되었던) 시각", "When it is, or was, scheduled to be sent."
    ),
    "MessageItem.completedDate": Text(
        "마지막 상태가 된 시각. 그 전에는 없습니다", "When it reached its final status; absent until then."
    ),
    "MessageItem.content": Text(
        "수신자가 받는 그대로의, 변수를 채운 본문", "Text as the receiver gets it, with variables filled in."
    ),
    "MessageItem.subject": Text("수신자가 받는 그대로의 제목", "Subject as the receiver gets it."),
    "MessageItem.channelId": Text("발신 프로필의 채널", "Channel of the sender profile."),
    "RequestItem.messageProductType": Text("메시지 종류", "Kind of message."),
    "RequestItem.requestDate": Text("요청이 접수된 시각", "When the request was accepted."),
    "RequestItem.scheduledDate": Text(
        "발송이 예약된(또는 예약되었던) 시각", "When it is, or was, scheduled to be sent."
    ),
    "RequestItem.totalCount": Text(
        "대체 발송을 포함한 요청의 메시지 수", "Messages of the request, including fallbacks."
    ),
    "TemplateItem.id": Text("식별자", "Identifier."),
    "TemplateItem.label": Text("name과 같음", "Same as name."),
    "TemplateItem.name": Text("이름", "Name."),
    "TemplateItem.content": Text("본문, 변수 `#{name}` 포함", "Text, with variables `#{name}`."),
    "TemplateItem.category": Text("카테고리 코드", "Category code."),
    "TemplateItem.channelId": Text("발신 프로필의 채널", "Channel of the sender profile."),
    "TemplateItem.image": Text("템플릿의 이미지", "Image of the template."),
    "TemplateItem.status": Text("최신 본문의 검수 상태", "Review status of the newest text."),
    "TemplateItem.enable": Text("템플릿을 쓸 수 있는지 여부", "Whether the template can be used."),
    "TemplateItem.disabledReason": Text(
        "사용 중지된 이유: `operator` 또는 중계사가 알린 이유",
        "Why it is disabled: `operator`, or the reason that the relay gives.",
    ),
    "TemplateItem.created": Text("등록된 시각", "When it was registered."),
    "TemplateItem.changed": Text("마지막으로 바뀐 시각", "When it last changed."),
    "TemplateItem.messageType": Text(
        "basic, extraInfo, channelAddition 또는 mixed", "basic, extraInfo, channelAddition or mixed."
    ),
    "TemplateItem.emphasisType": Text("none, text, image 또는 itemList", "none, text, image or itemList."),
    "itemHighlight": Text("아이템 리스트 위에 강조할 것", "What is emphasized above the item list."),
    "itemList": Text("아이템 리스트: 줄들과 요약", "The item list: its lines, and a summary."),
    "representLink": Text("메시지를 누르면 열리는 링크", "The link that a tap on the message opens."),
    "header": Text("맨 위의 줄", "A line above everything."),
    "quickReplies": Text("메시지 아래의 바로연결", "Quick replies under the message."),
    "telNumber": Text("phoneCall 버튼이 거는 번호", "Number that a phoneCall button calls."),
    "summary": Text("합계를 위한 마지막 줄", "The last line, for a sum."),
    "ItemLineItem.title": Text("제목", "Title."),
    "ItemLineItem.description": Text("설명", "Description."),
    "ItemHighlightItem.title": Text("제목", "Title."),
    "ItemHighlightItem.description": Text("설명", "Description."),
    "ItemListItem.items": Text("줄들", "The lines."),
    "imageUrl": Text("썸네일의 주소", "Address of the thumbnail."),
    "PhoneItem.time": Text("메시지가 도착한 시각", "When the message arrived."),
    "PhoneItem.from": Text("발신번호 또는 채널", "Sender number, or channel."),
    "PhoneItem.subject": Text("제목", "Subject."),
    "PhoneItem.content": Text("본문", "Text."),
    "PhoneItem.image": Text("메시지에 이미지가 있는지 여부", "Whether the message has an image."),
    "PhoneItem.images": Text("메시지에 있는 이미지의 수", "How many images the message has."),
    "ImageItem.fileName": Text("파일 이름", "File name."),
    "ErrorItem.field": Text(
        "`receivers[3].phoneNumber` 같은 항목", "The field, such as `receivers[3].phoneNumber`."
    ),
    "ErrorItem.code": Text("결과 코드", "Result code."),
    "ErrorItem.message": Text("문제의 설명", "Explanation of the problem."),
    "ListTemplates.status": Text("이 상태의 템플릿만:", "Only templates with this status:"),
    "ListSenders.authStatus": Text("이 상태의 프로필만:", "Only profiles with this status:"),
    "ListMessages.requestId": Text("이 요청의 메시지만", "Only messages of this request."),
    "ListMessages.messageId": Text("이 메시지만", "Only this message."),
    "ListMessages.messageProductType": Text("이 종류의 메시지만", "Only this kind of message."),
    "ListMessages.sendingStatus": Text("이 상태의 메시지만", "Only messages with this status."),
    "ListMessages.channelId": Text("이 채널의 메시지만", "Only messages of this channel."),
    "ListMessages.senderKey": Text("이 발신 프로필의 메시지만", "Only messages of this sender profile."),
    "ListMessages.templateCode": Text("이 템플릿의 메시지만", "Only messages of this template."),
    "ListMessages.requestDate": Text("이 기간에 요청한 메시지만", "Only messages requested in this period."),
    "ListMessages.scheduledDate": Text("이 기간에 예약된 메시지만", "Only messages scheduled in this period."),
    "ListMessages.completeDate": Text("이 기간에 끝난 메시지만", "Only messages completed in this period."),
    "ListSenders.channelId": Text("이 채널만", "Only this channel."),
    "ListSenders.senderKey": Text("이 키의 프로필만", "Only the profile with this key."),
    "ListTemplates.senderKey": Text("이 발신 프로필의 템플릿만", "Only templates of this sender profile."),
    "ListTemplates.templateCode": Text("이 코드의 템플릿만", "Only templates with this code."),
    "DeleteSender.channelId": Text(
        "아직 senderKey가 없는 프로필의 채널", "Channel of a profile that has no senderKey yet."
    ),
    "AuthSender.channelId": Text("등록한 채널", "Channel that was registered."),
    "AuthSender.token": Text(
        "관리자의 휴대폰이 받은 숫자 여섯 자리", "The six digits that the administrator's phone received."
    ),
    "SendMms.images": Text(
        "image 대신 쓰는 이미지 1~3개. 발송 순서의 모든 발송 경로가 받는 개수까지",
        "One to three images, instead of `image`; as many as every carrier of the route takes.",
    ),
    "WriteTemplate.image": Text(
        "이미지. emphasisType이 image이면 필수입니다", "Image. Required for emphasisType image."
    ),
    "WriteTemplate.emphasisTitle": Text(
        "본문 위의 제목, 최대 50자", "Title above the text, at most 50 characters."
    ),
    "WriteTemplate.emphasisAssistPhrase": Text(
        "제목 아래의 줄, 최대 50자", "Line below the title, at most 50 characters."
    ),
    "WriteTemplate.moreInfo": Text(
        "본문 아래의 부가 정보, 최대 500자", "Additional text below the content, at most 500 characters."
    ),
    "Cancel.messageId": Text("요청의 이 메시지만 취소", "Cancel only this message of the request."),
    "requestId": Text("발송 요청의 ID", "Id of the send request."),
    "messageId": Text("메시지의 ID", "Id of the message."),
    "resultCode": Text("메시지의 결과. 끝나기 전에는 없습니다", "Result of the message; absent until it is final."),
    "receiver": Text("수신번호", "Receiver number."),
    "receivers": Text("메시지의 수신자. 기본 최대 1,000명", "Receivers of the message; by default at most 1,000."),
    "reference": Text("메시지의 자체 ID", "Your own id for the message."),
    "unreadable": Text(
        "`true`: 저장된 기록이 손상되었습니다. ID와 `requestDate`만 알 수 있고, 종류와 상태는"
        " `unknown`이며, 나머지 항목은 비어 있습니다",
        "`true`: the stored record is damaged. Only the ids and `requestDate` are known; type and status"
        " are `unknown`, and all other fields are empty.",
    ),
    "RequestItem.unreadable": Text(
        "`true`: 저장된 기록이 손상되었습니다. ID, `requestDate`, 메시지 수만 알 수 있고, 종류는 `unknown`입니다",
        "`true`: the stored record is damaged. Only the id, `requestDate` and the numbers of messages are"
        " known; the type is `unknown`.",
    ),
    "originMessageId": Text(
        "이 메시지가 대체 발송이면, 실패한 메시지의 ID",
        "If this message is a fallback: the id of the message that failed.",
    ),
    "senderKey": Text("발신 프로필의 키", "Key of the sender profile."),
    "channelId": Text("채널의 검색용 아이디", "Search id of the channel."),
    "templateCode": Text("템플릿의 코드", "Code of the template."),
    "image": Text("이미지", "Image."),
    "imageLink": Text("이미지의 링크", "Link of the image."),
    "buttons": Text("메시지 아래의 버튼", "Buttons under the message."),
    "variables": Text("본문과 링크에 있는 변수의 이름", "Names of the variables in its text and links."),
    "comment": Text("검수자의 의견", "The reviewer's comment."),
    "securityTemplate": Text("보안 템플릿으로 표시하는지 여부", "Whether it is marked as a security template."),
    "emphasisTitle": Text("본문 위의 제목", "Title above the text."),
    "emphasisAssistPhrase": Text("제목 아래의 줄", "Line below the title."),
    "moreInfo": Text("본문 아래의 부가 정보", "Additional text below the content."),
    "page": Text(f"페이지 번호, 1부터 {MAX_PAGE:,}까지", f"Page number, from 1 to {MAX_PAGE:,}."),
    "pageSize": Text(
        f"페이지당 기록 수, 1부터 {MAX_PAGE_SIZE:,}까지", f"Records per page, from 1 to {MAX_PAGE_SIZE:,}."
    ),
    "totalCount": Text("전체 기록 수", "Total number of records."),
    "resultCount": Text("이 응답의 기록 수", "Number of records in this answer."),
    "pageCount": Text("전체 페이지 수", "Total number of pages."),
    "currentPage": Text("이 페이지의 번호", "Number of this page."),
    "resultMessage": Text(
        "응답의 언어로 된 결과 설명", "Explanation of the result, in the language of the answer."
    ),
    "item": Text("기록", "The record."),
    "items": Text("이 응답의 기록", "The records of this answer."),
    "counts": Text("상태별 메시지 수", "Number of its messages by status."),
    "waiting": Text("발송을 기다리는 메시지 수", "Messages that wait to be sent."),
    "sending": Text("발송 경로가 보내고 있는 메시지 수", "Messages that a carrier is sending."),
    "completed": Text("전달된 메시지 수", "Delivered messages."),
    "fail": Text("실패한 메시지 수", "Failed messages."),
    "cancel": Text("취소된 메시지 수", "Cancelled messages."),
    "requestedCount": Text("호출이 가리키는 메시지 수", "Messages that the call names."),
    "canceledCount": Text(
        "대기 중이었고 이제 취소된 메시지 수", "Messages that were waiting and are now cancelled."
    ),
    **{
        f"{kind}Events.items": Text("이 전송의 이벤트. 최대 100개", "The events of this delivery: up to 100.")
        for kind in ("Result", "Inbound", "Template", "Sender", "Campaign", "OptOut", "Limit", "WebhookTest")
    },
    "type": Text("일어난 일", "What happened."),
    "data": Text("이벤트", "The events."),
    "buttonType": Text("버튼의 종류", "Type of the button."),
    "name": Text("버튼에 보이는 글자", "Text on the button."),
    "mobileUrl": Text("모바일 웹 링크", "Mobile web link."),
    "pcUrl": Text("PC 웹 링크", "PC web link."),
    "androidUrl": Text("Android 앱 링크", "Android app link."),
    "iosUrl": Text("iOS 앱 링크", "iOS app link."),
    "chatExtra": Text("대화에 넘길 값", "Passed to the chat."),
    "chatEvent": Text("시작할 봇 이벤트", "Bot event to start."),
    "target": Text(
        "`out`이면 링크를 앱이 아니라 브라우저에서 엽니다",
        "`out` opens the link in the browser instead of the app.",
    ),
    "orderNo": Text("버튼의 순서", "Order of the button."),
}

"""Texts of webhooks."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.webhooks": Text("웹훅", "Webhooks"),
    "webhooks.title": Text("웹훅", "Webhooks"),
    "webhooks.about": Text(
        "발송 결과 같은 이벤트를 귀사의 서버로 보내 드립니다. 보낸 내용은 Standard Webhooks 규격으로 서명되므로 "
        "받는 쪽에서 진위를 확인할 수 있습니다.",
        "Events such as delivery results are posted to your server. Posts are signed as Standard Webhooks says, so "
        "that the receiver can verify them.",
    ),
    "webhooks.list": Text("등록된 웹훅", "Webhooks"),
    "webhooks.none": Text("등록된 웹훅이 없습니다.", "There are no webhooks."),
    "webhooks.url": Text("주소", "Address"),
    "webhooks.state": Text("상태", "Status"),
    "webhooks.last_success": Text("마지막 성공", "Last success"),
    "webhooks.never": Text("아직 없음", "Never"),
    "webhooks.failures": Text("연속 실패", "Failures since"),
    "webhooks.backlog": Text("대기 중", "Waiting"),
    "webhooks.new": Text("웹훅 등록", "New webhook"),
    "webhooks.full": Text(
        "웹훅은 계정마다 {most}개까지 등록할 수 있습니다.", "An account can have {most} webhooks."
    ),
    "webhooks.new_url": Text("받을 주소(https)", "Address (https)"),
    "webhooks.description": Text("메모(선택)", "Note (optional)"),
    "webhooks.events": Text("받을 이벤트", "Events"),
    "webhooks.products": Text("메시지 종류(선택하지 않으면 모두)", "Products (none selected: all)"),
    "webhooks.add": Text("등록", "Create"),
    "webhook_event.message.result": Text("발송 결과", "Delivery results"),
    "webhook_event.message.inbound": Text("수신 문자", "Inbound messages"),
    "webhook_event.template.status": Text("템플릿 검수 결과", "Template reviews"),
    "webhook_event.sender.auth": Text("발신 프로필 인증", "Approved sender profiles"),
    "webhook_event.campaign.finished": Text("캠페인 종료", "Finished campaigns"),
    "webhook_event.optOut.added": Text("수신거부 등록", "New opt-outs"),
    "webhook_event.limit.near": Text("한도 임박", "Limits nearly reached"),
    "webhook.title": Text("웹훅 {id}", "Webhook {id}"),
    "webhook.back": Text("웹훅 목록", "All webhooks"),
    "webhook.created": Text("등록 시각", "Created"),
    "webhook.previous_until": Text("이전 비밀 값으로도 서명하는 기한", "Old secret signs along until"),
    "webhook.dropped": Text("보내지 못한 이벤트", "Events given up"),
    "webhook.test": Text("테스트", "Test"),
    "webhook.test_about": Text(
        "webhook.test 이벤트를 한 번 보내고 응답을 보여 줍니다.",
        "Posts one webhook.test event and shows the answer.",
    ),
    "webhook.tested_well": Text("응답: HTTP {status} ({ms} ms)", "Answer: HTTP {status} ({ms} ms)"),
    "webhook.tested_badly": Text("실패: {error} ({ms} ms)", "Failed: {error} ({ms} ms)"),
    "webhook.disable": Text("사용 안 함", "Disable"),
    "webhook.disable_why": Text(
        "이벤트를 더 보내지 않고, 보내지 못한 것은 버립니다. 다시 사용할 때 최근 7일분을 재전송할 수 있습니다.",
        "Nothing is posted any more, and what was not delivered is given up. When it is enabled again, the last "
        "7 days can be replayed.",
    ),
    "webhook.enable": Text("사용", "Enable"),
    "webhook.rotate": Text("비밀 값 교체", "Rotate the secret"),
    "webhook.rotate_why": Text(
        "새 비밀 값을 만듭니다. 이전 값으로도 24시간 동안 함께 서명합니다.",
        "Makes a new secret. The old one signs along for 24 hours.",
    ),
    "webhook.delete": Text("삭제", "Delete"),
    "webhook.delete_why": Text(
        "이 웹훅과 아직 보내지 못한 이벤트, 전송 기록을 삭제합니다. 되돌릴 수 없습니다.",
        "Deletes the webhook, what was not delivered, and its deliveries. This cannot be undone.",
    ),
    "webhook.replay": Text("다시 보내기", "Replay"),
    "webhook.replay_about": Text(
        "이 시각 이후의 이벤트를 다시 보냅니다(최근 7일까지). eventId는 처음과 같습니다.",
        "Posts events from this time on again, at most 7 days back. Their eventIds stay the same.",
    ),
    "webhook.since": Text("시작 시각(yyyy-MM-dd HH:mm)", "From (yyyy-MM-dd HH:mm)"),
    "webhook.replayed": Text("곧 다시 보냅니다.", "The events are posted again soon."),
    "webhook.deliveries": Text("최근 전송", "Last deliveries"),
    "webhook.no_deliveries": Text("아직 보낸 것이 없습니다.", "Nothing was posted yet."),
    "webhook.time": Text("시각", "Time"),
    "webhook.result": Text("결과", "Result"),
    "webhook.event_count": Text("이벤트 수", "Events"),
    "webhook.try": Text("시도", "Try"),
    "webhook.duration": Text("걸린 시간", "Duration"),
    "webhook.answer": Text("응답", "Answer"),
    "webhook_secret.title": Text("웹훅의 비밀 값", "Secret of the webhook"),
    "webhook_secret.once": Text(
        "지금만 표시됩니다. 안전한 곳에 저장하세요.", "It is shown only now. Store it in a safe place."
    ),
    "webhook_secret.label": Text("비밀 값", "Secret"),
    "webhook_secret.use": Text(
        "받는 서버에서 Standard Webhooks 라이브러리에 이 값을 넘겨 서명을 확인하세요.",
        "Pass it to a Standard Webhooks library in your server to verify signatures.",
    ),
    "webhook_secret.next": Text("웹훅 보기", "Show the webhook"),
}

"""Texts of webhooks."""

from pabal.domain.base.codes import Text

TEXTS = {
    "menu.webhooks": Text("웹훅", "Webhooks"),
    "webhooks.about": Text(
        "발송 결과 같은 이벤트를 등록한 주소로 보냅니다. Standard Webhooks 규격으로 서명하므로 "
        "받는 쪽에서 진위를 확인할 수 있습니다.",
        "Events such as delivery results are posted to your server. Posts are signed as Standard Webhooks says, so "
        "that the receiver can verify them.",
    ),
    "webhooks.list": Text("등록된 웹훅", "Webhooks"),
    "webhooks.none": Text(
        "등록된 웹훅이 없습니다. 아래에서 첫 웹훅을 등록하세요.",
        "There are no webhooks. Create the first one below.",
    ),
    "webhooks.never": Text("아직 없음", "Never"),
    "webhooks.failures": Text("연속 실패", "Consecutive failures"),
    "webhooks.backlog": Text("대기 중인 이벤트", "Waiting events"),
    "webhooks.new": Text("웹훅 등록", "New webhook"),
    "webhooks.full": Text(
        "웹훅은 계정마다 {most}개까지 등록할 수 있습니다. 더 등록하려면 쓰지 않는 웹훅을 삭제하세요.",
        "An account can have {most} webhooks. To create another, delete one that is not needed.",
    ),
    "webhooks.new_url": Text("받을 주소(https)", "Address (https)"),
    "webhooks.description": Text("메모", "Note"),
    "webhooks.description_field": Text("메모(선택)", "Note (optional)"),
    "webhooks.events": Text("받을 이벤트", "Events"),
    "webhooks.products_choice": Text("메시지 종류(선택하지 않으면 모두)", "Message types (none selected: all)"),
    "webhooks.every_product": Text("모두", "All"),
    "webhooks.format": Text("형식", "Format"),
    "webhooks.format_help": Text(
        "Solapi나 NHN Cloud의 웹훅을 받도록 만든 프로그램이면 그 중계사의 형식을 고르세요. 두 형식은 발송 결과만 "
        "보냅니다. 등록하면 나오는 비밀 값을 그 프로그램의 웹훅 비밀 값(NHN Cloud는 서명)으로 설정하세요.",
        "For a program that was written for the webhooks of Solapi or NHN Cloud, choose the format of that relay. "
        "Both tell only delivery results. Give that program the secret that is shown next as its webhook secret, "
        "or as its signature for NHN Cloud.",
    ),
    "webhooks.add": Text("등록", "Create"),
    "webhooks.not_created": Text(
        "웹훅을 등록하지 않았습니다. 표시된 항목을 고치세요.",
        "The webhook was not created. Correct the fields that are marked.",
    ),
    "webhook_event.message.result": Text("발송 결과", "Delivery results"),
    "webhook_event.message.inbound": Text("수신 메시지", "Inbound messages"),
    "webhook_event.template.status": Text("템플릿 상태 변경", "Template status"),
    "webhook_event.sender.auth": Text("발신 프로필 상태 변경", "Sender profile status"),
    "webhook_event.campaign.finished": Text("캠페인 종료", "Finished campaigns"),
    "webhook_event.optOut.added": Text("수신거부 등록", "New opt-outs"),
    "webhook_event.limit.near": Text("한도 임박", "Limits nearly reached"),
    "webhook_event.failure.high": Text("높은 실패율", "High failure rate"),
    "webhook_event.carrier.status": Text("발송 경로 장애와 복구", "Carriers down, and up again"),
    "webhook.title": Text("웹훅 {id}", "Webhook {id}"),
    "webhook.back": Text("웹훅 목록", "All webhooks"),
    "webhook.created": Text("등록 시각", "Created"),
    "webhook.changed": Text("변경 시각", "Changed"),
    "webhook.backlog_most": Text("{count}건 이상", "{count} or more"),
    "webhook.edit": Text("변경", "Change"),
    "webhook.edit_title": Text("웹훅 {id} 변경", "Change webhook {id}"),
    "webhook.edit_about": Text(
        "비밀 값은 그대로입니다. 아직 보내지 못한 이벤트는 새 주소로 보냅니다.",
        "The secret stays the same. Events that are still waiting go to the new address.",
    ),
    "webhook.back_to_one": Text("웹훅으로", "Back to the webhook"),
    "webhook.enabled": Text("사용", "Enabled"),
    "webhook.saved": Text("변경 내용을 저장했습니다.", "The changes were saved."),
    "webhook.not_saved": Text(
        "저장하지 않았습니다. 표시된 항목을 고치세요.", "Nothing was saved. Correct the fields that are marked."
    ),
    "webhook.deleted": Text("웹훅을 삭제했습니다.", "The webhook was deleted."),
    "webhook_notice.paused": Text(
        "계속 실패해서 일시 중지했습니다. 5분마다 한 번 시도하고, 성공하면 밀린 이벤트를 모두 보냅니다. "
        "서버를 고쳤으면 테스트한 뒤 지금 다시 시도하세요.",
        "It keeps failing and is paused. It is tried every 5 minutes; once that succeeds, everything that waits is "
        "posted. When your server is repaired, test it and retry now.",
    ),
    "webhook_notice.disabled": Text(
        "사용하지 않는 웹훅입니다. 이벤트는 보내지 않고 7일 동안 보관합니다.",
        "This webhook is disabled. Nothing is posted to it; its events are kept for 7 days.",
    ),
    "webhook_notice.gone": Text(
        "서버가 다섯 번 연속, 10분 이상에 걸쳐 더 쓰지 않는 주소(HTTP 410)라고 응답하여 사용하지 않습니다. "
        "이벤트는 7일 동안 보관합니다. 서버를 고치거나 주소를 바꾼 뒤 다시 사용하면 밀린 것부터 보냅니다.",
        "It is disabled because its server has answered five times in a row, over 10 minutes or more, that the "
        "address is gone (HTTP 410). Its events are kept for 7 days. Repair the server or change the address, then "
        "enable it: what it has missed is posted first.",
    ),
    "webhook_state.failing": Text("연속 실패 {count:,}회", "Failing: {count:,} in a row"),
    "webhook_state.unused": Text("아직 보낸 적 없음", "Nothing was posted yet"),
    "webhook_state.gone": Text("사용 안 함(410 응답)", "Disabled: it answered 410"),
    "webhook.skip": Text("밀린 이벤트는 보내지 않기", "Do not post what it has missed"),
    "webhook.previous_until": Text("이전 비밀 값으로도 서명하는 기한", "Old secret signs along until"),
    "webhook.dropped": Text("보내지 못한 이벤트", "Events given up"),
    "webhook.test": Text("테스트", "Test"),
    "webhook.test_about": Text(
        "webhook.test 이벤트를 한 번 보내고 응답을 보여 줍니다.",
        "Posts one webhook.test event and shows the answer.",
    ),
    "webhook.tested_well": Text("성공: {result} ({ms} ms)", "Success: {result} ({ms} ms)"),
    "webhook.tested_badly": Text("실패: {result} ({ms} ms).", "Failed: {result} ({ms} ms)."),
    "webhook.disable": Text("사용 안 함", "Disable"),
    "webhook.enabled_help": Text(
        "끄면 이벤트를 더 보내지 않습니다. 다시 켜면 그동안 보내지 못한 것부터, 최근 7일분을 보냅니다.",
        "Without it, nothing is posted any more. When it is enabled again, it goes on with what it has missed "
        "in the last 7 days.",
    ),
    "webhook.disable_why": Text(
        "이벤트를 더 보내지 않습니다. 다시 사용하면 그동안 보내지 못한 것부터, 최근 7일분을 보냅니다.",
        "Nothing is posted any more. When it is enabled again, it goes on with what it has missed in the last "
        "7 days.",
    ),
    "webhook.enable": Text("사용", "Enable"),
    "webhook.resume": Text("지금 다시 시도", "Retry now"),
    "webhook.rotate": Text("비밀 값 교체", "Rotate the secret"),
    "webhook.rotate_why": Text(
        "새 비밀 값을 만듭니다. 이전 값으로도 24시간 동안 함께 서명합니다.",
        "Makes a new secret. The old one signs along for 24 hours.",
    ),
    "webhook.delete_why": Text(
        "이 웹훅과 아직 보내지 못한 이벤트, 전송 기록을 삭제합니다. 되돌릴 수 없습니다.",
        "Deletes the webhook, what was not delivered, and its deliveries. This cannot be undone.",
    ),
    "webhook.replay": Text("다시 보내기", "Replay"),
    "webhook.replay_about": Text(
        "이 시각 이후의 이벤트를 다시 보냅니다(최근 7일까지). eventId는 처음과 같습니다.",
        "Posts events from this time on again, at most 7 days back. Their eventIds stay the same.",
    ),
    "webhook.since": Text("시작 시각 ({zone})", "From ({zone})"),
    "webhook.replayed": Text("곧 다시 보냅니다.", "The events are posted again soon."),
    "webhook.deliveries": Text("최근 전송", "Last deliveries"),
    "webhook.no_deliveries": Text(
        "아직 보낸 것이 없습니다. 테스트를 눌러 서버가 받는지 확인하세요.",
        "Nothing was posted yet. Test the webhook to see whether your server takes posts.",
    ),
    "webhook.result": Text("결과", "Result"),
    "webhook.more_ids": Text("외 {count}건", "and {count} more"),
    "webhook.event_count": Text("이벤트 수", "Events"),
    "webhook.try": Text("시도", "Try"),
    "webhook.duration": Text("걸린 시간", "Duration"),
    "webhook.details": Text("상세", "Details"),
    "webhook.answer": Text("응답", "Answer"),
    "webhook.no_answer": Text("내용 없음", "Empty"),
    "webhook.no_status": Text("응답 없음", "No answer"),
    "webhook_error.invalid_url": Text(
        "주소가 올바르지 않습니다. 주소를 변경하세요.", "The address is not valid. Change it."
    ),
    "webhook_error.dns": Text(
        "호스트 이름을 찾을 수 없습니다. 주소와 DNS 설정을 확인하세요.",
        "The host name was not found. Check the address and the DNS.",
    ),
    "webhook_error.address_not_allowed": Text(
        "사설 네트워크 등 허용되지 않는 주소입니다. 공인 주소로 변경하거나 운영자에게 허용을 요청하세요.",
        "The address is not allowed, such as one of a private network. Use a public one, or ask the operator for "
        "an exception.",
    ),
    "webhook_error.connection": Text(
        "서버에 연결할 수 없습니다. 서버가 실행 중인지, 방화벽이 막지 않는지 확인하세요.",
        "The server cannot be reached. Check that it runs, and that no firewall is in between.",
    ),
    "webhook_error.tls": Text(
        "인증서를 확인할 수 없습니다. 유효 기간, 호스트 이름, 중간 인증서를 확인하세요.",
        "The certificate cannot be verified. Check its dates, its host name and the intermediate certificates.",
    ),
    "webhook_error.plain_http": Text(
        "서버가 이 포트에서 HTTPS가 아닌 HTTP로 응답합니다. 서버에 인증서를 설정하거나 HTTPS 포트의 주소로 "
        "변경하세요.",
        "The server speaks plain HTTP at this port, not HTTPS. Give it a certificate, or change the address to its "
        "HTTPS port.",
    ),
    "webhook_error.timeout": Text(
        "10초 안에 응답이 오지 않았습니다. 먼저 2xx로 응답하고, 오래 걸리는 일은 그 뒤에 하세요.",
        "There was no answer within 10 seconds. Answer with 2xx first, and do slow work afterwards.",
    ),
    "webhook_error.invalid_answer": Text(
        "HTTP 응답이 아니거나 너무 큽니다. 내용 없이 204로 응답하면 됩니다.",
        "The answer is not valid HTTP, or too large. An empty answer with 204 will do.",
    ),
    "webhook_error.unreadable_secret": Text(
        "저장된 비밀 값을 읽을 수 없습니다. 비밀 값을 교체하세요.",
        "The stored secret cannot be read. Rotate the secret.",
    ),
    "webhook_status.redirect": Text(
        "다른 주소로 이동하라는 응답은 따라가지 않습니다. 최종 주소로 변경하세요.",
        "Redirects are not followed. Change the address to the final one.",
    ),
    "webhook_status.refused": Text(
        "서버가 거절했습니다. 서버가 쓰는 비밀 값과 접근 제한을 확인하세요.",
        "The server has refused it. Check which secret it uses, and its access rules.",
    ),
    "webhook_status.gone": Text(
        "더 쓰지 않는 주소라는 응답입니다. 10분 넘게 계속 이렇게 응답하면 웹훅이 사용 안 함으로 바뀝니다.",
        "The server says that the address is gone. A webhook that answers so for ten minutes is disabled.",
    ),
    "webhook_status.not_taken": Text(
        "서버가 받지 않았습니다. 주소의 경로와 서버 로그를 확인하세요.",
        "The server did not take it. Check the path of the address, and the server's log.",
    ),
    "webhook_status.server": Text(
        "서버에서 오류가 났습니다. 서버 로그를 확인하세요.", "The server has failed. Check its log."
    ),
    "webhook_secret.title": Text("웹훅의 비밀 값", "Secret of the webhook"),
    "webhook_secret.once": Text(
        "지금만 표시됩니다. 안전한 곳에 저장하세요.", "It is shown only now. Store it in a safe place."
    ),
    "webhook_secret.use": Text(
        "받는 서버에서 Standard Webhooks 라이브러리에 이 값을 넘겨 서명을 확인하세요.",
        "Pass it to a Standard Webhooks library in your server to verify signatures.",
    ),
    "webhook_secret.next": Text("웹훅 보기", "Show the webhook"),
}

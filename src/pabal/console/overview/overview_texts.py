"""Texts of the overview."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.overview": Text("현황", "Overview"),
    "first_steps.title": Text("시작하기", "Getting started"),
    "first_steps.about": Text(
        "아직 보낸 메시지가 없습니다. 아래 순서로 준비하면 바로 보낼 수 있습니다.",
        "Nothing was sent yet. These steps take you to the first message.",
    ),
    "first_steps.done": Text("완료", "Done"),
    "first_steps.number": Text("발신번호 등록", "Register a sender number"),
    "first_steps.number_help": Text(
        "문자는 등록된 발신번호로만 보낼 수 있습니다.", "Text messages go out from registered numbers only."
    ),
    "first_steps.profile": Text("발신 프로필 등록", "Register a sender profile"),
    "first_steps.profile_help": Text(
        "알림톡과 친구톡을 보내려면 카카오톡 채널이 필요합니다. 문자만 보내면 건너뛰세요.",
        "Alimtalk and friend talk need a KakaoTalk channel. Skip it if you send text messages only.",
    ),
    "first_steps.template": Text("알림톡 템플릿 등록", "Register an Alimtalk template"),
    "first_steps.template_help": Text(
        "알림톡은 승인된 템플릿으로만 보낼 수 있습니다.", "Alimtalk is sent with approved templates only."
    ),
    "first_steps.colleague": Text("동료 초대", "Invite a colleague"),
    "first_steps.colleague_help": Text(
        "각자 자기 계정으로 로그인하면 누가 무엇을 했는지 감사 로그에 남습니다.",
        "With a sign-in of their own, the audit log shows who did what.",
    ),
    "first_steps.send": Text("첫 메시지 발송", "Send the first message"),
    "first_steps.send_help": Text(
        "먼저 자기 번호로 시험 발송해 보세요.", "Send a test to your own number first."
    ),
    "overview.title": Text("현황", "Overview"),
    "overview.as_of": Text(
        "{at} 기준입니다. 발송을 요청한 날짜로 집계하며, 대체 문자는 별도 건으로 셉니다.",
        "As of {at}. Messages count on the day they were requested. A fallback message counts separately.",
    ),
    "overview.today": Text("오늘", "Today"),
    "overview.total": Text("전체", "Total"),
    "overview.completed": Text("완료", "Completed"),
    "overview.fail": Text("실패", "Failed"),
    "overview.open": Text("진행 중", "In progress"),
    "overview.cancel": Text("취소", "Cancelled"),
    "overview.share": Text("완료율", "Completion rate"),
    "overview.per_cent": Text("{share}%", "{share} %"),
    "overview.days": Text("최근 4주", "Last four weeks"),
    "overview.days_about": Text(
        "{first}부터 {last}까지 날짜별 메시지 수입니다. 가장 많은 날은 {most}건입니다.",
        "Messages per day from {first} to {last}. The busiest day had {most}.",
    ),
    "overview.day": Text("날짜", "Day"),
    "overview.of_day": Text(
        "{day}: 완료 {completed}, 실패 {fail}, 진행 중 {open}, 취소 {cancel}",
        "{day}: {completed} completed, {fail} failed, {open} in progress, {cancel} cancelled",
    ),
    "overview.export": Text("최근 4주 통계 CSV 내려받기", "Download four weeks as CSV"),
    "overview.export.day": Text("날짜", "Day"),
    "overview.export.kind": Text("메시지 종류", "Message type"),
    "overview.export.status": Text("상태", "Status"),
    "overview.export.code": Text("결과 코드", "Result code"),
    "overview.export.reason": Text("결과", "Result"),
    "overview.export.messages": Text("건수", "Messages"),
    "overview.export.fallbacks": Text("그중 대체 문자", "Of these, fallbacks"),
    "overview.export.reached": Text("도달(대체 문자 포함)", "Reached (fallback included)"),
    "overview.export.cost": Text("비용(원)", "Cost (won)"),
    "overview.table": Text("표로 보기", "Show as a table"),
    "overview.left_out": Text("메시지가 없는 날은 표시하지 않습니다.", "Days without messages are not listed."),
    "overview.span": Text("기간", "Period"),
    "overview.span.1": Text("오늘", "Today"),
    "overview.span.7": Text("최근 7일", "Last 7 days"),
    "overview.span.28": Text("최근 4주", "Last 4 weeks"),
    "overview.kinds": Text("메시지 종류별", "By message type"),
    "overview.kind": Text("메시지 종류", "Message type"),
    "overview.reached": Text("도달률", "Reached"),
    "overview.reached_about": Text(
        "도달률은 수신자 가운데 메시지나 그 대체 문자를 받은 비율입니다. 대체 문자 자체는 세지 않습니다.",
        "Reached is the share of receivers who got the message or its fallback. Fallbacks themselves do not count.",
    ),
    "overview.cost": Text("비용", "Cost"),
    "overview.won": Text("{won}원", "{won} won"),
    "overview.reasons": Text("실패 사유", "Failure reasons"),
    "overview.reason": Text("사유", "Reason"),
    "overview.code": Text("결과 코드", "Result code"),
    "overview.many": Text("건수", "Messages"),
    "overview.chart": Text("그래프", "Chart"),
    "overview.nothing": Text("이 기간에 발송한 메시지가 없습니다.", "No messages were sent in this period."),
    "overview.no_failure": Text("이 기간에 실패한 메시지가 없습니다.", "No messages failed in this period."),
    "overview.look": Text("실패한 메시지 보기", "View failed messages"),
    "overview.carriers": Text("통신사", "Carriers"),
    "overview.most": Text("최대 {most}건", "Maximum {most}"),
}

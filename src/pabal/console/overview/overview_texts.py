"""Texts of the overview."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.overview": Text("현황", "Overview"),
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
    "overview.table": Text("표로 보기", "Show as a table"),
    "overview.left_out": Text("메시지가 없는 날은 표시하지 않습니다.", "Days without messages are not listed."),
    "overview.span": Text("기간", "Period"),
    "overview.span.1": Text("오늘", "Today"),
    "overview.span.7": Text("최근 7일", "Last 7 days"),
    "overview.span.28": Text("최근 4주", "Last 4 weeks"),
    "overview.kinds": Text("메시지 종류별", "By message type"),
    "overview.kind": Text("메시지 종류", "Message type"),
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

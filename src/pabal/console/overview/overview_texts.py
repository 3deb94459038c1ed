"""Words of the overview."""

from pabal.domain.codes import Words

WORDS = {
    "menu.overview": Words("현황", "Overview"),
    "overview.title": Words("현황", "Overview"),
    "overview.as_of": Words(
        "{at} 기준입니다. 발송을 요청한 날짜로 집계하며, 대체 문자는 별도 건으로 셉니다.",
        "As of {at}. Messages count for the day they were requested; a fallback text counts by itself.",
    ),
    "overview.today": Words("오늘", "Today"),
    "overview.total": Words("전체", "All"),
    "overview.completed": Words("완료", "Completed"),
    "overview.fail": Words("실패", "Failed"),
    "overview.open": Words("진행 중", "Under way"),
    "overview.cancel": Words("취소", "Cancelled"),
    "overview.share": Words("완료율", "Completed, %"),
    "overview.per_cent": Words("{share}%", "{share} %"),
    "overview.days": Words("최근 4주", "The last four weeks"),
    "overview.days_about": Words(
        "{first}부터 {last}까지 날짜별 메시지 수입니다. 가장 많은 날은 {most}건입니다.",
        "Messages of each day from {first} to {last}; {most} on the busiest.",
    ),
    "overview.day": Words("날짜", "Day"),
    "overview.of_day": Words(
        "{day}: 완료 {completed}, 실패 {fail}, 진행 중 {open}, 취소 {cancel}",
        "{day}: {completed} completed, {fail} failed, {open} under way, {cancel} cancelled",
    ),
    "overview.table": Words("표로 보기", "As a table"),
    "overview.left_out": Words("메시지가 없는 날은 표시하지 않습니다.", "Days without messages are left out."),
    "overview.span": Words("기간", "Period"),
    "overview.span.1": Words("오늘", "Today"),
    "overview.span.7": Words("최근 7일", "7 days"),
    "overview.span.28": Words("최근 4주", "4 weeks"),
    "overview.kinds": Words("종류별", "By kind"),
    "overview.kind": Words("종류", "Kind"),
    "overview.reasons": Words("실패 사유", "Why messages failed"),
    "overview.reason": Words("사유", "Reason"),
    "overview.code": Words("결과 코드", "Result code"),
    "overview.many": Words("건수", "Messages"),
    "overview.chart": Words("그래프", "Chart"),
    "overview.nothing": Words("이 기간에 보낸 메시지가 없습니다.", "Nothing was sent in this period."),
    "overview.no_failure": Words("이 기간에 실패한 메시지가 없습니다.", "Nothing failed in this period."),
    "overview.look": Words("실패한 메시지 보기", "See the messages that failed"),
    "overview.carriers": Words("통신사", "Carriers"),
    "overview.most": Words("최대 {most}건", "At most {most}"),
}

"""Texts of the statistics."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.statistics": Text("통계", "Statistics"),
    "statistics.title": Text("통계", "Statistics"),
    "statistics.about": Text(
        "발송을 요청한 날짜로 집계합니다. 대체 문자는 별도 건으로 셉니다. 도달률은 수신자 가운데 메시지나 "
        "그 대체 문자를 받은 비율입니다.",
        "Messages count on the day they were requested. A fallback message counts separately. Reached is the share "
        "of receivers who got the message or its fallback.",
    ),
    "statistics.from": Text("시작일", "From"),
    "statistics.to": Text("종료일", "To"),
    "statistics.interval": Text("단위", "Interval"),
    "statistics.interval.hour": Text("시간별", "By hour"),
    "statistics.interval.day": Text("일별", "By day"),
    "statistics.interval.month": Text("월별", "By month"),
    "statistics.group": Text("구분({most}개까지)", "Count by (at most {most})"),
    "statistics.by.product": Text("메시지 종류", "Message type"),
    "statistics.by.status": Text("상태", "Status"),
    "statistics.by.resultCode": Text("결과", "Result"),
    "statistics.by.templateCode": Text("템플릿 코드", "Template code"),
    "statistics.by.sender": Text("발신번호·채널", "Sender"),
    "statistics.by.key": Text("API 키", "API key"),
    "statistics.by.carrier": Text("통신사", "Carrier"),
    "statistics.others": Text("그 밖", "Others"),
    "statistics.show": Text("조회", "Show"),
    "statistics.export": Text("CSV 내려받기", "Download CSV"),
    "statistics.wrong": Text(
        "조회하지 못했습니다. 표시된 항목을 고치세요.", "Nothing was counted. Correct the fields that are marked."
    ),
    "statistics.none": Text(
        "이 기간에 발송한 메시지가 없습니다. 기간을 바꿔 보세요.",
        "No messages were sent in this period. Choose another one.",
    ),
    "statistics.as_of": Text("{at} 기준입니다.", "As of {at}."),
    "statistics.left_out": Text(
        "{count}행은 표시하지 않았습니다. CSV에는 모두 있습니다.",
        "{count} rows are not shown. The CSV file has all.",
    ),
    "statistics.date": Text("기간", "Period"),
    "statistics.messages": Text("건수", "Messages"),
    "statistics.completed": Text("완료", "Completed"),
    "statistics.fail": Text("실패", "Failed"),
    "statistics.open": Text("진행 중", "In progress"),
    "statistics.cancel": Text("취소", "Cancelled"),
    "statistics.fallbacks": Text("그중 대체 문자", "Of these, fallbacks"),
    "statistics.share": Text("완료율(%)", "Completion rate (%)"),
    "statistics.reached": Text("도달률(%)", "Reached (%)"),
    "statistics.cost": Text("비용(원)", "Cost (won)"),
}

"""Texts of the operators' tabs and of the status page."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.operate": Text("운영", "Operations"),
    "operate.title": Text("운영", "Operations"),
    "operate.parts": Text("운영 화면", "Operator pages"),
    "operate.part.state": Text("통신사와 대기열", "Carriers and queue"),
    "operate.part.accounts": Text("계정", "Accounts"),
    "operate.part.numbers": Text("발신번호 승인", "Sender numbers"),
    "operate.part.mappings": Text("중계사 간 연결", "Mappings"),
    "operate.part.settings": Text("설정", "Settings"),
    "operate.at": Text("{at} 기준이며 5초마다 새로 고칩니다.", "As of {at}. Refreshed every 5 seconds."),
    "operate.carriers": Text("통신사", "Carriers"),
    "operate.carrier": Text("통신사", "Carrier"),
    "operate.kind": Text("종류", "Type"),
    "operate.products": Text("메시지 종류", "Message types"),
    "operate.state": Text("상태", "Status"),
    "operate.since": Text("변경 시각", "Since"),
    "operate.trouble": Text("최근 오류", "Last error"),
    "operate.pace": Text("현재 속도", "Current rate"),
    "operate.per_minute": Text("분당 {count}건", "{count} per minute"),
    "operate.rate": Text("속도 제한", "Rate limit"),
    "operate.per_second": Text("초당 {count}건", "{count} per second"),
    "operate.no_limit": Text("없음", "None"),
    "operate.worker": Text("작업 프로세스", "Worker"),
    "operate.up": Text("정상", "Up"),
    "operate.down": Text("연결 끊김", "Down"),
    "operate.aside": Text("오류로 일시 중단", "Paused after errors"),
    "operate.unused": Text("아직 사용 안 함", "Not used yet"),
    "operate.gone": Text("설정에 없음", "Not in the settings"),
    "operate.abandoned": Text(
        "설정에 없는 통신사의 메시지는 발송되지 않고 대기합니다. "
        "실제 통신사의 메시지가 시뮬레이터로 넘어가는 일은 없습니다. 그 통신사를 설정에 다시 넣거나, "
        "명령줄의 pabal carrier move 또는 pabal carrier cancel로 옮기거나 취소하세요.",
        "Messages of a carrier that is not in the settings wait. They never go from a real carrier to a simulator. "
        "Add the carrier to the settings again, or move or cancel them on the command line: pabal carrier move, "
        "pabal carrier cancel.",
    ),
    "operate.queue": Text("대기열", "Queue"),
    "operate.lane": Text("구분", "Lane"),
    "operate.small": Text("일반 발송", "Regular messages"),
    "operate.campaign": Text("캠페인", "Campaigns"),
    "operate.taken": Text("발송 결과 대기", "Awaiting receipt"),
    "operate.jobs": Text("메시지 수", "Messages"),
    "operate.age": Text("최대 지연", "Longest delay"),
    "operate.days": Text("{count}일", "{count} d"),
    "operate.hours": Text("{count}시간", "{count} h"),
    "operate.minutes": Text("{count}분", "{count} min"),
    "operate.seconds": Text("{count}초", "{count} s"),
}

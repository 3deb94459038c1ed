"""Texts of the operators' page of paused webhooks."""

from pabal.domain.base.codes import Text

TEXTS = {
    "operate.part.webhooks": Text("중지된 웹훅", "Paused webhooks"),
    "paused.title": Text("중지된 웹훅", "Paused webhooks"),
    "paused.about": Text(
        "계속 실패하여 일시 중지된 웹훅입니다. 5분마다 한 건을 시험 삼아 보내고, 성공하면 저절로 다시 시작합니다. "
        "받는 쪽을 고친 뒤 바로 다시 보내려면 재개하세요.",
        "Webhooks that are paused because they keep failing. One post is tried every 5 minutes; if it succeeds, "
        "the webhook goes on by itself. Resume it to post again at once after the endpoint was repaired.",
    ),
    "paused.url": Text("주소", "Address"),
    "paused.since": Text("실패 시작", "Failing since"),
    "paused.failures": Text("연속 실패", "Failures in a row"),
    "paused.last": Text("마지막 응답", "Last answer"),
    "paused.trial": Text("다음 시험", "Next trial"),
    "paused.dropped": Text("포기한 이벤트", "Events given up"),
    "paused.actions": Text("관리", "Actions"),
    "paused.resume": Text("재개", "Resume"),
    "paused.resume_of": Text("{account}의 {url} 재개", "Resume {url} of {account}"),
    "paused.done": Text(
        "재개했습니다. 밀린 이벤트를 보냅니다.", "Resumed. The events that have waited are posted."
    ),
    "paused.none": Text("중지된 웹훅이 없습니다.", "No webhooks are paused."),
    "paused.most": Text("처음 {most}개만 표시합니다.", "Only the first {most} are listed."),
}

"""Texts of the queue of templates under review."""

from pabal.domain.base.codes import Text

TEXTS = {
    "operate.part.reviews": Text("템플릿 검수", "Template reviews"),
    "reviews.title": Text("템플릿 검수", "Template reviews"),
    "reviews.about": Text(
        "모든 계정에서 검수를 요청한 템플릿입니다. 먼저 등록한 것부터 보여 주며, 중계사가 검수하는 것은 여기에 "
        "없습니다.",
        "Templates of all accounts whose review was requested, the oldest first. Those that a relay reviews are "
        "not listed.",
    ),
    "reviews.template": Text("템플릿", "Template"),
    "reviews.channel": Text("채널", "Channel"),
    "reviews.content": Text("내용", "Content"),
    "reviews.since": Text("요청 시각", "Requested"),
    "reviews.back": Text("검수 목록", "Reviews"),
    "reviews.none": Text("검수를 기다리는 템플릿이 없습니다.", "No templates are waiting for review."),
    "reviews.approved": Text("승인했습니다.", "Approved."),
    "reviews.rejected": Text("반려했습니다.", "Rejected."),
    "reviews.not_waiting": Text(
        "이 템플릿은 검수를 기다리지 않습니다. 이미 결정되었거나 요청자가 고쳤습니다.",
        "This template is not waiting for review. It was decided already, or its author has edited it.",
    ),
}

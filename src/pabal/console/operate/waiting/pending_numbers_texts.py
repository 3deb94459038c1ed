"""Texts of sender numbers that wait for approval."""

from pabal.domain.base.codes import Text

TEXTS = {
    "pending.title": Text("발신번호 승인", "Sender numbers to approve"),
    "pending.about": Text(
        "계정이 번호의 명의자인지 통신서비스 이용증명원으로 확인한 뒤 승인하세요. 번호 하나는 계정 하나만 쓸 수 "
        "있습니다.",
        "Approve a number after you have checked that it belongs to the account. A number has one account.",
    ),
    "pending.why": Text("확인할 사항", "To check"),
    "pending.new": Text("새로 등록한 번호", "New number"),
    "pending.held": Text(
        "{account} 계정이 쓰는 번호입니다. 그 계정에서 삭제해야 승인할 수 있습니다.",
        "Account {account} has this number. It must be removed there before you can approve it.",
    ),
    "pending.comment": Text("반려 사유", "Reason for rejection"),
    "pending.approve": Text("승인", "Approve"),
    "pending.reject": Text("반려", "Reject"),
    "pending.of": Text("{number} {what}", "{what} {number}"),
    "pending.none": Text("승인을 기다리는 발신번호가 없습니다.", "No sender numbers are waiting for approval."),
}

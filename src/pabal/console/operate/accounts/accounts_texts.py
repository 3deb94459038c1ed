"""Texts of the pages for accounts, API keys and users."""

from pabal.domain.base.codes import Text

TEXTS = {
    "accounts.title": Text("계정", "Accounts"),
    "accounts.enabled": Text("사용 중", "Active"),
    "accounts.disabled": Text("사용 중지", "Disabled"),
    "accounts.none": Text("아직 계정이 없습니다.", "There are no accounts yet."),
    "accounts.new": Text("새 계정 이름", "New account name"),
    "accounts.create": Text("계정 만들기", "Create account"),
    "account.back": Text("계정 목록으로", "Back to accounts"),
    "account.disable": Text("계정 중지", "Disable account"),
    "account.disable_what": Text(
        "이 계정의 모든 API 키가 1초 안에 차단되고 모든 사용자가 로그아웃됩니다. 이미 접수한 메시지는 "
        "그대로 발송됩니다.",
        "All API keys of this account stop working within a second, and all its users are signed out. "
        "Accepted messages are still sent.",
    ),
    "account.enable": Text("중지 해제", "Enable account"),
    "limits.title": Text("한도", "Limits"),
    "limits.about": Text(
        "발송을 접수할 때 셉니다. 취소하거나 실패해도 돌려주지 않으며, 예산만 실제 요금으로 고칩니다.",
        "Counted when a send is accepted, and not given back if it is cancelled or fails; only the budget is "
        "corrected to what was charged.",
    ),
    "limits.name": Text("한도", "Limit"),
    "limits.value": Text("설정", "Value"),
    "limits.used": Text("사용", "Used"),
    "limits.resets": Text("초기화 시각", "Resets at"),
    "limits.change": Text("한도 바꾸기", "Change limits"),
    "limits.save": Text("한도 저장", "Save limits"),
    "limits.help": Text(
        "비우거나 0이면 제한하지 않습니다. 중복 방지 시간을 비우면 설정값을 따릅니다.",
        "Empty or 0 means no limit. If the minutes of the duplicate guard are empty, the setting holds.",
    ),
    "limits.receivers_per_second": Text("초당 수신자", "Receivers per second"),
    "limits.receivers_per_day": Text("하루 수신자", "Receivers per day"),
    "limits.receivers_per_month": Text("한 달 수신자", "Receivers per month"),
    "limits.budget_per_month": Text("한 달 예산(원)", "Budget per month (won)"),
    "limits.duplicate_minutes": Text("중복 방지 시간(분)", "Duplicate guard (minutes)"),
    "limits.near": Text(
        "{name} 한도의 {percent}%를 사용했습니다. {at}에 초기화됩니다.",
        "{percent} % of the limit is used: {name}. It resets at {at}.",
    ),
    "account.users": Text("사용자", "Users"),
    "key.name": Text("용도", "Purpose"),
    "key.scopes": Text("허용 작업", "Permissions"),
    "key.scope.send": Text("발송과 취소", "Send and cancel"),
    "key.scope.read": Text("조회", "Read"),
    "key.scope.privacy": Text(
        "전화번호별 개인정보 내보내기와 파기", "Export and erase what is stored about a number"
    ),
    "key.scope.manage": Text("발신 프로필과 템플릿 관리", "Manage sender profiles and templates"),
    "key.allow": Text("허용 IP 주소", "Allowed IP addresses"),
    "key.allow_help": Text(
        "한 줄에 하나씩 입력하세요. 예: 192.0.2.7 또는 192.0.2.0/24. 비우면 제한하지 않습니다.",
        "One per line, such as 192.0.2.7 or 192.0.2.0/24. Leave empty for no restriction.",
    ),
    "key.from": Text("허용 IP 주소", "Allowed IP addresses"),
    "key.anywhere": Text("제한 없음", "No restriction"),
    "key.rate": Text("초당 요청 수", "Requests per second"),
    "key.rate_help": Text("0이면 제한하지 않습니다.", "0 means no limit."),
    "key.expires": Text("만료일", "Valid until"),
    "key.expires_help": Text(
        "이날까지 쓸 수 있습니다. 비우면 만료되지 않습니다.",
        "The key works until the end of this day. Leave empty for no expiry.",
    ),
    "key.used": Text("마지막 사용", "Last used"),
    "key.unused": Text("사용 기록 없음", "Not used yet"),
    "key.rate_change": Text("속도 변경", "Change rate"),
    "key.rate_one": Text("{id}번 키 속도 변경", "Change rate of key {id}"),
    "key.rate_save": Text("속도 저장", "Save rate"),
    "key.never": Text("만료 없음", "No expiry"),
    "key.made": Text("발급 시각", "Created at"),
    "key.state": Text("상태", "Status"),
    "key.live": Text("사용 중", "Active"),
    "key.revoked": Text("폐기됨", "Revoked"),
    "key.expired": Text("만료됨", "Expired"),
    "key.none": Text("아직 API 키가 없습니다.", "There are no API keys yet."),
    "key.new": Text("새 API 키 발급", "New API key"),
    "key.create": Text("API 키 발급", "Create API key"),
    "key.actions": Text("작업", "Actions"),
    "key.replace": Text("교체", "Replace"),
    "key.replace_one": Text("{id}번 키 교체", "Replace key {id}"),
    "key.replace_what": Text(
        "같은 권한의 새 키를 발급합니다. 이전 키는 폐기할 때까지 쓸 수 있습니다.",
        "Creates a key that may do the same. The old one works until you revoke it.",
    ),
    "key.replaced": Text(
        "{id}번 키와 같은 권한입니다. 새 키를 넣은 뒤 {id}번 키를 폐기하세요. 그때까지 둘 다 쓸 수 있습니다.",
        "It may do the same as key {id}. Revoke key {id} once the new one is in use: until then, both work.",
    ),
    "key.revoke": Text("폐기", "Revoke"),
    "key.revoke_one": Text("{id}번 키 폐기", "Revoke key {id}"),
    "key.revoke_what": Text(
        "이 키를 쓰는 프로그램의 요청이 1초 안에 거부됩니다. 되돌릴 수 없습니다.",
        "Requests made with this key are refused within a second. This cannot be undone.",
    ),
    "key.revoke_do": Text("폐기", "Revoke"),
    "user.role": Text("역할", "Role"),
    "user.none": Text("아직 사용자가 없습니다.", "There are no users yet."),
    "user.new": Text("새 사용자 만들기", "New user"),
    "user.create": Text("사용자 만들기", "Create user"),
    "user.enable": Text("중지 해제", "Enable"),
    "user.password": Text("비밀번호 재설정", "Reset password"),
    "user.of": Text("{name}: {what}", "{name}: {what}"),
    "user.disable_what": Text(
        "바로 로그아웃되고 다시 로그인할 수 없습니다.", "The user is signed out at once and cannot sign in again."
    ),
    "user.password_what": Text(
        "현재 비밀번호는 쓸 수 없게 되고 바로 로그아웃됩니다.",
        "The current password stops working, and the user is signed out at once.",
    ),
    "user.password_do": Text("새 비밀번호 발급", "Create new password"),
    "secret.key": Text("새 API 키", "New API key"),
    "secret.password": Text("{name} 사용자의 비밀번호", "Password of {name}"),
    "secret.once": Text(
        "지금 한 번만 표시합니다. 안전한 곳에 보관하세요.", "This is shown only once. Store it in a safe place."
    ),
    "secret.use_key": Text("모든 요청의 헤더에 다음과 같이 넣으세요:", "Send it in a header of every request:"),
    "secret.use_password": Text(
        "로그인할 때 다음 사용자 이름과 함께 입력하세요:", "Sign in with it and this user name:"
    ),
    "secret.back": Text("{account} 계정으로", "Back to {account}"),
}

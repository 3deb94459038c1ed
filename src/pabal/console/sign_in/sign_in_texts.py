"""Words of the page to sign in."""

from pabal.domain.base.codes import Text

TEXTS = {
    "sign_in.again": Text("다시 로그인하세요", "Sign in again"),
    "sign_in.again.why": Text(
        "로그인 시간이 끝났습니다. 비밀번호를 입력하면 하던 작업을 그대로 이어 갑니다.",
        "Your session has ended. Enter your password to go on where you were.",
    ),
    "sign_in.again.do": Text("로그인하고 계속", "Sign in and go on"),
    "sign_in.again.other": Text("다른 사용자로 로그인", "Sign in as another user"),
    "sign_in.code.title": Text("2단계 인증", "Two-factor sign-in"),
    "sign_in.code": Text("인증 코드", "Code"),
    "sign_in.code.about": Text(
        "인증 앱에 지금 표시된 6자리 코드를 입력하세요. 앱을 쓸 수 없으면 복구 코드를 입력하세요.",
        "Enter the six digits that your authenticator app shows now. Without the app, enter a recovery code.",
    ),
    "sign_in.code.lost": Text(
        "앱과 복구 코드를 모두 잃어버렸다면 계정 관리자나 운영자에게 2단계 인증 해제를 요청하세요.",
        "If you have lost both, ask an owner of your account, or your operator, to turn two-factor sign-in off.",
    ),
    "sign_in.code.back": Text("처음부터 다시 로그인", "Start again"),
    "sign_in.title": Text("로그인", "Sign in"),
    "sign_in.name": Text("사용자 이름", "User name"),
    "sign_in.password": Text("비밀번호", "Password"),
    "sign_in.do": Text("로그인", "Sign in"),
    "sign_in.wrong": Text(
        "사용자 이름 또는 비밀번호가 올바르지 않습니다. 확인하고 다시 입력하세요.",
        "Wrong user name or password. Check both and try again.",
    ),
    "sign_in.wrong_or_off": Text(
        "사용자 이름이나 비밀번호가 올바르지 않거나, 비밀번호로 로그인할 수 없는 사용자입니다. {name} 계정으로 "
        "로그인하세요.",
        "Wrong user name or password, or this user may not sign in with a password. Sign in with {name}.",
    ),
    "sign_in.openid": Text("{name} 계정으로 로그인", "Sign in with {name}"),
    "sign_in.openid.tab": Text("새 탭에서 {name} 계정으로 로그인", "Sign in with {name} in a new tab"),
    "sign_in.openid.back": Text(
        "로그인한 뒤 이 탭으로 돌아오면 하던 작업을 이어 갑니다.",
        "Come back to this tab afterwards to go on where you were.",
    ),
    "sign_in.or": Text("또는", "or"),
    "sign_in.emergency": Text("비상 운영자 로그인", "Sign in as the emergency operator"),
    "openid.leaving": Text("{name} 로그인으로 이동합니다", "Continuing to {name}"),
    "openid.go": Text("이동하지 않으면 누르세요", "Continue if nothing happens"),
    "audit_action.openid.link": Text("외부 로그인 연결", "Linked a sign-in by OpenID Connect"),
    "audit_action.openid.unlink": Text("외부 로그인 연결 해제", "Unlinked a sign-in by OpenID Connect"),
    "sign_in.throttled": Text(
        "로그인에 여러 번 실패했습니다. {seconds}초 뒤에 다시 시도하세요.",
        "Too many failed sign-ins. Try again in {seconds} seconds.",
    ),
    "sign_in.throttled_minutes": Text(
        "로그인에 여러 번 실패했습니다. {minutes}분 뒤에 다시 시도하세요.",
        "Too many failed sign-ins. Try again in {minutes} minutes.",
    ),
    "sign_in.help": Text(
        "비밀번호를 잊었다면 계정 관리자나 운영자에게 새 비밀번호를 요청하세요.",
        "If you forgot your password, ask an owner of your account, or your operator, for a new one.",
    ),
}

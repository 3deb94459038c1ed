"""Words of the page to sign in."""

from pabal.domain.codes import Words

WORDS = {
    "sign_in.title": Words("로그인", "Sign in"),
    "sign_in.name": Words("사용자 이름", "User name"),
    "sign_in.password": Words("비밀번호", "Password"),
    "sign_in.do": Words("로그인", "Sign in"),
    "sign_in.wrong": Words(
        "사용자 이름 또는 비밀번호가 맞지 않습니다.", "The user name or the password is not right."
    ),
    "sign_in.throttled": Words(
        "틀린 로그인이 너무 많습니다. {minutes}분 뒤에 다시 시도하세요.",
        "Too many wrong tries. Try again in {minutes} min.",
    ),
    "sign_in.help": Words(
        "비밀번호를 잊었다면 운영자에게 새 비밀번호를 요청하세요.",
        "If you have forgotten your password, ask your operator for a new one.",
    ),
}

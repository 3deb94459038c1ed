"""Words of the frame around every page, and of pages that say no."""

from pabal.domain.codes import Words

WORDS = {
    "product": Words("파발", "Pabal"),
    "skip": Words("본문으로 건너뛰기", "Skip to the content"),
    "menu": Words("메뉴", "Menu"),
    "account": Words("계정", "Account"),
    "account.choose": Words("계정 바꾸기", "Change account"),
    "sign_out": Words("로그아웃", "Sign out"),
    "language.ko": Words("한국어", "한국어"),
    "language.en": Words("English", "English"),
    "test_environment": Words(
        "테스트 환경: 아무것도 실제로 발송되지 않습니다.", "Test environment: nothing is really sent."
    ),
    "test_environment.phone": Words("가상 휴대폰 보기", "Look at the simulated phone"),
    "home": Words("처음으로", "To the first page"),
    "problem.title": Words("할 수 없습니다", "That cannot be done"),
    "problem.not_found": Words("없는 페이지입니다.", "There is no such page."),
    "forbidden.title": Words("권한이 없습니다", "This is not for you"),
    "forbidden.why": Words(
        "이 화면은 {role} 권한으로는 볼 수 없습니다. 필요하면 계정의 관리자에게 문의하세요.",
        "Your role ({role}) does not include this page. Ask the owner of your account if you need it.",
    ),
    "stale.title": Words("오래된 화면입니다", "This page has grown old"),
    "stale.why": Words(
        "로그인이 바뀌었거나 화면이 너무 오래되어 처리하지 않았습니다. 이전 화면을 새로 고친 뒤 다시 시도하세요.",
        "You have signed in anew since it was opened, so nothing was done. Go back, reload it and try again.",
    ),
    "no_account.title": Words("계정이 없습니다", "There is no account yet"),
    "no_account.why": Words(
        "볼 수 있는 계정이 아직 없습니다. pabal key create --account 이름 으로 계정을 만드세요.",
        "There is no account to look at. Make one with: pabal key create --account NAME",
    ),
    "table.none": Words("없음", "None"),
    "page.older": Words("더 오래된 것", "Older"),
    "page.newest": Words("가장 최근으로", "Back to the newest"),
    "page.next": Words("다음", "Next"),
    "page.previous": Words("이전", "Previous"),
    "page.of": Words("{count}쪽 중 {page}쪽", "Page {page} of {count}"),
}

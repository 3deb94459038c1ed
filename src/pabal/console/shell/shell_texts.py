"""Words of the frame around every page, and of pages that say no."""

from pabal.domain.codes import Text

TEXTS = {
    "product": Text("파발", "Pabal"),
    "skip": Text("본문으로 건너뛰기", "Skip to content"),
    "menu": Text("메뉴", "Menu"),
    "account": Text("계정", "Account"),
    "account.choose": Text("계정 변경", "Switch account"),
    "sign_out": Text("로그아웃", "Sign out"),
    "language.ko": Text("한국어", "한국어"),
    "language.en": Text("English", "English"),
    "test_environment": Text(
        "테스트 환경입니다. 메시지가 실제로 발송되지 않습니다.", "Test environment: messages are not really sent."
    ),
    "test_environment.phone": Text("가상 휴대폰 보기", "Open the simulated phone"),
    "home": Text("첫 화면으로", "Go to the home page"),
    "problem.title": Text("처리할 수 없습니다", "This cannot be done"),
    "problem.not_found": Text(
        "페이지를 찾을 수 없습니다. 주소를 확인하세요.", "Page not found. Check the address."
    ),
    "forbidden.title": Text("권한이 없습니다", "You do not have permission"),
    "forbidden.why": Text(
        "{role} 역할로는 이 화면을 볼 수 없습니다. 필요하면 계정 관리자에게 요청하세요.",
        "Your role ({role}) does not allow this page. If you need it, ask the owner of your account.",
    ),
    "stale.title": Text("화면이 만료되었습니다", "This page has expired"),
    "stale.why": Text(
        "화면을 연 뒤에 로그인 상태가 바뀌어 처리하지 않았습니다. 이전 화면을 새로 고친 뒤 다시 시도하세요.",
        "Your sign-in changed after this page was opened, so nothing was done. Go back, reload the page and "
        "try again.",
    ),
    "no_account.title": Text("아직 계정이 없습니다", "There are no accounts yet"),
    "no_account.why": Text(
        "조회할 계정이 없습니다. 먼저 계정을 만드세요.", "There is no account to view. Create one first."
    ),
    "no_account.make": Text("계정 만들기", "Create an account"),
    "table.none": Text("없음", "None"),
    "page.older": Text("이전 내역", "Older"),
    "page.newest": Text("최신 내역으로", "Back to newest"),
    "page.next": Text("다음", "Next"),
    "page.previous": Text("이전", "Previous"),
    "page.of": Text("{count}페이지 중 {page}페이지", "Page {page} of {count}"),
}

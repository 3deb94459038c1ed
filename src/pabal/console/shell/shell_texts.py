"""Texts of the frame around every page, of pages that refuse, and words that several pages have."""

from pabal.console.sheets import mapping
from pabal.domain.base.codes import Text

TEXTS = {
    "columns.title": Text("열 연결", "Columns"),
    "columns.name": Text("열", "Column"),
    "columns.number": Text("{number}번째 열", "Column {number}"),
    "columns.samples": Text("파일의 첫 줄", "First rows"),
    "columns.role": Text("연결할 항목", "Used as"),
    "columns.ignore": Text("쓰지 않음", "Not used"),
    "columns.missing": Text("연결할 열을 고르세요: {names}", "Choose the columns for: {names}"),
    "columns.twice": mapping.TWICE,
    "request.elapsed": Text("{seconds}초", "{seconds} s"),
    "talk.band": Text("알림톡 도착", "Alimtalk"),
    "product": Text("파발", "Pabal"),
    "skip": Text("본문으로 건너뛰기", "Skip to content"),
    "menu": Text("메뉴", "Menu"),
    "menu_group.send": Text("발송", "Send"),
    "menu_group.results": Text("결과", "Results"),
    "menu_group.registered": Text("등록", "Registered"),
    "menu_group.account": Text("계정", "Account"),
    "menu_group.operate": Text("운영", "Operate"),
    "account": Text("계정", "Account"),
    "account.choose": Text("계정 변경", "Switch account"),
    "account.choose_first": Text("계정 선택", "Choose an account"),
    "account.choose.about": Text(
        "내역과 설정을 볼 계정을 고르세요. 화면 위쪽의 계정 이름에서 언제든지 바꿀 수 있습니다.",
        "Choose the account whose messages and settings you want to see. You can switch at any time by "
        "the account's name at the top of the page.",
    ),
    "sign_out": Text("로그아웃", "Sign out"),
    "language.ko": Text("한국어", "한국어"),
    "language.en": Text("English", "English"),
    "test_environment": Text(
        "테스트 환경입니다. 메시지가 실제로 발송되지 않습니다.", "Test environment: messages are not really sent."
    ),
    "test_environment.phone": Text("가상 휴대폰 보기", "Open the simulated phone"),
    "stopped_webhooks": Text(
        "웹훅 {count}개가 계속 실패하여 이벤트를 보내지 못하고 있습니다. 이벤트는 7일 동안 보관합니다.",
        "Webhooks that get no events because they keep failing: {count}. Their events are kept for 7 days.",
    ),
    "stopped_webhooks.label": Text("중지된 웹훅", "Stopped webhooks"),
    "stopped_webhooks.show": Text("원인 보기", "See why"),
    "request.busy": Text("처리 중입니다", "Working"),
    "request.again": Text("다시 시도", "Try again"),
    "request.failed.send": Text(
        "응답을 받지 못해 발송되었는지 알 수 없습니다. 연결을 확인하고 다시 시도하세요. 이미 접수되었더라도 한 "
        "번만 발송됩니다.",
        "There was no answer, so it may or may not have been sent. Check the connection and try again: it is sent "
        "only once.",
    ),
    "request.failed.change": Text(
        "응답을 받지 못해 처리되었는지 알 수 없습니다. 입력한 내용은 이 화면에 있습니다. 연결을 확인하고 다시 "
        "시도하세요. 이미 처리되었더라도 한 번만 처리됩니다.",
        "There was no answer, so it may or may not have been done. What you entered is still here. Check the "
        "connection and try again: it is done only once.",
    ),
    "request.failed.offline": Text(
        "인터넷에 연결되어 있지 않습니다. 아무것도 발송하거나 변경하지 않았고, 입력한 내용은 이 화면에 있습니다. "
        "연결한 뒤 다시 시도하세요.",
        "There is no connection. Nothing was sent or changed, and what you entered is still here. Connect, then "
        "try again.",
    ),
    "request.failed.nothing": Text(
        "연결이 끊겼거나 서비스가 응답하지 않습니다. 아무것도 발송되지 않았습니다. 연결을 확인하고 다시 "
        "시도하세요.",
        "The service cannot be reached. Nothing was sent. Check the connection, then try again.",
    ),
    "request.failed.preview": Text(
        "미리 보기와 임시 저장이 되지 않습니다. 입력한 내용은 이 화면에 있고, 아무것도 발송되지 않았습니다.",
        "The preview and the draft could not be updated. What you typed is still here, and nothing was sent.",
    ),
    "request.failed.poll": Text(
        "연결이 끊겨 화면의 내용이 최신이 아닐 수 있습니다. 연결되면 자동으로 갱신합니다.",
        "The connection is lost, so this page may be out of date. It is refreshed when the connection is back.",
    ),
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
    "repeated.title": Text("이미 접수한 요청입니다", "This was received before"),
    "repeated.why": Text(
        "같은 요청을 이미 받았으므로 다시 처리하지 않았습니다. 처리되었는지 화면에서 확인하고, 처리되지 않았을 "
        "때만 다시 입력하세요.",
        "The same request was received before, so it was not done again. See on the page whether it was done, and "
        "enter it again only if it was not.",
    ),
    "repeated.see": Text("화면에서 확인", "See the page"),
    "no_account.title": Text("아직 계정이 없습니다", "There are no accounts yet"),
    "no_account.why": Text(
        "조회할 계정이 없습니다. 먼저 계정을 만드세요.", "There is no account to view. Create one first."
    ),
    "no_account.make": Text("계정 만들기", "Create an account"),
    "acting": Text(
        "운영자로서 {account} 계정을 대신해 작업하고 있습니다.",
        "You are an operator, acting for the account {account}.",
    ),
    "acting.label": Text("대신하는 계정", "Account you act for"),
    "acting.stop": Text("그만하기", "Stop"),
    "other_account.title": Text("다른 계정의 화면입니다", "This page is of another account"),
    "other_account.why": Text(
        "다른 계정의 화면이어서 아무것도 처리하지 않았습니다. 화면을 연 계정: {account}, 지금 선택한 계정: "
        "{selected}",
        "This page was opened for the account {account}, but {selected} is selected now. Nothing was done.",
    ),
    "other_account.kept": Text(
        "입력한 내용은 남아 있습니다. {account} 계정으로 바꾸면 그대로 계속합니다.",
        "What you entered is kept. Switch to {account} to continue with it.",
    ),
    "other_account.continue": Text("{account} 계정으로 바꾸고 계속", "Switch to {account} and continue"),
    "other_account.file": Text(
        "{account} 계정으로 바꾼 뒤 이전 화면에서 다시 시도하세요. 파일은 다시 선택해야 합니다.",
        "Switch to {account}, go back and try again. Files have to be chosen again.",
    ),
    "parts.link": Text("대표 링크", "Representative link"),
    "parts.replies": Text("바로연결", "Quick replies"),
    "copy.do": Text("복사", "Copy"),
    "copy.done": Text("복사했습니다", "Copied"),
    "copy.key": Text("발신 프로필 키 복사", "Copy the sender key"),
    "page.older": Text("이전 내역", "Older"),
    "page.newest": Text("최신 내역으로", "Back to newest"),
    "page.previous": Text("이전", "Previous"),
    "page.of": Text("{count}페이지 중 {page}페이지", "Page {page} of {count}"),
    "word.actions": Text("작업", "Actions"),
    "word.add": Text("추가", "Add"),
    "word.address": Text("주소", "Address"),
    "word.all": Text("전체", "All"),
    "word.cancel": Text("취소", "Cancel"),
    "word.channel": Text("채널", "Channel"),
    "word.created_at": Text("생성 시각", "Created at"),
    "picker.words": Text(
        "날짜 고르기|오늘|내일|월|화|수|목|금|토|일|이전 달|다음 달|닫기|예: 내일 08:00, 11/19 10:00|"
        "읽을 수 없는 날짜입니다. 예: 내일 08:00, 11/19 10:00, 2026-11-19 10:00",
        "Choose a day|today|tomorrow|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Previous month|Next month|"
        "Close|For example: tomorrow 08:00, 11/19 10:00|"
        "This is no date. For example: tomorrow 08:00, 11/19 10:00, 2026-11-19 10:00",
    ),
    "picker.day_words": Text(
        "날짜 고르기|오늘|내일|월|화|수|목|금|토|일|이전 달|다음 달|닫기|예: 11/19, 어제|"
        "읽을 수 없는 날짜입니다. 예: 11/19, 2026-11-19, 어제, 월요일",
        "Choose a day|today|tomorrow|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Previous month|Next month|"
        "Close|For example: 11/19, yesterday|This is no date. For example: 11/19, 2026-11-19, yesterday, Monday",
    ),
    "word.date_and_time_zone": Text("예약 시각 ({zone})", "Date and time ({zone})"),
    "word.delete": Text("삭제", "Delete"),
    "word.disable": Text("중지", "Disable"),
    "word.failing_since": Text("실패 시작", "Failing since"),
    "word.file_or_group": Text("파일·그룹", "File or group"),
    "word.import": Text("가져오기", "Import"),
    "word.invalid_rows": Text("발송할 수 없는 행", "Invalid rows"),
    "word.last_success": Text("마지막 성공", "Last success"),
    "word.message_type": Text("메시지 종류", "Message type"),
    "age.days": Text("{count}일", "{count} d"),
    "age.hours": Text("{count}시간", "{count} h"),
    "age.minutes": Text("{count}분", "{count} min"),
    "age.seconds": Text("{count}초", "{count} s"),
    "word.name": Text("이름", "Name"),
    "word.next": Text("다음", "Next"),
    "word.notices_by_mail": Text("메일 알림", "Notices by mail"),
    "word.password": Text("비밀번호", "Password"),
    "word.phone_number": Text("휴대폰 번호", "Phone number"),
    "word.reason": Text("사유", "Reason"),
    "word.register_a_channel": Text("채널 등록", "Register a channel"),
    "word.remove": Text("삭제", "Remove"),
    "word.rename": Text("이름 바꾸기", "Rename"),
    "word.requested": Text("요청 시각", "Requested"),
    "word.save": Text("저장", "Save"),
    "word.saved": Text("저장했습니다.", "Saved."),
    "word.search": Text("검색", "Search"),
    "word.secret": Text("비밀 값", "Secret"),
    "word.send_once_per_number": Text("같은 번호에는 한 번만 발송", "Send once per number"),
    "word.sender_number": Text("발신번호", "Sender number"),
    "word.show": Text("보기", "Show"),
    "word.show_all": Text("전체 보기", "Show all"),
    "word.sign_in": Text("로그인", "Sign in"),
    "word.state": Text("상태", "State"),
    "word.status": Text("상태", "Status"),
    "word.subject": Text("제목", "Subject"),
    "word.code": Text("인증번호", "One-time code"),
    "word.template": Text("템플릿", "Template"),
    "word.text": Text("내용", "Text"),
    "word.time": Text("시각", "Time"),
    "word.two_factor_sign_in": Text("2단계 인증", "Two-factor sign-in"),
    "word.user": Text("사용자", "User"),
    "word.user_name": Text("사용자 이름", "User name"),
    "word.undo": Text("되돌리기", "Undo"),
    "word.close": Text("닫기", "Close"),
    "word.yes_delete": Text("예, 삭제합니다", "Yes, delete"),
    "word.yes_unlink": Text("예, 해제합니다", "Yes, unlink"),
    "word.allowed_ip_addresses": Text("허용 IP 주소", "Allowed IP addresses"),
    "word.button_type": Text("버튼 종류", "Button type"),
    "word.carrier": Text("발송 경로", "Carrier"),
    "word.carriers": Text("발송 경로", "Carriers"),
    "word.cost": Text("비용", "Cost"),
    "word.details": Text("자세히", "Details"),
    "word.disabled": Text("사용 중지", "Disabled"),
    "word.last_used": Text("마지막 사용", "Last used"),
    "word.message_types": Text("메시지 종류", "Message types"),
    "word.none": Text("없음", "None"),
    "word.no": Text("아니요", "No"),
    "word.period": Text("기간", "Period"),
    "word.preview": Text("미리 보기", "Preview"),
    "word.reference": Text("참조 ID", "Reference"),
    "word.show_as_a_table": Text("표로 보기", "Show as a table"),
    "word.won": Text("{won}원", "{won} won"),
    "word.yes": Text("예", "Yes"),
}

"""The Korean help of every command and option, by its English one in the code: change both together."""

import argparse

KOREAN_HELP = {
    "A self-hosted messaging service.": "직접 운영하는 메시지 발송 서비스입니다.",
    "other commands need the service; install it with: pip install 'pabal[server]'": (
        "그 밖의 명령에는 서비스가 필요합니다. 설치: pip install 'pabal[server]'"
    ),
    "show this help message and exit": "이 도움말을 보여 줍니다",
    "show program's version number and exit": "버전을 보여 줍니다",
    "positional arguments": "인수",
    "options": "옵션",
    # The service
    "Run the service: HTTP interface, console and delivery.": "서비스를 실행합니다: HTTP 인터페이스, 콘솔, 발송.",
    "Run a worker that only delivers; needs PostgreSQL.": "발송만 하는 워커를 실행합니다. PostgreSQL이 필요합니다.",
    "Apply missing migrations to the store's schema.": "저장소 스키마에 빠진 마이그레이션을 적용합니다.",
    "List every setting with its value and meaning.": "모든 설정의 값과 뜻을 보여 줍니다.",
    "Check the installation, and say how to fix what is wrong.": "설치 상태를 점검하고 고치는 방법을 알려 줍니다.",
    "data directory (default: ./data)": "데이터 디렉터리(기본값: ./data)",
    "TOML file with settings": "설정이 있는 TOML 파일",
    "address to listen on (default: 127.0.0.1)": "접속을 받을 주소(기본값: 127.0.0.1)",
    "port to listen on (default: 8080)": "접속을 받을 포트(기본값: 8080)",
    "do not deliver; `pabal work` does it": "발송하지 않습니다. `pabal work`가 발송합니다",
    "run this many processes, at most 3 on SQLite; 0: one for each core (default: 1)": (
        "프로세스 수. SQLite에서는 최대 3. 0은 코어마다 하나(기본값: 1)"
    ),
    "port for health and metrics (default: none)": "상태 확인과 지표를 위한 포트(기본값: 없음)",
    "change nothing; fail if a migration is missing": "아무것도 바꾸지 않고, 빠진 마이그레이션이 있으면 실패합니다",
    "then distribute the tables over the Citus workers": "그다음 테이블을 Citus 워커에 나눕니다",
    "print JSON, one object a line": "JSON을 한 줄에 하나씩 출력합니다",
    "a note": "메모",
    # Backups
    "Copy the SQLite store to a file, even while the service runs.": (
        "SQLite 저장소를 서비스 실행 중에도 파일로 복사합니다."
    ),
    "Replace the SQLite store by a backup. Stop the service first.": (
        "SQLite 저장소를 백업으로 바꿉니다. 먼저 서비스를 멈추세요."
    ),
    "Cancel due messages in a store that you restored by other means. Stop the service first.": (
        "다른 방법으로 복원한 저장소의 대기 메시지를 취소합니다. 먼저 서비스를 멈추세요."
    ),
    "the file to write; it must not exist": "쓸 파일. 없는 파일이어야 합니다",
    "replace the file if it exists": "파일이 있으면 바꿉니다",
    "a file that `pabal backup` wrote": "`pabal backup`이 쓴 파일",
    "what to do with messages that may have been sent since the backup: send them (some may arrive twice) or cancel"
    " them (some may never arrive); required if there are any": (
        "백업 이후 발송되었을 수 있는 메시지: send는 발송(두 번 갈 수 있음), cancel은 취소(못 받을 수 있음)."
        " 그런 메시지가 있으면 꼭 필요합니다"
    ),
    "change nothing; print how many messages it concerns": "아무것도 바꾸지 않고, 해당하는 메시지 수를 출력합니다",
    "Move a SQLite store to the PostgreSQL database of the settings. Stop the service first.": (
        "SQLite 저장소를 설정의 PostgreSQL 데이터베이스로 옮깁니다. 먼저 서비스를 멈추세요."
    ),
    "the SQLite store, such as data/pabal.db": "SQLite 저장소. 예: data/pabal.db",
    # Keys and accounts
    "Manage API keys.": "API 키를 관리합니다.",
    "Create a key. It is printed only once.": "키를 만듭니다. 한 번만 출력합니다.",
    "List all keys, without their secrets.": "모든 키를 비밀 값 없이 보여 줍니다.",
    "Revoke a key. It stops working within a second.": "키를 폐기합니다. 1초 안에 동작을 멈춥니다.",
    "the account of the key": "키의 계정",
    "create the account, which must not exist yet": "계정을 만듭니다. 없는 계정이어야 합니다",
    "what the key is for": "키의 용도",
    "when it expires, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)": (
        "만료 시각, yyyy-MM-dd 또는 yyyy-MM-dd HH:mm(기본값: 없음)"
    ),
    "what it may do (default: all but privacy)": "권한(기본값: privacy를 뺀 전부)",
    "network that may use it (default: any)": "사용할 수 있는 네트워크(기본값: 모두)",
    "requests per second; 0: no limit": "초당 요청 수. 0은 제한 없음",
    "the key's id; see `pabal key list`": "키의 ID. `pabal key list`를 보세요",
    "Manage accounts.": "계정을 관리합니다.",
    "List all accounts.": "모든 계정을 보여 줍니다.",
    "Disable the keys of an account. Accepted messages are still sent.": (
        "계정의 키를 사용 중지합니다. 접수한 메시지는 그대로 발송합니다."
    ),
    "Enable the keys of an account again.": "계정의 키를 다시 사용합니다.",
    "Show the limits of an account, or set those that are given.": "계정의 한도를 보여 주거나, 준 것을 정합니다.",
    "Show the number for opting out of an account's advertising texts, or set it.": (
        "계정의 광고 문자에 넣을 무료 수신거부 번호를 보여 주거나 정합니다."
    ),
    "the account's name": "계정의 이름",
    "receivers that it may send to per second; 0: no limit": "초당 수신자 수. 0은 제한 없음",
    "receivers per day; 0: no limit": "하루 수신자 수. 0은 제한 없음",
    "receivers per month; 0: no limit": "한 달 수신자 수. 0은 제한 없음",
    "what its messages may cost per month, in won; 0: no limit": "한 달 메시지 비용(원). 0은 제한 없음",
    "for how long the same text to the same number is a duplicate; 0: off; default: as the setting says": (
        "같은 번호로 보내는 같은 내용을 중복으로 보는 시간(분). 0은 끔, default는 설정을 따름"
    ),
    "the 080 number; `none` removes it": "080 번호. `none`은 없앱니다",
    # Profiles, templates, numbers
    "Manage sender profiles.": "발신 프로필을 관리합니다.",
    "List all sender profiles.": "모든 발신 프로필을 보여 줍니다.",
    "Disable a profile.": "프로필을 사용 중지합니다.",
    "Enable a profile again.": "프로필을 다시 사용합니다.",
    "Give an account a profile that a relay already has.": "중계사에 이미 있는 프로필을 계정에 줍니다.",
    "the profile's id; see `pabal profile list`": "프로필의 ID. `pabal profile list`를 보세요",
    "search id of its channel, with or without @": "채널의 검색용 ID. @는 없어도 됩니다",
    "the relay that has the profile (default: the only relay)": "프로필이 있는 중계사(기본값: 하나뿐인 중계사)",
    "Manage Alimtalk templates.": "알림톡 템플릿을 관리합니다.",
    "List all templates.": "모든 템플릿을 보여 줍니다.",
    "Approve a template that is under review.": "검수 중인 템플릿을 승인합니다.",
    "Reject a template that is under review.": "검수 중인 템플릿을 반려합니다.",
    "the template's id; see `pabal template list`": "템플릿의 ID. `pabal template list`를 보세요",
    "the reviewer's comment to the author": "작성자에게 보내는 검수 의견",
    "Manage the registered sender numbers.": "등록된 발신번호를 관리합니다.",
    "List all sender numbers.": "모든 발신번호를 보여 줍니다.",
    "Register a sender number for an account.": "계정의 발신번호를 등록합니다.",
    "Approve a sender number that an owner has registered.": "관리자가 등록한 발신번호를 승인합니다.",
    "Reject a pending sender number.": "대기 중인 발신번호를 반려합니다.",
    "Remove a sender number from an account.": "계정의 발신번호를 삭제합니다.",
    "the number, with or without hyphens": "번호. 하이픈은 없어도 됩니다",
    "why, for the owner": "관리자에게 알릴 이유",
    # Opt-outs
    "Manage the receivers who want no advertising.": "광고를 거부한 수신자를 관리합니다.",
    "Add receivers who want no advertising.": "광고를 거부한 수신자를 더합니다.",
    "Remove receivers who accept advertising again.": "광고를 다시 받는 수신자를 뺍니다.",
    "List the opt-outs of an account, oldest first.": "계정의 수신거부를 오래된 것부터 보여 줍니다.",
    "Add the opt-outs of a CSV or Excel file, all or none.": (
        "CSV나 Excel 파일의 수신거부를 전부 더하거나, 하나도 더하지 않습니다."
    ),
    "Print the opt-outs of an account as CSV, which can be imported again.": (
        "계정의 수신거부를 다시 가져올 수 있는 CSV로 출력합니다."
    ),
    "phone numbers, with or without hyphens": "전화번호. 하이픈은 없어도 됩니다",
    "only for texts from this sender number": "이 발신번호의 문자에만",
    "its first row names the columns: phone, sender, reason": "첫 행은 열 이름입니다: phone, sender, reason",
    # Mappings
    "Map sender profiles and templates to those of other relays.": (
        "발신 프로필과 템플릿을 다른 중계사의 것에 연결합니다."
    ),
    "List all mappings.": "모든 연결을 보여 줍니다.",
    "Map a profile, or one of its templates, to another relay's.": (
        "프로필이나 그 템플릿을 다른 중계사의 것에 연결합니다."
    ),
    "Remove the mapping of a profile, or of one template.": "프로필이나 템플릿의 연결을 없앱니다.",
    "the channel of the profile, with or without @": "프로필의 채널. @는 없어도 됩니다",
    "the carrier of the other relay": "다른 중계사의 통신사 이름",
    "the code of a template (default: the profile)": "템플릿의 코드(기본값: 프로필)",
    "with --template: its code there (default: the same)": "--template과 함께: 그곳의 코드(기본값: 같은 코드)",
    # Users
    "Manage the users of the console.": "콘솔 사용자를 관리합니다.",
    "Create a user. A generated password is printed only once.": (
        "사용자를 만듭니다. 만든 비밀번호는 한 번만 출력합니다."
    ),
    "List all users.": "모든 사용자를 보여 줍니다.",
    "Disable a user and end their sessions.": "사용자를 중지하고 로그아웃시킵니다.",
    "Enable a user again.": "사용자 중지를 해제합니다.",
    "Let a user sign in at once after many failed sign-ins.": (
        "로그인에 여러 번 실패한 사용자가 바로 로그인할 수 있게 합니다."
    ),
    "Change a password. A generated one is printed only once.": (
        "비밀번호를 바꿉니다. 만든 비밀번호는 한 번만 출력합니다."
    ),
    "Unlink a user from the OpenID Connect provider.": "사용자와 OpenID Connect 제공자의 연결을 해제합니다.",
    "Let a user sign in with the password alone again.": "사용자가 다시 비밀번호만으로 로그인하게 합니다.",
    "the name to sign in with": "로그인할 이름",
    "the user's account; operators have none": "사용자의 계정. 운영자는 없습니다",
    "what the user may do (default: owner)": "사용자의 역할(기본값: owner)",
    "read the password from standard input": "비밀번호를 표준 입력에서 읽습니다",
    "the user's name": "사용자의 이름",
    # Carriers
    "Manage the messages of carriers that are not configured any more.": (
        "설정에서 빠진 통신사의 메시지를 관리합니다."
    ),
    "List all known carriers, and how many messages each has in the queue.": (
        "모든 통신사와 대기열의 메시지 수를 보여 줍니다."
    ),
    "Move the waiting messages of a carrier to another one.": "통신사의 대기 메시지를 다른 통신사로 옮깁니다.",
    "Cancel the waiting messages of a carrier.": "통신사의 대기 메시지를 취소합니다.",
    "Forget a carrier that has no messages any more.": "메시지가 없는 통신사를 지웁니다.",
    "the carrier that is not configured any more": "설정에서 빠진 통신사",
    "a configured carrier": "설정에 있는 통신사",
    # Personal data and secrets
    "Export or erase what is stored about one phone number.": (
        "전화번호 하나에 대해 저장된 것을 내보내거나 파기합니다."
    ),
    "Print what an account has stored about a number, as JSON.": (
        "계정이 번호에 대해 저장한 것을 JSON으로 출력합니다."
    ),
    "Erase a number and the texts sent to it. This cannot be undone.": (
        "번호와 그 번호로 보낸 내용을 파기합니다. 되돌릴 수 없습니다."
    ),
    "Manage the key that encrypts secrets in the store.": "저장소의 비밀 값을 암호화하는 키를 관리합니다.",
    "Print a new key for the setting secret_key.": "설정 secret_key에 쓸 새 키를 출력합니다.",
    "Encrypt all secrets with the first key of secret_key.": "모든 비밀 값을 secret_key의 첫 키로 암호화합니다.",
    "If a key of secret_key is lost: have opt-outs hashed again, except those whose numbers were erased.": (
        "secret_key의 키를 잃었을 때: 번호가 파기된 것을 뺀 수신거부의 해시를 다시 만듭니다."
    ),
    # Webhooks
    "Manage the webhooks that events of accounts are posted to.": "계정의 이벤트를 보낼 웹훅을 관리합니다.",
    "List webhooks: account, id, state, address, events and backlog.": (
        "웹훅을 보여 줍니다: 계정, ID, 상태, 주소, 이벤트, 대기."
    ),
    "Create a webhook; prints its id and its secret.": "웹훅을 만들고 ID와 비밀 값을 출력합니다.",
    "Delete a webhook with everything that was not delivered to it.": "웹훅과 전달하지 못한 것을 모두 지웁니다.",
    "Post a test event and print what came back.": "시험 이벤트를 보내고 응답을 출력합니다.",
    "only those of this account": "이 계정의 것만",
    "an https address": "https 주소",
    "may be repeated": "여러 번 줄 수 있습니다",
    "default: all": "기본값: 전부",
    "the webhook's id": "웹훅의 ID",
    # Commands that call a service
    "address of the service (default: PABAL_URL, else http://127.0.0.1:8080)": (
        "서비스의 주소(기본값: PABAL_URL, 없으면 http://127.0.0.1:8080)"
    ),
    "API key (default: PABAL_API_KEY, which other users of a machine cannot see)": (
        "API 키(기본값: PABAL_API_KEY. 환경 변수는 다른 사용자가 볼 수 없습니다)"
    ),
    "Send messages to some numbers, or to the rows of a CSV file.": (
        "번호 몇 개나 CSV 파일의 각 행에 메시지를 보냅니다."
    ),
    "what to send (default with --csv: sms)": "보낼 종류(--csv의 기본값: sms)",
    "receivers": "수신자",
    "value of a variable #{NAME}": "변수 #{NAME}의 값",
    "your own id for the messages": "메시지에 붙일 참조 ID",
    "text, with variables #{name}; - reads standard input": "내용. 변수는 #{name}, -는 표준 입력에서 읽습니다",
    "subject of an LMS or MMS": "LMS나 MMS의 제목",
    "sender number of an SMS, LMS or MMS": "SMS, LMS, MMS의 발신번호",
    "key of the sender profile": "발신 프로필의 키",
    "code of the template": "템플릿의 코드",
    "when to send it, yyyy-MM-dd HH:mm (default: now)": "발송 시각, yyyy-MM-dd HH:mm(기본값: 지금)",
    "by when a carrier must have it": "통신사에 넘겨야 하는 시간(분)",
    "it is an advertisement": "광고입니다",
    "free number for opting out of an advertisement": "광고의 무료 수신거부 번호",
    "type of a friend talk or brand message": "친구톡이나 브랜드 메시지의 유형",
    "whom a brand message is for: I, M or N": "브랜드 메시지의 대상: I, M, N",
    "JPEG file": "JPEG 파일",
    "link of the image": "이미지의 링크",
    "JSON file with a list of buttons": "버튼 목록이 있는 JSON 파일",
    "JSON file: attachment of a brand message": "JSON 파일: 브랜드 메시지의 attachment",
    "send a text from this number if it fails": "실패하면 이 번호로 문자를 보냅니다",
    "that text (default: the text of the message)": "그 문자의 내용(기본값: 메시지의 내용)",
    "check it, and send nothing": "확인만 하고 보내지 않습니다",
    "with the same key it is sent once": "같은 키로는 한 번만 보냅니다",
    "wait until the messages have ended": "메시지가 끝날 때까지 기다립니다",
    "how long to wait (default: 60)": "기다릴 시간(초, 기본값: 60)",
    "send to its rows; its first row names the columns": "각 행에 보냅니다. 첫 행은 열 이름입니다",
    "with --csv: rows a request (default: 1000)": "--csv와 함께: 요청 하나의 행 수(기본값: 1000)",
    "with --csv: send nothing if a row is wrong": "--csv와 함께: 잘못된 행이 있으면 아무것도 보내지 않습니다",
    "with --csv: send a file that was sent before": "--csv와 함께: 보냈던 파일을 다시 보냅니다",
    "with --csv: what to do with rows that may have been sent long ago": (
        "--csv와 함께: 오래전에 발송되었을 수 있는 행의 처리"
    ),
    "List messages, newest first; without options those since yesterday.": (
        "메시지를 최근 것부터 보여 줍니다. 옵션이 없으면 어제부터의 것입니다."
    ),
    "messages to this receiver": "이 수신자의 메시지",
    "messages of this request": "이 요청의 메시지",
    "this message, and what happened to it": "이 메시지와 처리 이력",
    "when they were requested: yyyy-MM-dd, or from~to": "요청 시각: yyyy-MM-dd 또는 from~to",
    "such as sms, alimTalk, friendTalkText or brandMessage": "sms, alimTalk, friendTalkText, brandMessage 등",
    "waiting, sending, completed, fail or cancel": "waiting, sending, completed, fail, cancel",
    "how many at most (default: 50)": "최대 개수(기본값: 50)",
    "Watch a simulated phone: print what it has, and what arrives.": (
        "시뮬레이터의 휴대폰을 봅니다: 있는 것과 도착하는 것을 출력합니다."
    ),
    "print what it has, and do not wait": "있는 것만 출력하고 기다리지 않습니다",
    "Show queue, carriers, rates and workers; on a terminal again and again.": (
        "대기열, 통신사, 속도, 워커를 보여 줍니다. 터미널에서는 계속 새로 고칩니다."
    ),
    "show it once; the default where the output is no terminal": (
        "한 번만 보여 줍니다. 터미널이 아니면 기본값입니다"
    ),
    "how long to wait between two looks (default: 2.5)": "새로 고치는 간격(초, 기본값: 2.5)",
    "Print a script that completes commands and options in a shell.": (
        "셸에서 명령과 옵션을 자동 완성하는 스크립트를 출력합니다."
    ),
    "the shell; for example: source <(pabal completion bash)": "셸. 예: source <(pabal completion bash)",
}


def translate_help(parser: argparse.ArgumentParser, language: str) -> None:
    """Put the help of a parser and of its commands into a language."""
    if language != "ko":
        return
    parser.description, parser.epilog = _translate(parser.description), _translate(parser.epilog)
    for group in parser._action_groups:
        group.title = _translate(group.title)
    for action in parser._actions:
        action.help = _translate(action.help)
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                choice.help = _translate(choice.help)
            for command in action.choices.values():
                translate_help(command, language)


def _translate(text: str | None) -> str | None:
    return KOREAN_HELP.get(text, text) if text else text

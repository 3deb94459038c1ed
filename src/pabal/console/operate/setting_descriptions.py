"""The Korean description of every setting, by its English one in the code: change both together."""

KOREAN_DESCRIPTIONS = {
    # Settings of commands that call a service
    "Address of the service that `pabal send`, `history`, `phone` and `status` call.": (
        "`pabal send`, `history`, `phone`, `status`가 호출하는 서비스의 주소입니다."
    ),
    "API key that these commands call it with.": "이 명령들이 쓰는 API 키입니다.",
    # Settings of mails and notices
    "Mail server (SMTP) for notices to users of the console; empty: no mails.": (
        "콘솔 사용자에게 알림을 보낼 메일 서버(SMTP)입니다. 비우면 메일을 보내지 않습니다."
    ),
    "Port of the mail server: 587 with starttls, 465 with tls.": (
        "메일 서버의 포트입니다. starttls는 587, tls는 465를 씁니다."
    ),
    (
        "How the connection to the mail server is encrypted: starttls and tls refuse to go on without it and check"
        " the certificate; none is for a server on the same machine."
    ): (
        "메일 서버 연결의 암호화 방식입니다. starttls와 tls는 암호화하지 못하면 보내지 않고 인증서를 확인하며, "
        "none은 같은 장비의 서버에 씁니다."
    ),
    "PEM file of authorities that the mail server's certificate may be from, instead of the system's.": (
        "메일 서버의 인증서를 발급한 인증 기관의 PEM 파일입니다. 설정하면 시스템의 인증 기관 대신 씁니다."
    ),
    "User name at the mail server; empty: it asks for none.": (
        "메일 서버의 사용자 이름입니다. 서버가 요구하지 않으면 비워 둡니다."
    ),
    "Password at the mail server.": "메일 서버의 비밀번호입니다.",
    "File with that password.": "그 비밀번호를 담은 파일입니다.",
    "Address that mails come from, such as pabal@example.com.": (
        "메일을 보내는 주소입니다(예: pabal@example.com)."
    ),
    "How long handing one mail to the mail server may take.": (
        "메일 한 통을 메일 서버에 넘기는 제한 시간(초)입니다."
    ),
    "Address at which users open the console, such as https://pabal.example.com, for the links in mails.": (
        "사용자가 콘솔을 여는 주소입니다. 메일의 링크에 씁니다(예: https://pabal.example.com)."
    ),
    "Least time between two mails of one kind to one user; what happens meanwhile is in the next one.": (
        "한 사용자에게 같은 종류의 메일을 보내는 최소 간격(분)입니다. 그동안 생긴 일은 다음 메일에 모읍니다."
    ),
    "Percentage of failed messages in an hour from which an account is told.": (
        "한 시간 동안의 실패율이 이 퍼센트 이상이면 계정에 알립니다."
    ),
    "Messages that must have ended in that hour before an account is told.": (
        "그 한 시간에 종료된 메시지가 이보다 적으면 실패율을 알리지 않습니다."
    ),
    "How long a carrier must be down before users are told.": (
        "통신사 장애가 이 시간(초) 동안 이어지면 사용자에게 알립니다."
    ),
    "Percentage of a limit at which an account is told; it is told again at 100.": (
        "한도를 이 퍼센트만큼 쓰면 계정에 알립니다. 100퍼센트에서 다시 알립니다."
    ),
    # Settings of the service
    "Address to listen on.": "서비스가 접속을 받을 주소입니다.",
    "Port to listen on.": "서비스가 접속을 받을 포트입니다.",
    "Directory of the SQLite store.": "SQLite 저장소를 두는 디렉터리입니다.",
    "Address of the store, sqlite:///FILE or postgresql://…; empty: SQLite in the data directory.": (
        "저장소 주소입니다. sqlite:///파일 또는 postgresql://… 형식이며, 비우면 데이터 디렉터리의 SQLite를 씁니다."
    ),
    "Whether to apply missing migrations at start.": (
        "시작할 때 적용하지 않은 마이그레이션을 적용해 저장소 스키마를 최신 버전으로 올릴지 정합니다."
    ),
    "Time zone of all dates in requests and records.": "요청과 발송 내역의 모든 날짜에 적용하는 시간대입니다.",
    "Answer HTTP 200 to 4xx of /api/ except 429, for clients that throw on them.": (
        "/api/ 경로의 4xx 응답을 429만 빼고 모두 HTTP 200으로 보냅니다. 4xx를 예외로 처리하는 클라이언트에 씁니다."
    ),
    "Refuse unknown fields in bodies and queries of /api/, instead of warning.": (
        "/api/ 요청에 알 수 없는 항목이 있으면 경고하는 대신 거부합니다."
    ),
    "Networks of proxies whose X-Forwarded-For is trusted.": (
        "X-Forwarded-For 헤더를 신뢰할 프록시의 네트워크 대역입니다."
    ),
    "Whether senders must be registered numbers; default: yes if a real carrier is configured.": (
        "등록된 발신번호로만 발송하도록 할지 정합니다. 기본값: 실제 통신사를 설정하면 등록된 번호만 허용합니다."
    ),
    "Sender numbers that owners register: they wait for an operator's approval, or owners are trusted.": (
        "계정 관리자가 등록한 발신번호의 처리 방법입니다. approval: 운영자의 승인 대기, trusted: 바로 사용."
    ),
    "Whether owners may create API keys of their account in the console; operators always may.": (
        "계정 관리자가 콘솔에서 자기 계정의 API 키를 발급할 수 있게 할지 정합니다. 운영자는 언제나 할 수 있습니다."
    ),
    "Address of the OpenID Connect provider that users may sign in to the console with; empty: none.": (
        "콘솔 로그인에 쓸 OpenID Connect 제공자의 주소(issuer)입니다. 비우면 쓰지 않습니다."
    ),
    "Client id that this provider knows the console by.": "이 제공자가 콘솔에 발급한 클라이언트 ID입니다.",
    "Client secret for this provider; empty: PKCE alone.": (
        "이 제공자가 발급한 클라이언트 비밀값입니다. 비우면 PKCE만 씁니다."
    ),
    "File with that client secret.": "그 클라이언트 비밀값을 담은 파일입니다.",
    "Name of this provider on the button to sign in.": "로그인 버튼에 표시할 제공자 이름입니다.",
    "PEM file of authorities that are trusted for this provider, in place of those of the system.": (
        "이 제공자에 접속할 때 시스템의 인증 기관 대신 신뢰할 인증 기관의 PEM 파일입니다."
    ),
    "Operator who alone may sign in with a password, in case the OpenID Connect provider fails;"
    " empty: every user may.": (
        "OpenID Connect 제공자에 장애가 있을 때를 위해 혼자만 비밀번호로 로그인할 수 있는 운영자입니다. 비우면 모든"
        " 사용자가 비밀번호로 로그인할 수 있습니다."
    ),
    ("What to do with characters that text messages cannot contain: refuse them, or replace them by '?'."): (
        "문자 메시지에 담을 수 없는 글자의 처리 방법입니다. refuse: 거부, replace: ‘?’로 바꿔 발송."
    ),
    "What to do with advertisements from 20:50 to 08:00: refuse them, or move them to 08:00.": (
        "20:50~08:00에 걸린 광고의 처리 방법입니다. refuse: 거부, move: 08:00로 미뤄 발송."
    ),
    "080 number for opting out of advertisements by text; accounts and requests may have their own.": (
        "광고 문자의 무료 수신거부 번호(080)입니다. 계정이나 요청에 따로 정한 번호가 있으면 그 번호를 씁니다."
    ),
    "Days that drafts of the console and campaigns that were never sent are kept after their last change.": (
        "콘솔에서 작성하다 만 내용과 보내지 않은 캠페인을 마지막 변경 뒤 보관하는 일수입니다."
    ),
    "Sends of the console to more receivers need a second user's approval; 0: as each account's owners say.": (
        "콘솔에서 이보다 많은 수신자에게 보내려면 다른 사용자의 승인이 필요합니다. 0: 계정 관리자가 정한 대로."
    ),
    "Maximum number of contacts in the address book of an account.": (
        "계정의 주소록에 담을 수 있는 최대 연락처 수입니다."
    ),
    "Maximum size of a request body.": "요청 본문의 최대 크기(바이트)입니다.",
    "Maximum size of all request bodies that are held at once; further callers get SERVICE_UNAVAILABLE.": (
        "동시에 받아 둘 수 있는 모든 요청 본문의 최대 크기(바이트)입니다. 넘으면 SERVICE_UNAVAILABLE로 응답합니다."
    ),
    "Maximum size of all request bodies of one key that are held at once; further requests get RATE_LIMITED.": (
        "API 키 하나가 동시에 보낼 수 있는 요청 본문의 최대 크기(바이트)입니다. 넘으면 RATE_LIMITED로 응답합니다."
    ),
    "Maximum number of connections; 0: what the limit of open files allows, at most 4,096.": (
        "최대 연결 수입니다. 0이면 열 수 있는 파일 수에 맞추며, 최대 4,096개입니다."
    ),
    "How long the line and headers of a request may take.": "요청 줄과 헤더를 받는 시간(초)입니다.",
    "How long a body may arrive at less than min_bytes_per_second.": (
        "요청 본문이 min_bytes_per_second보다 느리게 들어와도 기다리는 시간(초)입니다."
    ),
    "How long a connection may wait for its next request.": "연결이 다음 요청을 기다리는 시간(초)입니다.",
    "How long a caller may receive its response at less than min_bytes_per_second.": (
        "호출자가 응답을 min_bytes_per_second보다 느리게 받아도 기다리는 시간(초)입니다."
    ),
    "Slowest transfer of a body or a response that goes on longer.": (
        "더 오래 걸리는 본문과 응답에 허용하는 최저 전송 속도(초당 바이트)입니다."
    ),
    "Maximum number of receivers in one request.": "요청 한 건의 최대 수신자 수입니다.",
    "How many days ahead a sendDate may be.": "예약 발송(sendDate)을 며칠 뒤까지 받을지 정합니다.",
    "Maximum number of writes that wait for the store; further callers get SERVICE_UNAVAILABLE.": (
        "저장소를 기다릴 수 있는 최대 쓰기 작업 수입니다. 넘으면 SERVICE_UNAVAILABLE로 응답합니다."
    ),
    "Connections to the store for reading.": "저장소 읽기용 연결 수입니다.",
    "Connections to the store for searches, apart from those that every call needs.": (
        "조회 전용 저장소 연결 수입니다. 모든 호출에 필요한 읽기와 나누어, 긴 조회가 발송을 늦추지 않습니다."
    ),
    "Seconds that a search of the history may take; then it is refused.": (
        "발송 내역 조회 한 번에 허용하는 시간(초)입니다. 넘으면 조회를 중단하고 거부합니다."
    ),
    "Connections to PostgreSQL for writing.": "PostgreSQL 쓰기용 연결 수입니다.",
    ("Slots of a new PostgreSQL store, which limit how many workers can deliver; cannot be changed later."): (
        "새 PostgreSQL 저장소의 슬롯 수입니다. 이 수만큼의 작업 프로세스까지 함께 발송할 수 있으며, "
        "나중에 바꿀 수 없습니다."
    ),
    (
        "Port on which `pabal work` serves health checks and metrics; 0: none. Of several processes of one command,"
        " each has the next one."
    ): (
        "pabal work 프로세스가 상태 확인과 지표를 제공하는 포트입니다. 0이면 열지 않습니다. "
        "한 명령으로 여러 프로세스를 실행하면 차례로 다음 포트를 씁니다."
    ),
    (
        "Processes that one `pabal serve` or `pabal work` runs; 0: one for each core. On SQLite at most 3: one"
        " delivers, and the others have the interface."
    ): (
        "pabal serve나 pabal work 명령 하나가 실행하는 프로세스 수입니다. 0이면 코어마다 하나씩 실행합니다. "
        "SQLite에서는 최대 3입니다. 하나는 메시지를 전송하고 나머지는 인터페이스를 맡습니다."
    ),
    "Hours to wait for the receipt of an SMS.": "SMS의 결과 보고를 몇 시간까지 기다릴지 정합니다.",
    "Hours to wait for the receipt of any other message.": "그 밖의 메시지는 몇 시간까지 기다릴지 정합니다.",
    "How long after its scheduled time a failed Alimtalk or friend talk may still be sent as a text.": (
        "실패한 알림톡·친구톡을 예약 시각부터 몇 분 안에만 문자로 대체 발송할지 정합니다."
    ),
    "How long an Idempotency-Key is stored.": "Idempotency-Key를 보관하는 시간입니다.",
    "How long the token of a sender profile is valid.": "발신 프로필 인증 토큰의 유효 시간(분)입니다.",
    "Days that results can be read by cursor and posted again to webhooks.": (
        "결과를 cursor로 조회하고 웹훅으로 다시 보낼 수 있는 일수입니다."
    ),
    "Days after which numbers and texts are blanked, or on PostgreSQL dropped by month.": (
        "전화번호와 메시지 내용의 보관 일수입니다. 지나면 지우고, PostgreSQL에서는 월 단위로 삭제합니다."
    ),
    "API keys of an account that can be used at a time.": "한 계정이 동시에 쓸 수 있는 API 키의 수입니다.",
    "Requests per second of a new key; 0: no limit.": (
        "새 API 키에 허용하는 초당 요청 수입니다. 0이면 제한하지 않습니다."
    ),
    "Messages that the simulator stores in total; older ones are deleted.": (
        "시뮬레이터가 보관하는 전체 메시지 수입니다. 넘으면 오래된 것부터 삭제합니다."
    ),
    "CSV file (code,name) of sender profile categories; default: the one included.": (
        "발신 프로필 카테고리의 CSV 파일(code,name)입니다. 기본값: 함께 제공하는 파일."
    ),
    "CSV file (code,group,name) of template categories; default: the one included.": (
        "템플릿 카테고리의 CSV 파일(code,group,name)입니다. 기본값: 함께 제공하는 파일."
    ),
    "Log format: text, json, or auto (text on a terminal, json elsewhere).": (
        "로그 형식입니다. text, json 또는 auto(터미널에서는 text, 그 밖에는 json)."
    ),
    "Which requests to log: refused and failed ones, or all.": (
        "로그로 남길 요청입니다. refused: 거부되거나 실패한 요청만, all: 모든 요청."
    ),
    "How long a stopping service may finish what is in flight.": (
        "서비스를 멈출 때 전송 중인 메시지를 마무리하도록 기다리는 시간(초)입니다."
    ),
    (
        "Exceptions for webhooks to private addresses, as ACCOUNT@HOST:PORT;"
        " of their answers only the status is stored and shown."
    ): (
        "사설 주소로 보내도 되는 웹훅의 예외입니다(계정@호스트:포트)."
        " 이 주소의 응답은 상태 코드만 저장하고 보여 줍니다."
    ),
    "PEM file of authorities that webhooks trust besides those of the system.": (
        "웹훅이 시스템 인증 기관 외에 추가로 신뢰하는 인증 기관의 PEM 파일입니다."
    ),
    (
        "Key that encrypts the secrets of webhooks and the key of the opt-outs in the store: 32 random bytes in"
        " Base64, see `pabal secrets new-key`; while it is replaced, the new key first, then old ones."
    ): (
        "저장소에 있는 웹훅 비밀 값과 수신거부 해시 키를 암호화하는 키입니다. Base64로 쓴 임의의 32바이트이며"
        " `pabal secrets new-key`로 만듭니다. 교체하는 동안에는 새 키를 먼저, 이전 키를 뒤에 적습니다."
    ),
    "File with that key, or with several, one a line.": "그 키가 든 파일입니다. 여러 개면 한 줄에 하나씩 적습니다.",
    "Carriers, one table each; none: the simulator sends everything.": (
        "통신사마다 표 하나로 설정합니다. 없으면 모든 메시지를 시뮬레이터로 발송합니다."
    ),
    "The carriers to try for each product, in order.": (
        "메시지 종류별로 이용할 통신사를 시도할 순서대로 적습니다."
    ),
    (
        "Minutes after its scheduled time by which a carrier must have a message, by product, from 1 to 4,320;"
        " default: 1,440 for texts, 4,320 for others."
    ): (
        "메시지 종류별 발송 기한(분)입니다. 예약 시각부터 이 시간 안에 통신사에 전송하지 못하면 발송하지 않습니다."
        " 1~4,320이며 기본값은 문자 1,440, 그 밖의 메시지 4,320입니다."
    ),
    (
        "What a message of each product costs, in won with at most two decimals, at carriers that have no price of"
        " their own; none: no cost is shown."
    ): (
        "메시지 종류별 단가(원, 소수점 둘째 자리까지)입니다. 자기 단가가 없는 통신사에 적용합니다. 정하지 않으면"
        " 비용을 표시하지 않습니다."
    ),
    (
        "Which carrier of a route comes first: the first in its list, or the cheapest one;"
        " carriers without a price come last."
    ): (
        "발송 경로에서 먼저 이용할 통신사를 정합니다. order: 적은 순서대로, price: 단가가 낮은 순서대로."
        " 단가가 없는 통신사는 마지막에 이용합니다."
    ),
    "How long the same text to the same number from one account is a duplicate; 0: duplicates are sent.": (
        "한 계정이 같은 번호로 보낸 같은 내용을 중복으로 보는 시간(분)입니다. 0이면 중복을 막지 않습니다."
    ),
    "What to do with duplicates: refuse the request, or record these messages as failed (9005).": (
        "중복을 처리하는 방법입니다. refuse: 요청을 거부, drop: 해당 메시지를 실패(9005)로 기록."
    ),
    # Settings of every carrier
    "How many messages may be in flight without an answer.": (
        "이 통신사에 전송하고 응답을 기다릴 수 있는 최대 메시지 수입니다."
    ),
    "How many messages per second to submit; 0: no limit.": (
        "이 통신사에 초당 전송할 수 있는 메시지 수입니다. 0이면 제한하지 않습니다."
    ),
    "How long it may be unreachable or fail before messages go to the next carrier of their route.": (
        "연결되지 않거나 발송에 실패하는 상태를 견디는 시간(초)입니다. 지나면 발송 경로의 다음 통신사로 발송합니다."
    ),
    "What a message of each product costs, in won with at most two decimals.": (
        "메시지 종류별 건당 단가(원)입니다. 소수점 아래 두 자리까지 적을 수 있습니다."
    ),
    "Whether it charges for messages that it took and did not deliver.": (
        "접수했지만 전달하지 못한 메시지에도 요금을 부과하는지 정합니다."
    ),
    # Settings of an SMPP carrier
    "Host name or address.": "SMPP 서버의 주소입니다.",
    "Port.": "SMPP 서버의 포트입니다.",
    "Whether to use TLS and check its certificate.": "TLS로 연결하고 서버 인증서를 검증할지 정합니다.",
    "File with the certificate authority to trust; none: those of the system.": (
        "신뢰할 인증 기관의 인증서 파일입니다. 없으면 시스템이 신뢰하는 기관을 씁니다."
    ),
    "The system_id to bind with.": "통신사에서 발급받은 접속 ID(system_id)입니다.",
    "The password to bind with; or use password_env or password_file.": (
        "접속 비밀번호입니다. password_env나 password_file로 따로 둘 수도 있습니다."
    ),
    "The system_type to bind with.": "통신사가 요구하는 system_type 값입니다.",
    "transceiver: one connection for both directions; pair: a transmitter and a receiver.": (
        "연결 방식입니다. transceiver: 한 연결로 송수신, pair: 송신용과 수신용 연결을 하나씩 사용."
    ),
    "How many connections, or pairs of them.": "연결(또는 송수신 연결 쌍)을 몇 개 맺을지 정합니다.",
    (
        "What to do with a message that got no answer: resend it, at most max_resends times,"
        " or hold it at once until its receipt or time-out."
    ): (
        "응답을 받지 못한 메시지의 처리 방법입니다. resend: max_resends에 정한 횟수까지 다시 발송, "
        "hold: 다시 발송하지 않고 결과 보고가 오거나 대기 시간이 끝날 때까지 보류."
    ),
    (
        "How often a message that got no answer is sent again, if on_doubt is resend; then it is held until its"
        " receipt or time-out."
    ): (
        "on_doubt가 resend일 때, 응답을 받지 못한 메시지를 다시 발송하는 횟수입니다. 그 뒤에는 결과 보고가 "
        "오거나 대기 시간이 끝날 때까지 보류합니다."
    ),
    "How to encode texts: auto (GSM 7 if possible, else UCS-2), ucs2, or cp949.": (
        "메시지 내용의 인코딩입니다. auto(GSM 7로 표현되면 GSM 7, 아니면 UCS-2), ucs2 또는 cp949."
    ),
    "The data_coding for cp949; default: 14.": "cp949로 발송할 때 쓰는 data_coding 값입니다. 기본값: 14.",
    "How to send a text longer than one short message: in message_payload, or in parts with a header.": (
        "한 건에 담기지 않는 긴 내용을 발송하는 방법입니다. payload: message_payload에 한 번에 담기, "
        "parts: 헤더를 붙여 나누기."
    ),
    "How to write receivers: 01012345678 or 821012345678.": (
        "수신번호 표기입니다. national: 01012345678, international: 821012345678."
    ),
    "Type of number of the sender.": "발신번호의 TON(번호 유형) 값입니다.",
    "Numbering plan of the sender.": "발신번호의 NPI(번호 체계) 값입니다.",
    "Type of number of the receiver.": "수신번호의 TON(번호 유형) 값입니다.",
    "Numbering plan of the receiver.": "수신번호의 NPI(번호 체계) 값입니다.",
    "The service_type of every message.": "모든 메시지에 넣을 service_type 값입니다.",
    "Whether it sends receipts; if not, accepted messages count as delivered.": (
        "결과를 보고하는 통신사인지 정합니다. 아니면 통신사가 접수한 메시지를 전달된 것으로 봅니다."
    ),
    "How long it may try to deliver at most; 0: until the message's deadline.": (
        "통신사가 전달을 시도할 수 있는 최대 시간(분)입니다. 0이면 메시지의 발송 기한까지입니다."
    ),
    "How to read the message ids in its answers, so that they match those in its receipts.": (
        "통신사 응답에 있는 메시지 ID를 읽는 방법입니다. 결과 보고의 ID와 맞도록 정합니다."
    ),
    "How to read the message ids in its receipts.": "결과 보고에 있는 메시지 ID를 읽는 방법입니다.",
    "Whether to read a message as a receipt if only its text looks like one.": (
        "결과 보고 표시가 없어도 내용이 결과 보고처럼 보이면 결과 보고로 처리할지 정합니다."
    ),
    "Its own error codes in receipts, each mapped to one of our result codes.": (
        "결과 보고에 담기는 통신사 오류 코드를 이 서비스의 결과 코드와 짝지은 표입니다."
    ),
    "How often to test an idle connection.": "유휴 연결을 점검하는 간격(초)입니다.",
    # Settings of NHN Cloud
    "App key of its SMS service; none: it sends no texts.": (
        "SMS 서비스의 앱 키입니다. 없으면 문자(SMS·LMS·MMS)를 발송하지 않습니다."
    ),
    "Secret key of its SMS service; or use _env or _file.": (
        "SMS 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.": (
        "KakaoTalk Bizmessage 서비스의 앱 키입니다. 없으면 알림톡과 친구톡을 발송하지 않습니다."
    ),
    "Secret key of that service; or use _env or _file.": (
        "KakaoTalk Bizmessage 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "Address of its SMS interface.": "SMS API의 주소입니다.",
    "Address of its KakaoTalk Bizmessage interface.": "KakaoTalk Bizmessage API의 주소입니다.",
    "How many calls to each of its services may run at the same time.": (
        "서비스마다 동시에 진행할 수 있는 최대 호출 수입니다."
    ),
    "How long to wait for the answer to a call.": "호출 한 번의 응답을 기다리는 시간(초)입니다.",
    "How often to ask for results.": "발송 결과를 조회하는 간격(초)입니다.",
    "The signature that its webhooks carry, at least 16 characters; none: webhooks are refused.": (
        "웹훅에 담겨 오는 서명으로, 16자 이상이어야 합니다. 없으면 웹훅을 받지 않습니다."
    ),
    (
        "How long after a call without an answer to ask whether it has the messages: behind its gateway a call may"
        " run for 60 s, and with less a message may be sent twice."
    ): (
        "응답을 받지 못한 호출의 접수 여부를 묻기까지 기다리는 시간(초)입니다. 게이트웨이 뒤에서 호출이 60초까지 "
        "진행될 수 있어, 이보다 짧으면 메시지가 두 번 발송될 수 있습니다."
    ),
    (
        "How friend talk goes out: as a brand message to friends, which is always advertising, or by the compatible"
        " mode that NHN Cloud has announced to end on 2026-12-31."
    ): (
        "친구톡을 발송하는 방법입니다. brand: 채널 친구에게 보내는 브랜드 메시지(항상 광고), "
        "compatible: NHN Cloud가 2026-12-31에 끝난다고 예고한 호환 방식."
    ),
    # Settings of Solapi
    "API key of the account; or use _env or _file.": (
        "솔라피 계정의 API Key입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "API secret that belongs to the key; or use _env or _file.": (
        "API Key와 짝을 이루는 API Secret입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "Address of its interface.": "API의 주소입니다.",
    "How many calls may run at the same time.": "동시에 진행할 수 있는 최대 호출 수입니다.",
    "The secret of its webhooks, at least 16 characters; none: webhooks are refused.": (
        "웹훅의 시크릿으로, 16자 이상이어야 합니다. 없으면 웹훅을 받지 않습니다."
    ),
    (
        "What to do with a message that got no answer and that its lists do not show after doubt_seconds: resend"
        " it, or hold it until it is found or a day has passed."
    ): (
        "응답을 받지 못했고 doubt_seconds가 지나도 중계사 목록에 없는 메시지의 처리 방법입니다. resend: 다시 발송, "
        "hold: 다시 발송하지 않고 목록에 나타나거나 하루가 지날 때까지 보류."
    ),
    "How long after a lost answer its lists may not show a message that it has.": (
        "응답을 받지 못한 뒤, 접수된 메시지가 중계사 목록에 아직 없을 수 있다고 보는 시간(초)입니다."
    ),
}

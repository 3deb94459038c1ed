"""The Korean description of every setting, by its English one in the code: change both together."""

KOREAN_DESCRIPTIONS = {
    # Settings of the service
    "Address to listen on.": "서비스가 접속을 받을 주소입니다.",
    "Port to listen on.": "서비스가 접속을 받을 포트입니다.",
    "Directory that holds the embedded store.": "내장 저장소(SQLite)를 두는 디렉터리입니다.",
    "Address of the store, sqlite:///FILE or postgresql://…; empty: sqlite, in the data directory.": (
        "저장소 주소입니다. sqlite:///파일 또는 postgresql://… 형식이며, 비우면 데이터 디렉터리의 SQLite를 씁니다."
    ),
    "Whether serve brings the schema up to date at start.": (
        "서비스를 시작할 때 저장소 스키마를 최신 버전으로 올릴지 정합니다."
    ),
    "Time zone of every date in requests and records.": "요청과 발송 내역의 모든 날짜에 적용하는 시간대입니다.",
    "Answer HTTP 200 to 4xx of /api/ except 429, for clients that throw on them.": (
        "/api/ 경로의 4xx 응답을 429만 빼고 모두 HTTP 200으로 보냅니다. 4xx를 예외로 처리하는 클라이언트에 씁니다."
    ),
    "Networks whose X-Forwarded-For is believed.": "X-Forwarded-For 헤더를 신뢰할 프록시의 네트워크 대역입니다.",
    "Whether senders must be registered numbers; default: once a real carrier is configured.": (
        "등록된 발신번호로만 보내게 할지 정합니다. 기본값: 실제 통신사를 설정하면 등록된 번호만 허용합니다."
    ),
    "What to do with characters that text messages cannot hold: refuse, or replace by '?'.": (
        "문자 메시지에 담을 수 없는 글자의 처리 방법입니다. refuse: 거부, replace: ‘?’로 바꿔 발송."
    ),
    "What to do with advertisements from 20:50 to 08:00: refuse, or move to 08:00.": (
        "20:50~08:00에 걸린 광고의 처리 방법입니다. refuse: 거부, move: 08:00로 미뤄 발송."
    ),
    "Largest request body.": "요청 본문의 최대 크기(바이트)입니다.",
    "Most receivers of one request.": "요청 한 건의 최대 수신자 수입니다.",
    "How far ahead a sendDate may lie, in days.": "예약 발송(sendDate)을 며칠 뒤까지 받을지 정합니다.",
    "Most transactions that wait for the store before callers are told SERVICE_UNAVAILABLE.": (
        "저장소를 기다릴 수 있는 최대 트랜잭션 수입니다. 넘으면 SERVICE_UNAVAILABLE로 응답합니다."
    ),
    "Connections of the store for reading.": "저장소 읽기용 연결 수입니다.",
    "Connections to PostgreSQL for writing.": "PostgreSQL 쓰기용 연결 수입니다.",
    "Parts that the queue of a new PostgreSQL store is cut into, for good: so many processes can deliver.": (
        "PostgreSQL 저장소를 새로 만들 때 대기열을 나누는 개수입니다. "
        "이 수만큼의 프로세스까지 함께 발송할 수 있으며, 나중에 바꿀 수 없습니다."
    ),
    "Port on which `pabal work` tells its health and its figures; 0: none.": (
        "pabal work 프로세스가 상태와 지표를 알려 주는 포트입니다. 0이면 열지 않습니다."
    ),
    "Hours to wait for the receipt of an SMS.": "SMS의 결과 보고를 몇 시간까지 기다릴지 정합니다.",
    "Hours to wait for the receipt of any other message.": "그 밖의 메시지는 몇 시간까지 기다릴지 정합니다.",
    "A failed Alimtalk or friend talk is sent as a text only so long after its scheduled time.": (
        "실패한 알림톡·친구톡을 예약 시각부터 몇 분 안에만 대체 문자로 보낼지 정합니다."
    ),
    "How long an Idempotency-Key is remembered.": "Idempotency-Key를 몇 시간 동안 기억할지 정합니다.",
    "How long the token of a sender profile is valid.": "발신 프로필 인증 토큰의 유효 시간(분)입니다.",
    "Days after which numbers and texts go: blanked, or on PostgreSQL dropped by the month.": (
        "전화번호와 메시지 내용의 보관 일수입니다. 지나면 지우고, PostgreSQL에서는 월 단위로 삭제합니다."
    ),
    "Requests a second of a new key; 0: no limit.": (
        "새 API 키에 허용하는 초당 요청 수입니다. 0이면 제한하지 않습니다."
    ),
    "Messages that the simulator's phones hold in all; older ones are dropped.": (
        "시뮬레이터의 가상 휴대폰이 모두 합쳐 보관하는 메시지 수입니다. 넘으면 오래된 것부터 지웁니다."
    ),
    "CSV file (code,name) of sender profile categories; default: the one that comes along.": (
        "발신 프로필 카테고리의 CSV 파일(code,name)입니다. 기본값: 함께 제공하는 파일."
    ),
    "CSV file (code,group,name) of template categories; default: the one that comes along.": (
        "템플릿 카테고리의 CSV 파일(code,group,name)입니다. 기본값: 함께 제공하는 파일."
    ),
    "How to log: text, json, or auto (text on a terminal, json elsewhere).": (
        "로그 형식입니다. text, json 또는 auto(터미널에서는 text, 그 밖에는 json)."
    ),
    "Which requests are logged: those that were refused or failed, or all.": (
        "로그로 남길 요청입니다. refused: 거부되거나 실패한 요청만, all: 모든 요청."
    ),
    "How long a stopping service finishes what is in hand.": (
        "서비스를 멈출 때 처리 중인 작업을 마무리하도록 기다리는 시간(초)입니다."
    ),
    "Carriers, a table each; none: the simulator for everything.": (
        "통신사마다 표 하나로 설정합니다. 없으면 모든 메시지를 시뮬레이터로 보냅니다."
    ),
    "For each product the carriers to try, in order.": "메시지 종류별로 이용할 통신사를 시도할 순서대로 적습니다.",
    # Settings of every carrier
    "How many messages may be in its hands without an answer.": (
        "이 통신사에 넘기고 응답을 기다릴 수 있는 최대 메시지 수입니다."
    ),
    "How many messages a second it may be given; 0: no limit.": (
        "이 통신사에 초당 넘길 수 있는 메시지 수입니다. 0이면 제한하지 않습니다."
    ),
    "How long it may be unreachable, or fail at everything, before messages go to the next of their route.": (
        "연결되지 않거나 모든 메시지에 실패하는 상태를 견디는 시간(초)입니다. 지나면 경로의 다음 통신사로 보냅니다."
    ),
    # Settings of a carrier that speaks SMPP
    "Where it listens.": "SMPP 서버의 주소입니다.",
    "On which port.": "SMPP 서버의 포트입니다.",
    "Whether to speak TLS, checking its certificate.": "TLS로 연결하고 서버 인증서를 검증할지 정합니다.",
    "File of the authority that signed it; none: those of the system.": (
        "서버 인증서를 발급한 인증 기관의 인증서 파일입니다. 없으면 시스템이 신뢰하는 기관을 씁니다."
    ),
    "Who we are to it.": "통신사에서 발급받은 접속 ID(system_id)입니다.",
    "Its secret; or password_env or password_file.": (
        "접속 비밀번호입니다. password_env나 password_file로 따로 둘 수도 있습니다."
    ),
    "The type of system it wants to be told.": "통신사가 요구하는 system_type 값입니다.",
    "transceiver: one connection for both ways; pair: a transmitter and a receiver.": (
        "연결 방식입니다. transceiver: 한 연결로 송수신, pair: 송신용과 수신용 연결을 하나씩 사용."
    ),
    "How many such connections.": "bind 방식의 연결을 몇 개 맺을지 정합니다.",
    (
        "What becomes of a message when a connection breaks before its answer: resend it,"
        " or hold it until its receipt or time-out."
    ): (
        "응답을 받기 전에 연결이 끊긴 메시지의 처리 방법입니다. "
        "resend: 다시 발송, hold: 결과 보고가 오거나 대기 시간이 끝날 때까지 보류."
    ),
    "How texts are spelled: auto (GSM 7 where it suffices, else UCS-2), ucs2, or cp949.": (
        "메시지 내용의 인코딩입니다. auto(GSM 7로 표현되면 GSM 7, 아니면 UCS-2), ucs2 또는 cp949."
    ),
    "The data_coding that goes with cp949; default: 14.": "cp949로 보낼 때 쓰는 data_coding 값입니다. 기본값: 14.",
    "How a text longer than one short message goes: in message_payload, or in parts with a header.": (
        "한 건에 담기지 않는 긴 내용을 보내는 방법입니다. "
        "payload: message_payload에 한 번에 담기, parts: 헤더를 붙여 나누기."
    ),
    "How receivers are written: 01012345678 or 821012345678.": (
        "수신번호 표기입니다. national: 01012345678, international: 821012345678."
    ),
    "Type of number of the sender.": "발신번호의 TON(번호 유형) 값입니다.",
    "Numbering plan of the sender.": "발신번호의 NPI(번호 체계) 값입니다.",
    "Type of number of the receiver.": "수신번호의 TON(번호 유형) 값입니다.",
    "Numbering plan of the receiver.": "수신번호의 NPI(번호 체계) 값입니다.",
    "The service_type of every message.": "모든 메시지에 넣을 service_type 값입니다.",
    "Whether it reports; if not, what it takes counts as delivered.": (
        "결과를 보고하는 통신사인지 정합니다. 아니면 통신사가 접수한 메시지를 전달된 것으로 봅니다."
    ),
    "How long it may try to deliver; 0: as long as it likes.": (
        "통신사가 전달을 시도할 수 있는 시간(분)입니다. 0이면 통신사에 맡깁니다."
    ),
    "How to read the ids in its answers, so that those of its receipts match them.": (
        "통신사 응답에 있는 메시지 ID를 읽는 방법입니다. 결과 보고의 ID와 맞도록 정합니다."
    ),
    "How to read the ids in its receipts.": "결과 보고에 있는 메시지 ID를 읽는 방법입니다.",
    "Whether a message without the mark of a receipt is read as one if its text looks like it.": (
        "결과 보고 표시가 없어도 내용이 결과 보고처럼 보이면 결과 보고로 처리할지 정합니다."
    ),
    "Its own error codes in receipts, each with a result code of ours.": (
        "결과 보고에 담기는 통신사 오류 코드를 이 서비스의 결과 코드와 짝지은 표입니다."
    ),
    "How often a quiet connection is tested.": "주고받는 것이 없는 연결을 점검하는 간격(초)입니다.",
    # Settings of NHN Cloud
    "App key of its SMS service; none: it carries no texts.": (
        "SMS 서비스의 앱 키입니다. 없으면 문자(SMS·LMS·MMS)를 보내지 않습니다."
    ),
    "Secret key of its SMS service; or with _env or _file.": (
        "SMS 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.": (
        "KakaoTalk Bizmessage 서비스의 앱 키입니다. 없으면 알림톡과 친구톡을 보내지 않습니다."
    ),
    "Secret key of that service; or with _env or _file.": (
        "KakaoTalk Bizmessage 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다."
    ),
    "Where its SMS interface is.": "SMS API의 주소입니다.",
    "Where its KakaoTalk Bizmessage interface is.": "KakaoTalk Bizmessage API의 주소입니다.",
    "File of the authority that signed them; none: those of the system.": (
        "두 API의 인증서를 발급한 인증 기관의 인증서 파일입니다. 없으면 시스템이 신뢰하는 기관을 씁니다."
    ),
    "How many calls may be under way at once, of each of its services.": (
        "서비스마다 동시에 진행할 수 있는 최대 호출 수입니다."
    ),
    "How long a call may take.": "호출 한 번의 응답을 기다리는 시간(초)입니다.",
    "How often results are asked for.": "발송 결과를 조회하는 간격(초)입니다.",
    "The signature its webhooks carry, at least 16 characters; none: webhooks are not taken.": (
        "웹훅에 담겨 오는 서명으로, 16자 이상이어야 합니다. 없으면 웹훅을 받지 않습니다."
    ),
    "080 number to refuse advertisements with; none: texts that are advertisements are not carried.": (
        "광고 수신을 거부할 수 있는 080 번호입니다. 없으면 광고 문자를 보내지 않습니다."
    ),
}

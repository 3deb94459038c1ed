"""The settings of the HTTP server and of the processes that run it."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Literal

from pabal.settings.field import setting


@dataclass(frozen=True)
class HttpSettings:
    """Where the service listens, what callers may send, and how its processes run."""

    host: str = setting("127.0.0.1", "서비스가 접속을 받을 주소입니다.", "Address to listen on.")
    port: int = setting(8080, "서비스가 접속을 받을 포트입니다.", "Port to listen on.", limits=(0, 65535))
    always_ok: bool = setting(
        False,
        "/api/ 경로의 4xx 응답을 429만 빼고 모두 HTTP 200으로 보냅니다. 4xx를 예외로 처리하는 클라이언트에 씁니다.",
        "Answer HTTP 200 to 4xx of /api/ except 429, for clients that throw on them.",
    )
    strict_fields: bool = setting(
        False,
        "/api/ 요청에 알 수 없는 항목이 있으면 경고하는 대신 거부합니다.",
        "Refuse unknown fields in bodies and queries of /api/, instead of warning.",
    )
    refuse_misspelt: bool = setting(
        True,
        "발송하거나 취소하는 요청에서 발송 시각, 유효 시간, 모의 발송을 잘못 쓴 듯한 항목과 쿼리 문자열을"
        " 거부합니다. 그런 항목을 보내 온 기존 프로그램이 있으면 끕니다.",
        "Refuse fields that look like a misspelt schedule, lifetime or dry run, and query strings, where messages"
        " are sent or cancelled. Turn it off for old callers that send such fields.",
    )
    trusted_proxies: list[IPv4Network | IPv6Network] = setting(
        [],
        "X-Forwarded-For 헤더를 신뢰할 프록시의 네트워크 대역입니다.",
        "Networks of proxies whose X-Forwarded-For is trusted.",
    )
    max_body_bytes: int = setting(
        8 * 1024 * 1024,
        "요청 본문의 최대 크기(바이트)입니다.",
        "Maximum size of a request body.",
        limits=(1024, None),
    )
    max_held_bytes: int = setting(
        64 * 1024 * 1024,
        "동시에 받아 둘 수 있는 모든 요청 본문의 최대 크기(바이트)입니다. 넘으면 SERVICE_UNAVAILABLE로 응답합니다.",
        "Maximum size of all request bodies that are held at once; further callers get SERVICE_UNAVAILABLE.",
        limits=(1024, None),
    )
    max_held_bytes_per_key: int = setting(
        16 * 1024 * 1024,
        "API 키 하나가 동시에 보낼 수 있는 요청 본문의 최대 크기(바이트)입니다. 넘으면 RATE_LIMITED로 응답합니다.",
        "Maximum size of all request bodies of one key that are held at once; further requests get RATE_LIMITED.",
        limits=(1024, None),
    )
    max_connections: int = setting(
        0,
        "최대 연결 수입니다. 0이면 열 수 있는 파일 수에 맞추며, 최대 4,096개입니다.",
        "Maximum number of connections; 0: what the limit of open files allows, at most 4,096.",
        limits=(0, 100_000),
    )
    head_seconds: int = setting(
        10,
        "요청 줄과 헤더를 받는 시간(초)입니다.",
        "How long the line and headers of a request may take.",
        limits=(1, None),
    )
    body_seconds: int = setting(
        20,
        "요청 본문이 min_bytes_per_second보다 느리게 들어와도 기다리는 시간(초)입니다.",
        "How long a body may arrive at less than min_bytes_per_second.",
        limits=(1, None),
    )
    idle_seconds: int = setting(
        30,
        "연결이 다음 요청을 기다리는 시간(초)입니다.",
        "How long a connection may wait for its next request.",
        limits=(1, None),
    )
    response_seconds: int = setting(
        30,
        "호출자가 응답을 min_bytes_per_second보다 느리게 받아도 기다리는 시간(초)입니다.",
        "How long a caller may receive its response at less than min_bytes_per_second.",
        limits=(1, None),
    )
    min_bytes_per_second: int = setting(
        4096,
        "더 오래 걸리는 본문과 응답에 허용하는 최저 전송 속도(초당 바이트)입니다.",
        "Slowest transfer of a body or a response that goes on longer.",
        limits=(1, None),
    )
    processes: int = setting(
        1,
        "pabal serve나 pabal work 명령 하나가 실행하는 프로세스 수입니다. 0이면 코어마다 하나씩 실행합니다."
        " SQLite에서는 최대 3입니다. 하나는 메시지를 전송하고 나머지는 API와 콘솔을 맡습니다.",
        "Processes that one `pabal serve` or `pabal work` runs; 0: one for each core. On SQLite at most 3:"
        " one delivers, and the others have the API.",
        limits=(0, 64),
    )
    work_port: int = setting(
        0,
        "pabal work 프로세스가 상태 확인과 지표를 제공하는 포트입니다. 0이면 열지 않습니다. 한 명령으로"
        " 여러 프로세스를 실행하면 차례로 다음 포트를 씁니다.",
        "Port on which `pabal work` serves health checks and metrics; 0: none. Of several processes of one"
        " command, each has the next one.",
        limits=(0, 65535),
    )
    stop_seconds: int = setting(
        20,
        "서비스를 멈출 때 전송 중인 메시지를 마무리하도록 기다리는 시간(초)입니다.",
        "How long a stopping service may finish what is in flight.",
        limits=(1, None),
    )
    log_format: Literal["auto", "text", "json"] = setting(
        "auto",
        "로그 형식입니다. text, json 또는 auto(터미널에서는 text, 그 밖에는 json).",
        "Log format: text, json, or auto (text on a terminal, json elsewhere).",
    )
    log_requests: Literal["refused", "all"] = setting(
        "refused",
        "로그로 남길 요청입니다. refused: 거부되거나 실패한 요청만, all: 모든 요청.",
        "Which requests to log: refused and failed ones, or all.",
    )

"""The settings that every carrier has, those of the simulator, and those of SMPP."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, Literal

from pabal.domain.sends.message import PRODUCT_BY_CODE, Outcome, Product
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.settings.field import BadSetting, same_setting, setting, suggest

SENDABLE = tuple(product for product in Product if product not in (Product.EMAIL, Product.PUSH))
TEXT_PRODUCTS = (Product.SMS, Product.LMS, Product.MMS)
KAKAO_PRODUCTS = tuple(product for product in SENDABLE if product not in TEXT_PRODUCTS)


@dataclass(frozen=True, kw_only=True)
class CarrierSettings:
    """Settings that every kind of carrier has."""

    name: str
    kind: str
    products: tuple[Product, ...] = SENDABLE
    window: int = setting(
        100,
        "이 발송 경로에 전송하고 응답을 기다릴 수 있는 최대 메시지 수입니다.",
        "How many messages may be in flight without an answer.",
        limits=(1, 10_000),
    )
    rate: int = setting(
        0,
        "이 발송 경로에 초당 전송할 수 있는 메시지 수입니다. 0이면 제한하지 않습니다.",
        "How many messages per second to submit; 0: no limit.",
        limits=(0, None),
    )
    failover_seconds: int = setting(
        60,
        "연결되지 않거나 발송에 실패하는 상태를 견디는 시간(초)입니다. 지나면 다음 순서의 발송 경로로 발송합니다.",
        "How long it may be unreachable or fail before messages go to the next carrier of their route.",
        limits=(1, None),
    )
    prices: dict[str, Decimal] = setting(
        {},
        "메시지 종류별 건당 단가(원)입니다. 소수점 아래 두 자리까지 적을 수 있습니다.",
        "What a message of each product costs, in won with at most two decimals.",
    )
    charges_failed: bool = setting(
        False,
        "접수했지만 전달하지 못한 메시지에도 요금을 부과하는지 정합니다.",
        "Whether it charges for messages that it took and did not deliver.",
    )

    tells_friends: ClassVar[bool] = False
    """Whether it tells which receivers of brand messages are friends of the channel."""


@dataclass(frozen=True, kw_only=True)
class SimulatorSettings(CarrierSettings):
    """The built-in simulator."""

    kind: str = SIMULATOR_KIND
    window: int = same_setting(CarrierSettings, "window", 2000)


@dataclass(frozen=True, kw_only=True)
class SmppSettings(CarrierSettings):
    """A network operator or aggregator with SMPP 3.4."""

    kind: str = "smpp"
    products: tuple[Product, ...] = (Product.SMS, Product.LMS)
    host: str = setting(..., "SMPP 서버의 주소입니다.", "Host name or address.")
    port: int = setting(2775, "SMPP 서버의 포트입니다.", "Port.", limits=(1, 65535))
    tls: bool = setting(
        False, "TLS로 연결하고 서버 인증서를 검증할지 정합니다.", "Whether to use TLS and check its certificate."
    )
    tls_ca: Path | None = setting(
        None,
        "신뢰할 인증 기관의 인증서 파일입니다. 없으면 시스템이 신뢰하는 기관을 씁니다.",
        "File with the certificate authority to trust; none: those of the system.",
    )
    system_id: str = setting(
        ..., "SMPP 서버에서 발급받은 접속 ID(system_id)입니다.", "The system_id to bind with.", max_length=15
    )
    password: str = setting(
        "",
        "접속 비밀번호입니다. password_env나 password_file로 따로 둘 수도 있습니다.",
        "The password to bind with; or use password_env or password_file.",
        max_length=8,
        is_secret=True,
    )
    system_type: str = setting(
        "", "SMPP 서버가 요구하는 system_type 값입니다.", "The system_type to bind with.", max_length=12
    )
    bind: Literal["transceiver", "pair"] = setting(
        "transceiver",
        "연결 방식입니다. transceiver: 한 연결로 송수신, pair: 송신용과 수신용 연결을 하나씩 사용.",
        "transceiver: one connection for both directions; pair: a transmitter and a receiver.",
    )
    binds: int = setting(
        1,
        "연결(또는 송수신 연결 쌍)을 몇 개 맺을지 정합니다.",
        "How many connections, or pairs of them.",
        limits=(1, 64),
    )
    on_doubt: Literal["resend", "hold"] = setting(
        "resend",
        "응답을 받지 못한 메시지의 처리 방법입니다. resend: max_resends에 정한 횟수까지 다시 발송, hold:"
        " 다시 발송하지 않고 결과 보고가 오거나 대기 시간이 끝날 때까지 보류.",
        "What to do with a message that got no answer: resend it, at most max_resends times, or hold it at"
        " once until its receipt or time-out.",
    )
    max_resends: int = setting(
        1,
        "on_doubt가 resend일 때, 응답을 받지 못한 메시지를 다시 발송하는 횟수입니다. 그 뒤에는 결과 보고가"
        " 오거나 대기 시간이 끝날 때까지 보류합니다.",
        "How often a message that got no answer is sent again, if on_doubt is resend; then it is held until"
        " its receipt or time-out.",
        limits=(0, 9),
    )
    encoding: Literal["auto", "ucs2", "cp949"] = setting(
        "auto",
        "메시지 내용의 인코딩입니다. auto(GSM 7로 표현되면 GSM 7, 아니면 UCS-2), ucs2 또는 cp949.",
        "How to encode texts: auto (GSM 7 if possible, else UCS-2), ucs2, or cp949.",
    )
    data_coding: int | None = setting(
        None,
        "cp949로 발송할 때 쓰는 data_coding 값입니다. 기본값: 14.",
        "The data_coding for cp949; default: 14.",
        limits=(0, 255),
    )
    long_messages: Literal["payload", "parts"] = setting(
        "payload",
        "한 건에 담기지 않는 긴 내용을 발송하는 방법입니다. payload: message_payload에 한 번에 담기, parts:"
        " 헤더를 붙여 나누기.",
        "How to send a text longer than one short message: in message_payload, or in parts with a header.",
    )
    numbers: Literal["national", "international"] = setting(
        "national",
        "수신번호 표기입니다. national: 01012345678, international: 821012345678.",
        "How to write receivers: 01012345678 or 821012345678.",
    )
    source_ton: int = setting(
        0, "발신번호의 TON(번호 유형) 값입니다.", "Type of number of the sender.", limits=(0, 6)
    )
    source_npi: int = setting(
        0, "발신번호의 NPI(번호 체계) 값입니다.", "Numbering plan of the sender.", limits=(0, 18)
    )
    dest_ton: int = setting(
        0, "수신번호의 TON(번호 유형) 값입니다.", "Type of number of the receiver.", limits=(0, 6)
    )
    dest_npi: int = setting(
        0, "수신번호의 NPI(번호 체계) 값입니다.", "Numbering plan of the receiver.", limits=(0, 18)
    )
    service_type: str = setting(
        "", "모든 메시지에 넣을 service_type 값입니다.", "The service_type of every message.", max_length=5
    )
    receipts: bool = setting(
        True,
        "결과를 보고하는 발송 경로인지 정합니다. 아니면 접수된 메시지를 전달된 것으로 봅니다.",
        "Whether it sends receipts; if not, accepted messages count as delivered.",
    )
    validity_minutes: int = setting(
        0,
        "이 발송 경로가 전달을 시도할 수 있는 최대 시간(분)입니다. 0이면 메시지의 발송 기한까지입니다.",
        "How long it may try to deliver at most; 0: until the message's deadline.",
        limits=(0, 7 * 24 * 60),
    )
    submit_ids: Literal["text", "hex", "decimal"] = setting(
        "text",
        "응답에 있는 메시지 ID를 읽는 방법입니다. 결과 보고의 ID와 맞도록 정합니다.",
        "How to read the message ids in its answers, so that they match those in its receipts.",
    )
    receipt_ids: Literal["text", "hex", "decimal"] = setting(
        "text", "결과 보고에 있는 메시지 ID를 읽는 방법입니다.", "How to read the message ids in its receipts."
    )
    unmarked_receipts: bool = setting(
        False,
        "결과 보고 표시가 없어도 내용이 결과 보고처럼 보이면 결과 보고로 처리할지 정합니다.",
        "Whether to read a message as a receipt if only its text looks like one.",
    )
    errors: dict[str, Outcome] = setting(
        {},
        "결과 보고에 담기는 발송 경로의 오류 코드를 이 서비스의 결과 코드와 짝지은 표입니다.",
        "Its own error codes in receipts, each mapped to one of our result codes.",
    )
    enquire_seconds: int = setting(
        30, "유휴 연결을 점검하는 간격(초)입니다.", "How often to test an idle connection.", limits=(1, 3600)
    )


def check_product(code: str, place: str, products: Sequence[Product] = SENDABLE) -> None:
    """Raise BadSetting if `code` is none of these products; `place` is where it stands."""
    if PRODUCT_BY_CODE.get(code) not in products:
        hint = suggest(code, [each.code for each in products])
        raise BadSetting(f"{place}: 없는 종류입니다{hint.ko}", f"{place}: no such product{hint.en}")

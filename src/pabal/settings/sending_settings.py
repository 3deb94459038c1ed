"""The settings of sending: what is accepted, how long it may take, and what it costs."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pabal.domain.base.codes import Refused
from pabal.domain.people import phone
from pabal.domain.sends.sending import MAX_EXPIRE_MINUTES
from pabal.settings.carriers import check_product
from pabal.settings.field import BadSetting, setting


@dataclass(frozen=True)
class SendingSettings:
    """The rules of messages, and their time-outs."""

    zone: ZoneInfo = setting(
        ZoneInfo("Asia/Seoul"),
        "요청과 발송 내역의 모든 날짜에 적용하는 시간대입니다.",
        "Time zone of all dates in requests and records.",
    )
    check_sender_numbers: bool | None = setting(
        None,
        "등록된 발신번호로만 발송하도록 할지 정합니다. 기본값: 실제 발송 경로를 설정하면 등록된 번호만 허용합니다.",
        "Whether senders must be registered numbers; default: yes if a real carrier is configured.",
    )
    own_numbers: Literal["approval", "trusted"] = setting(
        "approval",
        "계정 관리자가 등록한 발신번호의 처리 방법입니다. approval: 운영자의 승인 대기, trusted: 바로 사용.",
        "Sender numbers that owners register: they wait for an operator's approval, or owners are trusted.",
    )
    unsupported_characters: Literal["refuse", "replace"] = setting(
        "refuse",
        "문자 메시지에 담을 수 없는 글자의 처리 방법입니다. refuse: 거부, replace: ‘?’로 바꿔 발송.",
        "What to do with characters that text messages cannot contain: refuse them, or replace them by '?'.",
    )
    night_ads: Literal["refuse", "move"] = setting(
        "refuse",
        "20:50~08:00에 걸린 광고의 처리 방법입니다. refuse: 거부, move: 08:00로 미뤄 발송.",
        "What to do with advertisements from 20:50 to 08:00: refuse them, or move them to 08:00.",
    )
    opt_out_number: str = setting(
        "",
        "광고 문자의 무료 수신거부 번호(080)입니다. 계정이나 요청에 따로 정한 번호가 있으면 그 번호를 씁니다.",
        "080 number for opting out of advertisements by text; accounts and requests may have their own.",
    )
    max_receivers: int = setting(
        1000,
        "요청 한 건의 최대 수신자 수입니다.",
        "Maximum number of receivers in one request.",
        limits=(1, 100_000),
    )
    max_days_ahead: int = setting(
        60,
        "예약 발송(sendDate)을 며칠 뒤까지 받을지 정합니다.",
        "How many days ahead a sendDate may be.",
        limits=(1, 365),
    )
    sms_timeout_hours: int = setting(
        25,
        "SMS의 결과 보고를 몇 시간까지 기다릴지 정합니다.",
        "Hours to wait for the receipt of an SMS.",
        limits=(1, None),
    )
    other_timeout_hours: int = setting(
        80,
        "그 밖의 메시지는 몇 시간까지 기다릴지 정합니다.",
        "Hours to wait for the receipt of any other message.",
        limits=(1, None),
    )
    fallback_within_minutes: int = setting(
        60,
        "실패한 알림톡·친구톡을 예약 시각부터 몇 분 안에만 문자로 대체 발송할지 정합니다.",
        "How long after its scheduled time a failed Alimtalk or friend talk may still be sent as a text.",
        limits=(1, None),
    )
    idempotency_hours: int = setting(
        24, "Idempotency-Key를 보관하는 시간입니다.", "How long an Idempotency-Key is stored.", limits=(1, None)
    )
    duplicate_minutes: int = setting(
        0,
        "한 계정이 같은 번호로 보낸 같은 내용을 중복으로 보는 시간(분)입니다. 0이면 중복을 막지 않습니다.",
        "How long the same text to the same number from one account is a duplicate; 0: duplicates are sent.",
        limits=(0, 7 * 24 * 60),
    )
    duplicate_action: Literal["refuse", "drop"] = setting(
        "refuse",
        "중복을 처리하는 방법입니다. refuse: 요청을 거부, drop: 해당 메시지를 실패(9005)로 기록.",
        "What to do with duplicates: refuse the request, or record these messages as failed (9005).",
    )
    mask_codes: bool = setting(
        True,
        '끝난 인증번호(`purpose: "code"`)의 숫자를 조회, 웹훅, 내보내기, 콘솔에서 `•`로 가릴지 정합니다.'
        " 조회 전용 사용자에게는 언제나 가립니다.",
        'Whether the digits of one-time codes (`purpose: "code"`) are shown as `•` in look-ups, webhooks,'
        " exports and the console once they have ended; viewers never see them.",
    )
    expire_minutes: dict[str, int] = setting(
        {},
        "메시지 종류별 발송 기한(분)입니다. 예약 시각부터 이 시간 안에 발송 경로에 전송하지 못하면 발송하지"
        " 않습니다. 1~4,320이며 기본값은 문자 1,440, 그 밖의 메시지 4,320입니다.",
        "Minutes after its scheduled time by which a carrier must have a message, by product, from 1 to"
        " 4,320; default: 1,440 for texts, 4,320 for others.",
    )
    prices: dict[str, Decimal] = setting(
        {},
        "메시지 종류별 단가(원, 소수점 둘째 자리까지)입니다. 자기 단가가 없는 발송 경로에 적용합니다. 정하지"
        " 않으면 비용을 표시하지 않습니다.",
        "What a message of each product costs, in won with at most two decimals, at carriers that have no"
        " price of their own; none: no cost is shown.",
    )


def read_expire_minutes(table: Any) -> dict[str, int]:
    """Return the default lifetimes of products in minutes.

    Raises BadSetting.
    """
    if not isinstance(table, dict):
        raise BadSetting(
            "expire_minutes: [expire_minutes] 표를 적으세요", "expire_minutes: write a table [expire_minutes]"
        )
    for product, minutes in table.items():
        check_product(product, f"expire_minutes.{product}")
        if type(minutes) is not int or not 1 <= minutes <= MAX_EXPIRE_MINUTES:
            raise BadSetting(
                f"expire_minutes.{product}: {minutes!r}은(는) 1부터 {MAX_EXPIRE_MINUTES}까지의 정수가 아닙니다",
                f"expire_minutes.{product}: {minutes!r} is not a whole number from 1 to {MAX_EXPIRE_MINUTES}",
            )
    return dict(table)


def check_retention(settings: SendingSettings, retention_days: int) -> None:
    """Raise BadSetting if messages would be blanked before they end."""
    timeout_days = -(-max(settings.sms_timeout_hours, settings.other_timeout_hours) // 24)
    lifetime_days = -(-MAX_EXPIRE_MINUTES // (24 * 60))
    least = settings.max_days_ahead + lifetime_days + timeout_days + 1
    if retention_days < least:
        raise BadSetting(
            f"retention_days: {least} 이상이어야 합니다. 그러지 않으면 메시지가 끝나기 전에"
            f" 지워집니다(max_days_ahead + 수명 {lifetime_days}일 + 결과 대기 일수 + 1)",
            f"retention_days: at least {least}, or messages would be blanked before they end (max_days_ahead, plus"
            f" {lifetime_days} days of lifetime, plus the receipt time-out in days, plus one)",
        )


def read_opt_out_number(spelling: str) -> str:
    """Return the digits of the number for opting out of advertising; empty: there is none.

    Raises BadSetting.
    """
    try:
        return phone.parse_opt_out(spelling) if spelling else ""
    except Refused:
        raise BadSetting(
            f"opt_out_number: {spelling!r}은(는) 080-123-4567 같은 번호가 아닙니다",
            f"opt_out_number: {spelling!r} is not a number such as 080-123-4567",
        ) from None

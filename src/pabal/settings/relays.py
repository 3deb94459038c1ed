"""The settings of the relays: NHN Cloud and Solapi."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pabal.domain.base.codes import Refused
from pabal.domain.sends.account import parse_codes
from pabal.domain.sends.message import Product
from pabal.settings.carriers import KAKAO_PRODUCTS, TEXT_PRODUCTS, CarrierSettings, SmppSettings
from pabal.settings.field import BadSetting, same_setting, setting
from pabal.settings.openid_settings import is_safe_base

MIN_SIGNATURE_LENGTH = 16
"""Shortest webhook signature that is accepted; a shorter one could be guessed."""


@dataclass(frozen=True, kw_only=True)
class NhnCloudSettings(CarrierSettings):
    """NHN Cloud Notification: SMS for texts, KakaoTalk Bizmessage for Alimtalk and friend talk."""

    kind: str = "nhncloud"
    tells_friends: ClassVar[bool] = True
    window: int = same_setting(CarrierSettings, "window", 5000)
    sms_app_key: str = setting(
        "",
        "SMS 서비스의 앱 키입니다. 없으면 문자(SMS·LMS·MMS)를 발송하지 않습니다.",
        "App key of its SMS service; none: it sends no texts.",
        is_secret=True,
    )
    sms_secret_key: str = setting(
        "",
        "SMS 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다.",
        "Secret key of its SMS service; or use _env or _file.",
        is_secret=True,
    )
    talk_app_key: str = setting(
        "",
        "KakaoTalk Bizmessage 서비스의 앱 키입니다. 없으면 알림톡과 친구톡을 발송하지 않습니다.",
        "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.",
        is_secret=True,
    )
    talk_secret_key: str = setting(
        "",
        "KakaoTalk Bizmessage 서비스의 비밀 키입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다.",
        "Secret key of that service; or use _env or _file.",
        is_secret=True,
    )
    sms_address: str = setting(
        "https://sms.api.nhncloudservice.com", "SMS API의 주소입니다.", "Address of its SMS API."
    )
    talk_address: str = setting(
        "https://kakaotalk-bizmessage.api.nhncloudservice.com",
        "KakaoTalk Bizmessage API의 주소입니다.",
        "Address of its KakaoTalk Bizmessage API.",
    )
    friend_talk: Literal["brand", "compatible"] = setting(
        "brand",
        "친구톡을 발송하는 방법입니다. brand: 채널 친구에게 보내는 브랜드 메시지(항상 광고), compatible:"
        " NHN Cloud가 2026-12-31에 끝난다고 예고한 호환 방식.",
        "How friend talk goes out: as a brand message to friends, which is always advertising, or by the"
        " compatible mode that NHN Cloud has announced to end on 2026-12-31.",
    )
    origin_code: str = setting(
        "",
        "문자를 재판매하는 사업자의 식별 코드로, 특수부가통신사업자 등록번호의 숫자 9자리입니다. 계정에 따로"
        " 정할 수 있고, 재판매하지 않으면 비웁니다.",
        "Code of a reseller of texts: the nine digits of its registration number. An account may have its own;"
        " none if you do not resell.",
    )
    reseller_code: str = setting(
        "",
        "브랜드 메시지를 재판매하는 사업자의 리셀러 코드입니다. 계정에 따로 정할 수 있습니다.",
        "Code of a reseller of brand messages. An account may have its own.",
    )
    tls_ca: Path | None = same_setting(SmppSettings, "tls_ca", None)
    calls: int = setting(
        40,
        "서비스마다 동시에 진행할 수 있는 최대 호출 수입니다.",
        "How many calls to each of its services may run at the same time.",
        limits=(1, 200),
    )
    timeout_seconds: int = setting(
        10,
        "호출 한 번의 응답을 기다리는 시간(초)입니다.",
        "How long to wait for the answer to a call.",
        limits=(1, 30),
    )
    lookup_after_seconds: int = setting(
        60,
        "응답을 받지 못한 호출의 접수 여부를 묻기까지 기다리는 시간(초)입니다. 게이트웨이 뒤에서 호출이"
        " 60초까지 진행될 수 있어, 이보다 짧으면 메시지가 두 번 발송될 수 있습니다.",
        "How long after a call without an answer to ask whether it has the messages: behind its gateway a"
        " call may run for 60 s, and with less a message may be sent twice.",
        limits=(1, 240),
    )
    poll_seconds: int = setting(
        5, "발송 결과를 조회하는 간격(초)입니다.", "How often to ask for results.", limits=(1, 60)
    )
    webhook_signature: str = setting(
        "",
        "웹훅에 담겨 오는 서명으로, 16자 이상이어야 합니다. 없으면 웹훅을 받지 않습니다.",
        "The signature that its webhooks carry, at least 16 characters; none: webhooks are refused.",
        is_secret=True,
    )

    def __post_init__(self) -> None:
        """Drop the products that have no key. Raises BadSetting for an invalid combination of settings."""
        for service, products in (("sms", TEXT_PRODUCTS), ("talk", KAKAO_PRODUCTS)):
            app_key, secret_key = getattr(self, f"{service}_app_key"), getattr(self, f"{service}_secret_key")
            if bool(app_key) != bool(secret_key):
                raise BadSetting(
                    f"carriers.{self.name}: {service}_app_key와 {service}_secret_key를 모두 적으세요",
                    f"carriers.{self.name}: give both {service}_app_key and {service}_secret_key",
                )
            if not app_key:
                left = tuple(each for each in self.products if each not in products)
                object.__setattr__(self, "products", left)
            place = f"carriers.{self.name}.{service}_address"
            if not is_safe_base(getattr(self, f"{service}_address")):
                raise BadSetting(
                    f"{place}: https://로 시작하는 주소여야 합니다",
                    f"{place}: must begin with https:// and name a host",
                )
        if not self.products:
            raise BadSetting(
                f"carriers.{self.name}: sms_app_key나 talk_app_key를 적으세요. 없으면 아무것도 보낼 수 없습니다",
                f"carriers.{self.name}: give sms_app_key or talk_app_key, or it can send nothing",
            )
        try:
            parse_codes({"origin_code": self.origin_code, "reseller_code": self.reseller_code})
        except Refused as refused:
            problem = refused.problems[0]
            assert problem.detail is not None
            place = f"carriers.{self.name}.{problem.field}"
            raise BadSetting(f"{place}: {problem.detail.ko}", f"{place}: {problem.detail.en}") from None
        if self.webhook_signature and len(self.webhook_signature) < MIN_SIGNATURE_LENGTH:
            raise BadSetting(
                f"carriers.{self.name}.webhook_signature: {MIN_SIGNATURE_LENGTH}자 이상이어야 합니다",
                f"carriers.{self.name}.webhook_signature: at least {MIN_SIGNATURE_LENGTH} characters",
            )

    @property
    def sends_brand_messages(self) -> bool:
        """Whether anything goes out as a brand message."""
        is_brand = self.friend_talk == "brand"
        return any(each is Product.BRAND_MESSAGE or (each.is_friend_talk and is_brand) for each in self.products)

    @property
    def sends_compatible_friend_talk(self) -> bool:
        """Whether friend talk goes out by the compatible mode."""
        return self.friend_talk == "compatible" and any(each.is_friend_talk for each in self.products)


@dataclass(frozen=True, kw_only=True)
class SolapiSettings(CarrierSettings):
    """Solapi: texts, Alimtalk and brand messages, each message of a call with its own text."""

    kind: str = "solapi"
    window: int = same_setting(CarrierSettings, "window", 10_000)
    api_key: str = setting(
        ...,
        "솔라피 계정의 API Key입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다.",
        "API key of the account; or use _env or _file.",
        is_secret=True,
    )
    api_secret: str = setting(
        ...,
        "API Key와 짝을 이루는 API Secret입니다. 이름에 _env나 _file을 붙여 따로 둘 수도 있습니다.",
        "API secret that belongs to the key; or use _env or _file.",
        is_secret=True,
    )
    address: str = setting("https://api.solapi.com", "API의 주소입니다.", "Address of its API.")
    tls_ca: Path | None = same_setting(SmppSettings, "tls_ca", None)
    calls: int = setting(
        20, "동시에 진행할 수 있는 최대 호출 수입니다.", "How many calls may run at the same time.", limits=(1, 200)
    )
    timeout_seconds: int = same_setting(NhnCloudSettings, "timeout_seconds", 20)
    poll_seconds: int = same_setting(NhnCloudSettings, "poll_seconds", 5)
    webhook_secret: str = setting(
        "",
        "웹훅의 시크릿으로, 16자 이상이어야 합니다. 없으면 웹훅을 받지 않습니다.",
        "The secret of its webhooks, at least 16 characters; none: webhooks are refused.",
        is_secret=True,
    )
    on_doubt: Literal["resend", "hold"] = setting(
        "resend",
        "응답을 받지 못했고 doubt_seconds가 지나도 중계사 목록에 없는 메시지의 처리 방법입니다. resend:"
        " 다시 발송, hold: 다시 발송하지 않고 목록에 나타나거나 하루가 지날 때까지 보류.",
        "What to do with a message that got no answer and that its lists do not show after doubt_seconds:"
        " resend it, or hold it until it is found or a day has passed.",
    )
    doubt_seconds: int = setting(
        60,
        "응답을 받지 못한 뒤, 접수된 메시지가 중계사 목록에 아직 없을 수 있다고 보는 시간(초)입니다.",
        "How long after a lost answer its lists may not show a message that it has.",
        limits=(10, 3600),
    )

    @property
    def sends_friend_talk_as_brand(self) -> bool:
        """Whether friend talk goes out as a brand message: Kakao has no other."""
        return True

    def __post_init__(self) -> None:
        """Raise BadSetting for an address that is not safe, or a secret that is too short."""
        if not is_safe_base(self.address):
            raise BadSetting(
                f"carriers.{self.name}.address: https://로 시작하는 주소여야 합니다",
                f"carriers.{self.name}.address: must begin with https:// and name a host",
            )
        if self.webhook_secret and len(self.webhook_secret) < MIN_SIGNATURE_LENGTH:
            raise BadSetting(
                f"carriers.{self.name}.webhook_secret: {MIN_SIGNATURE_LENGTH}자 이상이어야 합니다",
                f"carriers.{self.name}.webhook_secret: at least {MIN_SIGNATURE_LENGTH} characters",
            )

"""The settings of each kind of carrier, read from its table in the TOML file."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pabal.domain.message import PRODUCT_BY_CODE, Outcome, Product
from pabal.domain.route import SIMULATOR_KIND
from pabal.settings.field import BadSetting, convert, fields, setting, show_value, suggest

RENAMED = {"patience_seconds": "failover_seconds", "answer_seconds": "timeout_seconds"}
"""Old names, so that an operator who upgrades learns the new ones."""
SENDABLE = tuple(product for product in Product if product not in (Product.EMAIL, Product.PUSH))


@dataclass(frozen=True, kw_only=True)
class CarrierSettings:
    """Settings that every kind of carrier has."""

    name: str
    kind: str
    products: tuple[Product, ...] = SENDABLE
    window: int = setting(
        100, "How many messages may be in flight without an answer.", min_value=1, max_value=10_000
    )
    rate: int = setting(0, "How many messages per second to submit; 0: no limit.", min_value=0)
    failover_seconds: int = setting(
        60,
        "How long it may be unreachable or fail before messages go to the next carrier of their route.",
        min_value=1,
    )
    prices: dict[str, Decimal] = setting(
        {}, "What a message of each product costs, in won with at most two decimals."
    )
    charges_failed: bool = setting(False, "Whether it charges for messages that it took and did not deliver.")

    @property
    def max_mms_px(self) -> int | None:
        """How wide and high the picture of an MMS may be; None: no limit is known."""
        return None


@dataclass(frozen=True, kw_only=True)
class SimulatorSettings(CarrierSettings):
    """The built-in simulator."""

    kind: str = SIMULATOR_KIND
    window: int = setting(
        2000, "How many messages may be in flight without an answer.", min_value=1, max_value=10_000
    )


@dataclass(frozen=True, kw_only=True)
class SmppSettings(CarrierSettings):
    """An operator or aggregator with an SMPP 3.4 interface."""

    kind: str = "smpp"
    products: tuple[Product, ...] = (Product.SMS, Product.LMS)
    host: str = setting(..., "Host name or address.")
    port: int = setting(2775, "Port.", min_value=1, max_value=65535)
    tls: bool = setting(False, "Whether to use TLS and check its certificate.")
    tls_ca: Path | None = setting(None, "File with the certificate authority to trust; none: those of the system.")
    system_id: str = setting(..., "The system_id to bind with.", max_length=15)
    password: str = setting(
        "", "The password to bind with; or use password_env or password_file.", max_length=8, is_secret=True
    )
    system_type: str = setting("", "The system_type to bind with.", max_length=12)
    bind: Literal["transceiver", "pair"] = setting(
        "transceiver", "transceiver: one connection for both directions; pair: a transmitter and a receiver."
    )
    binds: int = setting(1, "How many connections, or pairs of them.", min_value=1, max_value=64)
    on_doubt: Literal["resend", "hold"] = setting(
        "resend",
        "What to do with a message that got no answer: resend it, at most max_resends times,"
        " or hold it at once until its receipt or time-out.",
    )
    max_resends: int = setting(
        1,
        "How often a message that got no answer is sent again, if on_doubt is resend; then it is held until its"
        " receipt or time-out.",
        min_value=0,
        max_value=9,
    )
    encoding: Literal["auto", "ucs2", "cp949"] = setting(
        "auto", "How to encode texts: auto (GSM 7 if possible, else UCS-2), ucs2, or cp949."
    )
    data_coding: int | None = setting(None, "The data_coding for cp949; default: 14.", min_value=0, max_value=255)
    long_messages: Literal["payload", "parts"] = setting(
        "payload",
        "How to send a text longer than one short message: in message_payload, or in parts with a header.",
    )
    numbers: Literal["national", "international"] = setting(
        "national", "How to write receivers: 01012345678 or 821012345678."
    )
    source_ton: int = setting(0, "Type of number of the sender.", min_value=0, max_value=6)
    source_npi: int = setting(0, "Numbering plan of the sender.", min_value=0, max_value=18)
    dest_ton: int = setting(0, "Type of number of the receiver.", min_value=0, max_value=6)
    dest_npi: int = setting(0, "Numbering plan of the receiver.", min_value=0, max_value=18)
    service_type: str = setting("", "The service_type of every message.", max_length=5)
    receipts: bool = setting(True, "Whether it sends receipts; if not, accepted messages count as delivered.")
    validity_minutes: int = setting(
        0,
        "How long it may try to deliver at most; 0: until the message's deadline.",
        min_value=0,
        max_value=7 * 24 * 60,
    )
    submit_ids: Literal["text", "hex", "decimal"] = setting(
        "text", "How to read the message ids in its answers, so that they match those in its receipts."
    )
    receipt_ids: Literal["text", "hex", "decimal"] = setting("text", "How to read the message ids in its receipts.")
    unmarked_receipts: bool = setting(
        False, "Whether to read a message as a receipt if only its text looks like one."
    )
    errors: dict[str, Outcome] = setting(
        {}, "Its own error codes in receipts, each mapped to one of our result codes."
    )
    enquire_seconds: int = setting(30, "How often to test an idle connection.", min_value=1, max_value=3600)


NHN_CLOUD_MAX_MMS_PX = 1000
TEXT_PRODUCTS = (Product.SMS, Product.LMS, Product.MMS)
KAKAO_PRODUCTS = tuple(product for product in SENDABLE if product not in TEXT_PRODUCTS)


@dataclass(frozen=True, kw_only=True)
class NhnCloudSettings(CarrierSettings):
    """NHN Cloud Notification: SMS for texts, KakaoTalk Bizmessage for Alimtalk and friend talk."""

    kind: str = "nhncloud"
    window: int = setting(
        5000, "How many messages may be in flight without an answer.", min_value=1, max_value=10_000
    )
    sms_app_key: str = setting("", "App key of its SMS service; none: it sends no texts.", is_secret=True)
    sms_secret_key: str = setting("", "Secret key of its SMS service; or use _env or _file.", is_secret=True)
    talk_app_key: str = setting(
        "", "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.", is_secret=True
    )
    talk_secret_key: str = setting("", "Secret key of that service; or use _env or _file.", is_secret=True)
    sms_address: str = setting("https://sms.api.nhncloudservice.com", "Address of its SMS interface.")
    talk_address: str = setting(
        "https://kakaotalk-bizmessage.api.nhncloudservice.com", "Address of its KakaoTalk Bizmessage interface."
    )
    friend_talk: Literal["brand", "compatible"] = setting(
        "brand",
        "How friend talk goes out: as a brand message to friends, which is always advertising, or by the compatible"
        " mode that NHN Cloud has announced to end on 2026-12-31.",
    )
    tls_ca: Path | None = setting(None, "File with the certificate authority to trust; none: those of the system.")
    calls: int = setting(
        40, "How many calls to each of its services may run at the same time.", min_value=1, max_value=200
    )
    timeout_seconds: int = setting(10, "How long to wait for the answer to a call.", min_value=1, max_value=30)
    lookup_after_seconds: int = setting(
        60,
        "How long after a call without an answer to ask whether it has the messages: behind its gateway a call may"
        " run for 60 s, and with less a message may be sent twice.",
        min_value=1,
        max_value=240,
    )
    poll_seconds: int = setting(5, "How often to ask for results.", min_value=1, max_value=60)
    webhook_signature: str = setting(
        "",
        "The signature that its webhooks carry, at least 16 characters; none: webhooks are refused.",
        is_secret=True,
    )

    @property
    def max_mms_px(self) -> int | None:
        return NHN_CLOUD_MAX_MMS_PX

    def __post_init__(self) -> None:
        """Drop the products that have no key. Raises BadSetting for an invalid combination of settings."""
        for service, products in (("sms", TEXT_PRODUCTS), ("talk", KAKAO_PRODUCTS)):
            app_key, secret_key = getattr(self, f"{service}_app_key"), getattr(self, f"{service}_secret_key")
            if bool(app_key) != bool(secret_key):
                raise BadSetting(f"carriers.{self.name}: give both {service}_app_key and {service}_secret_key")
            if not app_key:
                left = tuple(each for each in self.products if each not in products)
                object.__setattr__(self, "products", left)
            place = f"carriers.{self.name}.{service}_address"
            if not _is_safe_for_secrets(getattr(self, f"{service}_address")):
                raise BadSetting(f"{place}: must begin with https:// and name a host")
        if not self.products:
            raise BadSetting(f"carriers.{self.name}: give sms_app_key or talk_app_key, or it can send nothing")
        if self.webhook_signature and len(self.webhook_signature) < MIN_SIGNATURE_LENGTH:
            raise BadSetting(f"carriers.{self.name}.webhook_signature: at least {MIN_SIGNATURE_LENGTH} characters")

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
    window: int = setting(
        10_000, "How many messages may be in flight without an answer.", min_value=1, max_value=10_000
    )
    api_key: str = setting(..., "API key of the account; or use _env or _file.", is_secret=True)
    api_secret: str = setting(..., "API secret that belongs to the key; or use _env or _file.", is_secret=True)
    address: str = setting("https://api.solapi.com", "Address of its interface.")
    tls_ca: Path | None = setting(None, "File with the certificate authority to trust; none: those of the system.")
    calls: int = setting(20, "How many calls may run at the same time.", min_value=1, max_value=200)
    timeout_seconds: int = setting(20, "How long to wait for the answer to a call.", min_value=1, max_value=30)
    poll_seconds: int = setting(5, "How often to ask for results.", min_value=1, max_value=60)
    webhook_secret: str = setting(
        "",
        "The secret of its webhooks, at least 16 characters; none: webhooks are refused.",
        is_secret=True,
    )
    on_doubt: Literal["resend", "hold"] = setting(
        "resend",
        "What to do with a message that got no answer and that its lists do not show after doubt_seconds: resend"
        " it, or hold it until it is found or a day has passed.",
    )
    doubt_seconds: int = setting(
        60,
        "How long after a lost answer its lists may not show a message that it has.",
        min_value=10,
        max_value=3600,
    )

    @property
    def sends_friend_talk_as_brand(self) -> bool:
        """Whether friend talk goes out as a brand message: Kakao has no other."""
        return True

    def __post_init__(self) -> None:
        """Raise BadSetting for an address that is not safe, or a secret that is too short."""
        if not _is_safe_for_secrets(self.address):
            raise BadSetting(f"carriers.{self.name}.address: must begin with https:// and name a host")
        if self.webhook_secret and len(self.webhook_secret) < MIN_SIGNATURE_LENGTH:
            raise BadSetting(f"carriers.{self.name}.webhook_secret: at least {MIN_SIGNATURE_LENGTH} characters")


MIN_SIGNATURE_LENGTH = 16
"""Shortest webhook signature that is accepted; a shorter one could be guessed."""


def _is_safe_for_secrets(address: str) -> bool:
    """Say whether secrets may be sent to an address: over TLS, or without TLS to this machine only."""
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    if not is_whole or parts.username is not None or parts.query or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1"))


CARRIER_KINDS: Mapping[str, type[CarrierSettings]] = {
    "simulator": SimulatorSettings,
    "smpp": SmppSettings,
    "nhncloud": NhnCloudSettings,
    "solapi": SolapiSettings,
}


def read_carriers(table: Any, environment: Mapping[str, str]) -> dict[str, CarrierSettings]:
    """Return the carriers of a `[carriers]` table; `environment` holds the secrets that `…_env` keys name.

    Raises BadSetting.
    """
    if not isinstance(table, dict) or not all(isinstance(each, dict) for each in table.values()):
        raise BadSetting("carriers: write a table [carriers.NAME] for each carrier")
    return {name: _read_carrier(name, given, environment) for name, given in table.items()}


def check_product(code: str, place: str, products: Sequence[Product] = SENDABLE) -> None:
    """Raise BadSetting if `code` is none of these products; `place` is where it stands."""
    if PRODUCT_BY_CODE.get(code) not in products:
        raise BadSetting(f"{place}: no such product{suggest(code, [each.code for each in products])}")


def secrets_in_environment(carriers: Mapping[str, Any]) -> set[str]:
    """Return the environment variables that a `[carriers]` table reads secrets from."""
    return {
        value
        for given in carriers.values()
        if isinstance(given, dict)
        for key, value in given.items()
        if key.endswith("_env") and isinstance(value, str)
    }


def describe_carrier(carrier: CarrierSettings) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of a carrier's settings; of a secret only whether it is set."""
    return [
        (f"carriers.{carrier.name}.{name}", show_value(each, getattr(carrier, name)), each.metadata["help"])
        for name, each in fields(type(carrier)).items()
    ]


def _read_carrier(name: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> CarrierSettings:
    shape = CARRIER_KINDS.get(str(given.get("kind")))
    if shape is None:
        raise BadSetting(f"carriers.{name}: kind must be one of {', '.join(CARRIER_KINDS)}")
    known = fields(shape)
    found: dict[str, Any] = {}
    for key, value in given.items():
        place = f"carriers.{name}.{key}"
        target, value = _resolve_secret(key, value, place, known, environment)
        if key == "kind":
            continue
        if target not in known:
            hint = f"; it is now {RENAMED[key]}" if key in RENAMED else suggest(key, known)
            raise BadSetting(f"{place}: no such setting{hint}")
        if target in found:
            raise BadSetting(f"{place}: {target} is given twice")
        if isinstance(value, str) and type(known[target].default) is int:
            raise BadSetting(f"{place}: {value!r} is not a whole number")
        found[target] = convert(shape, target, place, value)
    for product in found.get("prices", {}):
        check_product(product, f"carriers.{name}.prices.{product}", shape.products)
    for key, each in known.items():
        if (
            each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING
            and not found.get(key)
        ):
            raise BadSetting(f"carriers.{name}.{key}: is required ({each.metadata['help']})")
    return shape(name=name, **found)


def _resolve_secret(
    key: str, value: Any, place: str, known: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[str, Any]:
    """Return the setting that a key means and its value; read a secret from its variable or file."""
    target, _, where = key.rpartition("_")
    if where not in ("env", "file") or target not in known or not known[target].metadata["is_secret"]:
        return key, value
    if where == "env":
        if not isinstance(value, str) or value not in environment:
            raise BadSetting(f"{place}: names an environment variable that is not set")
        return target, environment[value]
    try:
        return target, Path(value).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise BadSetting(f"{place}: cannot be read ({reason})") from None

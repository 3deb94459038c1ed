"""The settings of carriers: a table of the TOML file for each, by what kind of carrier it is."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pabal.domain.message import Outcome, Product
from pabal.settings.field import BadSetting, convert, fields, format_value, setting, suggest

SENDABLE = tuple(product for product in Product if product not in (Product.EMAIL, Product.PUSH))
SECRET_IS_SET = "(set)"
"""What is shown of a secret."""


@dataclass(frozen=True, kw_only=True)
class CarrierSettings:
    """What all kinds of carrier have."""

    name: str
    kind: str
    products: tuple[Product, ...] = SENDABLE
    window: int = setting(
        100, "How many messages may be in its hands without an answer.", min_value=1, max_value=10_000
    )
    rate: int = setting(0, "How many messages a second it may be given; 0: no limit.", min_value=0)
    failover_seconds: int = setting(
        60,
        "How long it may be unreachable, or fail at everything, before messages go to the next of their route.",
        min_value=1,
    )


@dataclass(frozen=True, kw_only=True)
class SimulatorSettings(CarrierSettings):
    """The built-in simulator."""

    kind: str = "simulator"
    window: int = setting(
        2000, "How many messages may be in its hands without an answer.", min_value=1, max_value=10_000
    )


@dataclass(frozen=True, kw_only=True)
class SmppSettings(CarrierSettings):
    """An operator or aggregator that speaks SMPP 3.4."""

    kind: str = "smpp"
    products: tuple[Product, ...] = (Product.SMS, Product.LMS)
    host: str = setting(..., "Where it listens.")
    port: int = setting(2775, "On which port.", min_value=1, max_value=65535)
    tls: bool = setting(False, "Whether to speak TLS, checking its certificate.")
    tls_ca: Path | None = setting(None, "File of the authority that signed it; none: those of the system.")
    system_id: str = setting(..., "Who we are to it.", max_length=15)
    password: str = setting("", "Its secret; or password_env or password_file.", max_length=8, is_secret=True)
    system_type: str = setting("", "The type of system it wants to be told.", max_length=12)
    bind: Literal["transceiver", "pair"] = setting(
        "transceiver", "transceiver: one connection for both ways; pair: a transmitter and a receiver."
    )
    binds: int = setting(1, "How many such connections.", min_value=1, max_value=64)
    on_doubt: Literal["resend", "hold"] = setting(
        "resend",
        "What becomes of a message when a connection breaks before its answer: resend it,"
        " or hold it until its receipt or time-out.",
    )
    encoding: Literal["auto", "ucs2", "cp949"] = setting(
        "auto", "How texts are spelled: auto (GSM 7 where it suffices, else UCS-2), ucs2, or cp949."
    )
    data_coding: int | None = setting(
        None, "The data_coding that goes with cp949; default: 14.", min_value=0, max_value=255
    )
    long_messages: Literal["payload", "parts"] = setting(
        "payload", "How a text longer than one short message goes: in message_payload, or in parts with a header."
    )
    numbers: Literal["national", "international"] = setting(
        "national", "How receivers are written: 01012345678 or 821012345678."
    )
    source_ton: int = setting(0, "Type of number of the sender.", min_value=0, max_value=6)
    source_npi: int = setting(0, "Numbering plan of the sender.", min_value=0, max_value=18)
    dest_ton: int = setting(0, "Type of number of the receiver.", min_value=0, max_value=6)
    dest_npi: int = setting(0, "Numbering plan of the receiver.", min_value=0, max_value=18)
    service_type: str = setting("", "The service_type of every message.", max_length=5)
    receipts: bool = setting(True, "Whether it reports; if not, what it takes counts as delivered.")
    validity_minutes: int = setting(
        0, "How long it may try to deliver; 0: as long as it likes.", min_value=0, max_value=7 * 24 * 60
    )
    submit_ids: Literal["text", "hex", "decimal"] = setting(
        "text", "How to read the ids in its answers, so that those of its receipts match them."
    )
    receipt_ids: Literal["text", "hex", "decimal"] = setting("text", "How to read the ids in its receipts.")
    unmarked_receipts: bool = setting(
        False, "Whether a message without the mark of a receipt is read as one if its text looks like it."
    )
    errors: dict[str, Outcome] = setting({}, "Its own error codes in receipts, each with a result code of ours.")
    enquire_seconds: int = setting(30, "How often a quiet connection is tested.", min_value=1, max_value=3600)


TEXT_PRODUCTS = (Product.SMS, Product.LMS, Product.MMS)
KAKAO_PRODUCTS = tuple(product for product in SENDABLE if product not in TEXT_PRODUCTS)


@dataclass(frozen=True, kw_only=True)
class NhnCloudSettings(CarrierSettings):
    """NHN Cloud Notification: SMS for texts, KakaoTalk Bizmessage for Alimtalk and friend talk."""

    kind: str = "nhncloud"
    window: int = setting(
        5000, "How many messages may be in its hands without an answer.", min_value=1, max_value=10_000
    )
    sms_app_key: str = setting("", "App key of its SMS service; none: it carries no texts.", is_secret=True)
    sms_secret_key: str = setting("", "Secret key of its SMS service; or with _env or _file.", is_secret=True)
    talk_app_key: str = setting(
        "", "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.", is_secret=True
    )
    talk_secret_key: str = setting("", "Secret key of that service; or with _env or _file.", is_secret=True)
    sms_address: str = setting("https://api-sms.cloud.toast.com", "Where its SMS interface is.")
    talk_address: str = setting(
        "https://kakaotalk-bizmessage.api.nhncloudservice.com", "Where its KakaoTalk Bizmessage interface is."
    )
    tls_ca: Path | None = setting(None, "File of the authority that signed them; none: those of the system.")
    calls: int = setting(
        40, "How many calls may be under way at once, of each of its services.", min_value=1, max_value=200
    )
    timeout_seconds: int = setting(10, "How long a call may take.", min_value=1, max_value=30)
    poll_seconds: int = setting(5, "How often results are asked for.", min_value=1, max_value=60)
    webhook_signature: str = setting(
        "",
        "The signature its webhooks carry, at least 16 characters; none: webhooks are not taken.",
        is_secret=True,
    )
    unsubscribe_number: str = setting(
        "", "080 number to refuse advertisements with; none: texts that are advertisements are not carried."
    )

    def __post_init__(self) -> None:
        """Leave out what there is no key for. Raises BadSetting where key and secret do not go together."""
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
            raise BadSetting(f"carriers.{self.name}: give sms_app_key or talk_app_key, or it carries nothing")
        if self.webhook_signature and len(self.webhook_signature) < MIN_SIGNATURE_LENGTH:
            raise BadSetting(f"carriers.{self.name}.webhook_signature: at least {MIN_SIGNATURE_LENGTH} characters")


MIN_SIGNATURE_LENGTH = 16


def _is_safe_for_secrets(address: str) -> bool:
    """Say whether secrets may be sent to an address: with TLS, or without it to this very machine."""
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
}


def read_carriers(table: Any, environment: Mapping[str, str]) -> dict[str, CarrierSettings]:
    """Return the carriers of a `[carriers]` table; `environment` has what a `password_env` names.

    Raises BadSetting.
    """
    if not isinstance(table, dict) or not all(isinstance(each, dict) for each in table.values()):
        raise BadSetting("carriers: write a table for each, [carriers.NAME]")
    return {name: _read_carrier(name, given, environment) for name, given in table.items()}


def secrets_in_environment(carriers: Mapping[str, Any]) -> set[str]:
    """Return the variables that a `[carriers]` table takes secrets from."""
    return {
        value
        for given in carriers.values()
        if isinstance(given, dict)
        for key, value in given.items()
        if key.endswith("_env") and isinstance(value, str)
    }


def describe_carrier(carrier: CarrierSettings) -> list[tuple[str, str, str]]:
    """Return name, value in force and meaning of a carrier's settings; of a secret, only whether it is set."""
    return [
        (
            f"carriers.{carrier.name}.{name}",
            (SECRET_IS_SET if getattr(carrier, name) else "")
            if each.metadata["is_secret"]
            else format_value(getattr(carrier, name)),
            each.metadata["help"],
        )
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
            raise BadSetting(f"{place}: no such setting{suggest(key, known)}")
        if target in found:
            raise BadSetting(f"{place}: {target} is given twice")
        if isinstance(value, str) and type(known[target].default) is int:
            raise BadSetting(f"{place}: {value!r} is not a whole number")
        found[target] = convert(shape, target, place, value)
    for key, each in known.items():
        if (
            each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING
            and not found.get(key)
        ):
            raise BadSetting(f"carriers.{name}.{key}: is needed ({each.metadata['help']})")
    return shape(name=name, **found)


def _resolve_secret(
    key: str, value: Any, place: str, known: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[str, Any]:
    """Return the setting that a key stands for, and its value, fetched from where a secret is kept."""
    target, _, where = key.rpartition("_")
    if where not in ("env", "file") or target not in known or not known[target].metadata["is_secret"]:
        return key, value
    if where == "env":
        if not isinstance(value, str) or value not in environment:
            raise BadSetting(f"{place}: names a variable that is not set in the environment")
        return target, environment[value]
    try:
        return target, Path(value).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise BadSetting(f"{place}: cannot be read ({reason})") from None

"""The settings of carriers: a table of the TOML file for each, by what kind of carrier it is."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pabal.domain.message import Outcome, Product
from pabal.settings.field import BadSetting, declared, fields, nearest, shown, typed

SENDABLE = tuple(product for product in Product if product not in (Product.EMAIL, Product.PUSH))
SET = "(set)"
"""What is shown of a secret."""


@dataclass(frozen=True, kw_only=True)
class CarrierSettings:
    """What all kinds of carrier have."""

    name: str
    kind: str
    products: tuple[Product, ...] = SENDABLE
    window: int = declared(100, "How many messages may be in its hands without an answer.", least=1, most=10_000)
    rate: int = declared(0, "How many messages a second it may be given; 0: no limit.", least=0)
    patience_seconds: int = declared(
        60,
        "How long it may be unreachable, or fail at everything, before messages go to the next of their route.",
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class SimulatorSettings(CarrierSettings):
    """The built-in simulator."""

    kind: str = "simulator"
    window: int = declared(2000, "How many messages may be in its hands without an answer.", least=1, most=10_000)


@dataclass(frozen=True, kw_only=True)
class SmppSettings(CarrierSettings):
    """An operator or aggregator that speaks SMPP 3.4."""

    kind: str = "smpp"
    products: tuple[Product, ...] = (Product.SMS, Product.LMS)
    host: str = declared(..., "Where it listens.")
    port: int = declared(2775, "On which port.", least=1, most=65535)
    tls: bool = declared(False, "Whether to speak TLS, checking its certificate.")
    tls_ca: Path | None = declared(None, "File of the authority that signed it; none: those of the system.")
    system_id: str = declared(..., "Who we are to it.", longest=15)
    password: str = declared("", "Its secret; or password_env or password_file.", longest=8, is_secret=True)
    system_type: str = declared("", "The type of system it wants to be told.", longest=12)
    bind: Literal["transceiver", "pair"] = declared(
        "transceiver", "transceiver: one connection for both ways; pair: a transmitter and a receiver."
    )
    binds: int = declared(1, "How many such connections.", least=1, most=64)
    on_doubt: Literal["resend", "hold"] = declared(
        "resend",
        "What becomes of a message when a connection breaks before its answer: resend it,"
        " or hold it until its receipt or time-out.",
    )
    encoding: Literal["auto", "ucs2", "cp949"] = declared(
        "auto", "How texts are spelled: auto (GSM 7 where it suffices, else UCS-2), ucs2, or cp949."
    )
    data_coding: int | None = declared(
        None, "The data_coding that goes with cp949; default: 14.", least=0, most=255
    )
    long_messages: Literal["payload", "parts"] = declared(
        "payload", "How a text longer than one short message goes: in message_payload, or in parts with a header."
    )
    numbers: Literal["national", "international"] = declared(
        "national", "How receivers are written: 01012345678 or 821012345678."
    )
    source_ton: int = declared(0, "Type of number of the sender.", least=0, most=6)
    source_npi: int = declared(0, "Numbering plan of the sender.", least=0, most=18)
    dest_ton: int = declared(0, "Type of number of the receiver.", least=0, most=6)
    dest_npi: int = declared(0, "Numbering plan of the receiver.", least=0, most=18)
    service_type: str = declared("", "The service_type of every message.", longest=5)
    receipts: bool = declared(True, "Whether it reports; if not, what it takes counts as delivered.")
    validity_minutes: int = declared(
        0, "How long it may try to deliver; 0: as long as it likes.", least=0, most=7 * 24 * 60
    )
    submit_ids: Literal["text", "hex", "decimal"] = declared(
        "text", "How to read the ids in its answers, so that those of its receipts match them."
    )
    receipt_ids: Literal["text", "hex", "decimal"] = declared("text", "How to read the ids in its receipts.")
    unmarked_receipts: bool = declared(
        False, "Whether a message without the mark of a receipt is read as one if its text looks like it."
    )
    errors: dict[str, Outcome] = declared({}, "Its own error codes in receipts, each with a result code of ours.")
    enquire_seconds: int = declared(30, "How often a quiet connection is tested.", least=1, most=3600)


TEXTS = (Product.SMS, Product.LMS, Product.MMS)
TALKS = tuple(product for product in SENDABLE if product not in TEXTS)


@dataclass(frozen=True, kw_only=True)
class NhnCloudSettings(CarrierSettings):
    """NHN Cloud Notification: SMS for texts, KakaoTalk Bizmessage for Alimtalk and friend talk."""

    kind: str = "nhncloud"
    window: int = declared(5000, "How many messages may be in its hands without an answer.", least=1, most=10_000)
    sms_app_key: str = declared("", "App key of its SMS service; none: it carries no texts.", is_secret=True)
    sms_secret_key: str = declared("", "Secret key of its SMS service; or with _env or _file.", is_secret=True)
    talk_app_key: str = declared(
        "", "App key of its KakaoTalk Bizmessage service; none: neither Alimtalk nor friend talk.", is_secret=True
    )
    talk_secret_key: str = declared("", "Secret key of that service; or with _env or _file.", is_secret=True)
    sms_address: str = declared("https://api-sms.cloud.toast.com", "Where its SMS interface is.")
    talk_address: str = declared(
        "https://kakaotalk-bizmessage.api.nhncloudservice.com", "Where its KakaoTalk Bizmessage interface is."
    )
    tls_ca: Path | None = declared(None, "File of the authority that signed them; none: those of the system.")
    calls: int = declared(
        40, "How many calls may be under way at once, of each of its services.", least=1, most=200
    )
    answer_seconds: int = declared(10, "How long a call may take.", least=1, most=30)
    poll_seconds: int = declared(5, "How often results are asked for.", least=1, most=60)
    webhook_signature: str = declared(
        "",
        "The signature its webhooks carry, at least 16 characters; none: webhooks are not taken.",
        is_secret=True,
    )
    unsubscribe_number: str = declared(
        "", "080 number to refuse advertisements with; none: texts that are advertisements are not carried."
    )

    def __post_init__(self) -> None:
        """Leave out what there is no key for. Raises BadSetting where key and secret do not go together."""
        for service, products in (("sms", TEXTS), ("talk", TALKS)):
            app_key, secret_key = getattr(self, f"{service}_app_key"), getattr(self, f"{service}_secret_key")
            if bool(app_key) != bool(secret_key):
                raise BadSetting(f"carriers.{self.name}: give both {service}_app_key and {service}_secret_key")
            if not app_key:
                left = tuple(each for each in self.products if each not in products)
                object.__setattr__(self, "products", left)
            place = f"carriers.{self.name}.{service}_address"
            if not _keeps_secrets(getattr(self, f"{service}_address")):
                raise BadSetting(f"{place}: must begin with https:// and name a host")
        if not self.products:
            raise BadSetting(f"carriers.{self.name}: give sms_app_key or talk_app_key, or it carries nothing")
        if self.webhook_signature and len(self.webhook_signature) < LEAST_SIGNATURE:
            raise BadSetting(f"carriers.{self.name}.webhook_signature: at least {LEAST_SIGNATURE} characters")


LEAST_SIGNATURE = 16


def _keeps_secrets(address: str) -> bool:
    """Say whether secrets may be sent to an address: with TLS, or without it to this very machine."""
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    if not is_whole or parts.username is not None or parts.query or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1"))


KINDS: Mapping[str, type[CarrierSettings]] = {
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
    return {name: _carrier(name, given, environment) for name, given in table.items()}


def secrets_in_environment(carriers: Mapping[str, Any]) -> set[str]:
    """Return the variables that a `[carriers]` table takes secrets from."""
    return {
        value
        for given in carriers.values()
        if isinstance(given, dict)
        for key, value in given.items()
        if key.endswith("_env") and isinstance(value, str)
    }


def described(carrier: CarrierSettings) -> list[tuple[str, str, str]]:
    """Return name, value in force and meaning of a carrier's settings; of a secret, only whether it is set."""
    return [
        (
            f"carriers.{carrier.name}.{name}",
            (SET if getattr(carrier, name) else "")
            if each.metadata["is_secret"]
            else shown(getattr(carrier, name)),
            each.metadata["help"],
        )
        for name, each in fields(type(carrier)).items()
    ]


def _carrier(name: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> CarrierSettings:
    shape = KINDS.get(str(given.get("kind")))
    if shape is None:
        raise BadSetting(f"carriers.{name}: kind must be one of {', '.join(KINDS)}")
    known = fields(shape)
    found: dict[str, Any] = {}
    for key, value in given.items():
        place = f"carriers.{name}.{key}"
        target, value = _revealed(key, value, place, known, environment)
        if key == "kind":
            continue
        if target not in known:
            raise BadSetting(f"{place}: no such setting{nearest(key, known)}")
        if target in found:
            raise BadSetting(f"{place}: {target} is given twice")
        if isinstance(value, str) and type(known[target].default) is int:
            raise BadSetting(f"{place}: {value!r} is not a whole number")
        found[target] = typed(shape, target, place, value)
    for key, each in known.items():
        if (
            each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING
            and not found.get(key)
        ):
            raise BadSetting(f"carriers.{name}.{key}: is needed ({each.metadata['help']})")
    return shape(name=name, **found)


def _revealed(
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

"""Every setting, once: its name, its default, what it means, and where it is read from."""

import dataclasses
import difflib
import os
import tomllib
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from pabal.domain.message import PRODUCT_BY_WORD, Product

ENVIRONMENT_PREFIX = "PABAL_"
CARRIER_KINDS = ("simulator",)
SENDABLE = tuple(product for product in Product if product not in (Product.EMAIL, Product.PUSH))


class BadSetting(Exception):
    """A setting is unknown or has a value that makes no sense; the message says what to do."""


def _setting(default: Any, help: str, *, least: int | None = None, most: int | None = None) -> Any:
    metadata = {"help": help, "least": least, "most": most}
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Carrier:
    """One carrier of the `[carriers]` table."""

    name: str
    kind: str
    window: int = 2000


@dataclass(frozen=True)
class Settings:
    """What an operator may decide; the names are those of the TOML file and, in capitals, of PABAL_*."""

    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8080, "Port to listen on.", least=0, most=65535)
    data: Path = _setting(Path("data"), "Directory that holds the embedded store.")
    store: str = _setting("", "Address of the store; empty: sqlite, in the data directory.")
    migrate: bool = _setting(True, "Whether serve brings the schema up to date at start.")
    zone: ZoneInfo = _setting(ZoneInfo("Asia/Seoul"), "Time zone of every date in requests and records.")
    always_ok: bool = _setting(False, "Answer HTTP 200 to 4xx of /api/ except 429, for clients that throw on them.")
    trusted_proxies: list[IPv4Network | IPv6Network] = _setting([], "Networks whose X-Forwarded-For is believed.")
    check_sender_numbers: bool | None = _setting(
        None, "Whether senders must be registered numbers; default: once a real carrier is configured."
    )
    unsupported_characters: Literal["refuse", "replace"] = _setting(
        "refuse", "What to do with characters that text messages cannot hold: refuse, or replace by '?'."
    )
    night_ads: Literal["refuse", "move"] = _setting(
        "refuse", "What to do with advertisements from 20:50 to 08:00: refuse, or move to 08:00."
    )
    max_body_bytes: int = _setting(8 * 1024 * 1024, "Largest request body.", least=1024)
    max_receivers: int = _setting(1000, "Most receivers of one request.", least=1, most=100_000)
    max_days_ahead: int = _setting(60, "How far ahead a sendDate may lie, in days.", least=1, most=365)
    max_waiting_writes: int = _setting(
        10_000,
        "Most transactions that wait for the store before callers are told SERVICE_UNAVAILABLE.",
        least=1,
    )
    read_connections: int = _setting(2, "Connections of the store for reading.", least=1, most=64)
    sms_timeout_hours: int = _setting(25, "Hours to wait for the receipt of an SMS.", least=1)
    other_timeout_hours: int = _setting(80, "Hours to wait for the receipt of any other message.", least=1)
    fallback_within_minutes: int = _setting(
        60,
        "A failed Alimtalk or friend talk is sent as a text only so long after its scheduled time.",
        least=1,
    )
    idempotency_hours: int = _setting(24, "How long an Idempotency-Key is remembered.", least=1)
    token_minutes: int = _setting(30, "How long the token of a sender profile is valid.", least=1)
    retention_days: int = _setting(180, "Days after which numbers and texts are blanked.", least=1)
    key_rate: int = _setting(1000, "Requests a second of a new key; 0: no limit.", least=0)
    simulator_messages: int = _setting(
        100_000, "Messages that the simulator's phones hold in all; older ones are dropped.", least=1
    )
    sender_categories: Path | None = _setting(
        None, "CSV file (code,name) of sender profile categories; default: the one that comes along."
    )
    template_categories: Path | None = _setting(
        None, "CSV file (code,group,name) of template categories; default: the one that comes along."
    )
    log_format: Literal["auto", "text", "json"] = _setting(
        "auto", "How to log: text, json, or auto (text on a terminal, json elsewhere)."
    )
    log_requests: Literal["refused", "all"] = _setting(
        "refused", "Which requests are logged: those that were refused or failed, or all."
    )
    stop_seconds: int = _setting(20, "How long a stopping service finishes what is in hand.", least=1)
    carriers: dict[str, Carrier] = _setting({}, "Carriers, a table each; none: the simulator for everything.")
    routes: dict[str, list[str]] = _setting({}, "For each product the carriers to try, in order.")

    @property
    def store_path(self) -> Path:
        """Where the embedded store's file is."""
        if not self.store:
            return self.data / "pabal.db"
        if self.store.startswith("sqlite:///"):
            return Path(self.store.removeprefix("sqlite:///"))
        raise BadSetting(f"store: {self.store.split(':')[0]}: is not a store this version knows; use sqlite:///…")

    @property
    def must_check_sender_numbers(self) -> bool:
        if self.check_sender_numbers is not None:
            return self.check_sender_numbers
        return any(carrier.kind != "simulator" for carrier in self.carriers.values())


FIELDS = {each.name: each for each in dataclasses.fields(Settings)}
_HINTS = get_type_hints(Settings)


def load(environment: Mapping[str, str] | None = None, file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings: overrides before the environment before the file before the defaults.

    The file is `file`, else what PABAL_CONFIG names. Raises BadSetting.
    """
    environment = os.environ if environment is None else environment
    given: dict[str, Any] = {}
    file = file or _path(environment.get(f"{ENVIRONMENT_PREFIX}CONFIG"))
    if file:
        given |= _from_file(file)
    given |= _from_environment(environment)
    for name, value in overrides.items():
        if value is not None:
            _check_limits(name, name, value)
            given[name] = value
    settings = Settings(**given)
    settings.store_path  # noqa: B018 - says no here rather than at first use
    _check_retention(settings)
    return _with_routes(settings)


def described(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value in force and meaning of every setting."""
    return [(name, _shown(getattr(settings, name)), each.metadata["help"]) for name, each in FIELDS.items()]


def _from_file(file: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSetting(f"{file}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise BadSetting(f"{file}: is not TOML: {error}") from None
    given: dict[str, Any] = {}
    for name, value in table.items():
        _check_known(name, name)
        if name == "carriers":
            given[name] = _carriers(value)
        elif name == "routes":
            given[name] = _routes(value)
        else:
            given[name] = _typed(name, name, value)
    return given


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    given = {}
    for variable, value in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in ("PABAL_CONFIG", "PABAL_TORTURE"):
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        _check_known(name, variable)
        if name in ("carriers", "routes"):
            raise BadSetting(f"{variable}: carriers and routes stand in the TOML file, not in the environment")
        given[name] = _typed(name, variable, value)
    return given


def _check_known(name: str, shown: str) -> None:
    if name in FIELDS:
        return
    near = difflib.get_close_matches(name, FIELDS, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; see `pabal settings`"
    raise BadSetting(f"{shown}: no such setting{hint}")


def _typed(name: str, shown: str, value: Any) -> Any:
    try:
        typed = _converted(_HINTS[name], value)
    except (ValueError, KeyError, TypeError, OSError):  # OSError: a time zone that is a directory of them
        raise BadSetting(f"{shown}: {value!r} is not {_expected(_HINTS[name])}") from None
    _check_limits(name, shown, typed)
    return typed


def _check_limits(name: str, shown: str, typed: Any) -> None:
    metadata = FIELDS[name].metadata
    if isinstance(typed, int):
        if metadata["least"] is not None and typed < metadata["least"]:
            raise BadSetting(f"{shown}: at least {metadata['least']}")
        if metadata["most"] is not None and typed > metadata["most"]:
            raise BadSetting(f"{shown}: at most {metadata['most']}")


def _converted(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint):
            raise ValueError
        return value
    if origin is list:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        return [_converted(get_args(hint)[0], part) for part in parts]
    if origin in (Union, types.UnionType):
        if IPv4Network in get_args(hint):
            return ip_network(_text(value))
        return _converted(get_args(hint)[0], value)
    if hint is bool:
        if isinstance(value, bool):
            return value
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[_text(value).lower()]
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError
        return int(value)
    if not isinstance(value, (str, hint)):
        raise ValueError
    return hint(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(get_args(hint))
    if get_origin(hint) is list:
        return "a list of networks"
    if get_origin(hint) in (Union, types.UnionType):
        return _expected(get_args(hint)[0])
    return {bool: "true or false", int: "a whole number", ZoneInfo: "a time zone such as Asia/Seoul"}.get(
        hint, "text"
    )


def _carriers(table: Any) -> dict[str, Carrier]:
    if not isinstance(table, dict) or not all(isinstance(each, dict) for each in table.values()):
        raise BadSetting("carriers: write a table for each, [carriers.NAME]")
    found = {}
    for name, given in table.items():
        kind = given.get("kind")
        if kind not in CARRIER_KINDS:
            raise BadSetting(f"carriers.{name}: kind must be one of {', '.join(CARRIER_KINDS)}")
        known = {each.name for each in dataclasses.fields(Carrier)} - {"name"}
        for key, value in given.items():
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise BadSetting(f"carriers.{name}.{key}: no such setting{hint}")
            if key == "window" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise BadSetting(f"carriers.{name}.window: {value!r} is not a whole number of at least 1")
        found[name] = Carrier(name, **given)
    return found


def _routes(table: Any) -> dict[str, list[str]]:
    if not isinstance(table, dict):
        raise BadSetting("routes: write a table, [routes]")
    for product, carriers in table.items():
        if product not in PRODUCT_BY_WORD or PRODUCT_BY_WORD[product] not in SENDABLE:
            near = difflib.get_close_matches(product, [each.word for each in SENDABLE], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise BadSetting(f"routes.{product}: no such product{hint}")
        if not isinstance(carriers, list) or not carriers or not all(isinstance(c, str) for c in carriers):
            raise BadSetting(f"routes.{product}: write a list of carriers")
        if len(set(carriers)) < len(carriers):  # after the last try the next one is looked up by name
            raise BadSetting(f"routes.{product}: name each carrier once")
    return dict(table)


def _check_retention(settings: Settings) -> None:
    """See that nothing is blanked before it has ended."""
    timeout_days = -(-max(settings.sms_timeout_hours, settings.other_timeout_hours) // 24)
    least = settings.max_days_ahead + timeout_days + 1
    if settings.retention_days < least:
        raise BadSetting(
            f"retention_days: at least {least}, or messages would be blanked before they have ended"
            " (max_days_ahead and the time-outs for receipts, in days, and one more)"
        )


def _with_routes(settings: Settings) -> Settings:
    """Fill in the simulator where no carrier is named, and check that routes lead somewhere."""
    carriers = settings.carriers or {"simulator": Carrier("simulator", "simulator")}
    routes = settings.routes
    if not settings.carriers and not routes:
        routes = {product.word: ["simulator"] for product in SENDABLE}
    for product, names in routes.items():
        for name in names:
            if name not in carriers:
                raise BadSetting(f"routes.{product}: there is no carrier {name!r} in [carriers]")
    return dataclasses.replace(settings, carriers=carriers, routes=routes)


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(
            f"{name} ({getattr(each, 'kind', ' → '.join(map(str, each)) if isinstance(each, list) else each)})"
            for name, each in value.items()
        )
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)

"""Reads the tables of the TOML file: carriers, routes, and which other relays' endpoints are served."""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pabal.domain.base.codes import Text
from pabal.domain.sends.message import PRODUCT_BY_CODE
from pabal.domain.sends.price import FRIEND_PRICE
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.settings.carriers import SENDABLE, CarrierSettings, SimulatorSettings, SmppSettings, check_product
from pabal.settings.field import BadSetting, convert, fields, show_value, suggest
from pabal.settings.relays import NhnCloudSettings, SolapiSettings

RENAMED = {"patience_seconds": "failover_seconds", "answer_seconds": "timeout_seconds"}
"""Old names, so that an operator who upgrades learns the new ones."""
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
        raise BadSetting(
            "carriers: 발송 경로마다 [carriers.NAME] 표를 적으세요",
            "carriers: write a table [carriers.NAME] for each carrier",
        )
    return {name: _read_carrier(name, given, environment) for name, given in table.items()}


def secrets_in_environment(carriers: Mapping[str, Any]) -> set[str]:
    """Return the environment variables that a `[carriers]` table reads secrets from."""
    return {
        value
        for given in carriers.values()
        if isinstance(given, dict)
        for key, value in given.items()
        if key.endswith("_env") and isinstance(value, str)
    }


def describe_carrier(carrier: CarrierSettings) -> list[tuple[str, str, Text]]:
    """Return name, value and meaning of a carrier's settings; of a secret only whether it is set."""
    return [
        (f"carriers.{carrier.name}.{name}", show_value(each, getattr(carrier, name)), each.metadata["help"])
        for name, each in fields(type(carrier)).items()
    ]


def _read_carrier(name: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> CarrierSettings:
    shape = CARRIER_KINDS.get(str(given.get("kind")))
    if shape is None:
        raise BadSetting(
            f"carriers.{name}: kind는 다음 가운데 하나여야 합니다: {', '.join(CARRIER_KINDS)}",
            f"carriers.{name}: kind must be one of {', '.join(CARRIER_KINDS)}",
        )
    known = fields(shape)
    found: dict[str, Any] = {}
    for key, value in given.items():
        place = f"carriers.{name}.{key}"
        target, value = _resolve_secret(key, value, place, known, environment)
        if key == "kind":
            continue
        if target not in known:
            hint = (
                Text(f". 이제 {RENAMED[key]}입니다", f"; it is now {RENAMED[key]}")
                if key in RENAMED
                else suggest(key, known)
            )
            raise BadSetting(f"{place}: 없는 설정입니다{hint.ko}", f"{place}: no such setting{hint.en}")
        if target in found:
            raise BadSetting(f"{place}: {target}을(를) 두 번 적었습니다", f"{place}: {target} is given twice")
        if isinstance(value, str) and type(known[target].default) is int:
            raise BadSetting(
                f"{place}: {value!r}은(는) 정수가 아닙니다", f"{place}: {value!r} is not a whole number"
            )
        found[target] = convert(shape, target, place, value)
    for product in found.get("prices", {}):
        if product == FRIEND_PRICE and shape.tells_friends:
            continue
        check_product(product, f"carriers.{name}.prices.{product}", shape.products)
    for key, each in known.items():
        if (
            each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING
            and not found.get(key)
        ):
            help, place = each.metadata["help"], f"carriers.{name}.{key}"
            raise BadSetting(f"{place}: 꼭 필요합니다({help.ko})", f"{place}: is required ({help.en})")
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
            raise BadSetting(
                f"{place}: 설정되지 않은 환경 변수입니다", f"{place}: names an environment variable that is not set"
            )
        return target, environment[value]
    try:
        return target, Path(value).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise BadSetting(f"{place}: 읽을 수 없습니다({reason})", f"{place}: cannot be read ({reason})") from None


def read_routes(table: Any) -> dict[str, list[str]]:
    """Return the routes of the TOML file.

    Raises BadSetting.
    """
    if not isinstance(table, dict):
        raise BadSetting("routes: [routes] 표를 적으세요", "routes: write a table [routes]")
    for product, carriers in table.items():
        check_product(product, f"routes.{product}")
        if not isinstance(carriers, list) or not carriers or not all(isinstance(c, str) for c in carriers):
            raise BadSetting(
                f"routes.{product}: 발송 경로 목록을 적으세요", f"routes.{product}: write a list of carriers"
            )
        if len(set(carriers)) < len(carriers):  # the next carrier of a route is looked up by name
            raise BadSetting(
                f"routes.{product}: 발송 경로를 한 번씩만 적으세요", f"routes.{product}: name each carrier once"
            )
    return dict(table)


def routes_to(carrier: str) -> dict[str, list[str]]:
    """Return the routes that send everything by one carrier."""
    return {product.code: [carrier] for product in SENDABLE}


def find_unrouted(routes: Mapping[str, list[str]], carriers: Mapping[str, CarrierSettings]) -> list[str]:
    """Return the carriers that no route names, so that nothing is sent through them."""
    used = {name for names in routes.values() for name in names}
    return [name for name in carriers if name not in used]


def check_routes(routes: Mapping[str, list[str]], carriers: Mapping[str, CarrierSettings]) -> None:
    """Raise BadSetting unless every route names carriers that can send its product."""
    for product, names in routes.items():
        for name in names:
            if name not in carriers:
                raise BadSetting(
                    f"routes.{product}: [carriers]에 발송 경로 {name!r}이(가) 없습니다",
                    f"routes.{product}: there is no carrier {name!r} in [carriers]",
                )
            if PRODUCT_BY_CODE[product] not in carriers[name].products:
                sendable = ", ".join(each.code for each in carriers[name].products)
                raise BadSetting(
                    f"routes.{product}: {name}은(는) {carriers[name].kind} 종류라서 {sendable}만 보냅니다",
                    f"routes.{product}: {name} is of kind {carriers[name].kind}, which sends only {sendable}",
                )
        if len({carriers[name].kind == SIMULATOR_KIND for name in names}) > 1:
            raise BadSetting(
                f"routes.{product}: 시뮬레이터는 실제로 보내지 않으므로, 실제 발송 경로와 함께 적을 수 없습니다",
                f"routes.{product}: a simulator delivers nothing, so it cannot share a route with real carriers",
            )


KINDS = ("solapi", "nhncloud")
"""The relays whose endpoints can be served."""
KIND_NAMES = {"solapi": Text("솔라피, CoolSMS", "Solapi, CoolSMS"), "nhncloud": Text("NHN Cloud", "NHN Cloud")}
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)


def read_compat(tables: Any) -> dict[str, list[str]]:
    """Return the host names of each relay whose endpoints are served.

    Raises BadSetting.
    """
    if not isinstance(tables, Mapping):
        raise BadSetting(
            "compat: 표가 아닙니다. [compat.solapi]로 쓰세요", "compat: not a table; write [compat.solapi]"
        )
    found: dict[str, list[str]] = {}
    hosts: set[str] = set()
    for kind, table in tables.items():
        if kind not in KINDS:
            hint = suggest(kind, KINDS)
            known = ", ".join(KINDS)
            raise BadSetting(
                f"compat.{kind}: 쓸 수 있는 이름: {known}{hint.ko}", f"compat.{kind}: known are {known}{hint.en}"
            )
        if not isinstance(table, Mapping):
            raise BadSetting(f"compat.{kind}: 표가 아닙니다", f"compat.{kind}: not a table")
        for name in table:
            if name != "hosts":
                hint = suggest(name, ("hosts",))
                raise BadSetting(
                    f"compat.{kind}.{name}: 없는 설정입니다{hint.ko}",
                    f"compat.{kind}.{name}: no such setting{hint.en}",
                )
        found[kind] = [_read_host(each, f"compat.{kind}.hosts", hosts) for each in table.get("hosts", [])]
    return found


def _read_host(value: Any, place: str, known: set[str]) -> str:
    host = value.lower() if isinstance(value, str) else ""
    if not _HOST.fullmatch(host):
        raise BadSetting(
            f"{place}: {value!r}은(는) 호스트 이름이 아닙니다. 포트와 https:// 없이 쓰세요",
            f"{place}: {value!r} is not a host name; write it without port and https://",
        )
    if host in known:
        raise BadSetting(f"{place}: {host}이(가) 두 번 있습니다", f"{place}: {host} is there twice")
    known.add(host)
    return host

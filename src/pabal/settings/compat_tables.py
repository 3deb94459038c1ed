"""Reads the tables `[compat.NAME]`: which other relays' endpoints are served, and at which host names."""

import re
from collections.abc import Mapping
from typing import Any

from pabal.domain.base.codes import Text
from pabal.settings.field import BadSetting, suggest

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

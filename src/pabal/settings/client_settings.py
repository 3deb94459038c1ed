"""The settings of commands that call a running service."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pabal.settings.environment import ENVIRONMENT_PREFIX, cannot_read, read_variables
from pabal.settings.field import BadSetting, convert, fields, setting

CONFIG_VARIABLE = f"{ENVIRONMENT_PREFIX}CONFIG"


@dataclass(frozen=True)
class ClientSettings:
    """Which service to call, and with which key."""

    url: str = setting(
        "http://127.0.0.1:8080",
        "`pabal send`, `history`, `phone`, `status`, `mcp`가 호출하는 서비스의 주소입니다.",
        "Address of the service that `pabal send`, `history`, `phone`, `status` and `mcp` call.",
    )
    api_key: str = setting(
        "", "이 명령들이 쓰는 API 키입니다.", "API key that these commands call it with.", is_secret=True
    )
    mcp_max_receivers: int = setting(
        10,
        "`pabal mcp`로 한 번에 보낼 수 있는 최대 수신자 수입니다.",
        "Most receivers of one send through `pabal mcp`.",
        limits=(1, 1000),
    )


CLIENT_FIELDS = fields(ClientSettings)


def load_client(
    environment: Mapping[str, str] | None = None, file: Path | None = None, **overrides: str | int | None
) -> ClientSettings:
    """Return these settings; overrides win over the environment, the environment over the file.

    Other names in the environment and the file are those of the service, and left to it. Raises BadSetting.
    """
    environment = read_variables() if environment is None else environment
    table = read_table(file, environment)
    given: dict[str, Any] = {}
    for name in CLIENT_FIELDS:
        variable = f"{ENVIRONMENT_PREFIX}{name.upper()}"
        places = [(name, overrides.get(name)), (variable, environment.get(variable)), (name, table.get(name))]
        found = next(((label, value) for label, value in places if value is not None), None)
        if found:
            given[name] = convert(ClientSettings, name, *found)
    settings = ClientSettings(**given)
    if not settings.url.startswith(("http://", "https://")):
        raise BadSetting(
            f"url: {settings.url!r}은(는) http://127.0.0.1:8080 같은 주소가 아닙니다",
            f"url: {settings.url!r} is not an address such as http://127.0.0.1:8080",
        )
    if not (settings.api_key.isascii() and settings.api_key.isprintable()):
        raise BadSetting(
            "api_key: 키가 아닙니다. 키는 pb_…로 시작합니다", "api_key: the value is not a key; keys look like pb_…"
        )
    return settings


def read_table(file: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what a TOML file contains: `file`, else the one that PABAL_CONFIG names, if any.

    Raises BadSetting.
    """
    if file is None and not environment.get(CONFIG_VARIABLE):
        return {}
    file = file or Path(environment[CONFIG_VARIABLE])
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSetting(*cannot_read(file, error)) from None
    except ValueError as error:
        raise BadSetting(f"{file}: TOML이 아닙니다: {error}", f"{file}: is not TOML: {error}") from None

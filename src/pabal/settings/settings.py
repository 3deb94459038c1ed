"""All settings of the service, read from the environment and a TOML file."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pabal.domain.base.codes import Text
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.settings.carriers import CarrierSettings, SimulatorSettings, check_product
from pabal.settings.client_settings import CONFIG_VARIABLE, ClientSettings, read_table
from pabal.settings.environment import ENVIRONMENT_PREFIX, read_variables
from pabal.settings.field import BadSetting, check_limits, convert, fields, setting, show_value, suggest
from pabal.settings.http_settings import HttpSettings
from pabal.settings.mail_settings import MailSettings, check_mail
from pabal.settings.openid_settings import OpenIdSettings, check_openid, is_loopback
from pabal.settings.sending_settings import (
    SendingSettings,
    check_retention,
    read_expire_minutes,
    read_opt_out_number,
)
from pabal.settings.store_settings import StoreSettings, check_store
from pabal.settings.tables import (
    check_routes,
    describe_carrier,
    read_carriers,
    read_compat,
    read_routes,
    routes_to,
    secrets_in_environment,
)
from pabal.settings.webhook_settings import WebhookSettings, check_webhooks

RESERVED_VARIABLES = (CONFIG_VARIABLE, "PABAL_TORTURE", "PABAL_TEST_CITUS")
"""Variables with our prefix that are no settings: the path of the file, and switches of the tests."""
TABLES = {"routes": read_routes, "compat": read_compat, "expire_minutes": read_expire_minutes}
"""What reads the tables that have rules of their own."""
FILE_ONLY = ("carriers", "prices", *TABLES)
"""Tables, which an environment variable cannot hold."""


@dataclass(frozen=True)
class Settings(
    ClientSettings, MailSettings, WebhookSettings, OpenIdSettings, SendingSettings, StoreSettings, HttpSettings
):
    """The settings of an installation; the names are those in the TOML file and, in capitals, of PABAL_*."""

    token_minutes: int = setting(
        30,
        "발신 프로필 인증 토큰의 유효 시간(분)입니다.",
        "How long the token of a sender profile is valid.",
        limits=(1, None),
    )

    max_contacts: int = setting(
        1_000_000,
        "계정의 주소록에 담을 수 있는 최대 연락처 수입니다.",
        "Maximum number of contacts in the address book of an account.",
        limits=(1, None),
    )
    file_cpu_seconds: int = setting(
        60,
        "콘솔에 올린 파일 하나를 읽는 데 쓸 수 있는 CPU 시간(초)입니다. 넘으면 파일을 거부합니다. 열을 미리 볼 때는"
        " 5초까지입니다.",
        "CPU seconds that reading one uploaded file of the console may take; beyond, the file is refused. A preview"
        " of its columns may take 5.",
        limits=(1, 3600),
    )
    file_memory_mb: int = setting(
        512,
        "콘솔에 올린 파일 하나를 읽는 프로세스의 최대 메모리(MB)입니다. 넘으면 파일을 거부합니다.",
        "Memory in MB of the process that reads one uploaded file of the console; beyond, the file is refused.",
        limits=(128, None),
    )
    draft_days: int = setting(
        7,
        "콘솔에서 작성하다 만 내용과 보내지 않은 캠페인을 마지막 변경 뒤 보관하는 일수입니다.",
        "Days that drafts of the console and campaigns that were never sent are kept after their last change.",
        limits=(1, 180),
    )
    approval_receivers: int = setting(
        0,
        "콘솔에서 이보다 많은 수신자에게 보내려면 다른 사용자의 승인이 필요합니다. 0: 계정 관리자가 정한 대로.",
        "Sends of the console to more receivers need a second user's approval; 0: as each account's owners say.",
        limits=(0, None),
    )

    first_account: bool = setting(
        True,
        "계정이 하나도 없으면 시작할 때 계정 first와 API 키, 콘솔 사용자 admin을 만들어 키와 비밀번호를 출력합니다."
        " 출력이 로그로 남는 곳에서는 끄고 pabal key create와 pabal user create로 만듭니다.",
        "If there is no account, a start makes the account first with an API key, and the console's user admin, and"
        " prints key and password. Turn it off where that ends up in a log, and use pabal key create and pabal user"
        " create.",
    )
    owner_keys: bool = setting(
        False,
        "계정 관리자가 콘솔에서 자기 계정의 API 키를 발급할 수 있게 할지 정합니다. 운영자는 언제나 할 수 있습니다.",
        "Whether owners may create API keys of their account in the console; operators always may.",
    )
    keys_per_account: int = setting(
        100,
        "한 계정이 동시에 쓸 수 있는 API 키의 수입니다.",
        "API keys of an account that can be used at a time.",
        limits=(1, None),
    )
    key_rate: int = setting(
        1000,
        "새 API 키에 허용하는 초당 요청 수입니다. 0이면 제한하지 않습니다.",
        "Requests per second of a new key; 0: no limit.",
        limits=(0, None),
    )

    sender_categories: Path | None = setting(
        None,
        "발신 프로필 카테고리의 CSV 파일(code,name)입니다. 기본값: 함께 제공하는 파일.",
        "CSV file (code,name) of sender profile categories; default: the one included.",
    )
    template_categories: Path | None = setting(
        None,
        "템플릿 카테고리의 CSV 파일(code,group,name)입니다. 기본값: 함께 제공하는 파일.",
        "CSV file (code,group,name) of template categories; default: the one included.",
    )

    carriers: dict[str, CarrierSettings] = setting(
        {},
        "발송 경로마다 표 하나로 설정합니다. 없으면 모든 메시지를 시뮬레이터로 발송합니다.",
        "Carriers, one table each; none: the simulator sends everything.",
    )
    routes: dict[str, list[str]] = setting(
        {},
        "메시지 종류별로 이용할 발송 경로를 시도할 순서대로 적습니다.",
        "The carriers to try for each product, in order.",
    )

    route_by: Literal["order", "price"] = setting(
        "order",
        "한 종류의 발송 경로 가운데 먼저 이용할 것을 정합니다. order: 적은 순서대로, price: 단가가 낮은 순서대로."
        " 단가가 없는 발송 경로는 마지막에 이용합니다.",
        "Which carrier of a route comes first: the first in its list, or the cheapest one; carriers without"
        " a price come last.",
    )

    compat: dict[str, list[str]] = setting(
        {},
        "다른 중계사의 주소로 만든 프로그램을 받을 때, 중계사마다 표 하나로 설정합니다. [compat.solapi]는"
        " /compat/solapi/, [compat.nhncloud]는 /compat/nhncloud/ 아래에서 받고, hosts에 적은 호스트 이름에서는"
        " 경로 그대로 받습니다.",
        "Other relays whose endpoints are served, one table each: [compat.solapi] serves them below"
        " /compat/solapi/, [compat.nhncloud] below /compat/nhncloud/, and as they are at the host names in hosts.",
    )

    @property
    def must_check_sender_numbers(self) -> bool:
        if self.check_sender_numbers is not None:
            return self.check_sender_numbers
        return self.has_real_carriers

    @property
    def has_real_carriers(self) -> bool:
        """Whether messages can leave this machine."""
        return any(carrier.kind != SIMULATOR_KIND for carrier in self.carriers.values())

    @property
    def is_for_development(self) -> bool:
        """Whether it has only simulators, and nobody but this machine reaches it."""
        return not self.has_real_carriers and is_loopback(self.host) and not self.trusted_proxies


FIELDS = fields(Settings)
"""Every setting by name."""


def load(environment: Mapping[str, str] | None = None, file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings; overrides win over the environment, the environment over the file.

    The file is `file`, else the one that PABAL_CONFIG names. Raises BadSetting.
    """
    environment = read_variables() if environment is None else environment
    table = read_table(file, environment)
    given = _from_table(table, environment)
    given |= _from_environment(environment, secrets_in_environment(table.get("carriers", {})))
    for name, value in overrides.items():
        if value is not None:
            check_limits(Settings, name, name, value)
            given[name] = value
    settings = Settings(**given)
    for check in (check_store, check_webhooks, check_mail, check_openid):
        check(settings)
    check_retention(settings, settings.retention_days)
    settings = dataclasses.replace(settings, opt_out_number=read_opt_out_number(settings.opt_out_number))
    return _with_routes(settings)


def describe_settings(settings: Settings) -> list[tuple[str, str, Text]]:
    """Return name, value and meaning of every setting, including those of the carriers."""
    values = {name: getattr(settings, name) for name in FIELDS} | {"store": settings.redacted_store}
    rows = [(name, show_value(each, values[name]), each.metadata["help"]) for name, each in FIELDS.items()]
    return rows + [row for carrier in settings.carriers.values() for row in describe_carrier(carrier)]


def _from_table(table: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in table.items():
        _check_known(name, name)
        if name == "carriers":
            given[name] = read_carriers(value, environment)
        elif name in TABLES:
            given[name] = TABLES[name](value)
        else:
            given[name] = convert(Settings, name, name, value)
    for product in given.get("prices", {}):
        check_product(product, f"prices.{product}")
    return given


def _from_environment(environment: Mapping[str, str], secrets: set[str]) -> dict[str, Any]:
    given = {}
    for variable, value in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in {*RESERVED_VARIABLES, *secrets}:
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        _check_known(name, variable)
        if name in FILE_ONLY:
            raise BadSetting(
                f"{variable}: {name}은(는) 환경 변수가 아니라 TOML 파일에 적으세요",
                f"{variable}: set {name} in the TOML file, not in the environment",
            )
        given[name] = convert(Settings, name, variable, value)
    return given


def _check_known(name: str, place: str) -> None:
    if name not in FIELDS:
        hint = suggest(name, FIELDS, Text(". `pabal settings`를 보세요", "; see `pabal settings`"))
        raise BadSetting(f"{place}: 없는 설정입니다{hint.ko}", f"{place}: no such setting{hint.en}")


def _with_routes(settings: Settings) -> Settings:
    """Add the simulator if no carrier is configured, and check that routes name carriers."""
    carriers = settings.carriers or {"simulator": SimulatorSettings(name="simulator")}
    routes = settings.routes
    if not settings.carriers and not routes:
        routes = routes_to("simulator")
    check_routes(routes, carriers)
    return dataclasses.replace(settings, carriers=carriers, routes=routes)

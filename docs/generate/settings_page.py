"""The reference of the settings."""

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from docs.generate.markdown import GENERATED_NOTE, join_lines, make_table
from pabal.domain.base.codes import Text
from pabal.settings.carriers import CarrierSettings, SimulatorSettings, SmppSettings
from pabal.settings.environment import ENVIRONMENT_PREFIX
from pabal.settings.field import fields, format_value
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.settings import FILE_ONLY, Settings, describe_settings
from pabal.settings.tables import CARRIER_KINDS

HEAD = Text(
    f"""# 설정
{GENERATED_NOTE}
파발은 설정을 명령줄(`--host`, `--port`, `--data`), 환경 변수, TOML 파일 순서로 읽습니다. 먼저 찾은 값을 쓰고,
없으면 기본값을 씁니다. 파일은 `--config FILE`이나 `PABAL_CONFIG`로 지정합니다. 모르는 설정은 오류이며 가장
비슷한 이름을 알려 줍니다. `pabal settings`는 사용 중인 값을 보여 줍니다. 환경 변수에서 목록의 항목은 공백이나
쉼표로 나눕니다. `store`는 비우거나 `sqlite:///FILE` 또는 `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`이며,
비밀번호는 절대 보여 주지 않습니다.
""",
    f"""# Settings
{GENERATED_NOTE}
Pabal reads settings from the command line (`--host`, `--port`, `--data`), then the environment, then a
TOML file; the first value found applies, else the default. Name the file with `--config FILE` or
`PABAL_CONFIG`. An unknown setting is an error that suggests the nearest name. `pabal settings` lists
the values in use. In the environment, separate the items of a list with blanks or commas. `store` is
empty, `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`; passwords are never shown.
""",
)
SETTINGS_COLUMNS = {
    "ko": ("이름", "환경 변수", "기본값", "뜻"),
    "en": ("Name", "Variable", "Default", "Meaning"),
}
CARRIER_COLUMNS = {"ko": ("이름", "기본값", "뜻"), "en": ("Name", "Default", "Meaning")}
IN_FILE_ONLY = Text("파일에서만", "in the file only")
REQUIRED = Text("필수", "required")
CARRIERS = Text(
    """
## 발송 경로

발송 경로는 파일의 표 `[carriers.NAME]`입니다. `kind`는 {kinds}입니다. `password` 같은 비밀 값은 환경 변수의 이름인
`password_env`나, 비밀 값만 들어 있는 파일의 경로인 `password_file`로도 줄 수 있습니다. 로그와 `pabal settings`는
비밀 값을 보여 주지 않습니다.
""",
    """
## Carriers

A carrier is a table `[carriers.NAME]` of the file. Its `kind` is {kinds}. A secret
such as `password` can also be given as `password_env`, the name of an environment variable, or as
`password_file`, the path of a file that contains only the secret. Neither the logs nor
`pabal settings` show secrets.
""",
)
ROUTES = Text(
    """## 발송 순서

표 `[routes]`는 메시지 종류마다 시도할 발송 경로를 순서대로 적습니다. 파일에 발송 경로도 순서도 없으면 시뮬레이터가
모든 메시지를 맡습니다. 있으면, 순서를 적지 않은 메시지 종류는 `PRODUCT_NOT_AVAILABLE`로 거절합니다. 쓸 수 있는 것은
`email`과 `push`를 뺀 [메시지 종류](result-codes.md#메시지-종류)입니다.
""",
    """## Routes

The table `[routes]` lists for each product the carriers to try, in order. If the file has neither
carriers nor routes, the simulator handles all products. Otherwise a product without a route is refused
with `PRODUCT_NOT_AVAILABLE`. The products are the [kinds of message](result-codes.md#kinds-of-message)
except `email` and `push`.
""",
)
EXAMPLE = """```toml
[carriers.phones]
kind = "simulator"
window = 500

[routes]
sms = ["phones"]
```"""
ABOUT: dict[type[CarrierSettings], Text] = {
    SimulatorSettings: Text("내장 시뮬레이터입니다.", "The built-in simulator."),
    SmppSettings: Text(
        "SMPP 3.4로 접속하는 이동통신사나 문자 중계사입니다.", "A network operator or aggregator with SMPP 3.4."
    ),
    NhnCloudSettings: Text(
        "중계사 NHN Cloud: SMS와 KakaoTalk Bizmessage 서비스입니다.",
        "NHN Cloud Notification: SMS for texts, KakaoTalk Bizmessage for Alimtalk and friend talk.",
    ),
    SolapiSettings: Text(
        "중계사 솔라피입니다.",
        "Solapi: texts, Alimtalk and brand messages, each message of a call with its own text.",
    ),
}


def settings_page(language: str) -> str:
    """Return the reference of every setting."""
    rows = []
    for name, default, meaning in describe_settings(Settings()):
        in_environment = name not in FILE_ONLY
        in_file = IN_FILE_ONLY.in_language(language)
        variable = f"`{ENVIRONMENT_PREFIX}{name.upper()}`" if in_environment else in_file
        described = f"{meaning.in_language(language)}{_limits(Settings, name, language)}"
        rows.append((f"`{name}`", variable, f"`{default}`" if default else "", described))
    return join_lines(
        [
            HEAD.in_language(language),
            *make_table(SETTINGS_COLUMNS[language], rows),
            CARRIERS.in_language(language).format(kinds=_either(CARRIER_KINDS, language)),
            *(line for kind, each in CARRIER_KINDS.items() for line in _carrier_settings(kind, each, language)),
            ROUTES.in_language(language),
            EXAMPLE,
        ]
    )


def _either(words: Iterable[str], language: str) -> str:
    return (" 또는 " if language == "ko" else " or ").join(f"`{word}`" for word in words)


def _carrier_settings(kind: str, settings_type: type[CarrierSettings], language: str) -> list[str]:
    """Return the settings of a kind of carrier."""
    carried = ", ".join(f"`{product.code}`" for product in settings_type.products)
    rows = [
        (f"`{name}`", _default(each, language), each.metadata["help"].in_language(language) + limits)
        for name, each in fields(settings_type).items()
        for limits in [_limits(settings_type, name, language)]
    ]
    about = ABOUT[settings_type].in_language(language)
    products = Text(f"메시지 종류: {carried}.", f"Products: {carried}.").in_language(language)
    return [f"### {kind}", "", f"{about} {products}", "", *make_table(CARRIER_COLUMNS[language], rows), ""]


def _default(each: "dataclasses.Field[Any]", language: str) -> str:
    if each.default_factory is not dataclasses.MISSING:
        return ""
    if each.default is dataclasses.MISSING:
        return REQUIRED.in_language(language)
    value = format_value(each.default)
    return f"`{value}`" if value else ""


def _limits(settings_type: type, name: str, language: str) -> str:
    hint, metadata = get_type_hints(settings_type)[name], fields(settings_type)[name].metadata
    min_value, max_value, max_length = metadata["min_value"], metadata["max_value"], metadata["max_length"]
    if get_origin(hint) is Literal:
        words = ", ".join(f"`{word}`" for word in get_args(hint))
        return Text(f" 값: {words}.", f" One of {words}.").in_language(language)
    if max_length is not None:
        return Text(f" {max_length:,}자까지.", f" At most {max_length:,} characters.").in_language(language)
    if min_value is None and max_value is None:
        return ""
    if max_value is None:
        return Text(f" {min_value:,} 이상.", f" At least {min_value:,}.").in_language(language)
    return Text(f" {min_value:,}~{max_value:,}.", f" From {min_value:,} to {max_value:,}.").in_language(language)

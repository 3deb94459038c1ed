"""The reference of the settings."""

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from docs.generate.markdown import GENERATED_NOTE, join_lines, make_table
from pabal.settings.carriers import CARRIER_KINDS, CarrierSettings
from pabal.settings.field import fields, format_value
from pabal.settings.settings import ENVIRONMENT_PREFIX, FILE_ONLY, Settings, describe_settings


def settings_page() -> str:
    """Return the reference of every setting."""
    rows = []
    for name, default, meaning in describe_settings(Settings()):
        in_environment = name not in FILE_ONLY
        variable = f"`{ENVIRONMENT_PREFIX}{name.upper()}`" if in_environment else "in the file only"
        limits = _limits(Settings, name)
        rows.append((f"`{name}`", variable, f"`{default}`" if default else "", f"{meaning}{limits}"))
    lines = [
        "# Settings",
        GENERATED_NOTE,
        "Pabal reads settings from the command line (`--host`, `--port`, `--data`), then the environment, then a",
        "TOML file; the first value found applies, else the default. Name the file with `--config FILE` or",
        "`PABAL_CONFIG`. An unknown setting is an error that suggests the nearest name. `pabal settings` lists",
        "the values in use. In the environment, separate the items of a list with blanks or commas. `store` is",
        "empty, `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`; passwords are never shown.",
        "",
        *make_table(("Name", "Variable", "Default", "Meaning"), rows),
        "",
        "## Carriers",
        "",
        f"A carrier is a table `[carriers.NAME]` of the file. Its `kind` is {_either(CARRIER_KINDS)}. A secret",
        "such as `password` can also be given as `password_env`, the name of an environment variable, or as",
        "`password_file`, the path of a file that contains only the secret. Neither the logs nor",
        "`pabal settings` show secrets.",
        "",
        *(line for kind, settings_type in CARRIER_KINDS.items() for line in _carrier_settings(kind, settings_type)),
        "## Routes",
        "",
        "The table `[routes]` lists for each product the carriers to try, in order. If the file has neither",
        "carriers nor routes, the simulator handles all products. Otherwise a product without a route is refused",
        "with `PRODUCT_NOT_AVAILABLE`. The products are the [kinds of message](result-codes.md#kinds-of-message)",
        "except `email` and `push`.",
        "",
        "```toml",
        "[carriers.phones]",
        'kind = "simulator"',
        "window = 500",
        "",
        "[routes]",
        'sms = ["phones"]',
        "```",
    ]
    return join_lines(lines)


def _either(words: Iterable[str]) -> str:
    return " or ".join(f"`{word}`" for word in words)


def _carrier_settings(kind: str, settings_type: type[CarrierSettings]) -> list[str]:
    """Return the settings of a kind of carrier."""
    carried = ", ".join(f"`{product.code}`" for product in settings_type.products)
    rows = [
        (f"`{name}`", _default(each), f"{each.metadata['help']}{_limits(settings_type, name)}")
        for name, each in fields(settings_type).items()
    ]
    return [
        f"### {kind}",
        "",
        f"{inspect.getdoc(settings_type)} Products: {carried}.",
        "",
        *make_table(("Name", "Default", "Meaning"), rows),
        "",
    ]


def _default(each: "dataclasses.Field[Any]") -> str:
    if each.default_factory is not dataclasses.MISSING:
        return ""
    if each.default is dataclasses.MISSING:
        return "required"
    value = format_value(each.default)
    return f"`{value}`" if value else ""


def _limits(settings_type: type, name: str) -> str:
    hint, metadata = get_type_hints(settings_type)[name], fields(settings_type)[name].metadata
    min_value, max_value, max_length = metadata["min_value"], metadata["max_value"], metadata["max_length"]
    if get_origin(hint) is Literal:
        return f" One of {', '.join(f'`{word}`' for word in get_args(hint))}."
    if max_length is not None:
        return f" At most {max_length:,} characters."
    if min_value is None and max_value is None:
        return ""
    if max_value is None:
        return f" At least {min_value:,}."
    return f" From {min_value:,} to {max_value:,}."

"""All settings of the service, read from the environment and a TOML file."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pabal.domain.route import SIMULATOR_KIND
from pabal.settings import carriers as carriers_module
from pabal.settings import store_address
from pabal.settings.carriers import (
    CarrierSettings,
    SimulatorSettings,
    check_product,
    read_carriers,
    secrets_in_environment,
)
from pabal.settings.client_settings import CLIENT_FIELDS, CONFIG_VARIABLE, ClientSettings, read_table
from pabal.settings.environment import ENVIRONMENT_PREFIX, read_variables
from pabal.settings.field import BadSetting, check_limits, convert, fields, setting, show_value, suggest
from pabal.settings.lifetimes import check_retention, read_expire_minutes
from pabal.settings.mail_settings import MailSettings, check_mail
from pabal.settings.openid import check_openid, read_client_secret
from pabal.settings.opt_out_number import read_opt_out_number
from pabal.settings.routes import check_routes, read_routes, routes_to
from pabal.settings.webhooks import AllowedEndpoint, check_webhooks, parse_allowed, read_keys

RESERVED_VARIABLES = (CONFIG_VARIABLE, "PABAL_TORTURE", "PABAL_TEST_CITUS")
"""Variables with our prefix that are no settings: the path of the file, and switches of the tests."""
FILE_ONLY = ("carriers", "routes", "expire_minutes", "prices")
"""Tables, which an environment variable cannot hold."""


@dataclass(frozen=True)
class Settings(MailSettings, ClientSettings):
    """The settings of an installation; the names are those in the TOML file and, in capitals, of PABAL_*."""

    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(8080, "Port to listen on.", min_value=0, max_value=65535)
    data: Path = setting(Path("data"), "Directory of the SQLite store.")
    store: str = setting(
        "", "Address of the store, sqlite:///FILE or postgresql://…; empty: SQLite in the data directory."
    )
    migrate: bool = setting(True, "Whether to apply missing migrations at start.")
    zone: ZoneInfo = setting(ZoneInfo("Asia/Seoul"), "Time zone of all dates in requests and records.")
    always_ok: bool = setting(False, "Answer HTTP 200 to 4xx of /api/ except 429, for clients that throw on them.")
    strict_fields: bool = setting(
        False, "Refuse unknown fields in bodies and queries of /api/, instead of warning."
    )
    trusted_proxies: list[IPv4Network | IPv6Network] = setting(
        [], "Networks of proxies whose X-Forwarded-For is trusted."
    )
    check_sender_numbers: bool | None = setting(
        None, "Whether senders must be registered numbers; default: yes if a real carrier is configured."
    )
    own_numbers: Literal["approval", "trusted"] = setting(
        "approval",
        "Sender numbers that owners register: they wait for an operator's approval, or owners are trusted.",
    )
    owner_keys: bool = setting(
        False, "Whether owners may create API keys of their account in the console; operators always may."
    )
    openid_issuer: str = setting(
        "", "Address of the OpenID Connect provider that users may sign in to the console with; empty: none."
    )
    openid_client_id: str = setting("", "Client id that this provider knows the console by.", max_length=500)
    openid_client_secret: str = setting("", "Client secret for this provider; empty: PKCE alone.", is_secret=True)
    openid_client_secret_file: Path | None = setting(None, "File with that client secret.")
    openid_name: str = setting("SSO", "Name of this provider on the button to sign in.", max_length=40)
    openid_tls_ca: Path | None = setting(
        None, "PEM file of authorities that are trusted for this provider, in place of those of the system."
    )
    break_glass_operator: str = setting(
        "",
        "Operator who alone may sign in with a password, in case the OpenID Connect provider fails;"
        " empty: every user may.",
    )
    unsupported_characters: Literal["refuse", "replace"] = setting(
        "refuse",
        "What to do with characters that text messages cannot contain: refuse them, or replace them by '?'.",
    )
    night_ads: Literal["refuse", "move"] = setting(
        "refuse", "What to do with advertisements from 20:50 to 08:00: refuse them, or move them to 08:00."
    )
    opt_out_number: str = setting(
        "", "080 number for opting out of advertisements by text; accounts and requests may have their own."
    )
    max_body_bytes: int = setting(8 * 1024 * 1024, "Maximum size of a request body.", min_value=1024)
    max_held_bytes: int = setting(
        64 * 1024 * 1024,
        "Maximum size of all request bodies that are held at once; further callers get SERVICE_UNAVAILABLE.",
        min_value=1024,
    )
    max_held_bytes_per_key: int = setting(
        16 * 1024 * 1024,
        "Maximum size of all request bodies of one key that are held at once; further requests get RATE_LIMITED.",
        min_value=1024,
    )
    max_connections: int = setting(
        0,
        "Maximum number of connections; 0: what the limit of open files allows, at most 4,096.",
        min_value=0,
        max_value=100_000,
    )
    head_seconds: int = setting(10, "How long the line and headers of a request may take.", min_value=1)
    body_seconds: int = setting(20, "How long a body may arrive at less than min_bytes_per_second.", min_value=1)
    idle_seconds: int = setting(30, "How long a connection may wait for its next request.", min_value=1)
    response_seconds: int = setting(
        30,
        "How long a caller may receive its response at less than min_bytes_per_second.",
        min_value=1,
    )
    min_bytes_per_second: int = setting(
        4096, "Slowest transfer of a body or a response that goes on longer.", min_value=1
    )
    max_receivers: int = setting(
        1000, "Maximum number of receivers in one request.", min_value=1, max_value=100_000
    )
    max_days_ahead: int = setting(60, "How many days ahead a sendDate may be.", min_value=1, max_value=365)
    max_waiting_writes: int = setting(
        10_000,
        "Maximum number of writes that wait for the store; further callers get SERVICE_UNAVAILABLE.",
        min_value=1,
    )
    read_connections: int = setting(2, "Connections to the store for reading.", min_value=1, max_value=64)
    search_connections: int = setting(
        2,
        "Connections to the store for searches, apart from those that every call needs.",
        min_value=1,
        max_value=64,
    )
    search_timeout_seconds: int = setting(
        5, "Seconds that a search of the history may take; then it is refused.", min_value=1, max_value=600
    )
    write_connections: int = setting(2, "Connections to PostgreSQL for writing.", min_value=1, max_value=64)
    slots: int = setting(
        8,
        "Slots of a new PostgreSQL store, which limit how many workers can deliver; cannot be changed later.",
        min_value=1,
        max_value=1024,
    )
    work_port: int = setting(
        0,
        "Port on which `pabal work` serves health checks and metrics; 0: none. Of several processes of one command,"
        " each has the next one.",
        min_value=0,
        max_value=65535,
    )
    processes: int = setting(
        1,
        "Processes that one `pabal serve` or `pabal work` runs; 0: one for each core. On SQLite at most 3: one"
        " delivers, and the others have the interface.",
        min_value=0,
        max_value=64,
    )
    sms_timeout_hours: int = setting(25, "Hours to wait for the receipt of an SMS.", min_value=1)
    other_timeout_hours: int = setting(80, "Hours to wait for the receipt of any other message.", min_value=1)
    fallback_within_minutes: int = setting(
        60,
        "How long after its scheduled time a failed Alimtalk or friend talk may still be sent as a text.",
        min_value=1,
    )
    idempotency_hours: int = setting(24, "How long an Idempotency-Key is stored.", min_value=1)
    duplicate_minutes: int = setting(
        0,
        "How long the same text to the same number from one account is a duplicate; 0: duplicates are sent.",
        min_value=0,
        max_value=7 * 24 * 60,
    )
    duplicate_action: Literal["refuse", "drop"] = setting(
        "refuse", "What to do with duplicates: refuse the request, or record these messages as failed (9005)."
    )
    token_minutes: int = setting(30, "How long the token of a sender profile is valid.", min_value=1)
    retention_days: int = setting(
        180, "Days after which numbers and texts are blanked, or on PostgreSQL dropped by month.", min_value=1
    )
    max_contacts: int = setting(
        1_000_000, "Maximum number of contacts in the address book of an account.", min_value=1
    )
    draft_days: int = setting(
        7,
        "Days that drafts of the console and campaigns that were never sent are kept after their last change.",
        min_value=1,
        max_value=180,
    )
    approval_receivers: int = setting(
        0,
        "Sends of the console to more receivers need a second user's approval; 0: as each account's owners say.",
        min_value=0,
    )
    results_retention_days: int = setting(
        30, "Days that results can be read by cursor and posted again to webhooks.", min_value=8, max_value=400
    )
    keys_per_account: int = setting(100, "API keys of an account that can be used at a time.", min_value=1)
    key_rate: int = setting(1000, "Requests per second of a new key; 0: no limit.", min_value=0)
    simulator_messages: int = setting(
        100_000, "Messages that the simulator stores in total; older ones are deleted.", min_value=1
    )
    sender_categories: Path | None = setting(
        None, "CSV file (code,name) of sender profile categories; default: the one included."
    )
    template_categories: Path | None = setting(
        None, "CSV file (code,group,name) of template categories; default: the one included."
    )
    log_format: Literal["auto", "text", "json"] = setting(
        "auto", "Log format: text, json, or auto (text on a terminal, json elsewhere)."
    )
    log_requests: Literal["refused", "all"] = setting(
        "refused", "Which requests to log: refused and failed ones, or all."
    )
    stop_seconds: int = setting(20, "How long a stopping service may finish what is in flight.", min_value=1)
    webhook_allow: list[str] = setting(
        [],
        "Exceptions for webhooks to private addresses, as ACCOUNT@HOST:PORT;"
        " of their answers only the status is stored and shown.",
    )
    webhook_tls_ca: Path | None = setting(
        None, "PEM file of authorities that webhooks trust besides those of the system."
    )
    secret_key: list[str] = setting(
        [],
        "Key that encrypts the secrets of webhooks and the key of the opt-outs in the store: 32 random bytes in"
        " Base64, see `pabal secrets new-key`; while it is replaced, the new key first, then old ones.",
        is_secret=True,
    )
    secret_key_file: Path | None = setting(None, "File with that key, or with several, one a line.")
    carriers: dict[str, CarrierSettings] = setting(
        {}, "Carriers, one table each; none: the simulator sends everything."
    )
    routes: dict[str, list[str]] = setting({}, "The carriers to try for each product, in order.")
    expire_minutes: dict[str, int] = setting(
        {},
        "Minutes after its scheduled time by which a carrier must have a message, by product, from 1 to 4,320;"
        " default: 1,440 for texts, 4,320 for others.",
    )
    prices: dict[str, Decimal] = setting(
        {},
        "What a message of each product costs, in won with at most two decimals, at carriers that have no price of"
        " their own; none: no cost is shown.",
    )
    route_by: Literal["order", "price"] = setting(
        "order",
        "Which carrier of a route comes first: the first in its list, or the cheapest one;"
        " carriers without a price come last.",
    )

    @property
    def is_on_postgresql(self) -> bool:
        """Whether the store is PostgreSQL."""
        return store_address.is_postgresql(self.store)

    @property
    def store_slots(self) -> int:
        """How many slots a new store gets: a SQLite store has one, since one process delivers from it."""
        return self.slots if self.is_on_postgresql else 1

    @property
    def store_path(self) -> Path:
        """The path of the SQLite store."""
        return store_address.sqlite_path(self.store, self.data)

    @property
    def redacted_store(self) -> str:
        """The address of the store without its password."""
        return store_address.redact(self.store)

    @property
    def allowed_endpoints(self) -> list[AllowedEndpoint]:
        """The exceptions of webhook_allow."""
        return [parse_allowed(each) for each in self.webhook_allow]

    def read_secret_keys(self) -> tuple[bytes, ...]:
        """Return the keys that encrypt secrets in the store; none: they are stored as they are.

        Raises BadSetting if their file cannot be read.
        """
        return read_keys(self.secret_key, self.secret_key_file)

    def read_openid_secret(self) -> str:
        """Return the client secret for the OpenID Connect provider; empty: there is none.

        Raises BadSetting if its file cannot be read.
        """
        return read_client_secret(self.openid_client_secret, self.openid_client_secret_file)

    @property
    def must_check_sender_numbers(self) -> bool:
        if self.check_sender_numbers is not None:
            return self.check_sender_numbers
        return self.has_real_carriers

    @property
    def has_real_carriers(self) -> bool:
        """Whether messages can leave this machine."""
        return any(carrier.kind != SIMULATOR_KIND for carrier in self.carriers.values())


_MAIL_FIELDS = fields(MailSettings)
FIELDS = dict(
    sorted(fields(Settings).items(), key=lambda item: (item[0] in CLIENT_FIELDS, item[0] in _MAIL_FIELDS))
)
"""Every setting by name, those of mails and of callers last."""


def load(environment: Mapping[str, str] | None = None, file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings; overrides win over the environment, the environment over the file.

    The file is `file`, else the one that PABAL_CONFIG names. Raises BadSetting.
    """
    environment = read_variables() if environment is None else environment
    given: dict[str, Any] = {}
    file = file or _path(environment.get(CONFIG_VARIABLE))
    table = read_table(file) if file else {}
    given |= _from_table(table, environment)
    given |= _from_environment(environment, secrets_in_environment(table.get("carriers", {})))
    for name, value in overrides.items():
        if value is not None:
            check_limits(Settings, name, name, value)
            given[name] = value
    settings = Settings(**given)
    store_address.check(settings.store)
    check_retention(
        settings.retention_days,
        settings.max_days_ahead,
        max(settings.sms_timeout_hours, settings.other_timeout_hours),
    )
    check_webhooks(settings.webhook_allow, settings.secret_key, settings.secret_key_file)
    check_mail(settings)
    check_openid(
        settings.openid_issuer,
        settings.openid_client_id,
        settings.openid_name,
        (settings.openid_client_secret, settings.openid_client_secret_file),
        settings.break_glass_operator,
    )
    settings = dataclasses.replace(settings, opt_out_number=read_opt_out_number(settings.opt_out_number))
    return _with_routes(settings)


def describe_settings(settings: Settings) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of every setting, including those of the carriers."""
    values = {name: getattr(settings, name) for name in FIELDS} | {"store": settings.redacted_store}
    rows = [(name, show_value(each, values[name]), each.metadata["help"]) for name, each in FIELDS.items()]
    return rows + [
        row for carrier in settings.carriers.values() for row in carriers_module.describe_carrier(carrier)
    ]


def _from_table(table: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in table.items():
        _check_known(name, name)
        if name == "carriers":
            given[name] = read_carriers(value, environment)
        elif name == "routes":
            given[name] = read_routes(value)
        elif name == "expire_minutes":
            given[name] = read_expire_minutes(value)
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
            raise BadSetting(f"{variable}: set {name} in the TOML file, not in the environment")
        given[name] = convert(Settings, name, variable, value)
    return given


def _check_known(name: str, place: str) -> None:
    if name not in FIELDS:
        raise BadSetting(f"{place}: no such setting{suggest(name, FIELDS, '; see `pabal settings`')}")


def _with_routes(settings: Settings) -> Settings:
    """Add the simulator if no carrier is configured, and check that routes name carriers."""
    carriers = settings.carriers or {"simulator": SimulatorSettings(name="simulator")}
    routes = settings.routes
    if not settings.carriers and not routes:
        routes = routes_to("simulator")
    check_routes(routes, carriers)
    return dataclasses.replace(settings, carriers=carriers, routes=routes)


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None

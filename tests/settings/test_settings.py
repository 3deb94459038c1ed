"""Settings: each is read from the environment and from the file, and what makes no sense is refused in words."""

import dataclasses
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.settings.carriers import SENDABLE, SimulatorSettings, SmppSettings
from pabal.settings.field import BadSetting
from pabal.settings.settings import FIELDS, FILE_ONLY, describe_settings, load
from pabal.settings.tables import describe_carrier as described_carrier
from tests.fixtures.carrier_settings import read

SPELLINGS: dict[str, tuple[str, str, Any]] = {
    "host": ("::1", '"::1"', "::1"),
    "port": ("9000", "9000", 9000),
    "data": ("/tmp/x", '"/tmp/x"', Path("/tmp/x")),
    "store": ("sqlite:////tmp/x.db", '"sqlite:////tmp/x.db"', "sqlite:////tmp/x.db"),
    "migrate": ("false", "false", False),
    "zone": ("Europe/Berlin", '"Europe/Berlin"', ZoneInfo("Europe/Berlin")),
    "always_ok": ("true", "true", True),
    "strict_fields": ("true", "true", True),
    "refuse_misspelt": ("false", "false", False),
    "trusted_proxies": (
        "10.0.0.0/8, ::1",
        '["10.0.0.0/8", "::1"]',
        [ip_network("10.0.0.0/8"), ip_network("::1/128")],
    ),
    "check_sender_numbers": ("yes", "true", True),
    "owner_keys": ("true", "true", True),
    "openid_issuer": ("https://login.example", '"https://login.example"', "https://login.example"),
    "openid_client_id": ("pabal", '"pabal"', "pabal"),
    "openid_client_secret": ("s", '"s"', "s"),
    "openid_client_secret_file": ("/tmp/secret", '"/tmp/secret"', Path("/tmp/secret")),
    "openid_name": ("Acme ID", '"Acme ID"', "Acme ID"),
    "openid_tls_ca": ("/tmp/ca.pem", '"/tmp/ca.pem"', Path("/tmp/ca.pem")),
    "break_glass_operator": ("admin", '"admin"', "admin"),
    "own_numbers": ("trusted", '"trusted"', "trusted"),
    "unsupported_characters": ("replace", '"replace"', "replace"),
    "night_ads": ("move", '"move"', "move"),
    "opt_out_number": ("080-123-4567", '"080-123-4567"', "0801234567"),
    "max_body_bytes": ("2048", "2048", 2048),
    "max_held_bytes": ("4096", "4096", 4096),
    "max_held_bytes_per_key": ("2048", "2048", 2048),
    "max_connections": ("100", "100", 100),
    **{f"{what}_seconds": ("3", "3", 3) for what in ("head", "body", "idle", "response", "stop")},
    "min_bytes_per_second": ("1000", "1000", 1000),
    "max_receivers": ("5", "5", 5),
    "max_days_ahead": ("7", "7", 7),
    "max_waiting_writes": ("3", "3", 3),
    "read_connections": ("4", "4", 4),
    "search_connections": ("4", "4", 4),
    "search_timeout_seconds": ("9", "9", 9),
    "write_connections": ("3", "3", 3),
    "slots": ("4", "4", 4),
    "work_port": ("9100", "9100", 9100),
    "processes": ("4", "4", 4),
    "sms_timeout_hours": ("1", "1", 1),
    "other_timeout_hours": ("2", "2", 2),
    "fallback_within_minutes": ("5", "5", 5),
    "idempotency_hours": ("48", "48", 48),
    "duplicate_minutes": ("5", "5", 5),
    "duplicate_action": ("drop", '"drop"', "drop"),
    "mask_codes": ("false", "false", False),
    "token_minutes": ("10", "10", 10),
    "retention_days": ("90", "90", 90),
    "results_retention_days": ("60", "60", 60),
    "key_rate": ("0", "0", 0),
    "simulator_messages": ("10", "10", 10),
    "sender_categories": ("/tmp/s.csv", '"/tmp/s.csv"', Path("/tmp/s.csv")),
    "template_categories": ("/tmp/t.csv", '"/tmp/t.csv"', Path("/tmp/t.csv")),
    "log_format": ("json", '"json"', "json"),
    "log_requests": ("all", '"all"', "all"),
    "route_by": ("price", '"price"', "price"),
    "webhook_allow": ("shop@h:1 shop@[::1]:2", '["shop@h:1", "shop@[::1]:2"]', ["shop@h:1", "shop@[::1]:2"]),
    "webhook_tls_ca": ("/tmp/ca.pem", '"/tmp/ca.pem"', Path("/tmp/ca.pem")),
    "secret_key": (f"{'A' * 43}=", f'["{"A" * 43}="]', [f"{'A' * 43}="]),
    "secret_key_file": ("/tmp/key", '"/tmp/key"', Path("/tmp/key")),
    "smtp_port": ("465", "465", 465),
    "smtp_tls": ("tls", '"tls"', "tls"),
    "smtp_tls_ca": ("/tmp/ca.pem", '"/tmp/ca.pem"', Path("/tmp/ca.pem")),
    "smtp_user": ("pabal", '"pabal"', "pabal"),
    "smtp_password": ("secret", '"secret"', "secret"),
    "smtp_password_file": ("/tmp/key", '"/tmp/key"', Path("/tmp/key")),
    "smtp_sender": ("a@b.example", '"a@b.example"', "a@b.example"),
    "smtp_timeout_seconds": ("5", "5", 5),
    "public_url": ("https://pabal.example", '"https://pabal.example"', "https://pabal.example"),
    "mail_pause_minutes": ("0", "0", 0),
    "notice_failure_percent": ("5", "5", 5),
    "notice_failure_messages": ("5", "5", 5),
    "notice_carrier_seconds": ("5", "5", 5),
    "notice_quota_percent": ("50", "50", 50),
    "url": ("https://pabal.example", '"https://pabal.example"', "https://pabal.example"),
    "api_key": ("pb_1", '"pb_1"', "pb_1"),
    "mcp_max_receivers": ("3", "3", 3),
    "max_contacts": ("10", "10", 10),
    "keys_per_account": ("5", "5", 5),
    "file_cpu_seconds": ("5", "5", 5),
    "file_memory_mb": ("256", "256", 256),
    "draft_days": ("3", "3", 3),
    "first_account": ("false", "false", False),
    "approval_receivers": ("500", "500", 500),
}
"""For each setting: how the environment spells a value, how the file does, and what it is."""
NEEDED: dict[str, dict[str, Any]] = {
    "openid_issuer": {"openid_client_id": "pabal"},
    "openid_client_id": {"openid_issuer": "https://login.example"},
    "break_glass_operator": {"openid_issuer": "https://login.example", "openid_client_id": "pabal"},
}
"""Settings that make no sense without others, and those others."""


NEEDING_OTHERS = {"smtp_host"}
"""Settings that are refused alone: `test_mail_settings.py` reads them."""


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(BadSetting) as refused:
        read(folder, text)
    return str(refused.value)


def test_every_setting_has_an_example_here() -> None:
    assert set(SPELLINGS) | set(FILE_ONLY) | NEEDING_OTHERS == set(FIELDS)


@pytest.mark.parametrize("name", SPELLINGS)
def test_setting_is_read_from_the_environment(name: str) -> None:
    spelling, _, value = SPELLINGS[name]

    settings = load({f"PABAL_{name.upper()}": spelling}, **NEEDED.get(name, {}))

    assert getattr(settings, name) == value
    assert getattr(settings, name) != getattr(load({}), name)


@pytest.mark.parametrize("name", SPELLINGS)
def test_setting_is_read_from_the_file(tmp_path: Path, name: str) -> None:
    _, spelling, value = SPELLINGS[name]

    others = "".join(f'{other} = "{its}"\n' for other, its in NEEDED.get(name, {}).items())

    assert getattr(read(tmp_path, f"{others}{name} = {spelling}"), name) == value


def test_overrides_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "pabal.toml"
    file.write_text('port = 1\nhost = "file"\ndata = "file"')
    environment = {"PABAL_PORT": "2", "PABAL_HOST": "environment"}

    settings = load(environment, file=file, port=3)

    assert (settings.port, settings.host, settings.data) == (3, "environment", Path("file"))
    assert settings.stop_seconds == 20


def test_override_of_none_is_ignored() -> None:
    assert load({"PABAL_PORT": "2"}, port=None, data=None).port == 2


def test_overrides_have_the_same_limits() -> None:
    with pytest.raises(BadSetting, match="port: at most 65535"):
        load({}, port=65536)


def test_settings_file_is_named_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("port = 7")
    (tmp_path / "y.toml").write_text("port = 8")
    environment = {"PABAL_CONFIG": str(tmp_path / "x.toml")}

    assert load(environment).port == 7
    assert load(environment, file=tmp_path / "y.toml").port == 8


def test_other_variables_are_ignored() -> None:
    assert load({"PATH": "/bin", "PORT": "1", "PABAL_TORTURE": "1", "PABAL_TEST_CITUS": "a"}) == load({})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "prot: no such setting; did you mean port?"),
        ("retention = 1", "retention: no such setting; did you mean retention_days?"),
        ("xyzzy = 1", "xyzzy: no such setting; see `pabal settings`"),
        ("PORT = 1", "PORT: no such setting"),
    ],
)
def test_unknown_setting_in_the_file_is_refused_with_a_suggestion(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path, text).startswith(said)


def test_unknown_variable_is_refused_with_a_suggestion() -> None:
    with pytest.raises(BadSetting, match="PABAL_PROT: no such setting; did you mean port"):
        load({"PABAL_PROT": "1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "'eighty'"),
        ("port", "3.5"),
        ("port", "true"),
        ("port", "''"),
        ("migrate", "'perhaps'"),
        ("migrate", "1"),
        ("migrate", "['true']"),
        ("check_sender_numbers", "''"),
        ("zone", "'Mars/Olympus'"),
        ("zone", "'Asia'"),
        ("zone", "''"),
        ("zone", "'../../etc/passwd'"),
        ("zone", "9"),
        ("data", "5"),
        ("host", "['a']"),
        ("night_ads", "'sometimes'"),
        ("log_format", "['json']"),
        ("trusted_proxies", "'here'"),
        ("trusted_proxies", "'10.0.0.1/8'"),
        ("trusted_proxies", "5"),
        ("trusted_proxies", "[5]"),
        ("sender_categories", "5"),
    ],
)
def test_invalid_value_is_refused_with_what_is_expected(tmp_path: Path, name: str, value: str) -> None:
    said = refusal(tmp_path, f"{name} = {value}")

    assert said.startswith(f"{name}: ")
    assert " is not " in said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("port", -1, "at least 0"),
        ("port", 65536, "at most 65535"),
        ("max_body_bytes", 1023, "at least 1024"),
        ("max_receivers", 0, "at least 1"),
        ("max_receivers", 100_001, "at most 100000"),
        ("max_days_ahead", 366, "at most 365"),
        ("read_connections", 65, "at most 64"),
        ("key_rate", -1, "at least 0"),
        ("retention_days", 0, "at least 1"),
        ("stop_seconds", 0, "at least 1"),
    ],
)
def test_numbers_have_limits(tmp_path: Path, name: str, value: int, said: str) -> None:
    assert refusal(tmp_path, f"{name} = {value}") == f"{name}: {said}"
    with pytest.raises(BadSetting, match=f"PABAL_{name.upper()}: {said}"):
        load({f"PABAL_{name.upper()}": str(value)})


def test_limits_are_inclusive() -> None:
    for name, each in FIELDS.items():
        for bound in ("min_value", "max_value"):
            limit = each.metadata[bound]
            if limit is not None and name != "retention_days":  # which depends on others
                environment = {"PABAL_RETENTION_DAYS": "1000", f"PABAL_{name.upper()}": str(limit)}
                assert getattr(load(environment), name) == limit


@pytest.mark.parametrize(
    ("ahead", "sms_hours", "other_hours", "least"), [(60, 25, 80, 68), (1, 1, 1, 6), (365, 48, 24, 371)]
)
def test_retention_covers_the_longest_life_of_a_message(
    ahead: int, sms_hours: int, other_hours: int, least: int
) -> None:
    given: dict[str, Any] = {
        "max_days_ahead": ahead,
        "sms_timeout_hours": sms_hours,
        "other_timeout_hours": other_hours,
    }

    assert load({}, retention_days=least, **given).retention_days == least
    with pytest.raises(BadSetting, match=f"retention_days: at least {least}"):
        load({}, retention_days=least - 1, **given)


def test_missing_or_malformed_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read"):
        load({}, file=tmp_path / "absent.toml")
    assert "is not TOML" in refusal(tmp_path, "port = = 1")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSetting, match="is not TOML"):
        load({}, file=tmp_path / "binary.toml")


def test_simulator_is_the_default_carrier_for_everything() -> None:
    settings = load({})

    assert settings.carriers == {"simulator": SimulatorSettings(name="simulator")}
    assert settings.routes == {product.code: ["simulator"] for product in SENDABLE}
    assert "email" not in settings.routes


TWO_CARRIERS = """
[carriers.one]
kind = "simulator"
window = 10

[carriers.two]
kind = "simulator"

[routes]
sms = ["one", "two"]
alimTalk = ["two"]
"""


def test_carriers_and_routes_are_read_from_their_tables(tmp_path: Path) -> None:
    settings = read(tmp_path, TWO_CARRIERS)

    assert settings.carriers == {
        "one": SimulatorSettings(name="one", window=10),
        "two": SimulatorSettings(name="two", window=2000),
    }
    assert settings.routes == {"sms": ["one", "two"], "alimTalk": ["two"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("carriers = 5", "carriers: write a table"),
        ("[carriers]\na = 5", "carriers: write a table"),
        ("[carriers.a]", "carriers.a: kind must be one of simulator"),
        ('[carriers.a]\nkind = "pigeon"', "carriers.a: kind must be one of simulator"),
        (
            '[carriers.a]\nkind = "simulator"\nwindwo = 1',
            "carriers.a.windwo: no such setting; did you mean window?",
        ),
        ('[carriers.a]\nkind = "simulator"\nname = "b"', "carriers.a.name: no such setting"),
        ('[carriers.a]\nkind = "simulator"\nwindow = 0', "carriers.a.window: at least 1"),
        ('[carriers.a]\nkind = "simulator"\nwindow = true', "carriers.a.window: True is not a whole number"),
        ('[carriers.a]\nkind = "simulator"\nwindow = "1"', "carriers.a.window: '1' is not a whole number"),
        ("routes = 5", "routes: write a table"),
        ('[routes]\nsms = "simulator"', "routes.sms: write a list of carriers"),
        ("[routes]\nsms = []", "routes.sms: write a list of carriers"),
        ("[routes]\nsms = [5]", "routes.sms: write a list of carriers"),
        ('[routes]\nsms = ["simulator", "simulator"]', "routes.sms: name each carrier once"),
        ('[routes]\nalimtalk = ["simulator"]', "routes.alimtalk: no such product; did you mean alimTalk?"),
        ('[routes]\nemail = ["simulator"]', "routes.email: no such product"),
        ("prices = 5", "prices: 5 is not a table of prices in won"),
        ("[prices]\nsmz = 5", "prices.smz: no such product; did you mean sms?"),
        ("[prices]\nsms = -1", "prices: {'sms': -1} is not a table of prices in won"),
        ("expire_minutes = 5", "expire_minutes: write a table [expire_minutes]"),
        ("[expire_minutes]\nsmz = 5", "expire_minutes.smz: no such product; did you mean sms?"),
        ("[expire_minutes]\nsms = 0", "expire_minutes.sms: 0 is not a whole number from 1 to 4320"),
        ("[expire_minutes]\nsms = 4321", "expire_minutes.sms: 4321 is not a whole number from 1 to 4320"),
        ("[expire_minutes]\nsms = true", "expire_minutes.sms: True is not a whole number from 1 to 4320"),
        ('[routes]\nsms = ["nobody"]', "routes.sms: there is no carrier 'nobody' in [carriers]"),
    ],
)
def test_invalid_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path, text).startswith(said)


@pytest.mark.parametrize("name", ["CARRIERS", "ROUTES", "EXPIRE_MINUTES", "PRICES"])
def test_tables_are_refused_in_the_environment(name: str) -> None:
    with pytest.raises(BadSetting, match=f"PABAL_{name}: set {name.lower()} in the TOML file"):
        load({f"PABAL_{name}": "simulator"})


def test_sender_numbers_are_checked_by_default_with_a_real_carrier() -> None:
    simulator = load({})
    telco = SmppSettings(name="telco", host="smsc.example", system_id="pabal")
    real = dataclasses.replace(simulator, carriers={"telco": telco})

    assert not simulator.must_check_sender_numbers
    assert real.must_check_sender_numbers
    assert dataclasses.replace(simulator, check_sender_numbers=True).must_check_sender_numbers
    assert not dataclasses.replace(real, check_sender_numbers=False).must_check_sender_numbers


def test_every_setting_is_described_with_its_value_and_meaning(tmp_path: Path) -> None:
    settings = read(tmp_path, TWO_CARRIERS + "\n", {"PABAL_TRUSTED_PROXIES": "10.0.0.0/8"})

    rows = {name: (value, meaning) for name, value, meaning in describe_settings(settings)}

    of_carriers = [row for each in settings.carriers.values() for row in described_carrier(each)]
    assert set(rows) == {*FIELDS, *(name for name, _, _ in of_carriers)}
    assert all(meaning.en.endswith(".") for _, meaning in rows.values())
    assert rows["port"][0] == "8080"
    assert rows["always_ok"][0] == "false"
    assert rows["zone"][0] == "Asia/Seoul"
    assert rows["check_sender_numbers"][0] == ""
    assert rows["trusted_proxies"][0] == "10.0.0.0/8"
    assert rows["carriers"][0] == "one (simulator), two (simulator)"
    assert rows["carriers.one.window"][0] == "10"
    assert rows["carriers.two.window"][0] == "2000"
    assert rows["routes"][0] == "sms (one → two), alimTalk (two)"

"""Settings: each is read from the environment and from the file, and what makes no sense is refused in words."""

import dataclasses
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.settings.carriers import SENDABLE, SimulatorSettings, SmppSettings
from pabal.settings.field import BadSetting
from pabal.settings.settings import FIELDS, FILE_ONLY, Settings, describe_settings, load
from pabal.settings.tables import describe_carrier as described_carrier
from tests.fixtures.carrier_settings import example_of, read

SPELLINGS: dict[str, tuple[str, str, Any]] = {
    "host": ("::1", '"::1"', "::1"),
    "data": ("/tmp/x", '"/tmp/x"', Path("/tmp/x")),
    "store": ("sqlite:////tmp/x.db", '"sqlite:////tmp/x.db"', "sqlite:////tmp/x.db"),
    "zone": ("Europe/Berlin", '"Europe/Berlin"', ZoneInfo("Europe/Berlin")),
    "trusted_proxies": (
        "10.0.0.0/8, ::1",
        '["10.0.0.0/8", "::1"]',
        [ip_network("10.0.0.0/8"), ip_network("::1/128")],
    ),
    "check_sender_numbers": ("yes", "true", True),
    "openid_issuer": ("https://login.example", '"https://login.example"', "https://login.example"),
    "opt_out_number": ("080-123-4567", '"080-123-4567"', "0801234567"),
    "webhook_allow": ("shop@h:1 shop@[::1]:2", '["shop@h:1", "shop@[::1]:2"]', ["shop@h:1", "shop@[::1]:2"]),
    "secret_key": (f"{'A' * 43}=", f'["{"A" * 43}="]', [f"{'A' * 43}="]),
    "smtp_sender": ("a@b.example", '"a@b.example"', "a@b.example"),
    "public_url": ("https://pabal.example", '"https://pabal.example"', "https://pabal.example"),
    "url": ("https://pabal.example", '"https://pabal.example"', "https://pabal.example"),
}
"""For settings with rules of their own: how the environment spells a value, how the file does, and what it is."""
TELCO = SmppSettings(name="telco", host="smsc.example", system_id="pabal")
NEEDED: dict[str, dict[str, Any]] = {
    "openid_issuer": {"openid_client_id": "pabal"},
    "openid_client_id": {"openid_issuer": "https://login.example"},
    "break_glass_operator": {"openid_issuer": "https://login.example", "openid_client_id": "pabal"},
}
"""Settings that make no sense without others, and those others."""


NEEDING_OTHERS = {"smtp_host"}
"""Settings that are refused alone: `test_mail_settings.py` reads them."""
each_setting = pytest.mark.parametrize(
    "name", [each for each in FIELDS if each not in {*FILE_ONLY, *NEEDING_OTHERS}]
)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(BadSetting) as refused:
        read(folder, text)
    return str(refused.value)


def spelled(name: str) -> tuple[str, str, Any]:
    """Return a value of a setting as the environment and the file spell it, and as it is read."""
    if name in SPELLINGS:
        return SPELLINGS[name]
    in_file, value = example_of(Settings, name)
    return in_file.strip('"'), in_file, value


@each_setting
def test_setting_is_read_from_the_environment(name: str) -> None:
    spelling, _, value = spelled(name)

    settings = load({f"PABAL_{name.upper()}": spelling}, **NEEDED.get(name, {}))

    assert getattr(settings, name) == value
    assert getattr(settings, name) != getattr(load({}), name)


@each_setting
def test_setting_is_read_from_the_file(tmp_path: Path, name: str) -> None:
    _, spelling, value = spelled(name)

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


LIMITS = [
    (name, bound, each.metadata[bound])
    for name, each in FIELDS.items()
    for bound in ("min_value", "max_value")
    if each.metadata[bound] is not None
]


@pytest.mark.parametrize(("name", "bound", "limit"), LIMITS)
def test_limits_of_numbers_are_inclusive(name: str, bound: str, limit: int) -> None:
    beyond, words = (limit + 1, "at most") if bound == "max_value" else (limit - 1, "at least")
    variable = f"PABAL_{name.upper()}"

    if name != "retention_days":  # which depends on others
        assert getattr(load({"PABAL_RETENTION_DAYS": "1000", variable: str(limit)}), name) == limit
    with pytest.raises(BadSetting, match=f"{variable}: {words} {limit}"):
        load({variable: str(beyond)})


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
    real = dataclasses.replace(simulator, carriers={"telco": TELCO})

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


@pytest.mark.parametrize("number", ["02-1234-5678", "080", "080-1234", "무료", "010-1234-5678"])
def test_number_for_opting_out_must_be_free(tmp_path: Path, number: str) -> None:
    assert "not a number such as 080-123-4567" in refusal(tmp_path, f'opt_out_number = "{number}"')


@pytest.mark.parametrize(
    ("environment", "is_for_development"),
    [
        ({}, True),
        ({"PABAL_HOST": "::1"}, True),
        ({"PABAL_HOST": "localhost"}, True),
        ({"PABAL_HOST": "0.0.0.0"}, False),
        ({"PABAL_HOST": "10.0.0.1"}, False),
        ({"PABAL_TRUSTED_PROXIES": "127.0.0.1"}, False),
    ],
)
def test_service_that_others_can_reach_is_not_for_development(
    environment: dict[str, str], is_for_development: bool
) -> None:
    settings = load(environment)

    assert settings.is_for_development is is_for_development
    assert not dataclasses.replace(settings, carriers={"telco": TELCO}).is_for_development

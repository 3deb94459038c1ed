"""Settings of carriers: what each kind may be told, what is refused in words, and secrets that nobody is told."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.message import Outcome, Product
from pabal.settings.carriers import (
    CARRIER_KINDS,
    SENDABLE,
    CarrierSettings,
    NhnCloudSettings,
    SimulatorSettings,
    SmppSettings,
)
from pabal.settings.field import BadSetting, fields
from pabal.settings.settings import Settings, describe_settings, load

SECRET = "hunter2!"
LONG_SECRET = "correct horse battery"

SPELLINGS: dict[str, dict[str, tuple[str, Any]]] = {
    "simulator": {
        "window": ("7", 7),
        "rate": ("50", 50),
        "failover_seconds": ("5", 5),
    },
    "smpp": {
        "window": ("7", 7),
        "rate": ("50", 50),
        "failover_seconds": ("5", 5),
        "host": ('"10.0.0.9"', "10.0.0.9"),
        "port": ("2776", 2776),
        "tls": ("true", True),
        "tls_ca": ('"/etc/ssl/telco.pem"', Path("/etc/ssl/telco.pem")),
        "system_id": ('"someone"', "someone"),
        "password": (f'"{SECRET}"', SECRET),
        "system_type": ('"VMS"', "VMS"),
        "bind": ('"pair"', "pair"),
        "binds": ("3", 3),
        "on_doubt": ('"hold"', "hold"),
        "encoding": ('"cp949"', "cp949"),
        "data_coding": ("0", 0),
        "long_messages": ('"parts"', "parts"),
        "numbers": ('"international"', "international"),
        "source_ton": ("1", 1),
        "source_npi": ("1", 1),
        "dest_ton": ("1", 1),
        "dest_npi": ("1", 1),
        "service_type": ('"CMT"', "CMT"),
        "receipts": ("false", False),
        "validity_minutes": ("60", 60),
        "submit_ids": ('"hex"', "hex"),
        "receipt_ids": ('"decimal"', "decimal"),
        "unmarked_receipts": ("true", True),
        "errors": ('{ "011" = 3001, "34" = 2003 }', {"011": Outcome.NO_SUBSCRIBER, "34": Outcome.PHONE_OFF}),
        "enquire_seconds": ("10", 10),
    },
    "nhncloud": {
        "window": ("7", 7),
        "rate": ("50", 50),
        "failover_seconds": ("5", 5),
        "sms_app_key": ('"another"', "another"),
        "sms_secret_key": (f'"{SECRET}"', SECRET),
        "talk_app_key": ('"another"', "another"),
        "talk_secret_key": (f'"{SECRET}"', SECRET),
        "sms_address": ('"https://sms.example"', "https://sms.example"),
        "talk_address": ('"http://127.0.0.1:7080"', "http://127.0.0.1:7080"),
        "tls_ca": ('"/etc/ssl/relay.pem"', Path("/etc/ssl/relay.pem")),
        "calls": ("3", 3),
        "timeout_seconds": ("3", 3),
        "poll_seconds": ("30", 30),
        "webhook_signature": (f'"{LONG_SECRET}"', LONG_SECRET),
        "unsubscribe_number": ('"0801234567"', "0801234567"),
    },
}
"""For each kind and setting: how the file spells a value, and what it is."""
EVERY = [(kind, name) for kind, names in SPELLINGS.items() for name in names]
NEEDED = {"simulator": {}, "smpp": {"host": '"smsc.example"', "system_id": '"pabal"'}, "nhncloud": {}}
KEYS: dict[str, Any] = {
    "sms_app_key": "one",
    "sms_secret_key": "two",
    "talk_app_key": "three",
    "talk_secret_key": "four",
}
USUAL = {"nhncloud": {name: f'"{value}"' for name, value in KEYS.items()}}
"""What is not needed by itself, but some of it must be there."""

in_every_kind = pytest.mark.parametrize("kind", CARRIER_KINDS)


def table(kind: str, **given: str) -> str:
    """Return the table of a carrier of this kind that is called telco."""
    lines = [f"{name} = {value}" for name, value in (NEEDED[kind] | USUAL.get(kind, {}) | given).items() if value]
    return "\n".join(["[carriers.telco]", f'kind = "{kind}"', *lines, ""])


def read(folder: Path, text: str, environment: dict[str, str] | None = None) -> Settings:
    file = folder / "pabal.toml"
    file.write_text(text, encoding="utf-8")
    return load(environment or {}, file=file)


def telco(folder: Path, text: str, environment: dict[str, str] | None = None) -> CarrierSettings:
    """Return the one carrier that a file describes."""
    return read(folder, text, environment).carriers["telco"]


def refusal(folder: Path, text: str, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(BadSetting) as refused:
        read(folder, text, environment)
    assert refused.value.__cause__ is None  # where the value might stand again
    return str(refused.value)


@in_every_kind
def test_every_setting_of_every_kind_is_tried_here(kind: str) -> None:
    assert set(SPELLINGS[kind]) == set(fields(CARRIER_KINDS[kind]))


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_setting_of_a_carrier_is_read_from_its_table(tmp_path: Path, kind: str, name: str) -> None:
    spelling, value = SPELLINGS[kind][name]

    carrier = telco(tmp_path, table(kind, **{name: spelling}))

    assert getattr(carrier, name) == value
    assert getattr(carrier, name) != getattr(telco(tmp_path, table(kind)), name)


def test_a_carrier_is_of_its_kind_and_has_the_name_of_its_table(tmp_path: Path) -> None:
    carriers = [telco(tmp_path, table(kind)) for kind in CARRIER_KINDS]

    assert carriers == [
        SimulatorSettings(name="telco"),
        SmppSettings(name="telco", host="smsc.example", system_id="pabal"),
        NhnCloudSettings(name="telco", **KEYS),
    ]
    assert [each.kind for each in carriers] == ["simulator", "smpp", "nhncloud"]
    assert carriers[0].products == SENDABLE
    assert carriers[1].products == (Product.SMS, Product.LMS)
    assert carriers[2].products == SENDABLE


@in_every_kind
def test_every_setting_says_what_it_means(kind: str) -> None:
    assert all(each.metadata["help"].endswith(".") for each in fields(CARRIER_KINDS[kind]).values())


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NEEDED.items() for name in names])
@pytest.mark.parametrize("given", ["", '""'], ids=["absent", "empty"])
def test_what_is_needed_must_be_given(tmp_path: Path, kind: str, name: str, given: str) -> None:
    assert refusal(tmp_path, table(kind, **{name: given})).startswith(f"carriers.telco.{name}: is needed (")


@pytest.mark.parametrize("kind", ["", 'kind = "SMPP"', 'kind = "pigeon"', "kind = 5", 'kind = ["smpp"]'])
def test_a_carrier_must_be_of_a_kind_that_there_is(tmp_path: Path, kind: str) -> None:
    said = refusal(tmp_path, f"[carriers.telco]\n{kind}\n")

    assert said == "carriers.telco: kind must be one of simulator, smpp, nhncloud"


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("smpp", "windwo", "no such setting; did you mean window?"),
        ("smpp", "enquire_second", "no such setting; did you mean enquire_seconds?"),
        ("smpp", "passwrd", "no such setting; did you mean password?"),
        ("smpp", "host_env", "no such setting"),  # it is no secret
        ("smpp", "name", "no such setting"),
        ("smpp", "products", "no such setting"),
        ("smpp", "xyzzy", "no such setting"),
        ("simulator", "host", "no such setting"),
        ("simulator", "password_env", "no such setting"),
        ("nhncloud", "sms_appkey", "no such setting; did you mean sms_app_key?"),
        ("nhncloud", "webhook_signature_path", "no such setting; did you mean webhook_signature?"),
        ("nhncloud", "sms_address_env", "no such setting"),
    ],
)
def test_an_unknown_setting_of_a_carrier_is_refused_with_the_nearest_name(
    tmp_path: Path, kind: str, name: str, said: str
) -> None:
    assert refusal(tmp_path, table(kind, **{name: f'"{SECRET}"'})).startswith(f"carriers.telco.{name}: {said}")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("window", '"7"', "'7' is not a whole number"),
        ("window", "7.5", "7.5 is not a whole number"),
        ("window", "true", "True is not a whole number"),
        ("data_coding", '"x"', "'x' is not a whole number"),
        ("host", "5", "5 is not text"),
        ("tls", '"perhaps"', "'perhaps' is not true or false"),
        ("tls_ca", "5", "5 is not text"),
        ("bind", '"receiver"', "'receiver' is not one of transceiver, pair"),
        ("on_doubt", "true", "True is not one of resend, hold"),
        ("encoding", '["ucs2"]', "['ucs2'] is not one of auto, ucs2, cp949"),
        ("errors", "5", "5 is not a table of result codes of failed messages"),
        ("errors", '{ "1" = 1234 }', "{'1': 1234} is not a table of result codes of failed messages"),
        ("errors", '{ "1" = 1000 }', "{'1': 1000} is not a table of result codes of failed messages"),
        ("errors", '{ "1" = "x" }', "{'1': 'x'} is not a table of result codes of failed messages"),
        ("errors", '{ "1" = [3001] }', "{'1': [3001]} is not a table of result codes of failed messages"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_what_is_expected(
    tmp_path: Path, name: str, value: str, expected: str
) -> None:
    assert refusal(tmp_path, table("smpp", **{name: value})) == f"carriers.telco.{name}: {expected}"


LIMITS = [
    (kind, name, bound, each.metadata[bound])
    for kind, shape in CARRIER_KINDS.items()
    for name, each in fields(shape).items()
    for bound in ("min_value", "max_value")
    if each.metadata[bound] is not None
]


@pytest.mark.parametrize(("kind", "name", "bound", "limit"), LIMITS)
def test_numbers_have_limits_which_are_allowed_themselves(
    tmp_path: Path, kind: str, name: str, bound: str, limit: int
) -> None:
    beyond, words = (limit + 1, "at most") if bound == "max_value" else (limit - 1, "at least")

    assert getattr(telco(tmp_path, table(kind, **{name: str(limit)})), name) == limit
    said = refusal(tmp_path, table(kind, **{name: str(beyond)}))
    assert said == f"carriers.telco.{name}: {words} {limit}"


LENGTHS = [
    (name, each.metadata["max_length"])
    for name, each in fields(SmppSettings).items()
    if each.metadata["max_length"] is not None
]


def test_the_lengths_are_those_of_smpp() -> None:
    assert dict(LENGTHS) == {"system_id": 15, "password": 8, "system_type": 12, "service_type": 5}


@pytest.mark.parametrize(("name", "longest"), LENGTHS)
def test_texts_are_no_longer_than_smpp_can_hold_them(tmp_path: Path, name: str, longest: int) -> None:
    fitting, beyond = "x" * longest, "x" * (longest + 1)

    assert getattr(telco(tmp_path, table("smpp", **{name: f'"{fitting}"'})), name) == fitting
    said = refusal(tmp_path, table("smpp", **{name: f'"{beyond}"'}))
    assert said == f"carriers.telco.{name}: at most {longest} characters"


def test_a_password_may_stand_in_the_environment(tmp_path: Path) -> None:
    carrier = telco(tmp_path, table("smpp", password_env='"TELCO"'), {"TELCO": SECRET})

    assert isinstance(carrier, SmppSettings)
    assert carrier.password == SECRET


def test_a_variable_of_ours_that_holds_a_password_is_no_unknown_setting(tmp_path: Path) -> None:
    text = table("smpp", password_env='"PABAL_TELCO_PASSWORD"')

    carrier = telco(tmp_path, text, {"PABAL_TELCO_PASSWORD": SECRET})

    assert isinstance(carrier, SmppSettings)
    assert carrier.password == SECRET
    with pytest.raises(BadSetting, match="PABAL_OTHER_PASSWORD: no such setting"):
        read(tmp_path, text, {"PABAL_TELCO_PASSWORD": SECRET, "PABAL_OTHER_PASSWORD": SECRET})


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_password_may_stand_in_a_file_of_its_own(tmp_path: Path, end: str) -> None:
    (tmp_path / "secret").write_bytes(f"{SECRET}{end}".encode())

    carrier = telco(tmp_path, table("smpp", password_file=f'"{tmp_path / "secret"}"'))

    assert isinstance(carrier, SmppSettings)
    assert carrier.password == SECRET


@pytest.mark.parametrize("value", ['"TELCO_OF_NOBODY"', '""', "5", '["TELCO"]', f'"{SECRET}"'])
def test_a_password_must_be_in_the_variable_that_is_named_and_is_not_told_if_it_is_the_name(
    tmp_path: Path, value: str
) -> None:
    said = refusal(tmp_path, table("smpp", password_env=value), {"telco_of_nobody": SECRET})

    assert said == "carriers.telco.password_env: names a variable that is not set in the environment"
    with pytest.raises(BadSetting, match="is not set in the environment"):
        load(file=tmp_path / "pabal.toml")  # from the environment of the process, which knows only text


@pytest.mark.parametrize("value", ['"absent"', '"."', "5"])
def test_a_password_must_be_in_the_file_that_is_named(tmp_path: Path, value: str) -> None:
    path = value.replace('"', f'"{tmp_path}/', 1)

    said = refusal(tmp_path, table("smpp", password_file=path))

    assert said.startswith("carriers.telco.password_file: cannot be read (")


def test_a_file_that_is_no_text_holds_no_password(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xfe\x00")

    said = refusal(tmp_path, table("smpp", password_file=f'"{tmp_path / "secret"}"'))

    assert said == "carriers.telco.password_file: cannot be read (it is not text)"


@pytest.mark.parametrize(
    ("names", "place"),
    [
        (("password", "password_env"), "password_env"),
        (("password_env", "password"), "password"),
        (("password", "password_file"), "password_file"),
        (("password_file", "password_env"), "password_env"),
    ],
)
def test_a_password_is_given_once(tmp_path: Path, names: tuple[str, str], place: str) -> None:
    (tmp_path / "secret").write_text(SECRET)
    ways = {
        "password": f'"{SECRET}"',
        "password_env": '"TELCO"',
        "password_file": f'"{tmp_path / "secret"}"',
    }

    said = refusal(tmp_path, table("smpp", **{name: ways[name] for name in names}), {"TELCO": SECRET})

    assert said == f"carriers.telco.{place}: password is given twice"


@pytest.mark.parametrize("way", ["password", "password_env", "password_file"])
@pytest.mark.parametrize("secret", [LONG_SECRET, f"{LONG_SECRET}\nand more"], ids=["long", "two lines"])
def test_a_password_that_is_refused_is_not_told(tmp_path: Path, way: str, secret: str) -> None:
    (tmp_path / "secret").write_text(secret)
    escaped = secret.replace("\n", "\\n")
    value = {"password": f'"{escaped}"', "password_env": '"TELCO"', "password_file": f'"{tmp_path / "secret"}"'}

    said = refusal(tmp_path, table("smpp", **{way: value[way]}), {"TELCO": secret})

    assert said == f"carriers.telco.{way}: at most 8 characters"


@pytest.mark.parametrize("value", [f'["{SECRET}"]', f'{{ it = "{SECRET}" }}', "20261115"])
def test_a_password_of_the_wrong_type_is_not_told_either(tmp_path: Path, value: str) -> None:
    said = refusal(tmp_path, table("smpp", password=value))

    assert said == "carriers.telco.password: what is there is not text"


def test_whatever_else_is_wrong_no_refusal_tells_the_password(tmp_path: Path) -> None:
    wrongs = [
        {"windwo": "1"},
        {"window": "0"},
        {"host": ""},
        {"errors": "5"},
        {"password_env": '"TELCO"'},
    ]
    for wrong in wrongs:
        said = refusal(tmp_path, table("smpp", password=f'"{SECRET}"', **wrong), {"TELCO": SECRET})
        assert SECRET not in said
    text = table("smpp", password=f'"{SECRET}"')
    assert SECRET not in refusal(tmp_path, text + '[routes]\nmms = ["telco"]')
    assert SECRET not in refusal(tmp_path, text + "[routes\n")


def test_the_settings_show_that_there_is_a_password_and_not_which(tmp_path: Path) -> None:
    settings = read(tmp_path, table("smpp", password=f'"{SECRET}"', rate="50", errors='{ "011" = 3001 }'))

    rows = {name: value for name, value, _ in describe_settings(settings)}

    assert rows["carriers"] == "telco (smpp)"
    assert rows["carriers.telco.password"] == "(set)"
    assert rows["carriers.telco.rate"] == "50"
    assert rows["carriers.telco.tls"] == "false"
    assert rows["carriers.telco.tls_ca"] == ""
    assert rows["carriers.telco.errors"] == "011 (3001)"
    assert {name for name in rows if name.startswith("carriers.telco.")} == {
        f"carriers.telco.{name}" for name in fields(SmppSettings)
    }
    assert SECRET not in str(rows)
    assert {name: value for name, value, _ in describe_settings(read(tmp_path, table("smpp")))}[
        "carriers.telco.password"
    ] == ""


def test_nothing_that_is_printed_of_the_settings_holds_a_password(tmp_path: Path) -> None:
    settings = read(tmp_path, table("smpp", password=f'"{SECRET}"'))
    carrier = settings.carriers["telco"]

    for shown in (repr(carrier), str(carrier), repr(settings), str(settings.carriers), f"{carrier}"):
        assert SECRET not in shown
        assert "smsc.example" in shown
    assert dataclasses.asdict(carrier)["password"] == SECRET  # it is there, after all


@pytest.mark.parametrize("product", ["mms", "alimTalk", "friendTalkText"])
def test_a_route_leads_to_carriers_that_carry_its_product(tmp_path: Path, product: str) -> None:
    text = '[carriers.sim]\nkind = "simulator"\n' + table("smpp")

    settings = read(tmp_path, f'{text}[routes]\nsms = ["telco", "sim"]\nlms = ["telco"]\n{product} = ["sim"]\n')
    said = refusal(tmp_path, f'{text}[routes]\nsms = ["telco"]\n{product} = ["sim", "telco"]\n')

    assert settings.routes[product] == ["sim"]
    assert said == f"routes.{product}: telco is of kind smpp: it carries sms, lms"

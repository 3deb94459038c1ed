"""Secrets of carriers come from the file, the environment or a file of their own, and are never shown."""

import dataclasses
from pathlib import Path

import pytest

from pabal.settings.carriers import SmppSettings
from pabal.settings.field import BadSetting, fields
from pabal.settings.settings import describe_settings, load
from pabal.settings.tables import CARRIER_KINDS
from tests.fixtures.carrier_settings import KEYS, LONG_SECRET, SECRET, read, refusal, table, telco

EVERY_SECRET = [
    (kind, name)
    for kind, shape in CARRIER_KINDS.items()
    for name, each in fields(shape).items()
    if each.metadata["is_secret"]
]


def test_secrets_are_those_that_open_an_account() -> None:
    assert set(EVERY_SECRET) == {
        ("smpp", "password"),
        *(("nhncloud", name) for name in (*KEYS, "webhook_signature")),
        *(("solapi", name) for name in ("api_key", "api_secret", "webhook_secret")),
    }


@pytest.mark.parametrize(("kind", "name"), EVERY_SECRET)
def test_secret_is_read_from_the_environment_or_a_file_and_never_shown(
    tmp_path: Path, kind: str, name: str
) -> None:
    word = SECRET if kind == "smpp" else LONG_SECRET
    (tmp_path / "secret").write_text(f"{word}\n")
    settings = read(tmp_path, table(kind, **{name: f'"{word}"'}))
    carrier = settings.carriers["telco"]
    rows = {row: value for row, value, _ in describe_settings(settings)}

    for way, value in (("env", "TELCO"), ("file", tmp_path / "secret")):
        text = table(kind, **{name: "", f"{name}_{way}": f'"{value}"'})
        assert telco(tmp_path, text, {"TELCO": word}) == carrier
    assert rows[f"carriers.telco.{name}"] == "(set)"
    for shown in (str(rows), repr(carrier), str(carrier), repr(settings), str(settings.carriers)):
        assert word not in shown
    assert dataclasses.asdict(carrier)[name] == word  # it is there, after all


def test_password_variable_with_our_prefix_is_no_unknown_setting(tmp_path: Path) -> None:
    text = table("smpp", password_env='"PABAL_TELCO_PASSWORD"')

    carrier = telco(tmp_path, text, {"PABAL_TELCO_PASSWORD": SECRET})

    assert isinstance(carrier, SmppSettings)
    assert carrier.password == SECRET
    with pytest.raises(BadSetting, match="PABAL_OTHER_PASSWORD: no such setting"):
        read(tmp_path, text, {"PABAL_TELCO_PASSWORD": SECRET, "PABAL_OTHER_PASSWORD": SECRET})


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_password_is_read_from_a_file(tmp_path: Path, end: str) -> None:
    (tmp_path / "secret").write_bytes(f"{SECRET}{end}".encode())

    carrier = telco(tmp_path, table("smpp", password_file=f'"{tmp_path / "secret"}"'))

    assert isinstance(carrier, SmppSettings)
    assert carrier.password == SECRET


@pytest.mark.parametrize("value", ['"TELCO_OF_NOBODY"', '""', "5", '["TELCO"]', f'"{SECRET}"'])
def test_password_given_as_variable_name_is_refused_and_not_shown(tmp_path: Path, value: str) -> None:
    said = refusal(tmp_path, table("smpp", password_env=value), {"telco_of_nobody": SECRET})

    assert said == "carriers.telco.password_env: names an environment variable that is not set"
    with pytest.raises(BadSetting, match="names an environment variable that is not set"):
        load(file=tmp_path / "pabal.toml")  # from the environment of the process, which knows only text


@pytest.mark.parametrize("value", ['"absent"', '"."', "5"])
def test_password_file_must_be_readable(tmp_path: Path, value: str) -> None:
    path = value.replace('"', f'"{tmp_path}/', 1)

    said = refusal(tmp_path, table("smpp", password_file=path))

    assert said.startswith("carriers.telco.password_file: cannot be read (")


def test_password_file_must_be_text(tmp_path: Path) -> None:
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
def test_password_must_not_be_given_twice(tmp_path: Path, names: tuple[str, str], place: str) -> None:
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
def test_refused_password_is_not_shown(tmp_path: Path, way: str, secret: str) -> None:
    (tmp_path / "secret").write_text(secret)
    escaped = secret.replace("\n", "\\n")
    value = {"password": f'"{escaped}"', "password_env": '"TELCO"', "password_file": f'"{tmp_path / "secret"}"'}

    said = refusal(tmp_path, table("smpp", **{way: value[way]}), {"TELCO": secret})

    assert said == f"carriers.telco.{way}: at most 8 characters"


@pytest.mark.parametrize("value", [f'["{SECRET}"]', f'{{ it = "{SECRET}" }}', "20261115"])
def test_password_of_the_wrong_type_is_not_shown(tmp_path: Path, value: str) -> None:
    said = refusal(tmp_path, table("smpp", password=value))

    assert said == "carriers.telco.password: the value is not text"


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("smpp", {"windwo": "1"}),
        ("smpp", {"window": "0"}),
        ("smpp", {"host": ""}),
        ("smpp", {"errors": "5"}),
        ("smpp", {"password_env": '"TELCO"'}),
        ("nhncloud", {"sms_app_key": ""}),
        ("nhncloud", {"sms_address": '"http://api.example"'}),
        ("nhncloud", {"sms_secret_key_env": '"TELCO"'}),
        ("nhncloud", {"webhook_signature": f'"{LONG_SECRET[:15]}"'}),
        ("nhncloud", {"webhook_signatur": f'"{LONG_SECRET}"'}),
    ],
)
def test_no_error_shows_a_secret(tmp_path: Path, kind: str, wrong: dict[str, str]) -> None:
    word = SECRET if kind == "smpp" else LONG_SECRET
    secrets = {name: f'"{word}"' for its_kind, name in EVERY_SECRET if its_kind == kind}

    said = refusal(tmp_path, table(kind, **secrets | wrong), {"TELCO": word})

    assert word[:15] not in said


def test_no_error_of_the_file_shows_a_secret(tmp_path: Path) -> None:
    text = table("smpp", password=f'"{SECRET}"')
    assert SECRET not in refusal(tmp_path, text + '[routes]\nmms = ["telco"]')
    assert SECRET not in refusal(tmp_path, text + "[routes\n")


def test_secret_that_is_not_set_is_shown_as_empty(tmp_path: Path) -> None:
    settings = read(tmp_path, table("smpp", errors='{ "011" = 3001 }'))

    rows = {name: value for name, value, _ in describe_settings(settings)}

    assert rows["carriers.telco.errors"] == "011 (3001)"
    assert rows["carriers.telco.password"] == rows["carriers.telco.tls_ca"] == ""

"""Settings of carriers: every kind has an example of each setting, and invalid values are refused."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.sends.message import Outcome, Product
from pabal.settings.carriers import SENDABLE, SimulatorSettings, SmppSettings
from pabal.settings.field import fields
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.tables import CARRIER_KINDS
from tests.fixtures.carrier_settings import (
    KEYS,
    LONG_SECRET,
    REQUIRED,
    SECRET,
    example_of,
    read,
    refusal,
    table,
    telco,
)

EXAMPLES: dict[str, tuple[str, Any]] = {
    "prices": ("{ sms = 9, lms = 25.55 }", {"sms": Decimal(9), "lms": Decimal("25.55")}),
    "errors": ('{ "011" = 3001, "34" = 2003 }', {"011": Outcome.NO_SUBSCRIBER, "34": Outcome.PHONE_OFF}),
    "sms_address": ('"https://sms.example"', "https://sms.example"),
    "talk_address": ('"http://127.0.0.1:7080"', "http://127.0.0.1:7080"),
    "origin_code": ('"123456789"', "123456789"),
    "webhook_signature": (f'"{LONG_SECRET}"', LONG_SECRET),
    "address": ('"http://127.0.0.1:7080"', "http://127.0.0.1:7080"),
    "webhook_secret": (f'"{LONG_SECRET}"', LONG_SECRET),
}
"""Of settings that have rules of their own: a value as written in the file, and as read."""
EVERY_SETTING = [(kind, name) for kind, shape in CARRIER_KINDS.items() for name in fields(shape)]

PRICES = "a table of prices in won, from 0 to 1,000,000 with at most two decimals"

in_every_kind = pytest.mark.parametrize("kind", CARRIER_KINDS)


@pytest.mark.parametrize(("kind", "name"), EVERY_SETTING)
def test_carrier_setting_is_read_from_its_table(tmp_path: Path, kind: str, name: str) -> None:
    spelling, value = EXAMPLES.get(name) or example_of(CARRIER_KINDS[kind], name)

    carrier = telco(tmp_path, table(kind, **{name: spelling}))

    assert getattr(carrier, name) == value
    assert getattr(carrier, name) != getattr(telco(tmp_path, table(kind)), name)


def test_carrier_has_its_kind_and_the_name_of_its_table(tmp_path: Path) -> None:
    carriers = [telco(tmp_path, table(kind)) for kind in CARRIER_KINDS]

    assert carriers == [
        SimulatorSettings(name="telco"),
        SmppSettings(name="telco", host="smsc.example", system_id="pabal"),
        NhnCloudSettings(name="telco", **KEYS),
        SolapiSettings(name="telco", api_key="key", api_secret="secret"),
    ]
    assert [each.kind for each in carriers] == ["simulator", "smpp", "nhncloud", "solapi"]
    assert carriers[0].products == SENDABLE
    assert carriers[1].products == (Product.SMS, Product.LMS)
    assert set(SENDABLE) - set(carriers[2].products) <= {Product.BRAND_MESSAGE}
    assert {Product.SMS, Product.ALIMTALK} <= set(carriers[3].products)


@in_every_kind
def test_every_setting_says_what_it_means(kind: str) -> None:
    assert all(each.metadata["help"].en.endswith(".") for each in fields(CARRIER_KINDS[kind]).values())


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in REQUIRED.items() for name in names])
@pytest.mark.parametrize("given", ["", '""'], ids=["absent", "empty"])
def test_required_setting_must_be_given(tmp_path: Path, kind: str, name: str, given: str) -> None:
    assert refusal(tmp_path, table(kind, **{name: given})).startswith(f"carriers.telco.{name}: is required (")


@pytest.mark.parametrize("kind", ["", 'kind = "SMPP"', 'kind = "pigeon"', "kind = 5", 'kind = ["smpp"]'])
def test_carrier_kind_must_exist(tmp_path: Path, kind: str) -> None:
    said = refusal(tmp_path, f"[carriers.telco]\n{kind}\n")

    assert said == "carriers.telco: kind must be one of simulator, smpp, nhncloud, solapi"


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("smpp", "windwo", "no such setting; did you mean window?"),
        ("smpp", "enquire_second", "no such setting; did you mean enquire_seconds?"),
        ("smpp", "passwrd", "no such setting; did you mean password?"),
        ("smpp", "patience_seconds", "no such setting; it is now failover_seconds"),
        ("nhncloud", "answer_seconds", "no such setting; it is now timeout_seconds"),
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
def test_unknown_carrier_setting_is_refused_with_a_suggestion(
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
        ("prices", "9.0", f"9.0 is not {PRICES}"),
        ("prices", "{ sms = 9.005 }", "{'sms': 9.005} is not " + PRICES),
        ("prices", "{ sms = -1 }", "{'sms': -1} is not " + PRICES),
        ("prices", "{ sms = 1000001 }", "{'sms': 1000001} is not " + PRICES),
        ("prices", "{ sms = nan }", "{'sms': nan} is not " + PRICES),
        ("prices", "{ sms = inf }", "{'sms': inf} is not " + PRICES),
        ("prices", "{ sms = true }", "{'sms': True} is not " + PRICES),
        ("prices", '{ sms = "9" }', "{'sms': '9'} is not " + PRICES),
        ("charges_failed", "5", "5 is not true or false"),
    ],
)
def test_value_of_the_wrong_type_is_refused(tmp_path: Path, name: str, value: str, expected: str) -> None:
    assert refusal(tmp_path, table("smpp", **{name: value})) == f"carriers.telco.{name}: {expected}"


@pytest.mark.parametrize(
    ("code", "said"),
    [("smz", "no such product; did you mean sms?"), ("mms", "no such product"), ("email", "no such product")],
)
def test_price_of_a_product_that_the_carrier_does_not_send_is_refused(tmp_path: Path, code: str, said: str) -> None:
    refused = refusal(tmp_path, table("smpp", prices=f"{{ {code} = 9 }}"))

    assert refused.startswith(f"carriers.telco.prices.{code}: {said}")


LIMITS = [
    (kind, name, bound, each.metadata[bound])
    for kind, shape in CARRIER_KINDS.items()
    for name, each in fields(shape).items()
    for bound in ("min_value", "max_value")
    if each.metadata[bound] is not None
]


@pytest.mark.parametrize(("kind", "name", "bound", "limit"), LIMITS)
def test_limits_of_numbers_are_inclusive(tmp_path: Path, kind: str, name: str, bound: str, limit: int) -> None:
    beyond, words = (limit + 1, "at most") if bound == "max_value" else (limit - 1, "at least")

    assert getattr(telco(tmp_path, table(kind, **{name: str(limit)})), name) == limit
    said = refusal(tmp_path, table(kind, **{name: str(beyond)}))
    assert said == f"carriers.telco.{name}: {words} {limit}"


LENGTHS = [
    (name, each.metadata["max_length"])
    for name, each in fields(SmppSettings).items()
    if each.metadata["max_length"] is not None
]


def test_maximum_lengths_are_those_of_smpp() -> None:
    assert dict(LENGTHS) == {"system_id": 15, "password": 8, "system_type": 12, "service_type": 5}


@pytest.mark.parametrize(("name", "longest"), LENGTHS)
def test_text_longer_than_smpp_allows_is_refused(tmp_path: Path, name: str, longest: int) -> None:
    fitting, beyond = "x" * longest, "x" * (longest + 1)

    assert getattr(telco(tmp_path, table("smpp", **{name: f'"{fitting}"'})), name) == fitting
    said = refusal(tmp_path, table("smpp", **{name: f'"{beyond}"'}))
    assert said == f"carriers.telco.{name}: at most {longest} characters"


@pytest.mark.parametrize("product", ["mms", "alimTalk", "friendTalkText"])
def test_route_names_only_carriers_that_can_send_its_product(tmp_path: Path, product: str) -> None:
    text = '[carriers.sim]\nkind = "simulator"\n' + table("smpp")

    settings = read(tmp_path, f'{text}[routes]\nsms = ["telco"]\nlms = ["telco"]\n{product} = ["sim"]\n')
    said = refusal(tmp_path, f'{text}[routes]\nsms = ["telco"]\n{product} = ["sim", "telco"]\n')

    assert settings.routes[product] == ["sim"]
    assert said == f"routes.{product}: telco is of kind smpp, which sends only sms, lms"


@pytest.mark.parametrize("order", ['["telco", "sim"]', '["sim", "telco"]'])
def test_simulator_and_real_carrier_in_one_route_are_refused(tmp_path: Path, order: str) -> None:
    text = '[carriers.sim]\nkind = "simulator"\n' + table("smpp")

    said = refusal(tmp_path, f"{text}[routes]\nsms = {order}\n")

    assert said == "routes.sms: a simulator delivers nothing, so it cannot share a route with real carriers"


@pytest.mark.parametrize(
    ("kind", "name"), [("nhncloud", "sms_address"), ("nhncloud", "talk_address"), ("solapi", "address")]
)
@pytest.mark.parametrize("address", ["http://api.example", "https://api.example?to=elsewhere"])
def test_address_of_a_relay_must_be_safe_for_secrets(tmp_path: Path, kind: str, name: str, address: str) -> None:
    said = refusal(tmp_path, table(kind, **{name: f'"{address}"'}))

    assert said == f"carriers.telco.{name}: must begin with https:// and name a host"


@pytest.mark.parametrize(("kind", "name"), [("nhncloud", "webhook_signature"), ("solapi", "webhook_secret")])
def test_secret_of_a_relays_webhooks_must_not_be_guessable(tmp_path: Path, kind: str, name: str) -> None:
    said = refusal(tmp_path, table(kind, **{name: '"fifteen letters"'}))

    assert said == f"carriers.telco.{name}: at least 16 characters"
    assert getattr(telco(tmp_path, table(kind, **{name: '"sixteen letters."'})), name) == "sixteen letters."

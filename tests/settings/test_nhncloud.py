"""Settings of NHN Cloud: keys that go in pairs, what is carried for them, and secrets that nobody is told."""

from pathlib import Path
from typing import Any

import pytest

from pabal.domain.sends.message import Product
from pabal.settings.carriers import KAKAO_PRODUCTS, TEXT_PRODUCTS
from pabal.settings.field import BadSetting
from pabal.settings.relays import MIN_SIGNATURE_LENGTH, NhnCloudSettings
from pabal.settings.settings import Settings, load

SECRETS: dict[str, Any] = {
    "sms_app_key": "Sms-App-Key-Value",
    "sms_secret_key": "Sms-Secret-Value",
    "talk_app_key": "Talk-App-Key-Value",
    "talk_secret_key": "Talk-Secret-Value",
    "webhook_signature": "Signature-Value-Of-Ours",
}


def read(folder: Path, environment: dict[str, str] | None = None, more: str = "", **given: str) -> Settings:
    """Return the settings of a file with one carrier of this kind, called relay."""
    lines = [f'{name} = "{value}"' for name, value in given.items() if value]
    file = folder / "pabal.toml"
    file.write_text("\n".join(["[carriers.relay]", 'kind = "nhncloud"', *lines, more, ""]), encoding="utf-8")
    return load(environment or {}, file=file)


def relay(folder: Path, environment: dict[str, str] | None = None, **given: str) -> NhnCloudSettings:
    """Return the carrier that a file describes."""
    carrier = read(folder, environment, **given).carriers["relay"]
    assert isinstance(carrier, NhnCloudSettings)
    return carrier


def refusal(folder: Path, environment: dict[str, str] | None = None, more: str = "", **given: str) -> str:
    with pytest.raises(BadSetting) as refused:
        read(folder, environment, more, **given)
    assert not any(secret in str(refused.value) for secret in SECRETS.values())
    assert refused.value.__cause__ is None
    return str(refused.value)


def test_addresses_are_the_documented_ones_and_can_be_set(tmp_path: Path) -> None:
    """TOAST-DOCS/SMS ko/api-guide.md, "[API 도메인]"; TOAST-DOCS/Alimtalk ko/alimtalk-api-guide.md, the same."""
    found = relay(tmp_path, **SECRETS)
    own = relay(tmp_path, **SECRETS, sms_address="https://a.example/x", talk_address="https://b.example")

    assert found.sms_address == "https://sms.api.nhncloudservice.com"
    assert found.talk_address == "https://kakaotalk-bizmessage.api.nhncloudservice.com"
    assert (own.sms_address, own.talk_address) == ("https://a.example/x", "https://b.example")


@pytest.mark.parametrize("service", ["sms", "talk"])
def test_app_key_and_secret_key_are_given_together(tmp_path: Path, service: str) -> None:
    pair = [f"{service}_app_key", f"{service}_secret_key"]
    for name in pair:
        said = refusal(tmp_path, **SECRETS | {name: ""})

        assert said == f"carriers.relay: give both {pair[0]} and {pair[1]}"


def test_products_without_a_key_are_not_sent(tmp_path: Path) -> None:
    both = relay(tmp_path, **SECRETS)
    texts = relay(tmp_path, **SECRETS | {"talk_app_key": "", "talk_secret_key": ""})
    talks = relay(tmp_path, **SECRETS | {"sms_app_key": "", "sms_secret_key": ""})

    assert (set(both.products), texts.products, talks.products) == (
        {*TEXT_PRODUCTS, *KAKAO_PRODUCTS},
        TEXT_PRODUCTS,
        KAKAO_PRODUCTS,
    )
    assert {*TEXT_PRODUCTS, *KAKAO_PRODUCTS} == set(Product) - {Product.EMAIL, Product.PUSH}


def test_route_to_a_product_without_a_key_is_refused(tmp_path: Path) -> None:
    talks = SECRETS | {"sms_app_key": "", "sms_secret_key": ""}

    said = refusal(tmp_path, more='[routes]\nsms = ["relay"]', **talks)

    assert said.startswith("routes.sms: relay is of kind nhncloud, which sends only alimTalk, ")


def test_carrier_without_any_key_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "carriers.relay: give sms_app_key or talk_app_key, or it can send nothing"


@pytest.mark.parametrize("service", ["sms", "talk"])
@pytest.mark.parametrize(
    "address",
    [
        "http://api.example",
        "api.example",
        "ftp://api.example",
        "http://127.0.0.1.example",
        "http://127.0.0.1@api.example",
        "http://127.0.0.1:7080@api.example",
        "https://",
        "https://api.example:port",
        "https://name:word@api.example",
        "https://api.example?to=elsewhere",
    ],
)
def test_address_without_tls_is_refused(tmp_path: Path, service: str, address: str) -> None:
    said = refusal(tmp_path, **SECRETS | {f"{service}_address": address})

    assert said == f"carriers.relay.{service}_address: must begin with https:// and name a host"


@pytest.mark.parametrize(
    "address", ["https://api.example", "http://127.0.0.1:7080", "http://[::1]:7080", "http://127.0.0.1"]
)
def test_address_with_tls_or_on_this_machine_is_accepted(tmp_path: Path, address: str) -> None:
    assert relay(tmp_path, **SECRETS | {"sms_address": address}).sms_address == address


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("origin_code", "12345678", "the nine digits of the reseller's registration number"),
        ("origin_code", "제1-23-456호", "the nine digits of the reseller's registration number"),
        ("reseller_code", "a b", "at most 100 Latin letters, digits and signs"),
        ("reseller_code", "a" * 101, "at most 100 Latin letters, digits and signs"),
    ],
)
def test_invalid_reseller_code_is_refused(tmp_path: Path, name: str, value: str, said: str) -> None:
    refused = refusal(tmp_path, **SECRETS | {name: value})

    assert refused.startswith(f"carriers.relay.{name}: It must ")
    assert said in refused


def test_price_for_friends_is_taken_where_the_relay_tells_who_is_one(tmp_path: Path) -> None:
    prices = "prices = { brandMessage = 35, brandMessageFriend = 25 }"
    simulated = tmp_path / "simulated.toml"
    simulated.write_text(f'[carriers.telco]\nkind = "simulator"\n{prices}\n', encoding="utf-8")

    found = read(tmp_path, more=prices, **SECRETS).carriers["relay"].prices
    with pytest.raises(BadSetting) as refused:
        load({}, file=simulated)

    assert found == {"brandMessage": 35, "brandMessageFriend": 25}
    assert "carriers.telco.prices.brandMessageFriend: no such product" in str(refused.value)


def test_short_webhook_signature_is_refused(tmp_path: Path) -> None:
    short = "x" * (MIN_SIGNATURE_LENGTH - 1)

    said = refusal(tmp_path, **SECRETS | {"webhook_signature": short})

    assert said == "carriers.relay.webhook_signature: at least 16 characters"
    assert relay(tmp_path, **SECRETS | {"webhook_signature": short + "x"}).webhook_signature == short + "x"
    assert relay(tmp_path, **SECRETS | {"webhook_signature": ""}).webhook_signature == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"sms_app_key": ""},
        {"sms_address": "http://api.example"},
        {"windwo": "1"},
        {"window": "0"},
        {"sms_secret_key_env": "RELAY"},
        {"webhook_signature": SECRETS["webhook_signature"][:15]},
        {"webhook_signatur": "080"},
    ],
)
def test_no_error_shows_a_secret(tmp_path: Path, wrong: dict[str, str]) -> None:
    said = refusal(tmp_path, {"RELAY": SECRETS["sms_secret_key"]}, **SECRETS | wrong)

    assert SECRETS["webhook_signature"][:15] not in said

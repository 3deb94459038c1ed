"""Settings of NHN Cloud: keys that go in pairs, and what is carried for them."""

from pathlib import Path

import pytest

from pabal.domain.sends.message import Product
from pabal.settings.carriers import KAKAO_PRODUCTS, TEXT_PRODUCTS
from pabal.settings.relays import NhnCloudSettings
from tests.fixtures.carrier_settings import KEYS, read, refusal, table, telco

NO_TEXTS = {"sms_app_key": "", "sms_secret_key": ""}
NO_TALKS = {"talk_app_key": "", "talk_secret_key": ""}


def test_addresses_are_the_documented_ones(tmp_path: Path) -> None:
    """TOAST-DOCS/SMS ko/api-guide.md, "[API 도메인]"; TOAST-DOCS/Alimtalk ko/alimtalk-api-guide.md, the same."""
    found = telco(tmp_path, table("nhncloud"))

    assert isinstance(found, NhnCloudSettings)
    assert found.sms_address == "https://sms.api.nhncloudservice.com"
    assert found.talk_address == "https://kakaotalk-bizmessage.api.nhncloudservice.com"


@pytest.mark.parametrize("name", KEYS)
def test_app_key_and_secret_key_are_given_together(tmp_path: Path, name: str) -> None:
    service = name.partition("_")[0]

    said = refusal(tmp_path, table("nhncloud", **{name: ""}))

    assert said == f"carriers.telco: give both {service}_app_key and {service}_secret_key"


def test_products_without_a_key_are_not_sent(tmp_path: Path) -> None:
    both, texts, talks = [telco(tmp_path, table("nhncloud", **given)) for given in ({}, NO_TALKS, NO_TEXTS)]

    assert (set(both.products), texts.products, talks.products) == (
        {*TEXT_PRODUCTS, *KAKAO_PRODUCTS},
        TEXT_PRODUCTS,
        KAKAO_PRODUCTS,
    )
    assert {*TEXT_PRODUCTS, *KAKAO_PRODUCTS} == set(Product) - {Product.EMAIL, Product.PUSH}


def test_carrier_without_any_key_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, table("nhncloud", **NO_TEXTS, **NO_TALKS))

    assert said == "carriers.telco: give sms_app_key or talk_app_key, or it can send nothing"


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
    refused = refusal(tmp_path, table("nhncloud", **{name: f'"{value}"'}))

    assert refused.startswith(f"carriers.telco.{name}: It must ")
    assert said in refused


def test_price_for_friends_is_taken_where_the_relay_tells_who_is_one(tmp_path: Path) -> None:
    prices = "{ brandMessage = 35, brandMessageFriend = 25 }"

    found = read(tmp_path, table("nhncloud", prices=prices)).carriers["telco"].prices
    refused = refusal(tmp_path, table("simulator", prices=prices))

    assert found == {"brandMessage": 35, "brandMessageFriend": 25}
    assert refused.startswith("carriers.telco.prices.brandMessageFriend: no such product")

"""The policy says what carriers charge, and what they take."""

from pathlib import Path

from pabal.domain.sends.message import Product
from pabal.service.policy import Policy, build_policy
from tests.fixtures.carrier_settings import read

TWO_CARRIERS = """
[carriers.dear]
kind = "simulator"
prices = { sms = 12.5 }
[carriers.cheap]
kind = "simulator"
prices = { sms = 9.05 }
[routes]
sms = ["dear", "cheap"]
lms = ["dear"]
"""


def read_policy(folder: Path, text: str) -> Policy:
    return build_policy(read(folder, text))


def test_prices_are_hundredths_of_a_won(tmp_path: Path) -> None:
    policy = read_policy(tmp_path, TWO_CARRIERS)

    assert policy.price_of("dear", Product.SMS) == 1250
    assert policy.price_of("cheap", Product.SMS) == 905
    assert policy.price_of("cheap", Product.LMS) is None


def test_usual_price_holds_where_a_carrier_has_none(tmp_path: Path) -> None:
    policy = read_policy(tmp_path, f"prices = {{ sms = 20, lms = 30.5 }}\n{TWO_CARRIERS}")

    assert policy.price_of("cheap", Product.SMS) == 905
    assert policy.price_of("cheap", Product.LMS) == 3050
    assert policy.price_of("cheap", Product.MMS) is None


def test_first_price_is_that_of_the_first_carrier_of_the_route(tmp_path: Path) -> None:
    policy = read_policy(tmp_path, TWO_CARRIERS)

    assert policy.first_price_of(Product.SMS) == 1250
    assert policy.first_price_of(Product.LMS) is None
    assert policy.first_price_of(Product.MMS) is None


def test_route_by_price_puts_the_cheapest_carrier_first(tmp_path: Path) -> None:
    policy = read_policy(tmp_path, f'route_by = "price"\n{TWO_CARRIERS}')

    assert policy.routes.first(Product.SMS) == "cheap"
    assert policy.first_price_of(Product.SMS) == 905

import pytest

from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.price import CarrierPrices, Prices, format_won

PRICES = Prices(
    {
        "telco": CarrierPrices({Product.SMS: 900}),
        "strict": CarrierPrices({Product.SMS: 850}, charges_failed=True),
        "free": CarrierPrices({}, charges_failed=True),
    }
)


@pytest.mark.parametrize(
    ("carrier", "product", "outcome", "cost"),
    [
        ("telco", Product.SMS, Outcome.DELIVERED, 900),
        ("telco", Product.SMS, Outcome.PHONE_OFF, 0),
        ("strict", Product.SMS, Outcome.PHONE_OFF, 850),
        ("strict", Product.LMS, Outcome.DELIVERED, None),  # it has no price
        ("free", Product.SMS, Outcome.DELIVERED, None),
        ("gone", Product.SMS, Outcome.PHONE_OFF, None),
        (None, Product.SMS, Outcome.CARRIER_ERROR, 0),  # no carrier took it
    ],
)
def test_cost_is_the_price_of_the_carrier_that_took_the_message(
    carrier: str | None, product: Product, outcome: Outcome, cost: int | None
) -> None:
    assert PRICES.cost_of(carrier, product, outcome) == cost


def test_prices_are_empty_unless_a_carrier_has_one() -> None:
    assert PRICES
    assert not Prices({"free": CarrierPrices({})})


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "0"), (900, "9"), (950, "9.5"), (1225, "12.25"), (5, "0.05"), (123456700, "1,234,567")],
)
def test_amounts_have_as_many_decimals_as_they_need(amount: int, shown: str) -> None:
    assert format_won(amount) == shown


def test_brand_message_to_a_friend_costs_its_own_price() -> None:
    priced = Prices(
        {
            "relay": CarrierPrices({Product.BRAND_MESSAGE: 3500, Product.SMS: 900}, friend_price=2500),
            "other": CarrierPrices({Product.BRAND_MESSAGE: 3500}),
        }
    )

    def cost(carrier: str, product: Product, outcome: Outcome) -> int | None:
        return priced.cost_of(carrier, product, outcome, is_friend=True)

    assert cost("relay", Product.BRAND_MESSAGE, Outcome.DELIVERED) == 2500
    assert cost("relay", Product.BRAND_MESSAGE, Outcome.SPAM) == 0
    assert cost("relay", Product.SMS, Outcome.DELIVERED) == 900
    assert cost("other", Product.BRAND_MESSAGE, Outcome.DELIVERED) == 3500
    assert cost("none", Product.BRAND_MESSAGE, Outcome.DELIVERED) is None

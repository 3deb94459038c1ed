import pytest

from pabal.domain.sends.message import Product
from pabal.domain.sends.price import CarrierPrices, Prices
from pabal.domain.sends.route import Routes

ROUTES = Routes({"sms": ["telco", "backup", "last"], "alimTalk": ["relay"]})


@pytest.mark.parametrize(
    ("product", "carrier"), [(Product.SMS, "telco"), (Product.ALIMTALK, "relay"), (Product.LMS, None)]
)
def test_message_goes_to_the_first_carrier_of_its_route(product: Product, carrier: str | None) -> None:
    assert ROUTES.first(product) == carrier


@pytest.mark.parametrize(
    ("product", "carrier", "following"),
    [
        (Product.SMS, "telco", "backup"),
        (Product.SMS, "backup", "last"),
        (Product.SMS, "last", None),
        (Product.SMS, "gone", None),  # no longer on the route
        (Product.ALIMTALK, "relay", None),
        (Product.LMS, "telco", None),
    ],
)
def test_message_moves_to_the_next_carrier_until_none_is_left(
    product: Product, carrier: str, following: str | None
) -> None:
    assert ROUTES.next_after(product, carrier) == following


@pytest.mark.parametrize(
    ("carrier", "avoiding", "following"),
    [
        ("telco", {"backup"}, "last"),
        ("telco", {"last"}, "backup"),
        ("telco", {"telco"}, "backup"),
        ("telco", {"backup", "last"}, "backup"),  # a carrier to avoid is better than none
        ("backup", {"last"}, "last"),
        ("last", {"telco"}, None),
        ("gone", {"telco"}, None),
    ],
)
def test_carriers_to_avoid_are_chosen_last(carrier: str, avoiding: set[str], following: str | None) -> None:
    assert ROUTES.next_after(Product.SMS, carrier, avoid=avoiding) == following


@pytest.mark.parametrize(
    ("product", "carrier", "avoiding", "other"),
    [
        (Product.SMS, "last", {"last"}, "telco"),
        (Product.SMS, "last", {"telco", "last"}, "backup"),
        (Product.SMS, "telco", set(), "backup"),
        (Product.SMS, "gone", {"telco"}, "backup"),
        (Product.SMS, "last", {"telco", "backup"}, None),
        (Product.ALIMTALK, "relay", set(), None),
        (Product.LMS, "telco", set(), None),
    ],
)
def test_another_carrier_may_be_anywhere_on_the_route(
    product: Product, carrier: str, avoiding: set[str], other: str | None
) -> None:
    assert ROUTES.alternative_to(product, carrier, avoiding) == other


def test_carriers_of_a_route_are_listed_in_order() -> None:
    assert list(ROUTES.carriers_for(Product.SMS)) == ["telco", "backup", "last"]
    assert list(ROUTES.carriers_for(Product.LMS)) == []


def test_cheapest_carrier_comes_first_if_asked_and_carriers_without_a_price_last() -> None:
    prices = Prices(
        {
            "dear": CarrierPrices({Product.SMS: 1050}),
            "other": CarrierPrices({Product.LMS: 1}),
            "cheap": CarrierPrices({Product.SMS: 900}),
            "as cheap": CarrierPrices({Product.SMS: 900}),
        }
    )
    routes = Routes({"sms": ["other", "dear", "cheap", "as cheap"]}, prices)

    assert list(routes.carriers_for(Product.SMS)) == ["cheap", "as cheap", "dear", "other"]
    assert routes.first(Product.SMS) == "cheap"
    assert routes.next_after(Product.SMS, "dear") == "other"
    assert list(routes.as_written(Product.SMS)) == ["other", "dear", "cheap", "as cheap"]

"""The table of routes: which carriers send each product."""

from collections.abc import Mapping
from typing import Any

from pabal.domain.message import PRODUCT_BY_CODE
from pabal.domain.route import SIMULATOR_KIND
from pabal.settings.carriers import SENDABLE, CarrierSettings, check_product
from pabal.settings.field import BadSetting


def read_routes(table: Any) -> dict[str, list[str]]:
    """Return the routes of the TOML file.

    Raises BadSetting.
    """
    if not isinstance(table, dict):
        raise BadSetting("routes: write a table [routes]")
    for product, carriers in table.items():
        check_product(product, f"routes.{product}")
        if not isinstance(carriers, list) or not carriers or not all(isinstance(c, str) for c in carriers):
            raise BadSetting(f"routes.{product}: write a list of carriers")
        if len(set(carriers)) < len(carriers):  # the next carrier of a route is looked up by name
            raise BadSetting(f"routes.{product}: name each carrier once")
    return dict(table)


def routes_to(carrier: str) -> dict[str, list[str]]:
    """Return the routes that send everything by one carrier."""
    return {product.code: [carrier] for product in SENDABLE}


def find_unrouted(routes: Mapping[str, list[str]], carriers: Mapping[str, CarrierSettings]) -> list[str]:
    """Return the carriers that no route names, so that nothing is sent through them."""
    used = {name for names in routes.values() for name in names}
    return [name for name in carriers if name not in used]


def check_routes(routes: Mapping[str, list[str]], carriers: Mapping[str, CarrierSettings]) -> None:
    """Raise BadSetting unless every route names carriers that can send its product."""
    for product, names in routes.items():
        for name in names:
            if name not in carriers:
                raise BadSetting(f"routes.{product}: there is no carrier {name!r} in [carriers]")
            if PRODUCT_BY_CODE[product] not in carriers[name].products:
                sendable = ", ".join(each.code for each in carriers[name].products)
                raise BadSetting(
                    f"routes.{product}: {name} is of kind {carriers[name].kind}, which sends only {sendable}"
                )
        if len({carriers[name].kind == SIMULATOR_KIND for name in names}) > 1:
            raise BadSetting(
                f"routes.{product}: a simulator delivers nothing, so it cannot share a route with real carriers"
            )

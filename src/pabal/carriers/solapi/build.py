"""Builds the carrier that settings describe."""

from pabal.carriers.relay.dependencies import Dependencies
from pabal.carriers.solapi.carrier import SolapiCarrier
from pabal.carriers.solapi.client import SolapiClient
from pabal.carriers.solapi.provider import SolapiProvider
from pabal.settings.relays import SolapiSettings


def build(settings: SolapiSettings, dependencies: Dependencies) -> SolapiCarrier:
    """Return the carrier that the settings describe.

    Raises BadSetting.
    """
    client = SolapiClient(
        settings.address, settings.api_key, settings.api_secret, dependencies.world, settings.tls_ca
    )
    has_channels = any(not product.is_text for product in settings.products)
    provider = SolapiProvider(client, settings.timeout_seconds) if has_channels else None
    return SolapiCarrier(settings, dependencies, client, provider)

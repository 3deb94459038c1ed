"""Builds the carrier that settings describe."""

from pabal.carriers.nhncloud.carrier import Dependencies, NhnCloudCarrier
from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.nhncloud.provider import NhnCloudProvider
from pabal.settings.relays import NhnCloudSettings


def build(settings: NhnCloudSettings, dependencies: Dependencies) -> NhnCloudCarrier:
    """Return the carrier that the settings describe.

    Raises BadSetting.
    """
    sms_client = talk_client = None
    if settings.sms_app_key:
        sms_client = NhnCloudClient(
            settings.sms_address, settings.sms_app_key, settings.sms_secret_key, settings.tls_ca
        )
    if settings.talk_app_key:
        talk_client = NhnCloudClient(
            settings.talk_address, settings.talk_app_key, settings.talk_secret_key, settings.tls_ca
        )
    provider = NhnCloudProvider(talk_client, settings.timeout_seconds) if talk_client is not None else None
    return NhnCloudCarrier(settings, dependencies, sms_client, talk_client, provider)

"""Builds the carrier that settings describe."""

from pabal.carriers.nhncloud.carrier import NhnCloud, Surroundings
from pabal.carriers.nhncloud.client import Client
from pabal.carriers.nhncloud.provider import NhnCloudDesk
from pabal.settings.carriers import NhnCloudSettings


def build(settings: NhnCloudSettings, around: Surroundings) -> NhnCloud:
    """Return the carrier that the settings describe.

    Raises BadSetting.
    """
    texts = talk = None
    if settings.sms_app_key:
        texts = Client(settings.sms_address, settings.sms_app_key, settings.sms_secret_key, settings.tls_ca)
    if settings.talk_app_key:
        talk = Client(settings.talk_address, settings.talk_app_key, settings.talk_secret_key, settings.tls_ca)
    desk = NhnCloudDesk(talk, settings.answer_seconds) if talk is not None else None
    return NhnCloud(settings, around, texts, talk, desk)

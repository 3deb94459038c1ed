"""When a service counts as one that a developer tries out."""

import dataclasses

import pytest

from pabal.settings.carriers import SmppSettings
from pabal.settings.settings import load


@pytest.mark.parametrize(
    ("environment", "is_for_development"),
    [
        ({}, True),
        ({"PABAL_HOST": "::1"}, True),
        ({"PABAL_HOST": "localhost"}, True),
        ({"PABAL_HOST": "0.0.0.0"}, False),
        ({"PABAL_HOST": "10.0.0.1"}, False),
        ({"PABAL_TRUSTED_PROXIES": "127.0.0.1"}, False),
    ],
)
def test_service_that_others_can_reach_is_not_for_development(
    environment: dict[str, str], is_for_development: bool
) -> None:
    settings = load(environment)
    telco = SmppSettings(name="telco", host="smsc.example", system_id="pabal")
    real = dataclasses.replace(settings, carriers={"telco": telco})

    assert settings.is_for_development is is_for_development
    assert not real.is_for_development

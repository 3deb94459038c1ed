"""Settings of a Solapi carrier that are refused."""

from pathlib import Path

import pytest

from tests.fixtures.carrier_settings import refusal, table


@pytest.mark.parametrize(
    "address",
    ["http://api.solapi.com", "https://", "api.solapi.com", "https://a:b@api.solapi.com", "https://x/?a=b"],
)
def test_address_must_be_safe_for_secrets(tmp_path: Path, address: str) -> None:
    said = refusal(tmp_path, table("solapi", address=f'"{address}"'))

    assert said == "carriers.telco.address: must begin with https:// and name a host"


def test_webhook_secret_must_not_be_guessable(tmp_path: Path) -> None:
    assert refusal(tmp_path, table("solapi", webhook_secret='"fifteen letters"')) == (
        "carriers.telco.webhook_secret: at least 16 characters"
    )

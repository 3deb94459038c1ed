"""Settings of a Solapi carrier that are refused together, and secrets that are never shown."""

from pathlib import Path

import pytest

from pabal.settings.carrier_tables import describe_carrier
from pabal.settings.field import SECRET_IS_SET
from tests.fixtures.carrier_settings import refusal, table, telco


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


def test_secrets_come_from_environment_and_file_and_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the file\n")
    text = (
        table("solapi", api_key="", api_secret="") + f'api_key_env = "KEY"\napi_secret_file = "{tmp_path}/secret"\n'
    )

    carrier = telco(tmp_path, text, {"KEY": "of the environment"})

    assert vars(carrier)["api_key"] == "of the environment"
    assert vars(carrier)["api_secret"] == "of the file"
    shown = {name: value for name, value, _ in describe_carrier(carrier)}
    assert shown["carriers.telco.api_key"] == shown["carriers.telco.api_secret"] == SECRET_IS_SET
    assert shown["carriers.telco.webhook_secret"] == ""

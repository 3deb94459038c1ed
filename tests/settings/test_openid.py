"""Settings of sign-ins by OpenID Connect."""

from pathlib import Path
from typing import Any

import pytest

from pabal.settings.field import SECRET_IS_SET, BadSetting
from pabal.settings.openid_settings import is_safe_url
from pabal.settings.settings import describe_settings, load

ISSUER: dict[str, Any] = {"openid_issuer": "https://login.example", "openid_client_id": "pabal"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"openid_issuer": "https://login.example"}, "openid_client_id: set the client id"),
        ({"openid_client_id": "pabal"}, "openid_client_id: set openid_issuer as well"),
        ({"break_glass_operator": "admin"}, "without openid_issuer, nobody else could sign in"),
        (ISSUER | {"break_glass_operator": "Admin"}, "is not the name of a user"),
        (ISSUER | {"break_glass_operator": "a b"}, "is not the name of a user"),
        (ISSUER | {"openid_name": " "}, "openid_name: write the name"),
        (ISSUER | {"openid_name": "x" * 41}, "openid_name: at most 40 characters"),
        (
            ISSUER | {"openid_client_secret": "hidden", "openid_client_secret_file": Path("/tmp/x")},
            "openid_client_secret: set either",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadSetting) as refused:
        load({}, **given)

    assert told in str(refused.value)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    "issuer",
    [
        "login.example",
        "http://login.example",
        "ftp://login.example",
        "https://",
        "https://user:word@login.example",
        "https://login.example?x=1",
        "https://login.example#x",
        "https://login.example:port",
        "https://login.example:0",
        "http://127.0.0.1.example",
        "http://127.0.0.1@login.example",
        "http://127.0.0.1:7080@login.example",
        "https://login .example",
        f"https://login.example/{'x' * 500}",
    ],
)
def test_address_that_no_provider_has_is_refused(issuer: str) -> None:
    with pytest.raises(BadSetting, match="openid_issuer: "):
        load({}, openid_issuer=issuer, openid_client_id="pabal")


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.example",
        "https://login.example/realms/acme/",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
        "http://localhost:1",
    ],
)
def test_provider_is_reached_over_tls_or_on_this_machine(issuer: str) -> None:
    assert load({}, openid_issuer=issuer, openid_client_id="pabal").openid_issuer == issuer
    assert is_safe_url(f"{issuer}?x=1")


def test_client_secret_is_read_from_its_file_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    settings = load({}, **ISSUER, openid_client_secret_file=file)
    direct = load({}, **ISSUER, openid_client_secret="s3cret")

    shown = {name: value for name, value, _ in describe_settings(direct)}

    assert settings.read_openid_secret() == direct.read_openid_secret() == "s3cret"
    assert load({}, **ISSUER).read_openid_secret() == ""
    assert shown["openid_client_secret"] == SECRET_IS_SET
    assert "s3cret" not in repr(direct)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_file_without_a_client_secret_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    settings = load({}, **ISSUER, openid_client_secret_file=file)

    with pytest.raises(BadSetting, match="openid_client_secret_file: "):
        settings.read_openid_secret()

"""Settings of webhooks: exceptions for private addresses, and keys for secrets."""

import base64
from pathlib import Path

import pytest

from pabal.settings.field import SECRET_IS_SET, BadSetting
from pabal.settings.settings import describe_settings, load
from pabal.settings.webhook_settings import MAX_KEYS, AllowedEndpoint

KEY = bytes(range(224, 256))
SPELLING = base64.b64encode(KEY).decode()
OTHER = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("shop@hooks.internal:8443", AllowedEndpoint("shop", "hooks.internal", 8443)),
        ("shop@Hooks.Internal.:443", AllowedEndpoint("shop", "hooks.internal", 443)),
        ("me@shop@10.0.0.1:443", AllowedEndpoint("me@shop", "10.0.0.1", 443)),
        ("shop@[::1]:8443", AllowedEndpoint("shop", "::1", 8443)),
        ("shop@[0:0::1]:8443", AllowedEndpoint("shop", "::1", 8443)),
    ],
)
def test_exception_is_read_from_the_environment(spelling: str, expected: AllowedEndpoint) -> None:
    assert load({"PABAL_WEBHOOK_ALLOW": spelling}).allowed_endpoints == [expected]


def test_exceptions_are_read_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "pabal.toml").write_text('webhook_allow = ["my shop@a.internal:1", "shop@b.internal:65535"]')

    found = load({}, tmp_path / "pabal.toml").allowed_endpoints

    assert found == [AllowedEndpoint("my shop", "a.internal", 1), AllowedEndpoint("shop", "b.internal", 65535)]


@pytest.mark.parametrize(
    "spelling",
    ["shop", "hooks.internal:443", "shop@hooks.internal", "@h:443", "shop@:443", "shop@h:0", "shop@h:65536"],
)
def test_incomplete_exception_is_refused(spelling: str) -> None:
    with pytest.raises(BadSetting, match=r"webhook_allow: .* is not ACCOUNT@HOST:PORT"):
        load({"PABAL_WEBHOOK_ALLOW": spelling})


@pytest.mark.parametrize(
    ("spelling", "keys"),
    [
        ("", ()),
        (SPELLING, (KEY,)),
        (base64.urlsafe_b64encode(KEY).decode(), (KEY,)),
        (f"{SPELLING} {OTHER}", (KEY, bytes(32))),
    ],
)
def test_keys_are_read_from_the_environment(spelling: str, keys: tuple[bytes, ...]) -> None:
    assert load({"PABAL_SECRET_KEY": spelling}).read_secret_keys() == keys


def test_keys_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{SPELLING}\n{OTHER}\n")

    settings = load({"PABAL_SECRET_KEY_FILE": str(tmp_path / "key")})

    assert settings.read_secret_keys() == (KEY, bytes(32))


@pytest.mark.parametrize("spelling", ["short", SPELLING[:-4], SPELLING + "AAAA", "가" * 32, "!" + SPELLING])
def test_wrong_key_is_refused_without_showing_it(spelling: str) -> None:
    with pytest.raises(BadSetting, match=r"^secret_key: a key is 32 random bytes in Base64") as refusal:
        load({"PABAL_SECRET_KEY": spelling})

    assert spelling not in str(refusal.value)


@pytest.mark.parametrize("content", [None, b"", b"\n", b"short\n", b"\xff"])
def test_wrong_or_absent_key_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    with pytest.raises(BadSetting, match=r"^secret_key_file: "):
        load({"PABAL_SECRET_KEY_FILE": str(tmp_path / "key")}).read_secret_keys()


def test_key_is_given_once_and_not_too_often(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SPELLING)

    with pytest.raises(BadSetting, match="either secret_key or secret_key_file"):
        load({"PABAL_SECRET_KEY": OTHER, "PABAL_SECRET_KEY_FILE": str(tmp_path / "key")})
    with pytest.raises(BadSetting, match="secret_key: at most 10 keys"):
        load({"PABAL_SECRET_KEY": " ".join([OTHER] * (MAX_KEYS + 1))})


def test_keys_are_never_shown() -> None:
    settings = load({"PABAL_SECRET_KEY": SPELLING})

    assert {name: value for name, value, _ in describe_settings(settings)}["secret_key"] == SECRET_IS_SET
    assert SPELLING not in repr(settings)

"""Settings of webhooks that need more than one value: exceptions for private addresses, and keys."""

import base64
import binascii
import contextlib
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from pabal.settings.field import BadSetting

KEY_BYTES = 32
MAX_KEYS = 10
MAX_KEY_FILE_BYTES = 10_000


@dataclass(frozen=True)
class AllowedEndpoint:
    """An exception of webhook_allow: an account may reach a host at a port, whatever its addresses are."""

    account: str
    host: str
    port: int


def parse_allowed(spelling: str) -> AllowedEndpoint:
    """Return the exception that an operator has written as ACCOUNT@HOST:PORT.

    Raises BadSetting.
    """
    account, at, place = spelling.rpartition("@")
    host, colon, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").removesuffix(".").lower()
    is_complete = bool(at and colon and account.strip() and host)
    if not is_complete or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise BadSetting(f"webhook_allow: {spelling!r} is not ACCOUNT@HOST:PORT, such as shop@hooks.internal:8443")
    with contextlib.suppress(ValueError):
        host = str(ip_address(host))  # in its usual spelling
    return AllowedEndpoint(account.strip(), host, int(port))


def check_webhooks(allowed: list[str], keys: list[str], file: Path | None) -> None:
    """Raise BadSetting for a wrong exception or key; a file is read only when its keys are needed."""
    for each in allowed:
        parse_allowed(each)
    if keys and file:
        raise BadSetting("secret_key: set either secret_key or secret_key_file")
    read_keys(keys, None)


def read_keys(spellings: list[str], file: Path | None) -> tuple[bytes, ...]:
    """Return the keys of secret_key, else those in secret_key_file, one a line; the first one encrypts.

    Raises BadSetting, without showing a key.
    """
    name = "secret_key_file" if file else "secret_key"
    if file:
        spellings = _read_lines(file)
        if not spellings:
            raise BadSetting(f"secret_key_file: {file} is empty")
    if len(spellings) > MAX_KEYS:
        raise BadSetting(f"{name}: at most {MAX_KEYS} keys")
    return tuple(_parse_key(name, each) for each in spellings)


def _read_lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_KEY_FILE_BYTES).decode("ascii")
    except OSError as error:
        raise BadSetting(f"secret_key_file: {file} cannot be read ({error.strerror})") from None
    except ValueError:
        raise BadSetting(f"secret_key_file: {file} is not text") from None
    return content.split()


def _parse_key(name: str, spelling: str) -> bytes:
    try:
        key = base64.b64decode(spelling, altchars=b"-_" if {"-", "_"} & set(spelling) else None, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise BadSetting(f"{name}: a key is {KEY_BYTES} random bytes in Base64; `pabal secrets new-key` makes one")
    return key

"""Settings of sign-ins by OpenID Connect that need more than a type."""

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from pabal.domain import user
from pabal.domain.codes import Refused
from pabal.settings.field import BadSetting

MAX_ISSUER_CHARACTERS = 500
MAX_SECRET_FILE_BYTES = 10_000


def check_openid(
    issuer: str, client_id: str, name: str, secrets: tuple[str, Path | None], break_glass_operator: str
) -> None:
    """Raise BadSetting for settings that cannot work; a file is read only when its secret is needed."""
    if all(secrets):
        raise BadSetting("openid_client_secret: set either openid_client_secret or openid_client_secret_file")
    if not name.strip() or not name.isprintable():
        raise BadSetting("openid_name: write the name of the provider as users know it, such as Google")
    if not issuer:
        if client_id:
            raise BadSetting("openid_client_id: set openid_issuer as well")
        if break_glass_operator:
            raise BadSetting(
                "break_glass_operator: without openid_issuer, nobody else could sign in; set it as well"
            )
        return
    if not _is_issuer(issuer):
        raise BadSetting(
            f"openid_issuer: {issuer!r} is not the address of a provider, such as https://accounts.google.com;"
            " http is for this machine only"
        )
    if not client_id:
        raise BadSetting("openid_client_id: set the client id that the provider has given to the console")
    if break_glass_operator:
        _check_operator(break_glass_operator)


def read_client_secret(secret: str, file: Path | None) -> str:
    """Return the client secret, else the one in the file; empty: there is none.

    Raises BadSetting, without showing the secret.
    """
    if file is None:
        return secret
    try:
        with file.open("rb") as opened:
            found = opened.read(MAX_SECRET_FILE_BYTES).decode().strip()
    except OSError as error:
        raise BadSetting(f"openid_client_secret_file: {file} cannot be read ({error.strerror})") from None
    except ValueError:
        raise BadSetting(f"openid_client_secret_file: {file} is not text") from None
    if not found:
        raise BadSetting(f"openid_client_secret_file: {file} is empty")
    return found


def is_safe_url(url: str) -> bool:
    """Say whether secrets may be sent to an address: over TLS, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    is_plain = url.isascii() and url.isprintable() and " " not in url and not parts.username and not parts.password
    return is_plain and bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))


def _is_issuer(issuer: str) -> bool:
    return len(issuer) <= MAX_ISSUER_CHARACTERS and is_safe_url(issuer) and not {"?", "#"} & set(issuer)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_operator(name: str) -> None:
    try:
        is_normal = user.parse_name(name) == name
    except Refused:
        is_normal = False
    if not is_normal:
        raise BadSetting(f"break_glass_operator: {name!r} is not the name of a user, as `pabal user list` shows it")

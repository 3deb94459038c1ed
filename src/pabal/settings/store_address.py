"""The address of the store: whether it is valid, and how it is shown."""

import re
from urllib.parse import urlsplit

from pabal.settings.field import BadSetting

POSTGRESQL = ("postgresql://", "postgres://")
SECRET_OPTIONS = ("password", "sslpassword")
_END_OF_HOSTS = re.compile("[/?]")


def check_postgresql(address: str) -> None:
    """Raise BadSetting for an invalid address, without showing it: it may contain a password."""
    rest = address.partition("://")[2]
    hosts = _END_OF_HOSTS.split(rest)[0].rpartition("@")[2].split(",")  # libpq accepts several hosts
    try:
        is_right = all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        is_right = False
    if not is_right:
        raise BadSetting(
            "store: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters written as %XX"
        )


def redact(address: str) -> str:
    """Return an address without its password."""
    if not address.startswith(POSTGRESQL):
        return address
    scheme, _, rest = address.partition("://")
    place, mark, options = rest.partition("?")
    who, at, where = place.rpartition("@")
    user, colon, _ = who.partition(":")
    kept = [each for each in options.split("&") if each.partition("=")[0].lower() not in SECRET_OPTIONS]
    return f"{scheme}://{user}{':…' if colon else ''}{at}{where}{mark}{'&'.join(kept)}"

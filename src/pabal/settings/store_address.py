"""The address of the store: SQLite or PostgreSQL, checked and shown without its password."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pabal.settings.field import BadSetting

POSTGRESQL = ("postgresql://", "postgres://")
SQLITE = "sqlite:///"
SQLITE_FILE = "pabal.db"
SECRET_OPTIONS = ("password", "sslpassword")
_END_OF_HOSTS = re.compile("[/?]")


def is_postgresql(address: str) -> bool:
    """Return whether an address is one of PostgreSQL."""
    return address.startswith(POSTGRESQL)


def sqlite_path(address: str, data: Path) -> Path:
    """Return the path of a SQLite store; an empty address is the one in the data directory.

    Raises BadSetting.
    """
    if not address:
        return data / SQLITE_FILE
    if address.startswith(SQLITE):
        return Path(address.removeprefix(SQLITE))
    scheme = address.split(":")[0]
    raise BadSetting(f"store: {scheme}: is not supported; use sqlite:///… or postgresql://…")


def check(address: str) -> None:
    """Raise BadSetting for an invalid address, without showing it: it may contain a password."""
    if not is_postgresql(address):
        sqlite_path(address, Path())
        return
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
    if not is_postgresql(address):
        return address
    scheme, _, rest = address.partition("://")
    place, mark, options = rest.partition("?")
    who, at, where = place.rpartition("@")
    user, colon, _ = who.partition(":")
    kept = [each for each in options.split("&") if each.partition("=")[0].lower() not in SECRET_OPTIONS]
    return f"{scheme}://{user}{':…' if colon else ''}{at}{where}{mark}{'&'.join(kept)}"

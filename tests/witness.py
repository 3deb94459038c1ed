"""A witness inside the store: it notes every change of a message's status, on either engine."""

from pathlib import Path
from typing import Any

import apsw
import psycopg

from tests.postgres import address_in

_NOTED = "insert into witness values (old.id, old.status, new.status)"
_ON_SQLITE = (
    "create table witness (id blob, before integer, after integer)",
    f"create trigger watch after update of status on messages when old.status <> new.status begin {_NOTED}; end",
)
_ON_POSTGRESQL = (
    "create table witness (id bytea, before integer, after integer)",
    f"create function note() returns trigger language plpgsql as 'begin {_NOTED}; return null; end'",
    "create trigger watch after update of status on messages for each row"
    " when (old.status <> new.status) execute function note()",
)


def post(data: Path) -> None:
    """Post a witness in a store that has its tables."""
    connection = looking_at(data)
    for statement in _ON_POSTGRESQL if _address(data) else _ON_SQLITE:
        connection.execute(statement)
    connection.close()


def looking_at(data: Path) -> Any:
    """Return a connection to the store of a data directory that has nothing to do with the service."""
    address = _address(data)
    return psycopg.connect(address, autocommit=True) if address else apsw.Connection(str(data / "pabal.db"))


def _address(data: Path) -> str:
    return address_in(data) or address_in(data.parent)

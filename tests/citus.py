"""Databases on a Citus that the environment names: its tests are run there, and reported as not run otherwise."""

import contextlib
import os
from functools import cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pabal.store import citus
from pabal.store.migrate import migrate
from pabal.store.postgres import connected
from pabal.store.postgres_tx import PostgresTx
from tests.postgres import MADE_AT, Database

ADDRESS = "PABAL_TEST_CITUS"
"""The variable with the address of a database on a coordinator that knows its workers; its user is a superuser."""
SHARDS = 4
NOT_RUN = f"Citus: not run, because {ADDRESS} does not name a database on a coordinator"


def is_there() -> bool:
    """Say whether there is a Citus to test on."""
    return bool(os.environ.get(ADDRESS))


def fresh(name: str) -> str:
    """Make a database of this name on every node, without any table; return its address on the coordinator."""
    drop(name)
    given = conninfo_to_dict(os.environ[ADDRESS])
    for host, port in _nodes():
        with _reached(_address(host, port, "postgres")) as connection:
            connection.execute(f"create database {name}".encode())
        with _reached(_address(host, port, name)) as connection:
            connection.execute("create extension citus")
            connection.execute(f"alter database {name} set citus.shard_count = {SHARDS}".encode())
    address = _address(str(given["host"]), int(given.get("port") or 5432), name)
    (coordinator, *workers) = _nodes()
    with _reached(address) as connection:
        connection.execute("select citus_set_coordinator_host(%s, %s)", coordinator)
        for worker in workers:
            connection.execute("select citus_add_node(%s, %s)", worker)
    return address


def drop(name: str) -> None:
    """Drop a database on every node."""
    for host, port in _nodes():
        with _reached(_address(host, port, "postgres")) as connection:
            connection.execute(f"drop database if exists {name} with (force)".encode())


@cache
def _database() -> Database:
    address = fresh(_name())
    with contextlib.closing(connected(address)) as connection:
        migrate(PostgresTx(connection), MADE_AT)
        citus.distribute(PostgresTx(connection))
    return Database(address)


def emptied() -> str:
    """Return the address of this worker's database, which has every table, distributed, and no row."""
    database = _database()
    database.empty()
    return database.address


def let_go() -> None:
    """Drop this worker's database, if it has one."""
    if _database.cache_info().currsize:
        _database().close()
        drop(_name())


def _name() -> str:
    return f"pabal_worker_{os.getpid()}"


@cache
def _nodes() -> list[tuple[str, int]]:
    """Return host and port of every node, the coordinator first."""
    with _reached(os.environ[ADDRESS]) as connection:
        rows = connection.execute("select nodename, nodeport from pg_dist_node order by groupid").fetchall()
    return [(str(host), int(port)) for host, port in rows]


def _address(host: str, port: int, database: str) -> str:
    given = conninfo_to_dict(os.environ[ADDRESS])
    password = f":{given['password']}" if given.get("password") else ""
    return f"postgresql://{given['user']}{password}@{host}:{port}/{database}"


def _reached(address: str) -> "contextlib.closing[psycopg.Connection[Any]]":
    return contextlib.closing(psycopg.connect(address, autocommit=True))

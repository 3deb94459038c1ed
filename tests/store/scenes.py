"""Scenes on PostgreSQL: a store in threads, a look from outside, and sends to keep."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from pabal.service.accept import Promise, Repeatable
from pabal.store import messages, requests
from pabal.store.postgres import PostgresStore
from pabal.world import RealWorld
from tests.store.kept import ACCOUNT, CARRIER, request_id, sms
from tests.virtual import NOON


def play(address: str, scene: Callable[[PostgresStore], Awaitable[Any]], **options: Any) -> None:
    async def whole() -> None:
        store = PostgresStore(address, RealWorld(), **options)
        try:
            await scene(store)
        finally:
            await store.close()

    asyncio.run(whole())


def outside(address: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        said = connection.execute(sql.encode())
        return said.fetchall() if said.description else []


def words_in(address: str) -> list[str]:
    return [row[0] for row in outside(address, "select word from words order by number")]


def promise(number: int, key: str | None = None) -> Promise:
    one = request_id(number)
    sending = sms(["01012345678", "01087654321"])
    return Promise(
        one,
        ACCOUNT,
        requests.row_of(one, ACCOUNT, sending, NOON),
        messages.rows_of(one, ACCOUNT, sending.product, sending.receivers),
        None,
        CARRIER,
        0,
        NOON,
        NOON,
        Repeatable(key, b"digest") if key else None,
        0,
    )


def counted(address: str) -> tuple[int, ...]:
    return tuple(
        outside(address, f"select count(*) from {name}")[0][0] for name in ("requests", "messages", "jobs")
    )

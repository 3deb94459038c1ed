"""Rows for tests of the store: requests, messages and jobs, made as the service makes them."""

import re
from collections.abc import Iterable, Sequence

from pabal.domain import identity
from pabal.domain.message import Product
from pabal.domain.sending import Receiver, Sending
from pabal.domain.when import Instant
from pabal.store import jobs, messages, requests
from pabal.store.base import Found, Tx, Value
from pabal.store.postgres_tx import PostgresTx
from tests.virtual import NOON

ACCOUNT = 1
CARRIER = "post"
PHONE = "01012345678"

_SHARD = re.compile(r"(?<=_idx)_[0-9]+|(?<=_key)_[0-9]+")
INDEXES_OF_PARTS = (
    "select part.relname, whole.relname from pg_inherits i join pg_class part on part.oid = i.inhrelid"
    " join pg_class whole on whole.oid = i.inhparent where part.relkind = 'i'"
)


def request_id(number: int, at: Instant = NOON) -> bytes:
    """Return the id of a request; ids of higher numbers are higher."""
    return identity.request_id(at, 0, number)


def message_id(request: int, number: int = 1, at: Instant = NOON) -> bytes:
    """Return the id of a request's message."""
    return identity.message_id(request_id(request, at), number)


def sms(phones: Sequence[str] = (PHONE,), **fields: object) -> Sending:
    """Return a send of an SMS."""
    sending = Sending(Product.SMS, "안녕하세요", [Receiver(phone) for phone in phones], sender="0212345678")
    return sending._replace(**fields)  # type: ignore[arg-type]


def keep(
    tx: Tx,
    number: int,
    sending: Sending | None = None,
    *,
    at: Instant = NOON,
    scheduled_at: Instant | None = None,
    account: int = ACCOUNT,
    carrier: str = CARRIER,
    lane: int | None = None,
) -> bytes:
    """Keep a request with its messages and their jobs, as an accepted send is kept; return its id."""
    sending = sending or sms()
    one = request_id(number, at)
    due_at = at if scheduled_at is None else scheduled_at
    add_request(tx, one, account, sending, due_at)
    messages.add_all(tx, messages.rows_of(one, account, sending.product, sending.receivers))
    jobs.add_requests(tx, [(one, carrier, sending.lane if lane is None else lane, due_at)])
    return one


def add_request(tx: Tx, one: bytes, account: int, sending: Sending, due_at: Instant) -> None:
    """Keep a request alone, without its messages."""
    requests.add_all(tx, [requests.row_of(one, account, sending, due_at)])
    if sending.image:
        requests.add_image(tx, one, sending.image)


def fill(tx: Tx, count: int = 300) -> None:
    """Keep so many requests of three receivers each, the numbers of which repeat."""
    for number in range(count):
        phones = [f"010{(number + each) % 50:08}" for each in range(3)]
        keep(tx, number, sms(phones), at=NOON - 1000 * number)


class Explaining:
    """A transaction that notes the plan of every statement before it carries it out."""

    is_again = False

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.is_on_postgresql = isinstance(tx, PostgresTx)
        if self.is_on_postgresql:
            tx.run("analyze")  # its plans are made for what the tables held when it last looked
            self._whole: dict[str, str] = dict(tx.rows(INDEXES_OF_PARTS))
        self.plans: list[tuple[str, str]] = []

    def run(self, sql: str, args: Sequence[Value] = ()) -> int:
        self._explain(sql, args)
        return self._tx.run(sql, args)

    def rows(self, sql: str, args: Sequence[Value] = ()) -> list[Found]:
        self._explain(sql, args)
        return self._tx.rows(sql, args)

    def row(self, sql: str, args: Sequence[Value] = ()) -> Found | None:
        self._explain(sql, args)
        return self._tx.row(sql, args)

    def rows_each(self, sql: str, each: Iterable[Sequence[Value]], args: Sequence[Value] = ()) -> list[Found]:
        every = list(each)
        self._note(sql, self._tx.rows_each(f"{self._explained} {sql}", every, args))
        return self._tx.rows_each(sql, every, args)

    @property
    def scans(self) -> list[tuple[str, str]]:
        """The steps that walk a whole table or index, each with its statement; lists of values do not count."""
        if self.is_on_postgresql:
            return [(step, sql) for step, sql in self.plans if "Seq Scan" in step]
        return [
            (step, sql)
            for step, sql in self.plans
            if step.startswith("SCAN")
            and step not in ("SCAN v", "SCAN CONSTANT ROW")
            and not step.endswith("VALUES CLAUSE")
        ]

    def uses(self, index: str) -> bool:
        """Say whether some step looks rows up by this index; PostgreSQL's plans tell no more than its name."""
        if self.is_on_postgresql:
            name = "_pkey" if index.startswith("PRIMARY KEY") else index.split()[0]
            return any("Index" in step and name in self._whole_name(step) for step, _ in self.plans)
        return any(step.startswith("SEARCH") and index in step for step, _ in self.plans)

    def _whole_name(self, step: str) -> str:
        """Return a step that uses the index of a month's table, or of a shard of it, as if the table were one."""
        return " ".join(self._whole.get(word, word) for word in _SHARD.sub("", step).split())

    def _explain(self, sql: str, args: Sequence[Value]) -> None:
        self._note(sql, self._tx.rows(f"{self._explained} {sql}", args))

    @property
    def _explained(self) -> str:
        return "explain" if self.is_on_postgresql else "explain query plan"

    def _note(self, sql: str, steps: list[Found]) -> None:
        self.plans += [(step[-1], sql) for step in steps]

"""Campaigns: what is known of each, its receivers until they are in requests, and the rows that cannot be."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.campaign import STATE_BY_WORD, State
from pabal.domain.dates import Instant
from pabal.store.engine.base import Found, Tx

_COLUMNS = (
    "id, account_id, user_id, kind, name, file_name, state, once, receivers, bad, duplicates, made, columns,"
    " unused, scheduled_at, hurried, reason, created_at, touched_at"
)
_NO_TIME = -1
"""Stands for `at once` where times are compared."""


class Campaign(NamedTuple):
    """A campaign as it is kept, all but what its receivers share."""

    id: bytes
    account_id: int
    user_id: int
    kind: str
    name: str
    file_name: str
    state: State
    is_once: bool
    receivers: int
    bad: int
    duplicates: int
    made: int
    columns: tuple[str, ...]
    """Names of the file's columns."""
    unused: tuple[str, ...]
    """Those that nothing asks for."""
    scheduled_at: Instant | None
    is_hurried: bool
    reason: tuple[str, ...]
    """Sentences, Korean and English in turn."""
    created_at: Instant
    touched_at: Instant


class Draft(NamedTuple):
    """What a campaign begins with."""

    id: bytes
    account_id: int
    user_id: int
    kind: str
    name: str
    body: str


class Fault(NamedTuple):
    """A row of the file that cannot be sent to, and why: sentences, Korean and English in turn."""

    number: int
    cells: tuple[str, ...]
    reason: tuple[str, ...]


class Block(NamedTuple):
    """Receivers that are in no request yet, as a JSON array."""

    number: int
    receivers: int
    body: str


class Findings(NamedTuple):
    """What was found in a part of the file; no block where nobody in it can be sent to."""

    block: Block | None
    faults: Sequence[Fault]
    duplicates: int


def add(tx: Tx, draft: Draft, now: Instant) -> None:
    """Begin a campaign, without a file yet."""
    tx.run(
        "insert into campaigns (id, account_id, user_id, kind, name, body, file_name, state, once, receivers, bad,"
        " duplicates, made, columns, unused, hurried, reason, created_at, touched_at)"
        " values (?, ?, ?, ?, ?, ?, '', ?, 1, 0, 0, 0, 0, '[]', '[]', 0, '', ?, ?)",
        (*draft, State.DRAFT.word, now, now),
    )


def get(tx: Tx, campaign_id: bytes) -> Campaign | None:
    """Return a campaign."""
    row = tx.row(f"select {_COLUMNS} from campaigns where id = ?", (campaign_id,))
    return _campaign(row) if row else None


def of_account(tx: Tx, account_id: int, before: bytes, most: int) -> list[Campaign]:
    """Return an account's campaigns below an id, newest first."""
    rows = tx.rows(
        f"select {_COLUMNS} from campaigns where account_id = ? and id < ? order by id desc limit ?",
        (account_id, before, most),
    )
    return [_campaign(row) for row in rows]


def body(tx: Tx, campaign_id: bytes) -> str:
    """Return what all receivers of a campaign share, as the interface would be sent it."""
    row = tx.row("select body from campaigns where id = ?", (campaign_id,))
    return str(row[0]) if row else "{}"


def sending(tx: Tx, campaign_id: bytes) -> str | None:
    """Return what the receivers of a campaign were checked against."""
    row = tx.row("select sending from campaigns where id = ?", (campaign_id,))
    return row[0] if row else None


def begin_reading(
    tx: Tx, campaign_id: bytes, file_name: str, is_once: bool, stale_before: Instant, now: Instant
) -> bool:
    """Make room for a file, in place of one before; say no while another is being read, or after sending."""
    taken = tx.rows(
        "update campaigns set state = ?, file_name = ?, once = ?, receivers = 0, bad = 0, duplicates = 0,"
        " columns = '[]', unused = '[]', sending = null, reason = '', touched_at = ?"
        " where id = ? and (state in (?, ?) or state = ? and touched_at < ?) returning id",
        (
            State.READING.word, file_name, int(is_once), now, campaign_id,
            State.DRAFT.word, State.CHECKED.word, State.READING.word, stale_before,
        ),
    )  # fmt: skip
    if taken:
        _drop_rows(tx, campaign_id)
    return bool(taken)


def add_findings(tx: Tx, campaign_id: bytes, findings: Findings, touched_at: Instant, now: Instant) -> bool:
    """Keep what was found in a part of the file; say no where another has begun to read one instead.

    `touched_at` is when the reader wrote last.
    """
    block = findings.block
    good = block.receivers if block else 0
    if not tx.rows(
        "update campaigns set receivers = receivers + ?, bad = bad + ?, duplicates = duplicates + ?, touched_at = ?"
        " where id = ? and state = ? and touched_at = ? returning id",
        (good, len(findings.faults), findings.duplicates, now, campaign_id, State.READING.word, touched_at),
    ):
        return False
    if block:
        tx.run(
            "insert into campaign_blocks (campaign_id, number, receivers, body) values (?, ?, ?, ?)",
            (campaign_id, *block),
        )
    tx.rows_each(
        "insert into campaign_faults (campaign_id, number, cells, reason)"
        " select ?, v.column1, v.column2, v.column3 from (values {rows}) as v",
        [(each.number, _listed(each.cells), _listed(each.reason)) for each in findings.faults],
        (campaign_id,),
    )
    return True


class Read(NamedTuple):
    """What is known of a file read to its end: its columns, and what its receivers were checked against."""

    sending: str | None
    columns: Sequence[str]
    unused: Sequence[str]


def end_reading(tx: Tx, campaign_id: bytes, read: Read, touched_at: Instant, now: Instant) -> bool:
    """Note that the file has been read to its end; say no where another has begun to read one instead."""
    shared, columns, unused = read
    return bool(
        tx.rows(
            "update campaigns set state = ?, sending = ?, columns = ?, unused = ?, touched_at = ?"
            " where id = ? and state = ? and touched_at = ? returning id",
            (
                State.CHECKED.word, shared, _listed(columns), _listed(unused), now,
                campaign_id, State.READING.word, touched_at,
            ),
        )
    )  # fmt: skip


def refuse_file(tx: Tx, campaign_id: bytes, reason: Sequence[str], touched_at: Instant, now: Instant) -> None:
    """Note why a file cannot be used; another may be given."""
    changed = tx.rows(
        "update campaigns set state = ?, reason = ?, receivers = 0, bad = 0, duplicates = 0, touched_at = ?"
        " where id = ? and state = ? and touched_at = ? returning id",
        (State.DRAFT.word, _listed(reason), now, campaign_id, State.READING.word, touched_at),
    )
    if changed:
        _drop_rows(tx, campaign_id)


def start(
    tx: Tx, campaign_id: bytes, touched_at: Instant, name: str, scheduled_at: Instant | None, now: Instant
) -> bool:
    """Have a checked campaign sent; say no where it is not, or not any more, or something came in since."""
    return bool(
        tx.rows(
            "update campaigns set state = ?, name = ?, scheduled_at = ?, touched_at = ?"
            " where id = ? and state = ? and touched_at = ? and receivers > 0 returning id",
            (State.MAKING.word, name, scheduled_at, now, campaign_id, State.CHECKED.word, touched_at),
        )
    )


def move(tx: Tx, campaign_id: bytes, origins: Sequence[State], state: State, now: Instant) -> bool:
    """Bring a campaign from one of some states to another; say whether it was in one of them."""
    places = ", ".join("?" * len(origins))
    return bool(
        tx.rows(
            f"update campaigns set state = ?, touched_at = ? where id = ? and state in ({places}) returning id",
            (state.word, now, campaign_id, *(each.word for each in origins)),
        )
    )


def halt(tx: Tx, campaign_id: bytes, reason: Sequence[str], now: Instant) -> None:
    """Note why the rest of a campaign cannot be made into requests now."""
    tx.run(
        "update campaigns set state = ?, reason = ?, touched_at = ? where id = ? and state = ?",
        (State.HALTED.word, _listed(reason), now, campaign_id, State.MAKING.word),
    )


def halt_all(tx: Tx, reason: Sequence[str], now: Instant) -> int:
    """Make no campaign into requests any further, for one reason; return how many that concerns."""
    rows = tx.rows(
        "update campaigns set state = ?, reason = ?, touched_at = ? where state = ? returning id",
        (State.HALTED.word, _listed(reason), now, State.MAKING.word),
    )
    tx.run("update campaigns set hurried = 0 where hurried = 1")
    return len(rows)


def hurry(tx: Tx, campaign_id: bytes, now: Instant) -> bool:
    """Have all that waits of a campaign sent now; say no where it is not on its way."""
    return bool(
        tx.rows(
            "update campaigns set scheduled_at = ?, hurried = 1, touched_at = ?"
            " where id = ? and state in (?, ?) returning id",
            (now, now, campaign_id, State.MAKING.word, State.MADE.word),
        )
    )


def end_hurry(tx: Tx, campaign_id: bytes) -> None:
    """Note that all that waited has been hurried."""
    tx.run("update campaigns set hurried = 0 where id = ?", (campaign_id,))


def at_work(tx: Tx) -> list[bytes]:
    """Return the campaigns with something to do: to be made, cancelled or hurried."""
    rows = tx.rows(
        "select id from campaigns where state in (?, ?) union select id from campaigns where hurried = 1",
        (State.MAKING.word, State.CANCELLING.word),
    )
    return [row[0] for row in rows]


def next_block(tx: Tx, campaign_id: bytes) -> Block | None:
    """Return the receivers that are to be in a request next."""
    row = tx.row(
        "select number, receivers, body from campaign_blocks where campaign_id = ? order by number limit 1",
        (campaign_id,),
    )
    return Block(*row) if row else None


def take_block(tx: Tx, campaign: Campaign, number: int, now: Instant) -> bool:
    """Take receivers out, to be kept as a request in this same transaction.

    Says no where another has done it, or the campaign is not to be made any more, or at another time.
    """
    at = _NO_TIME if campaign.scheduled_at is None else campaign.scheduled_at
    taken = tx.rows(
        "delete from campaign_blocks where campaign_id = ? and number = ? and exists"
        " (select 1 from campaigns c where c.id = campaign_id and c.state = ? and coalesce(c.scheduled_at, ?) = ?)"
        " returning receivers",
        (campaign.id, number, State.MAKING.word, _NO_TIME, at),
    )
    if taken:
        tx.run(
            "update campaigns set made = made + ?, touched_at = ? where id = ?",
            (taken[0][0], now, campaign.id),
        )
    return bool(taken)


def drop_blocks(tx: Tx, campaign_id: bytes) -> None:
    """Drop the receivers that are in no request yet."""
    tx.run("delete from campaign_blocks where campaign_id = ?", (campaign_id,))


def faults(tx: Tx, campaign_id: bytes, after: int, most: int) -> list[Fault]:
    """Return some rows that cannot be sent to, in the order of the file."""
    rows = tx.rows(
        "select number, cells, reason from campaign_faults where campaign_id = ? and number > ?"
        " order by number limit ?",
        (campaign_id, after, most),
    )
    return [Fault(number, tuple(json.loads(cells)), tuple(json.loads(why))) for number, cells, why in rows]


def forget(tx: Tx, states: Iterable[State], before: Instant, most: int) -> int:
    """Drop some campaigns in these states that nobody has touched since; return how many."""
    found = [
        row[0]
        for state in states
        for row in tx.rows(
            "select id from campaigns where state = ? and touched_at < ? order by touched_at limit ?",
            (state.word, before, most),
        )
    ]
    for one in found:
        _drop_rows(tx, one)
        tx.run("delete from campaign_requests where campaign_id = ?", (one,))
        tx.run("delete from campaigns where id = ?", (one,))
    return len(found)


def _drop_rows(tx: Tx, campaign_id: bytes) -> None:
    drop_blocks(tx, campaign_id)
    tx.run("delete from campaign_faults where campaign_id = ?", (campaign_id,))


def _listed(words: Sequence[str]) -> str:
    return json.dumps(list(words), ensure_ascii=False)


def _campaign(row: Found) -> Campaign:
    found = Campaign(*row)
    return found._replace(
        state=STATE_BY_WORD[row[6]],
        is_once=bool(found.is_once),
        columns=tuple(json.loads(row[12])),
        unused=tuple(json.loads(row[13])),
        is_hurried=bool(found.is_hurried),
        reason=tuple(json.loads(row[16])) if row[16] else (),
    )

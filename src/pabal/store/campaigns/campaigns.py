"""Campaigns: their state, their receivers until these are in requests, and their invalid rows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.sends.campaign import CAMPAIGN_STATE_BY_CODE, CampaignState
from pabal.store.engine.base import Tx, Value
from pabal.store.rows import read_rows, reader, select

COLUMNS = (
    "id, account_id, user_id, kind, name, file_name, state, skips_duplicates, receivers, invalid_rows, duplicates,"
    " requested, columns, unused_columns, scheduled_at, expedited, reason, created_at, changed_at, upgraded"
)
_encode = msgspec.json.Encoder().encode
_from_json = msgspec.json.Decoder(tuple[str, ...]).decode
_AT_ONCE = -1
"""Stands for `at once` where times are compared."""


class Campaign(NamedTuple):
    """A stored campaign, without its body."""

    id: bytes
    account_id: int
    user_id: int
    kind: str
    name: str
    file_name: str
    state: CampaignState
    skips_duplicates: bool
    receivers: int
    invalid_rows: int
    duplicates: int
    requested: int
    columns: tuple[str, ...]
    """Names of the file's columns."""
    unused_columns: tuple[str, ...]
    """Columns that nothing uses."""
    scheduled_at: Instant | None
    is_expedited: bool
    reason: tuple[str, ...]
    """Sentences, alternately Korean and English."""
    created_at: Instant
    changed_at: Instant
    upgraded: int
    """How many of the receivers get an LMS, because an SMS would be too long."""

    @property
    def unusable_rows(self) -> int:
        """Rows that cannot be sent to; a repeated number is none: its owner gets the message."""
        return self.invalid_rows - (self.duplicates if self.skips_duplicates else 0)


from_row = reader(
    Campaign,
    state=CAMPAIGN_STATE_BY_CODE.__getitem__,
    skips_duplicates=bool,
    columns=_from_json,
    unused_columns=_from_json,
    is_expedited=bool,
    reason=lambda sentences: _from_json(sentences) if sentences else (),
)
"""Returns the campaign of a row of COLUMNS."""


class CampaignDraft(NamedTuple):
    """A new campaign."""

    id: bytes
    account_id: int
    user_id: int
    kind: str
    name: str
    body: str


class InvalidRow(NamedTuple):
    """A row of the file that cannot be sent to; `reason` has sentences, alternately Korean and English."""

    number: int
    cells: tuple[str, ...]
    reason: tuple[str, ...]


class ReceiverBlock(NamedTuple):
    """Receivers that are in no request yet, as a JSON array."""

    number: int
    receivers: int
    body: str
    is_upgraded: bool = False
    """Whether they get an LMS, because an SMS would be too long."""


class FileFindings(NamedTuple):
    """The result of validating a part of the file; no block if it has no valid receiver."""

    block: ReceiverBlock | None
    invalid_rows: Sequence[InvalidRow]
    duplicates: int


def add(tx: Tx, draft: CampaignDraft, now: Instant) -> None:
    """Add a campaign, without a file yet."""
    tx.execute(
        "insert into campaigns (id, account_id, user_id, kind, name, body, file_name, state, skips_duplicates,"
        " receivers, invalid_rows,"
        " duplicates, requested, columns, unused_columns, expedited, reason, upgraded, created_at, changed_at)"
        " values (?, ?, ?, ?, ?, ?, '', ?, 1, 0, 0, 0, 0, '[]', '[]', 0, '', 0, ?, ?)",
        (*draft, CampaignState.DRAFT.code, now, now),
    )


def get(tx: Tx, campaign_id: bytes) -> Campaign | None:
    """Return a campaign that exists and can be read."""
    rows = tx.fetch_all(f"select {COLUMNS} from campaigns where id = ?", (campaign_id,))
    return read_rows(rows, from_row).get(campaign_id)


def get_account_id(tx: Tx, campaign_id: bytes) -> int | None:
    """Return the account of a campaign, also of one that cannot be read."""
    return tx.fetch_value("select account_id from campaigns where id = ?", (campaign_id,))


def get_body(tx: Tx, campaign_id: bytes) -> str:
    """Return what all receivers of a campaign share, as a request body in JSON."""
    return tx.fetch_value("select body from campaigns where id = ?", (campaign_id,)) or "{}"


def get_sending(tx: Tx, campaign_id: bytes) -> str | None:
    """Return the validated send that the receivers were validated against."""
    return tx.fetch_value("select sending from campaigns where id = ?", (campaign_id,))


def update_version(
    tx: Tx,
    campaign_id: bytes,
    state: CampaignState,
    changed_at: Instant,
    now: Instant,
    changes: str,
    args: Sequence[Value],
    condition: str = "true",
) -> bool:
    """Change a campaign in a state; return False if it is in another one, has changed since, or does not fit."""
    return tx.changes(
        f"update campaigns set {changes}, changed_at = ?"
        f" where id = ? and state = ? and changed_at = ? and {condition}",
        (*args, now, campaign_id, state.code, changed_at),
    )


def begin_reading(
    tx: Tx, campaign_id: bytes, file_name: str, skips_duplicates: bool, stale_before: Instant, now: Instant
) -> bool:
    """Begin to read a file, in place of an earlier one; return False while another is read, or after sending."""
    reading, free = CampaignState.READING.code, (CampaignState.DRAFT.code, CampaignState.CHECKED.code)
    is_taken = tx.changes(
        "update campaigns set state = ?, file_name = ?, skips_duplicates = ?, receivers = 0, invalid_rows = 0,"
        " duplicates = 0, upgraded = 0, columns = '[]', unused_columns = '[]', sending = null, reason = '',"
        " changed_at = ? where id = ? and (state in (?, ?) or state = ? and changed_at < ?)",
        (reading, file_name, int(skips_duplicates), now, campaign_id, *free, reading, stale_before),
    )
    if is_taken:
        _delete_rows(tx, campaign_id)
    return is_taken


def add_findings(tx: Tx, campaign_id: bytes, findings: FileFindings, changed_at: Instant, now: Instant) -> bool:
    """Save the findings of a part of the file; return False if another file is being read instead.

    `changed_at` is when this reader wrote last.
    """
    block = findings.block
    valid = block.receivers if block else 0
    upgraded = valid if block and block.is_upgraded else 0
    if not update_version(
        tx,
        campaign_id,
        CampaignState.READING,
        changed_at,
        now,
        "receivers = receivers + ?, invalid_rows = invalid_rows + ?, duplicates = duplicates + ?,"
        " upgraded = upgraded + ?",
        (valid, len(findings.invalid_rows), findings.duplicates, upgraded),
    ):
        return False
    if block:
        tx.execute(
            "insert into campaign_blocks (campaign_id, number, receivers, body, is_upgraded)"
            " values (?, ?, ?, ?, ?)",
            (campaign_id, block.number, block.receivers, block.body, int(block.is_upgraded)),
        )
    reasons = {reason: to_json(reason) for reason in {each.reason for each in findings.invalid_rows}}
    tx.execute_many(
        "insert into campaign_invalid_rows (campaign_id, number, cells, reason)"
        " select ?, v.* from (values {rows}) as v",
        [(each.number, to_json(each.cells), reasons[each.reason]) for each in findings.invalid_rows],
        (campaign_id,),
    )
    return True


class FileSummary(NamedTuple):
    """The columns of a file, and what its receivers were validated against."""

    sending: str | None
    columns: Sequence[str]
    unused_columns: Sequence[str]


def end_reading(tx: Tx, campaign_id: bytes, summary: FileSummary, changed_at: Instant, now: Instant) -> bool:
    """Record that the whole file is read; return False if another file is being read instead."""
    changes = "state = ?, sending = ?, columns = ?, unused_columns = ?"
    columns, unused = to_json(summary.columns), to_json(summary.unused_columns)
    args = (CampaignState.CHECKED.code, summary.sending, columns, unused)
    return update_version(tx, campaign_id, CampaignState.READING, changed_at, now, changes, args)


def refuse_file(tx: Tx, campaign_id: bytes, reason: Sequence[str], changed_at: Instant, now: Instant) -> None:
    """Record why a file cannot be used; another one may be uploaded."""
    changes = "state = ?, reason = ?, receivers = 0, invalid_rows = 0, duplicates = 0, upgraded = 0"
    args = (CampaignState.DRAFT.code, to_json(reason))
    if update_version(tx, campaign_id, CampaignState.READING, changed_at, now, changes, args):
        _delete_rows(tx, campaign_id)


def start(
    tx: Tx, campaign_id: bytes, changed_at: Instant, name: str, scheduled_at: Instant | None, now: Instant
) -> bool:
    """Start sending a validated campaign; return False if it is in another state, or has changed since."""
    changes, args = "state = ?, name = ?, scheduled_at = ?", (CampaignState.MAKING.code, name, scheduled_at)
    return update_version(tx, campaign_id, CampaignState.CHECKED, changed_at, now, changes, args, "receivers > 0")


def rename(tx: Tx, campaign_id: bytes, name: str) -> bool:
    """Change the name of a campaign; its state and version stay."""
    return tx.changes("update campaigns set name = ? where id = ?", (name, campaign_id))


def change_state(
    tx: Tx, campaign_id: bytes, from_states: Sequence[CampaignState], to_state: CampaignState, now: Instant
) -> bool:
    """Change the state of a campaign if it is in one of some states; return whether it was."""
    marks = ", ".join("?" * len(from_states))
    return tx.changes(
        f"update campaigns set state = ?, changed_at = ? where id = ? and state in ({marks})",
        (to_state.code, now, campaign_id, *(each.code for each in from_states)),
    )


def halt(tx: Tx, campaign_id: bytes, reason: Sequence[str], now: Instant) -> None:
    """Halt a campaign and record why its other receivers cannot be put into requests now."""
    tx.execute(
        "update campaigns set state = ?, reason = ?, changed_at = ? where id = ? and state = ?",
        (CampaignState.HALTED.code, to_json(reason), now, campaign_id, CampaignState.MAKING.code),
    )


def set_reason(tx: Tx, campaign_id: bytes, reason: Sequence[str]) -> None:
    """Record why a campaign waits; empty: it does not."""
    tx.execute(
        "update campaigns set reason = ? where id = ? and state = ?",
        (to_json(reason), campaign_id, CampaignState.MAKING.code),
    )


def halt_all(tx: Tx, reason: Sequence[str], now: Instant) -> int:
    """Halt all campaigns for one reason; return how many."""
    halted = tx.execute(
        "update campaigns set state = ?, reason = ?, changed_at = ? where state = ?",
        (CampaignState.HALTED.code, to_json(reason), now, CampaignState.MAKING.code),
    )
    tx.execute("update campaigns set expedited = 0 where expedited = 1")
    return halted


def expedite(tx: Tx, campaign_id: bytes, now: Instant) -> bool:
    """Send everything of a campaign that waits now; return False unless it is being sent."""
    return tx.changes(
        "update campaigns set scheduled_at = ?, expedited = 1, changed_at = ? where id = ? and state in (?, ?)",
        (now, now, campaign_id, CampaignState.MAKING.code, CampaignState.MADE.code),
    )


def end_expedite(tx: Tx, campaign_id: bytes) -> None:
    """Record that everything that waited is expedited."""
    tx.execute("update campaigns set expedited = 0 where id = ?", (campaign_id,))


def find_active(tx: Tx) -> list[bytes]:
    """Return the campaigns to put into requests, to cancel or to expedite."""
    return tx.fetch_values(
        "select id from campaigns where state in (?, ?) union select id from campaigns where expedited = 1",
        (CampaignState.MAKING.code, CampaignState.CANCELLING.code),
    )


def next_block(tx: Tx, campaign_id: bytes, after: int = -1) -> ReceiverBlock | None:
    """Return the receivers of the next request, of the first block with a number above this one."""
    blocks = select(ReceiverBlock, "campaign_blocks", is_upgraded=bool)
    return blocks.fetch_one(
        tx, "where campaign_id = ? and number > ? order by number limit 1", (campaign_id, after)
    )


def take_block(tx: Tx, campaign: Campaign, block: ReceiverBlock, now: Instant) -> bool:
    """Remove receivers, to be stored as a request in the same transaction.

    Says no if another process has done it, if the campaign has been stopped or rescheduled, or if the block has
    other receivers than it was read with: an erasure has removed some.
    """
    scheduled_at = _AT_ONCE if campaign.scheduled_at is None else campaign.scheduled_at
    is_taken = tx.changes(
        "delete from campaign_blocks where campaign_id = ? and number = ? and receivers = ? and exists"
        " (select 1 from campaigns c where c.id = campaign_id and c.state = ? and coalesce(c.scheduled_at, ?) = ?)",
        (campaign.id, block.number, block.receivers, CampaignState.MAKING.code, _AT_ONCE, scheduled_at),
    )
    if is_taken:
        tx.execute(
            "update campaigns set requested = requested + ?, changed_at = ? where id = ?",
            (block.receivers, now, campaign.id),
        )
    return is_taken


def delete_blocks(tx: Tx, campaign_id: bytes) -> None:
    """Delete the receivers that are in no request yet."""
    tx.execute("delete from campaign_blocks where campaign_id = ?", (campaign_id,))


def delete_old(tx: Tx, states: Iterable[CampaignState], before: Instant, limit: int) -> int:
    """Delete some campaigns in these states that have not changed since `before`; return how many.

    Campaigns with messages that have not ended stay.
    """
    found = [
        row[0]
        for state in states
        for row in tx.fetch_all(
            "select id from campaigns c where state = ? and changed_at < ? and not exists (select 1 from"
            " campaign_requests r where r.campaign_id = c.id and r.is_ended = 0) order by changed_at limit ?",
            (state.code, before, limit),
        )
    ]
    for one in found:
        _delete_rows(tx, one)
        tx.execute("delete from campaign_requests where campaign_id = ?", (one,))
        tx.execute("delete from campaigns where id = ?", (one,))
    return len(found)


def _delete_rows(tx: Tx, campaign_id: bytes) -> None:
    delete_blocks(tx, campaign_id)
    tx.execute("delete from campaign_invalid_rows where campaign_id = ?", (campaign_id,))


def to_json(words: Sequence[str]) -> str:
    """Return sentences or names as they are stored."""
    return _encode(words).decode()

"""The nodes of Citus: which slots each has, and whether it can be reached."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Text, TextError
from pabal.store.engine.base import Priority, Reader, Row, Tx, transaction

SLOT_NUMBERS = range(1 << identifiers.SLOT_BITS)
"""Every number that a slot can have."""
WORKER_SETTINGS = {"enable_seqscan": "off", "lock_timeout": "10s"}
"""Two of the settings of the database, which `pabal migrate --citus` passes on to the worker nodes."""
MAX_RECOVERY_INTERVAL_MS = 5_000
"""Citus should look this often for transactions that a lost node has left prepared: their rows are locked."""


class SlotPlace(NamedTuple):
    """Where a slot is: the number of its shard, and host and port of the node that has it."""

    shard: int
    node: str


class NodeProblem(NamedTuple):
    """Something that keeps a node from its work, and what to do about it."""

    node: str
    message: Text
    remedy: Text


def has_citus(tx: Tx) -> bool:
    """Return whether the database has Citus, distributed or not."""
    return tx.fetch_one("select 1 from pg_extension where extname = 'citus'") is not None


def is_distributed(tx: Tx) -> bool:
    """Return whether Citus distributes the tables of this store."""
    return tx.fetch_one("select 1 where {is_distributed}") is not None


@transaction(reader=Reader.BACKGROUND)
def find_places(tx: Tx, slots: Collection[int] = SLOT_NUMBERS) -> dict[int, SlotPlace]:
    """Return where each slot is; nothing where the store is not distributed. Asks the coordinator alone."""
    if not slots or not is_distributed(tx):
        return {}
    rows = tx.fetch_all(
        "select s.slot, s.shardid, n.nodename || ':' || n.nodeport from (select g.slot,"
        " get_shard_id_for_distribution_column('jobs', g.slot::smallint) as shardid from generate_series(0,"
        " ?::bigint) as g(slot) offset 0) as s join pg_dist_placement p on p.shardid = s.shardid join pg_dist_node"
        " n on n.groupid = p.groupid and n.noderole = 'primary'",
        (max(slots),),
    )
    return {slot: SlotPlace(shard, node) for slot, shard, node in rows if slot in slots}


@transaction(reader=Reader.BACKGROUND)
def probe(tx: Tx, slot: int) -> None:
    """Read something of a slot. Raises NodeUnavailable, in the store, where its node cannot be reached."""
    tx.fetch_one("select 1 from jobs where slot = ? and id = ?", (slot, b""))


def spread(count: int, places: Mapping[int, SlotPlace]) -> list[int]:
    """Return the numbers of so many slots, evenly over nodes and over the shards of each; 0 is one of them.

    Citus hashes the numbers: those of neighbours may be in one shard, and other shards would have none.
    """
    numbers: dict[int, list[int]] = {}
    shards_of: dict[str, list[int]] = {}
    for number in sorted(places):
        shard, node = places[number]
        if shard not in numbers:
            shards_of.setdefault(node, []).append(shard)
        numbers.setdefault(shard, []).append(number)
    # slot 0 exists in every store; its node and its shard come first, because they are found first
    rounds = max(len(shards) for shards in shards_of.values())
    order = [shards[number] for number in range(rounds) for shards in shards_of.values() if number < len(shards)]
    chosen: list[int] = []
    while len(chosen) < count and any(numbers.values()):
        for shard in [each for each in order if numbers[each]][: count - len(chosen)]:
            chosen.append(numbers[shard].pop(0))
    return sorted(chosen)


def find_problems(tx: Tx) -> list[NodeProblem]:
    """Return what is wrong with the nodes of a distributed store, as far as the coordinator can see it."""
    found = []
    for node, has_answered, said in _ask_workers(tx):
        if not has_answered:
            found.append(_unreachable(node, said))
        elif said != " ".join(WORKER_SETTINGS.values()):
            message = Text(
                f"노드 {node}의 설정이 다릅니다: {said}",
                f"the node {node} has other settings than it should: {said}",
            )
            found.append(
                NodeProblem(
                    node,
                    message,
                    Text(
                        "데이터베이스 소유자로 `pabal migrate --citus`를 다시 실행하세요.",
                        "Run `pabal migrate --citus` again as the owner of the database.",
                    ),
                )
            )
    return found + _find_recovery_problem(tx)


def find_unreachable(tx: Tx) -> list[NodeProblem]:
    """Return the nodes that the coordinator cannot reach, whether anything is distributed or not."""
    return [_unreachable(node, said) for node, has_answered, said in _ask_workers(tx) if not has_answered]


def _ask_workers(tx: Tx) -> list[Row]:
    """Return host and port of each worker node, whether it has answered, and our settings there or the error."""
    names = ", ".join(f"current_setting(''{name}'')" for name in WORKER_SETTINGS)
    return tx.fetch_all(
        "select r.nodename || ':' || r.nodeport, r.success, r.result"
        f" from run_command_on_workers('select concat_ws('' '', {names})') r order by 1"
    )


def _unreachable(node: str, said: str) -> NodeProblem:
    return NodeProblem(
        node,
        Text(f"노드 {node}에 접속할 수 없습니다({said})", f"the node {node} cannot be reached ({said})"),
        UNREACHABLE_REMEDY,
    )


def _find_recovery_problem(tx: Tx) -> list[NodeProblem]:
    row = tx.fetch_one("select setting from pg_settings where name = 'citus.recover_2pc_interval'")
    interval_ms = int(row[0]) if row else MAX_RECOVERY_INTERVAL_MS
    if 0 < interval_ms <= MAX_RECOVERY_INTERVAL_MS:
        return []
    message = Text(
        f"citus.recover_2pc_interval이 {interval_ms} ms입니다. 노드를 잃은 뒤 일부 메시지가 그만큼 잠겨 있습니다",
        f"citus.recover_2pc_interval is {interval_ms} ms: after a node was lost, some messages stay locked so long",
    )
    statements = "alter system set citus.recover_2pc_interval = '2s'; select pg_reload_conf();"
    remedy = Text(
        f"코디네이터에서 관리자로 실행하세요: {statements}",
        f"On the coordinator, as an administrator: {statements}",
    )
    return [NodeProblem("", message, remedy)]


UNREACHABLE_REMEDY = Text(
    "그 노드의 슬롯은 기다리고 나머지는 계속됩니다. 노드가 실행 중인지, 코디네이터가 `store`의 역할로 접속할 수"
    " 있는지 확인하세요. 비밀번호는 pg_dist_authinfo나 PostgreSQL을 실행하는 사용자의 .pgpass에 있어야 합니다.",
    "Its slots wait; all others go on. Check that it is running, and that the coordinator can connect to it with"
    " the role of `store`: a password must be in pg_dist_authinfo, or in .pgpass of the user that runs PostgreSQL.",
)


DISTRIBUTED_TABLES = (
    "requests",
    "images",
    "messages",
    "attempts",
    "jobs",
    "idempotency_keys",
    "new_events",
    "events",
    "event_numbers",
    "event_days",
    "event_data",
)
"""Tables that are distributed by slot; all rows of one slot are on one worker."""
MARKER_TABLE = "two_phase_commits"
"""An empty table that Citus knows of, on the coordinator: writing to it makes the commit two-phase."""
USE_TWO_PHASES = f"delete from {MARKER_TABLE} where id = 0".encode()
"""Makes the transaction commit in two phases. Without it, Citus commits the worker, then the coordinator: what is
written to tables of the coordinator, which Citus does not know of, may be lost in between."""
FIND_DISTRIBUTION = f"select 1 where to_regclass('{MARKER_TABLE}') is not null".encode()
_PLANNER_SETTINGS = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit")
"""Turned off in our own sessions (see postgres_session.py), which Citus does not pass on to its workers."""
_OTHER_SETTINGS = {
    "lock_timeout": "10s",
    "tcp_keepalives_idle": "10s",
    "tcp_keepalives_interval": "5s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15s",
}
"""As in our own sessions: a worker must not wait for a lock, nor for a coordinator that is gone, for longer."""
_TARGET = re.compile(r"\s*(?:insert (?:\{or_fail\} )?into|update|delete from) (\w+?)(?:_default|_[0-9]{6})?\b")


class NoCitus(TextError):
    """The database is not on a Citus coordinator with workers; the message says what to do."""


@lru_cache(maxsize=512)
def writes_to_workers(sql: str) -> bool | None:
    """Return whether a statement writes to a distributed table, or to one of the coordinator; None: to neither."""
    target = _TARGET.match(sql)
    return target[1] in DISTRIBUTED_TABLES if target else None


@transaction(exclusive=True, priority=Priority.PATIENT)
def distribute(tx: Tx) -> list[str]:
    """Distribute the tables that are not distributed yet, with their rows, and return their names.

    Raises NoCitus.
    """
    tx.fetch_all("select {schema_lock}")
    if not tx.fetch_one("select 1 from pg_extension where extname = 'citus'"):
        raise NoCitus(
            "데이터베이스에 Citus가 없습니다. 거기서 관리자로 `create extension citus`를 실행하세요",
            "the database has no Citus: run `create extension citus` there as an administrator",
        )
    if not tx.fetch_one("select 1 from pg_dist_node where noderole = 'primary' and shouldhaveshards"):
        raise NoCitus(
            "Citus에 워커 노드가 없습니다. 노드마다 `select citus_add_node('HOST', PORT)`를 실행하세요",
            "Citus has no workers yet: run `select citus_add_node('HOST', PORT)` for each",
        )
    if not tx.fetch_one("select 1 from pg_dist_node where groupid = 0"):
        raise NoCitus(
            "Citus가 코디네이터를 모릅니다. `select citus_set_coordinator_host('HOST', PORT)`를 실행하세요",
            "Citus does not know its coordinator: run `select citus_set_coordinator_host('HOST', PORT)`",
        )
    _apply_settings(tx)
    done = {row[0] for row in tx.fetch_all("select logicalrelid::text from pg_dist_partition")}
    missing = [table for table in DISTRIBUTED_TABLES if table not in done]
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")
    for table in missing:
        beside = "none" if table == DISTRIBUTED_TABLES[0] else DISTRIBUTED_TABLES[0]
        tx.fetch_all("select create_distributed_table(?, 'slot', colocate_with => ?)", (table, beside))
    if MARKER_TABLE not in done:
        tx.execute(f"create table if not exists {MARKER_TABLE} (id bigint primary key)")
        tx.fetch_all("select citus_add_local_table_to_metadata(?)", (MARKER_TABLE,))
    return missing


def _apply_settings(tx: Tx) -> None:
    """Apply our settings on the workers: Citus passes on changes of the database."""
    (name,) = tx.fetch_all("select quote_ident(current_database())")[0]
    for setting in _PLANNER_SETTINGS:
        tx.execute(f"alter database {name} set {setting} = off")
    for setting, value in _OTHER_SETTINGS.items():
        tx.execute(f"alter database {name} set {setting} = '{value}'")

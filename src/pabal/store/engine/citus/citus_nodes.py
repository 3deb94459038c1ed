"""The nodes of Citus: which slots each has, and whether it can be reached."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Text
from pabal.store.engine.base import Reader, Row, Tx, transaction

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

"""What is wrong with the nodes of Citus, and what to do about it."""

from typing import NamedTuple

from pabal.domain.base.codes import Text
from pabal.store.engine.base import Reader, Row, Tx, transaction

WORKER_SETTINGS = {"enable_seqscan": "off", "lock_timeout": "10s"}
"""Two of the settings of the database, which `pabal migrate --citus` passes on to the worker nodes."""
MAX_RECOVERY_INTERVAL_MS = 5_000
"""Citus should look this often for transactions that a lost node has left prepared: their rows are locked."""

MAX_PREPARED_S = 30
"""A transaction that stays prepared for longer than this is not recovered as it should be."""
_PREPARED = (
    "select floor(extract(epoch from max(clock_timestamp() - prepared)))::bigint"
    " from pg_prepared_xacts where database = current_database()"
)


class NodeProblem(NamedTuple):
    """Something that keeps a node from its work, and what to do about it."""

    node: str
    message: Text
    remedy: Text
    is_urgent: bool = True
    """Whether messages wait because of it, or may soon."""


def has_citus(tx: Tx) -> bool:
    """Return whether the database has Citus, distributed or not."""
    return tx.fetch_one("select 1 from pg_extension where extname = 'citus'") is not None


def find_problems(tx: Tx, max_prepared_s: int = MAX_PREPARED_S) -> list[NodeProblem]:
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
    if not found:  # else they would be waited for
        found += [*_find_prepared(tx, max_prepared_s), *_find_move_problems(tx)]
    return found + _find_recovery_problem(tx)


def find_unreachable(tx: Tx) -> list[NodeProblem]:
    """Return the nodes that the coordinator cannot reach, whether anything is distributed or not."""
    return [_unreachable(node, said) for node, has_answered, said in _ask_workers(tx) if not has_answered]


@transaction(reader=Reader.BACKGROUND)
def oldest_prepared_s(tx: Tx) -> dict[str, int]:
    """Return for how many seconds the oldest transaction has been prepared, for each worker that has one."""
    rows = tx.fetch_all(
        "select nodename || ':' || nodeport, result from run_command_on_workers(?) where success and result <> ''",
        (_PREPARED,),
    )
    return {node: int(said) for node, said in rows}


def _find_prepared(tx: Tx, max_s: int) -> list[NodeProblem]:
    return [
        NodeProblem(
            node,
            Text(
                f"노드 {node}에 {seconds}초 전부터 준비된 채 남은 트랜잭션이 있어 그 행이 잠겨 있습니다",
                f"the node {node} has a transaction that was prepared {seconds} s ago: its rows are locked",
            ),
            Text(
                "코디네이터의 로그에서 Citus의 복구가 왜 실패하는지 확인하세요. 모든 노드에 접속할 수 있으면"
                " 코디네이터에서 관리자로 `select recover_prepared_transactions();`를 실행하세요.",
                "See in the coordinator's log why the recovery of Citus fails. With every node reachable, run there"
                " as an administrator: `select recover_prepared_transactions();`",
            ),
        )
        for node, seconds in sorted(oldest_prepared_s(tx).items())
        if seconds > max_s
    ]


def _find_move_problems(tx: Tx) -> list[NodeProblem]:
    """Return what keeps shards from being moved: settings of nodes, and nodes that cannot log in to each other."""
    levels = tx.fetch_all(
        "select nodename || ':' || nodeport, result from run_command_on_workers(?) where result <> 'logical'"
        " order by 1",
        ("select current_setting('wal_level')",),
    )
    found = [
        NodeProblem(
            node,
            Text(
                f"노드 {node}의 설정이 wal_level = {level}이라서 샤드를 옮길 수 없습니다",
                f"the node {node} has wal_level = {level}, so that its shards cannot be moved",
            ),
            Text(
                "그 노드에 `wal_level = logical`을 설정하고 PostgreSQL을 다시 시작하세요.",
                "Set `wal_level = logical` there, and restart its PostgreSQL.",
            ),
            is_urgent=False,
        )
        for node, level in levels
    ]
    refused = tx.fetch_all(
        "select from_nodename || ':' || from_nodeport, to_nodename || ':' || to_nodeport"
        " from citus_check_cluster_node_health() where result is not true order by 1, 2"
    )
    return found + [
        NodeProblem(
            "",
            Text(
                f"노드 {one}에서 노드 {other}에 로그인할 수 없어 그 사이에서 샤드를 옮길 수 없습니다",
                f"the node {one} cannot log in to the node {other}, so that no shard can be moved between them",
            ),
            Text(
                "pg_hba.conf와, 비밀번호가 있으면 노드마다 pg_dist_authinfo를 확인하세요.",
                "Check pg_hba.conf there, and with passwords pg_dist_authinfo on every node.",
            ),
            is_urgent=False,
        )
        for one, other in refused
    ]


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

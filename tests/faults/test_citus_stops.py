"""Stops of the coordinator, the nodes and the workers of a real Citus under load lose, double and leave nothing."""

import asyncio
import contextlib
import os
import select
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from bench.server import descendants_of
from tests.citus_cluster import DATABASE, Node, running_cluster
from tests.faults.accounting import REJECTED_RECEIVER, wait_until_all_ended
from tests.faults.clients import Load, wait_until
from tests.faults.cluster import ProcessCluster
from tests.faults.servers import use_store
from tests.fixtures import citus
from tests.fixtures.live import run

OPTIONS = {"synchronous_commit": "on", "autovacuum": "off"}
"""A stopped server forgets what it has not written, unlike the machine."""
SLOTS = 32
NODES, WEBS, WORKERS = 2, 1, 2
CLIENTS = 2
SHARE = 10 if os.environ.get("PABAL_TORTURE") else 1
STOPS = {"coordinator": 2 * SHARE, "node": SHARE, "worker": SHARE, "shard": max(1, SHARE // 5)}
"""How often each is stopped, and a shard moved."""
PREPARED_TIMEOUT_S = 60.0


class Faults:
    """What happens to the servers and the processes while messages flow."""

    def __init__(self, nodes: Sequence[Node], cluster: ProcessCluster, rng: Random) -> None:
        self._coordinator, self._workers = nodes[0], nodes[1:]
        self._cluster = cluster
        self._rng = rng
        self.done: Counter[str] = Counter()

    def cause(self, what: str) -> None:
        """Stop a server at once, or kill a process, and start it again; or move a shard to another node."""
        {
            "coordinator": lambda: self._stop(self._coordinator),
            "node": lambda: self._stop(self._rng.choice(self._workers)),
            "worker": self._kill_worker,
            "shard": self._move_shard,
        }[what]()
        self.done[what] += 1

    def _stop(self, server: Node) -> None:
        if self._rng.random() < 0.5:
            server.stop("immediate")
        else:
            kill_all(server)
        server.start()

    def _kill_worker(self) -> None:
        worker = self._cluster.pick_worker(self._rng)
        worker.kill()
        worker.start()

    def _move_shard(self) -> None:
        with connected(self._coordinator) as connection:
            shard, host, port = self._rng.choice(
                connection.execute(
                    "select shardid, nodename, nodeport from citus_shards where table_name = 'jobs'::regclass"
                    " order by shardid"
                ).fetchall()
            )
            (target,) = self._rng.sample([each for each in self._workers if each.port != port], 1)
            connection.execute(
                "select citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')",
                (shard, host, port, host, target.port),
            )


def kill_all(server: Node) -> None:
    """Kill a server with all its processes, as the end of its machine does; return when they have ended."""
    file = server.folder / "data" / "postmaster.pid"
    parent = int(file.read_text().split()[0])
    with contextlib.ExitStack() as stack:
        processes = []
        for pid in (parent, *descendants_of(parent)):
            with contextlib.suppress(ProcessLookupError):
                processes.append(os.pidfd_open(pid))
                stack.callback(os.close, processes[-1])
        for each in processes:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(each, signal.SIGKILL)
        for each in processes:
            select.select([each], [], [])
    file.unlink()  # where nobody waits for the process, its number is still taken
    for lock in server.folder.glob(".s.PGSQL.*.lock"):
        lock.unlink()


def connected(node: Node) -> "contextlib.closing[psycopg.Connection[Any]]":
    return contextlib.closing(psycopg.connect(node.address_of(DATABASE), autocommit=True))


def fetch(node: Node, sql: str) -> list[tuple[Any, ...]]:
    with connected(node) as connection:
        return connection.execute(sql.encode()).fetchall()


def count_prepared(node: Node) -> int:
    return int(fetch(node, "select count(*) from pg_prepared_xacts")[0][0])


def check_messages(coordinator: Node, load: Load) -> None:
    """Check that each answered request is stored once and ended as expected, and that no phone got a text twice."""
    stored = {row[0].hex() for row in fetch(coordinator, "select id from requests")}
    assert set(load.log.answered.values()) == stored
    assert len(stored) == len(load.log.answered) == load.log.created
    messages = fetch(coordinator, "select id, receiver, status, outcome, carrier_code from messages")
    cancelled = load.log.cancelled
    expected = {
        one: 4 if one.hex()[:26] in cancelled else 3 if receiver == REJECTED_RECEIVER else 2
        for one, receiver, *_ in messages
    }
    assert [each for each in messages if each[2] != expected[each[0]]] == []
    on_phones = Counter(row[0] for row in fetch(coordinator, "select message_id from simulated_messages"))
    assert set(on_phones) == {one for one, status in expected.items() if status == 2}
    assert set(on_phones.values()) == {1}


if citus.is_available():  # else the summary says that it was not run

    @pytest.mark.torture
    @pytest.mark.slow
    def test_nothing_is_lost_doubled_or_stuck(tmp_path: Path) -> None:
        rng = Random(35)
        with running_cluster(1 + NODES, OPTIONS | {"citus.recover_2pc_interval": "2s"}) as nodes:
            data = use_store(nodes[0].address_of(DATABASE), tmp_path)
            migrated = run("migrate", "--citus", data=data, slots=SLOTS)
            assert migrated.returncode == 0, migrated.stderr
            key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
            with ProcessCluster(data, WEBS, WORKERS) as cluster:
                load, faults = Load(cluster.base_urls, key), Faults(nodes, cluster, rng)

                async def stop_all() -> None:
                    left = [what for what, times in STOPS.items() for _ in range(times)]
                    rng.shuffle(left)
                    for what in left:
                        await load.wait_for_answers(rng.randint(5, 25))
                        await asyncio.to_thread(faults.cause, what)
                    await load.wait_for_answers(20)

                async def run_load() -> None:
                    await load.run_during(stop_all, CLIENTS)
                    await wait_until_all_ended(data, timeout_s=180)

                asyncio.run(run_load())
                assert cluster.stop() == [0] * (WEBS + WORKERS)
            assert faults.done == STOPS
            check_messages(nodes[0], load)
            asyncio.run(wait_until(lambda: not any(map(count_prepared, nodes)), PREPARED_TIMEOUT_S))
            print(f"{faults.done}, {len(load.log.answered)} requests, answers: {load.results}")
            left = fetch(nodes[0], "select message_id is null, count(*) from receipts group by 1")
            print(f"rows of receipts left, by whether they match no message: {left}")

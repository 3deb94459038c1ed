"""What `pabal doctor` checks of PostgreSQL: its settings, the workers and their clocks, and the nodes of Citus."""

import asyncio

from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.cli.doctor.machine import compare_clocks
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.delivery.workers import HEARTBEAT_INTERVAL_S, LIVENESS_CHECK_S
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store, Tx
from pabal.store.engine.citus.places import find_places
from pabal.store.engine.citus.problems import find_problems, find_unreachable, has_citus
from pabal.store.engine.postgres import partitions
from pabal.store.queue import slots
from pabal.store.queue.slots import Worker
from pabal.world import World

MAX_WORKER_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A worker's clock that differs more from the database's is reported."""
MAX_HEARTBEAT_AGE_MS = int(2 * HEARTBEAT_INTERVAL_S * SECOND)
"""The last heartbeat of a live worker, which has its clock, may be this old."""


async def check_server(store: Store, settings: Settings, world: World) -> list[Finding]:
    """Check the version, the settings and the clock of PostgreSQL, and the workers."""
    found = [
        ok(
            f"데이터베이스 {settings.redacted_store}에 접속할 수 있고 스키마가 최신입니다",
            f"the database {settings.redacted_store} can be reached and its schema is up to date",
        )
    ]
    found += await check_workers(store)
    version = await store.read(partitions.server_version)
    if version < partitions.MIN_VERSION:
        found.append(
            wrong(
                f"PostgreSQL 버전이 {version}입니다",
                f"PostgreSQL has version {version}",
                Text(f"{partitions.MIN_VERSION} 이상을 쓰세요.", f"Use {partitions.MIN_VERSION} or later."),
            )
        )
    for name, value in (await store.read(partitions.current_settings)).items():
        if value not in partitions.REQUIRED_SETTINGS[name]:
            required = " or ".join(partitions.REQUIRED_SETTINGS[name])
            remedy = Text(
                f"{required}(으)로 바꾸세요. 그러지 않으면 저장한 데이터를 잃을 수 있습니다.",
                f"Set it to {required}; otherwise stored data may be lost.",
            )
            found.append(
                wrong(f"PostgreSQL의 설정이 {name} = {value}입니다", f"PostgreSQL has {name} = {value}", remedy)
            )
    before = world.now()
    theirs = await store.read(partitions.server_time)
    found += compare_clocks(before, theirs, world.now())
    found += await check_months(store, world)
    return found + await check_nodes(store)


async def check_months(store: Store, world: World) -> list[Finding]:
    """Report months that have no partitions though they begin soon."""
    missing = await store.read(partitions.count_late_months, world.now())
    if not missing:
        return []
    remedy = Text(
        "워커가 실행 중이면 1분 안에 만듭니다. 로그에 `partitions could not be maintained`가 되풀이되면"
        " 테이블을 오래 잠그는 트랜잭션(예: pg_dump)을 끝내세요.",
        "A running worker creates it within a minute. If the log repeats `partitions could not be maintained`, end"
        " the transactions that lock the tables for long, such as a pg_dump.",
    )
    message = Text(
        f"파티션이 없는 달이 있습니다({missing}개). 메시지는 기본 파티션에 저장됩니다",
        f"a month that has begun or begins within 7 days has no partitions ({missing}): its messages are stored in"
        " the default ones",
    )
    return [note(*message, remedy)]


async def check_workers(store: Store) -> list[Finding]:
    """List the workers, and report those whose clocks differ from the database's.

    Workers that have died together stay listed, so a clock that seems wrong is looked at twice.
    """
    workers, now = await store.read(_read_clocks)
    ko = ", ".join(f"{worker.name}(슬롯 {held}개)" for worker, held in workers)
    en = ", ".join(f"{worker.name} ({held} slots)" for worker, held in workers)
    found = [ok(f"워커: {ko or '없음'}", f"workers: {en or 'none running'}")]
    if not any(clock_difference_ms(worker.clock_at, now) for worker, _ in workers):
        return found
    heartbeats = {worker.id: worker.heartbeat for worker, _ in workers}
    await asyncio.sleep(LIVENESS_CHECK_S)
    workers, now = await store.read(_read_clocks)
    alive = [worker for worker, _ in workers if worker.heartbeat != heartbeats.get(worker.id)]
    return found + [finding for worker in alive for finding in _compare(worker, now)]


def clock_difference_ms(clock_at: Instant, now: Instant) -> int:
    """Return how far the clock of a live worker is ahead of the database's; 0 if they may be the same."""
    ahead_ms = clock_at - now
    if ahead_ms > MAX_WORKER_CLOCK_DIFFERENCE_MS or -ahead_ms > (
        MAX_WORKER_CLOCK_DIFFERENCE_MS + MAX_HEARTBEAT_AGE_MS
    ):
        return ahead_ms
    return 0


def _compare(worker: Worker, now: Instant) -> list[Finding]:
    ahead_ms = clock_difference_ms(worker.clock_at, now)
    if not ahead_ms:
        return []
    word = Text("빠릅니다", "ahead of") if ahead_ms > 0 else Text("느립니다", "behind")
    seconds = abs(ahead_ms) // SECOND
    message = Text(
        f"워커 {worker.name}의 시계가 데이터베이스보다 약 {seconds}초 {word.ko}",
        f"the clock of the worker {worker.name} is about {seconds} s {word.en} the database's",
    )
    remedy = Text(
        "그 컴퓨터에 NTP를 설정하세요. 메시지를 보낼 때는 발송하는 프로세스의 시계가 정합니다.",
        "Set up NTP on its machine: messages come due by the clock of the process that sends.",
    )
    return [wrong(*message, remedy)]


def _read_clocks(tx: Tx) -> tuple[list[tuple[Worker, int]], Instant]:
    return slots.list_workers(tx), partitions.server_time(tx)


async def check_nodes(store: Store) -> list[Finding]:
    """Check the nodes of Citus: that they can be reached and have our settings."""
    known = await store.read(slots.list_numbers)
    if not (places := await store.read(find_places, known)):
        return await store.read(_check_undistributed)
    names = sorted({place.node for place in places.values()})
    problems = await store.read(find_problems)
    found = [(wrong if each.is_urgent else note)(*each.message, each.remedy) for each in problems]
    unreachable = {each.node for each in problems if each.is_urgent}
    for node in (each for each in names if each not in unreachable):
        held = sum(place.node == node for place in places.values())
        found.append(
            ok(f"노드 {node}에 접속할 수 있습니다(슬롯 {held}개)", f"the node {node} can be reached ({held} slots)")
        )
    shards = len({place.shard for place in places.values()})
    found.append(
        ok(
            f"Citus가 슬롯 {len(known)}개를 샤드 {shards}개에 나눕니다",
            f"Citus distributes {len(known)} slots over {shards} shards",
        )
    )
    return found


def _check_undistributed(tx: Tx) -> list[Finding]:
    """Say so where the database has Citus, but its tables are not distributed, and which node may be the reason."""
    if not has_citus(tx):
        return []
    problems = [wrong(*each.message, each.remedy) for each in find_unreachable(tx)]
    return [
        *problems,
        note(
            "데이터베이스에 Citus가 있지만 아무것도 나누지 않았습니다",
            "the database has Citus, but distributes nothing",
            Text("`pabal migrate --citus`를 실행하세요.", "Run `pabal migrate --citus`."),
        ),
    ]

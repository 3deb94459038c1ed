"""What `pabal doctor` checks of the store: PostgreSQL, the workers and their clocks, Citus, and stored secrets."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.cli.doctor.machine import FAST, SLOW, compare_clocks
from pabal.cli.shared.command import make_context
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import KeyState
from pabal.service.delivery.workers import HEARTBEAT_INTERVAL_S, LIVENESS_CHECK_S
from pabal.service.upkeep import stored_secrets
from pabal.service.upkeep.stored_secrets import SecretStates, count_states
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
"""A live worker's last heartbeat, which carries its clock, may be this old."""


async def check_server(store: Store, settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Check the version, the settings and the clock of PostgreSQL, and the workers."""
    yield ok(
        f"데이터베이스 {settings.redacted_store}에 접속할 수 있고 스키마가 최신입니다",
        f"the database {settings.redacted_store} can be reached and its schema is up to date",
    )
    async for each in check_workers(store):
        yield each
    version, least = await store.read(partitions.server_version), partitions.MIN_VERSION
    if version < least:
        use = Text(f"{least} 이상을 쓰세요.", f"Use {least} or later.")
        yield wrong(f"PostgreSQL 버전이 {version}입니다", f"PostgreSQL has version {version}", *use)
    for name, value in (await store.read(partitions.current_settings)).items():
        if value not in partitions.REQUIRED_SETTINGS[name]:
            required = " or ".join(partitions.REQUIRED_SETTINGS[name])
            yield wrong(
                f"PostgreSQL의 설정이 {name} = {value}입니다",
                f"PostgreSQL has {name} = {value}",
                f"{required}(으)로 바꾸세요. 그러지 않으면 저장한 데이터를 잃을 수 있습니다.",
                f"Set it to {required}; otherwise stored data may be lost.",
            )
    before = world.now()
    theirs = await store.read(partitions.server_time)
    for each in compare_clocks(before, theirs, world.now()):
        yield each
    async for each in check_months(store, world):
        yield each
    async for each in check_nodes(store):
        yield each


async def check_months(store: Store, world: World) -> AsyncIterator[Finding]:
    """Report months that have no partitions though they begin soon."""
    if missing := await store.read(partitions.count_late_months, world.now()):
        yield note(
            f"파티션이 없는 달이 있습니다({missing}개). 메시지는 기본 파티션에 저장됩니다",
            f"a month that has begun or begins within 7 days has no partitions ({missing}): its messages are stored"
            " in the default ones",
            "워커가 실행 중이면 1분 안에 만듭니다. 로그에 `partitions could not be maintained`가 되풀이되면"
            " 테이블을 오래 잠그는 트랜잭션(예: pg_dump)을 끝내세요.",
            "A running worker creates it within a minute. If the log repeats `partitions could not be maintained`,"
            " end the transactions that lock the tables for long, such as a pg_dump.",
        )


async def check_workers(store: Store) -> AsyncIterator[Finding]:
    """List the workers, and report those whose clocks differ from the database's.

    A dead worker may still be listed, so only one whose heartbeat moves between two looks is reported.
    """
    workers, now = await store.read(_read_clocks)
    ko = ", ".join(f"{worker.name}(슬롯 {held}개)" for worker, held in workers)
    en = ", ".join(f"{worker.name} ({held} slots)" for worker, held in workers)
    yield ok(f"워커: {ko or '없음'}", f"workers: {en or 'none running'}")
    if not any(clock_difference_ms(worker.clock_at, now) for worker, _ in workers):
        return
    heartbeats = {worker.id: worker.heartbeat for worker, _ in workers}
    await asyncio.sleep(LIVENESS_CHECK_S)
    workers, now = await store.read(_read_clocks)
    for worker, _ in workers:
        ahead_ms = clock_difference_ms(worker.clock_at, now)
        if ahead_ms and worker.heartbeat != heartbeats.get(worker.id):
            word, seconds = FAST if ahead_ms > 0 else SLOW, abs(ahead_ms) // SECOND
            yield wrong(
                f"워커 {worker.name}의 시계가 데이터베이스보다 약 {seconds}초 {word.ko}",
                f"the clock of the worker {worker.name} is about {seconds} s {word.en} the database's",
                "그 컴퓨터에 NTP를 설정하세요. 발송 시각은 발송하는 프로세스의 시계를 따릅니다.",
                "Set up NTP on its machine: messages come due by the clock of the process that sends.",
            )


def clock_difference_ms(clock_at: Instant, now: Instant) -> int:
    """Return how far the clock of a live worker is ahead of the database's; 0 if they may be the same."""
    ahead_ms = clock_at - now
    if ahead_ms > MAX_WORKER_CLOCK_DIFFERENCE_MS or -ahead_ms > (
        MAX_WORKER_CLOCK_DIFFERENCE_MS + MAX_HEARTBEAT_AGE_MS
    ):
        return ahead_ms
    return 0


def _read_clocks(tx: Tx) -> tuple[list[tuple[Worker, int]], Instant]:
    return slots.list_workers(tx), partitions.server_time(tx)


async def check_nodes(store: Store) -> AsyncIterator[Finding]:
    """Check the nodes of Citus: that they can be reached and have our settings."""
    known = await store.read(slots.list_numbers)
    if not (places := await store.read(find_places, known)):
        for each in await store.read(_check_undistributed):
            yield each
        return
    problems = await store.read(find_problems)
    for problem in problems:
        yield (wrong if problem.is_urgent else note)(*problem.message, *problem.remedy)
    unreachable = {each.node for each in problems if each.is_urgent}
    for node in sorted({place.node for place in places.values()} - unreachable):
        held = sum(place.node == node for place in places.values())
        yield ok(
            f"노드 {node}에 접속할 수 있습니다(슬롯 {held}개)", f"the node {node} can be reached ({held} slots)"
        )
    shards = len({place.shard for place in places.values()})
    yield ok(
        f"Citus가 슬롯 {len(known)}개를 샤드 {shards}개에 나눕니다",
        f"Citus distributes {len(known)} slots over {shards} shards",
    )


def _check_undistributed(tx: Tx) -> list[Finding]:
    """Say so where the database has Citus, but its tables are not distributed, and which node may be the reason."""
    if not has_citus(tx):
        return []
    return [
        *(wrong(*each.message, *each.remedy) for each in find_unreachable(tx)),
        note(
            "데이터베이스에 Citus가 있지만 분산한 테이블이 없습니다",
            "the database has Citus, but distributes nothing",
            "`pabal migrate --citus`를 실행하세요.",
            "Run `pabal migrate --citus`.",
        ),
    ]


_ROTATE = Text("`pabal secrets rotate`를 실행하세요.", "Run `pabal secrets rotate`.")
_SET_KEY = Text(
    "`pabal secrets new-key`의 키를 secret_key로 설정하고 `pabal secrets rotate`를 실행하세요.",
    "Set secret_key to a key of `pabal secrets new-key`, then run `pabal secrets rotate`.",
)


class _Secrets(NamedTuple):
    """Secrets of one kind, and what is to be said about those that cannot be decrypted."""

    name: Text
    harm: Text
    remedy: Text
    can_be_plain: bool = True
    """Whether they are stored without a key, too."""


_WEBHOOKS = _Secrets(
    Text("웹훅 {}개의 비밀 값", "the secrets of {} webhooks"),
    Text("아무것도 보내지 못합니다", ", so nothing is posted to them"),
    Text("그 웹훅의 비밀 값을 새로 만드세요.", "rotate these webhooks' secrets."),
)
_SIGNING_KEYS = _Secrets(
    Text("서명하는 API 키 {}개의 비밀 값", "the secrets of {} API keys that sign"),
    Text("그 호출을 거절합니다", ": their calls are refused"),
    Text("그 키를 폐기하고 다시 만드세요.", "revoke these keys and create them again."),
    can_be_plain=False,
)
_SECOND_FACTORS = _Secrets(
    Text("사용자 {}명의 2단계 인증 비밀 값", "the two-factor secrets of {} users"),
    Text("코드를 거절합니다", ": their codes are refused"),
    Text("`pabal user reset-two-factor`를 실행하세요.", "run `pabal user reset-two-factor`."),
)


async def check_secrets(store: Store, settings: Settings, world: World) -> AsyncIterator[Finding]:
    """Check that secrets, and the key of the opt-outs, are encrypted with the current key."""
    context = make_context(settings, store, world)
    for kind, stored in (
        (_WEBHOOKS, stored_secrets.of_webhooks(context)),
        (_SIGNING_KEYS, stored_secrets.of_signing_keys(context)),
        (_SECOND_FACTORS, stored_secrets.of_second_factors(context)),
    ):
        for each in _describe_secrets(kind, await count_states(context, stored), has_key=context.secrets.has_key):
            yield each
    for each in _describe_hash_key(await opt_outs.get_state(context), has_key=context.secrets.has_key):
        yield each


def _describe_secrets(kind: _Secrets, states: SecretStates, *, has_key: bool) -> Iterator[Finding]:
    name, (current, other, unreadable) = kind.name, states
    if unreadable:
        yield wrong(
            f"{name.ko.format(unreadable)}을 복호화할 수 없어, {kind.harm.ko}",
            f"{name.en.format(unreadable)} cannot be decrypted{kind.harm.en}",
            f"암호화한 키를 secret_key에 추가하거나, {kind.remedy.ko}",
            f"Add the key that they were encrypted with to secret_key, or {kind.remedy.en}",
        )
    if current and not has_key and kind.can_be_plain:
        yield note(
            f"{name.ko.format(current)}이 암호화되지 않았습니다",
            f"{name.en.format(current)} are stored without encryption",
            *_SET_KEY,
        )
    if other and has_key:
        yield note(
            f"{name.ko.format(other)}이 옛 키로 암호화되었{'거나 암호화되지 않았' * kind.can_be_plain}습니다",
            f"{name.en.format(other)} are stored with an old key{', or without one' * kind.can_be_plain}",
            *_ROTATE,
        )


def _describe_hash_key(state: KeyState, *, has_key: bool) -> Iterator[Finding]:
    """Say what is wrong with how the key of the opt-outs is stored."""
    if state is KeyState.UNREADABLE:
        yield wrong(
            "수신거부 번호를 해시하는 키를 복호화할 수 없어, 서비스가 시작되지 않습니다",
            "the key of the opt-outs cannot be decrypted, so the service does not start",
            "암호화한 키를 secret_key에 추가하세요. `pabal secrets rebuild-opt-outs --help`를 보세요.",
            "Add the key that it was encrypted with to secret_key; see `pabal secrets rebuild-opt-outs --help`.",
        )
    elif state is KeyState.OTHER:
        yield note(
            "수신거부 번호를 해시하는 키가 옛 키로 암호화되었거나 암호화되지 않았습니다",
            "the key of the opt-outs is stored with an old key, or without one",
            *_ROTATE,
        )
    elif state is KeyState.CURRENT and not has_key:
        yield note(
            "수신거부 번호를 해시하는 키가 암호화되지 않았습니다",
            "the key of the opt-outs is stored without encryption",
            *_SET_KEY,
        )

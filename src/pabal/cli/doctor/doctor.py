"""`pabal doctor`: checks an installation, and says how to fix what is wrong."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_address

from pabal.cli.doctor.database import check_secrets, check_server
from pabal.cli.doctor.delivery import check_carriers, check_keys, check_numbers, check_reachable_queue
from pabal.cli.doctor.finding import Finding, note, ok, print_findings, wrong
from pabal.cli.doctor.machine import check_disk, check_files, check_port, explain_directory, explain_store
from pabal.cli.doctor.other_servers import (
    FIX_SETTING,
    check_break_glass,
    check_mail_server,
    check_provider,
    check_relay_numbers,
    check_webhooks,
)
from pabal.cli.shared.options import CommandParser
from pabal.domain.base.codes import Text
from pabal.settings.carriers import SENDABLE
from pabal.settings.data_directory import AlreadyRunning, process_lock
from pabal.settings.environment import explain_os_error
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.settings.tables import find_unrouted
from pabal.store.engine.base import NodeUnavailable, Store, StoreUnavailable, Tx
from pabal.store.engine.citus.problems import UNREACHABLE_REMEDY
from pabal.store.engine.migrate import UnsupportedSchema, pending
from pabal.store.open_store import open_store
from pabal.world import RealWorld, World


def declare_doctor(parser: CommandParser) -> None:
    """Declare `pabal doctor`."""
    parser.add_settings_options(lambda settings, _: print_findings(asyncio.run(diagnose(settings, RealWorld()))))


async def diagnose(settings: Settings, world: World) -> list[Finding]:
    """Run all checks and return their results. Creates and changes nothing."""
    found: list[Finding] = []
    is_running: bool | None = None
    is_missing = not settings.is_on_postgresql and not settings.store_path.exists()
    if not settings.is_on_postgresql:
        found += _check_directory(settings)
        if not any(each.is_wrong for each in found):
            is_running = not is_missing and _is_running(settings)
            found.append(_describe_file(settings, is_missing=is_missing, is_running=is_running))
    if not is_missing and not any(each.is_wrong for each in found):
        found += [each async for each in _check_store(settings, world, is_running)]
    answering = await asyncio.to_thread(lambda: list(check_port(settings, is_running=is_running)))
    found += [each async for each in check_provider(settings, world)]
    return [*found, *_check_routes(settings), *_check_address(settings), *answering]


def _check_directory(settings: Settings) -> Iterator[Finding]:
    folder = settings.store_path.parent
    nearest = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    try:
        probe = nearest / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        yield wrong(
            f"데이터 디렉터리 {folder}에 쓸 수 없습니다({explain_os_error(error).ko})",
            f"the data directory {folder} is not writable ({explain_os_error(error).en})",
            *explain_directory(folder),
        )
        return
    if nearest == folder:
        yield ok(f"데이터 디렉터리 {folder}에 쓸 수 있습니다", f"the data directory {folder} is writable")
        yield from check_files(folder)
        yield from check_disk(shutil.disk_usage(folder).free)


def _describe_file(settings: Settings, *, is_missing: bool, is_running: bool) -> Finding:
    if is_running:
        return ok("서비스가 실행 중입니다", "a service is running on it")
    if not is_missing:
        return ok("실행 중인 서비스가 없습니다", "no service is running on it")
    return (note if settings.migrate else wrong)(
        f"{settings.store_path}에 저장소가 없습니다",
        f"there is no store at {settings.store_path}",
        "서비스가 쓰는 --data와 --config를 주세요. 처음이면 `pabal serve`를 시작하세요.",
        "Give the --data and --config of the service. If there is none yet, start `pabal serve`.",
    )


def _is_running(settings: Settings) -> bool:
    """Return whether a service runs on the SQLite store."""
    try:
        with process_lock(settings):
            return False
    except AlreadyRunning:
        return True


async def _check_store(settings: Settings, world: World, is_running: bool | None) -> AsyncIterator[Finding]:
    try:
        store = open_store(settings, world)
    except StoreUnavailable as error:
        yield _unreachable(settings, error)
        return
    try:
        if missing := await store.read(pending):
            yield _describe_missing(settings, ", ".join(missing))
            return
        for checks in (
            check_server(store, settings, world) if settings.is_on_postgresql else _check_file(store),
            check_keys(store),
            check_numbers(store, settings),
            check_relay_numbers(store, settings, world),
            check_reachable_queue(store, settings, world, is_running),
            check_carriers(store, settings),
            check_secrets(store, settings, world),
            check_webhooks(store, settings, world),
            check_mail_server(store, settings),
            check_break_glass(store, settings),
        ):
            async for each in checks:
                yield each
    except UnsupportedSchema as error:
        yield wrong(*error.text)
    except NodeUnavailable as error:
        yield wrong(f"노드 {error.node or '?'}에 접속할 수 없습니다", str(error), *UNREACHABLE_REMEDY)
    except StoreUnavailable as error:
        yield _unreachable(settings, error)
    except BadSetting as error:
        yield wrong(*error.text, *FIX_SETTING)
    finally:
        await store.close()


def _describe_missing(settings: Settings, names: str) -> Finding:
    start = (
        Text("`pabal serve`를 시작하거나 ", "Start `pabal serve`, or run ")
        if settings.migrate
        else Text("", "Run ")
    )
    return (note if settings.migrate else wrong)(
        f"적용하지 않은 마이그레이션이 있습니다: {names}",
        f"missing migrations: {names}",
        f"{start.ko}`pabal migrate`를 실행하세요.",
        f"{start.en}`pabal migrate`.",
    )


def _unreachable(settings: Settings, error: StoreUnavailable) -> Finding:
    if not settings.is_on_postgresql:
        return wrong(
            f"저장소 {settings.store_path}을(를) 읽을 수 없습니다({error})",
            f"the store {settings.store_path} cannot be read ({error})",
            *explain_store(str(error)),
        )
    return wrong(
        f"데이터베이스 {settings.redacted_store}에 접속할 수 없습니다({error})",
        f"the database {settings.redacted_store} cannot be reached ({error})",
        "실행 중인지, `store`의 호스트, 데이터베이스, 사용자, 비밀번호가 맞는지 확인하세요.",
        "Check that it is running, and that `store` has the right host, database, user and password.",
    )


async def _check_file(store: Store) -> AsyncIterator[Finding]:
    result = await store.read(_quick_check)
    if result == "ok":
        yield ok("저장소에 이상이 없고 스키마가 최신입니다", "the store is intact and its schema is up to date")
    else:
        damage = Text(f"저장소가 손상되었습니다: {result}", f"the store is damaged: {result}")
        yield wrong(*damage, "백업을 복원하세요.", "Restore a backup.")


def _check_routes(settings: Settings) -> Iterator[Finding]:
    if unused := find_unrouted(settings.routes, settings.carriers):
        example = f"[routes] {settings.carriers[unused[0]].products[0].code} = [{unused[0]!r}]".replace("'", '"')
        yield wrong(
            f"[routes]에 없어서 아무것도 보내지 않는 발송 경로: {', '.join(unused)}",
            f"nothing is sent through {', '.join(unused)}: no route names it",
            f"보낼 종류의 [routes]에 적거나(예: `{example}`), 발송 경로 설정을 지우세요.",
            f"Name it for the products that it shall send, as in `{example}`, or remove its table.",
        )
    elif missing := [product.code for product in SENDABLE if product.code not in settings.routes]:
        yield note(
            f"발송 순서가 없는 종류: {', '.join(missing)}",
            f"no route for {', '.join(missing)}",
            "호출하면 PRODUCT_NOT_AVAILABLE로 거절합니다. 보내려면 [routes]에 추가하세요.",
            "Callers get PRODUCT_NOT_AVAILABLE; add routes in [routes] if you want to send these.",
        )
    else:
        yield ok("모든 종류에 발송 순서가 있습니다", "every product has a route")


def _check_address(settings: Settings) -> Iterator[Finding]:
    try:
        is_local = ip_address(settings.host).is_loopback
    except ValueError:
        is_local = settings.host == "localhost"
    address = f"{settings.host}:{settings.port}"
    if is_local or settings.trusted_proxies:
        yield ok(f"접속을 받도록 설정한 주소: {address}", f"is set to listen on {address}")
    else:
        yield note(
            f"접속을 받도록 설정한 주소: {address}. 다른 컴퓨터에서 접속할 수 있습니다",
            f"is set to listen on {address}, reachable from other machines",
            "앞에 TLS 프록시를 두고, 그 프록시를 trusted_proxies에 적으세요.",
            "Put a TLS proxy in front of it, and name the proxy in trusted_proxies.",
        )


def _quick_check(tx: Tx) -> str:
    row = tx.fetch_one("pragma quick_check(1)")
    return str(row[0]) if row else "no answer"

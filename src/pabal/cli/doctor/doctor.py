"""`pabal doctor`: checks an installation, and says how to fix what is wrong."""

import asyncio
import shutil
from ipaddress import ip_address

from pabal.cli.doctor.database import check_secrets, check_server
from pabal.cli.doctor.delivery import check_carriers, check_keys, check_numbers, check_reachable_queue
from pabal.cli.doctor.finding import Finding, note, ok, print_findings, wrong
from pabal.cli.doctor.machine import check_disk, check_files, check_port, explain_directory, explain_store
from pabal.cli.doctor.other_servers import (
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

FIX_SETTING = Text("이 설정을 고치세요.", "Fix this setting.")


def declare_doctor(parser: CommandParser) -> None:
    """Declare `pabal doctor`."""
    parser.add_settings_options(lambda settings, _: print_findings(asyncio.run(diagnose(settings, RealWorld()))))


async def diagnose(settings: Settings, world: World) -> list[Finding]:
    """Run all checks and return their results. Creates and changes nothing."""
    findings = [] if settings.is_on_postgresql else _check_directory(settings)
    is_running: bool | None = None
    is_missing = not settings.is_on_postgresql and not settings.store_path.exists()
    if is_missing and not any(finding.is_wrong for finding in findings):
        is_running = False
        findings.append(_no_store(settings))
    elif not settings.is_on_postgresql and not any(finding.is_wrong for finding in findings):
        is_running = _is_running(settings)
        findings.append(
            ok("서비스가 실행 중입니다", "a service is running on it")
            if is_running
            else ok("실행 중인 서비스가 없습니다", "no service is running on it")
        )
    if not is_missing and not any(finding.is_wrong for finding in findings):
        findings += await _check_store(settings, world, is_running)
    answering = await asyncio.to_thread(check_port, settings, is_running=is_running)
    findings += await check_provider(settings, world)
    return [*findings, *_check_routes(settings), *_check_address(settings), *answering]


def _check_directory(settings: Settings) -> list[Finding]:
    folder = settings.store_path.parent
    nearest = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    try:
        probe = nearest / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        message = Text(
            f"데이터 디렉터리 {folder}에 쓸 수 없습니다({explain_os_error(error).ko})",
            f"the data directory {folder} is not writable ({explain_os_error(error).en})",
        )
        return [wrong(*message, explain_directory(folder))]
    if nearest != folder:
        return []
    return [
        ok(f"데이터 디렉터리 {folder}에 쓸 수 있습니다", f"the data directory {folder} is writable"),
        *check_files(folder),
        *check_disk(shutil.disk_usage(folder).free),
    ]


def _no_store(settings: Settings) -> Finding:
    place = settings.store_path
    message = Text(f"{place}에 저장소가 없습니다", f"there is no store at {place}")
    remedy = Text(
        "서비스가 쓰는 --data와 --config를 주세요. 처음이면 `pabal serve`를 시작하세요.",
        "Give the --data and --config of the service. If there is none yet, start `pabal serve`.",
    )
    return note(*message, remedy) if settings.migrate else wrong(*message, remedy)


def _is_running(settings: Settings) -> bool:
    """Return whether a service runs on the SQLite store."""
    try:
        with process_lock(settings):
            return False
    except AlreadyRunning:
        return True


async def _check_store(settings: Settings, world: World, is_running: bool | None) -> list[Finding]:
    try:
        store = open_store(settings, world)
    except StoreUnavailable as error:
        return [_unreachable(settings, error)]
    try:
        missing = await store.read(pending)
        if missing:
            remedy = (
                Text(
                    "`pabal serve`를 시작하거나 `pabal migrate`를 실행하세요.",
                    "Start `pabal serve`, or run `pabal migrate`.",
                )
                if settings.migrate
                else Text("`pabal migrate`를 실행하세요.", "Run `pabal migrate`.")
            )
            names = ", ".join(missing)
            message = Text(f"적용하지 않은 마이그레이션이 있습니다: {names}", f"missing migrations: {names}")
            return [note(*message, remedy) if settings.migrate else wrong(*message, remedy)]
        return [
            *await (check_server(store, settings, world) if settings.is_on_postgresql else _check_file(store)),
            *await check_keys(store),
            *await check_numbers(store, settings),
            *await check_relay_numbers(store, settings, world),
            *await check_reachable_queue(store, settings, world, is_running),
            *await check_carriers(store, settings),
            *await check_secrets(store, settings, world),
            *await check_webhooks(store, settings, world),
            *await check_mail_server(store, settings),
            *await check_break_glass(store, settings),
        ]
    except UnsupportedSchema as error:
        return [wrong(*error.text)]
    except NodeUnavailable as error:
        node = error.node or "?"
        return [wrong(f"노드 {node}에 접속할 수 없습니다", str(error), UNREACHABLE_REMEDY)]
    except StoreUnavailable as error:
        return [_unreachable(settings, error)]
    except BadSetting as error:
        return [wrong(*error.text, FIX_SETTING)]
    finally:
        await store.close()


def _unreachable(settings: Settings, error: StoreUnavailable) -> Finding:
    if not settings.is_on_postgresql:
        message = Text(
            f"저장소 {settings.store_path}을(를) 읽을 수 없습니다({error})",
            f"the store {settings.store_path} cannot be read ({error})",
        )
        return wrong(*message, explain_store(str(error)))
    remedy = Text(
        "실행 중인지, `store`의 호스트, 데이터베이스, 사용자, 비밀번호가 맞는지 확인하세요.",
        "Check that it is running, and that `store` has the right host, database, user and password.",
    )
    return wrong(
        f"데이터베이스 {settings.redacted_store}에 접속할 수 없습니다({error})",
        f"the database {settings.redacted_store} cannot be reached ({error})",
        remedy,
    )


async def _check_file(store: Store) -> list[Finding]:
    result = await store.read(_quick_check)
    if result == "ok":
        return [ok("저장소에 이상이 없고 스키마가 최신입니다", "the store is intact and its schema is up to date")]
    return [
        wrong(
            f"저장소가 손상되었습니다: {result}",
            f"the store is damaged: {result}",
            Text("백업을 복원하세요.", "Restore a backup."),
        )
    ]


def _check_routes(settings: Settings) -> list[Finding]:
    if unused := find_unrouted(settings.routes, settings.carriers):
        example = f"[routes] {settings.carriers[unused[0]].products[0].code} = [{unused[0]!r}]".replace("'", '"')
        remedy = Text(
            f"보낼 종류의 [routes]에 적거나(예: `{example}`), 발송 경로 설정을 지우세요.",
            f"Name it for the products that it shall send, as in `{example}`, or remove its table.",
        )
        return [
            wrong(
                f"[routes]에 없어서 아무것도 보내지 않는 발송 경로: {', '.join(unused)}",
                f"nothing is sent through {', '.join(unused)}: no route names it",
                remedy,
            )
        ]
    missing = [product.code for product in SENDABLE if product.code not in settings.routes]
    if not missing:
        return [ok("모든 종류에 발송 순서가 있습니다", "every product has a route")]
    remedy = Text(
        "호출하면 PRODUCT_NOT_AVAILABLE로 거절합니다. 보내려면 [routes]에 추가하세요.",
        "Callers get PRODUCT_NOT_AVAILABLE; add routes in [routes] if you want to send these.",
    )
    return [note(f"발송 순서가 없는 종류: {', '.join(missing)}", f"no route for {', '.join(missing)}", remedy)]


def _check_address(settings: Settings) -> list[Finding]:
    try:
        is_local = ip_address(settings.host).is_loopback
    except ValueError:
        is_local = settings.host == "localhost"
    address = f"{settings.host}:{settings.port}"
    if is_local or settings.trusted_proxies:
        return [ok(f"접속을 받도록 설정한 주소: {address}", f"is set to listen on {address}")]
    remedy = Text(
        "앞에 TLS 프록시를 두고, 그 프록시를 trusted_proxies에 적으세요.",
        "Put a TLS proxy in front of it, and name the proxy in trusted_proxies.",
    )
    return [
        note(
            f"접속을 받도록 설정한 주소: {address}. 다른 컴퓨터에서 접속할 수 있습니다",
            f"is set to listen on {address}, reachable from other machines",
            remedy,
        )
    ]


def _quick_check(tx: Tx) -> str:
    row = tx.fetch_one("pragma quick_check(1)")
    return str(row[0]) if row else "no answer"

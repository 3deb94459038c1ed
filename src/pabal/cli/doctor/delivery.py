"""What `pabal doctor` checks of sending: keys, numbers, queue and carriers."""

from collections.abc import AsyncIterator, Mapping

from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.cli.shared.command import make_context
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.people.phone import NumberState
from pabal.service.delivery.carrier import known_carriers
from pabal.service.delivery.carrier.circuit_breaker import CarrierStatus
from pabal.service.delivery.workers import find_live_workers
from pabal.service.upkeep import abandoned_jobs
from pabal.settings.carriers import TEXT_PRODUCTS
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import NodeUnavailable, Store
from pabal.store.queue import carriers, queue_admin, receipts, slots
from pabal.store.queue.queue import Lane
from pabal.world import World

LATE_MS = 30 * dates.SECOND
"""Messages that have been due for longer are reported if nothing delivers."""
CARRIER_WORDS = {
    CarrierStatus.DOWN.value: Text("연결되지 않음", "down"),
    CarrierStatus.CIRCUIT_OPEN.value: Text("실패가 이어짐(차단기 열림)", "failing (circuit open)"),
    carriers.PARTLY_UP: Text("일부만 동작함", "working only in part"),
}
CARRIER_REMEDIES = {
    CarrierStatus.DOWN.value: Text(
        "메시지가 기다립니다. 접속할 수 있는지, 설정이 맞는지 확인하세요.",
        "Its messages wait. Check that it can be reached and that its settings are right.",
    ),
    CarrierStatus.CIRCUIT_OPEN.value: Text(
        "메시지가 다음 순서의 발송 경로로 가거나 기다립니다. 접속할 수 있는지 확인하고, 운영사에 문의하세요.",
        "Its messages go to the next carrier of their route, or wait. Check that it can be"
        " reached, and ask its operator.",
    ),
    carriers.PARTLY_UP: Text(
        "그 부분의 메시지가 기다립니다. 키와 설정이 맞는지 확인하세요.",
        "Its messages of that part wait. Check that its keys and settings are right.",
    ),
}
QUOTA_REMEDY = Text(
    "한도가 새로 시작되거나 중계사가 한도를 올리면 다시 동작합니다.",
    "It works again when the quota ends, or when the relay raises it.",
)

UNCONFIGURED_REMEDY = Text(
    "그 발송 경로가 있는 설정을 쓰세요: --config FILE. 서비스는 다음 순서의 발송 경로로 옮기지만, 실제 발송"
    " 경로에서 시뮬레이터로는 절대 옮기지 않습니다. 직접 정하려면: `pabal carrier move`, `pabal carrier cancel`.",
    "Use the settings that have it: --config FILE. A service moves them to other carriers of their route, but"
    " never from a real carrier to a simulator. Or decide yourself: `pabal carrier move`, `pabal carrier cancel`.",
)
LATE_RECEIPT_MS = 15 * dates.MINUTE
"""Receipts that are awaited for longer are reported."""
LATE_RECEIPTS_REMEDY = Text(
    "전원이 꺼진 휴대전화의 결과는 하루쯤 걸릴 수 있습니다. 보낸 메시지의 대부분이 이렇다면 결과가 오지 않는"
    " 것입니다. 중계사이면 웹훅 주소와 방화벽을 확인하고, 아니면 운영사에 문의하세요.",
    "That of a phone that is off may take a day. If it is most of what was sent, receipts do not arrive: check the"
    " webhook address and the firewall of a relay, or ask the carrier's operator.",
)
WRONG_IDS_REMEDY = Text(
    "결과가 다른 ID로 오는 것 같습니다. SMPP이면 `submit_ids`와 `receipt_ids`를, 아니면 같은 계정으로 다른"
    " 서비스도 발송하는지 확인하세요.",
    "They seem to come under other ids: check `submit_ids` and `receipt_ids` of SMPP, or whether another service"
    " sends with the same account.",
)


async def check_keys(store: Store) -> AsyncIterator[Finding]:
    if live := sum(key.is_live for key in await store.read(accounts.list_keys)):
        yield ok(f"쓸 수 있는 키 {live}개", f"{live} live key{'' if live == 1 else 's'}")
    else:
        create = "`pabal key create --account NAME`"
        yield wrong(
            "쓸 수 있는 키가 없습니다", "there is no live key", f"만드세요: {create}", f"Create one: {create}"
        )


async def check_numbers(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    """Report that no text can be sent because no sender number is approved."""
    if not settings.must_check_sender_numbers or not any(each.code in settings.routes for each in TEXT_PRODUCTS):
        return
    states = {each.state for each in await store.read(numbers.list_all)}
    if NumberState.APPROVED not in states:
        command = f"`pabal number {'approve' if NumberState.PENDING in states else 'add'} NUMBER --account NAME`"
        yield wrong(
            "승인된 발신번호가 없습니다",
            "no sender number is approved",
            f"승인된 번호가 없으면 문자를 모두 거절합니다: {command}.",
            f"Without one every text is refused: {command}.",
        )


async def check_reachable_queue(
    store: Store, settings: Settings, world: World, is_running: bool | None
) -> AsyncIterator[Finding]:
    """Check the queue; while a node cannot be reached, which was said above, it stays unchecked."""
    kinds = make_context(settings, store, world).kinds
    try:
        for checks in (
            _check_queue(store, kinds, world.now()),
            _check_delivery(store, settings, kinds, world.now(), is_running),
            _check_receipts(store, settings, world.now()),
        ):
            async for each in checks:
                yield each
    except NodeUnavailable:
        yield wrong(
            "대기열을 확인하지 못했습니다",
            "the queue was not checked",
            "노드가 돌아오면 `pabal doctor`를 다시 실행하세요.",
            "Run `pabal doctor` again when the node is back.",
        )


async def _check_queue(store: Store, kinds: Mapping[str, str], now: dates.Instant) -> AsyncIterator[Finding]:
    known = await store.read(slots.list_numbers)
    for each in await store.read(abandoned_jobs.list_carriers, known, kinds, now):
        if each.name not in kinds and each.unsent + each.awaiting_receipt:
            ko = f"설정에 없는 발송 경로 {each.name}: 발송을 기다리는 메시지 {each.unsent}건"
            en = f"{each.unsent} messages wait for the carrier {each.name}, which is not configured"
            if receipts := each.awaiting_receipt:
                ko += f", 결과를 기다리는 메시지 {receipts}건"
                en += f", and {receipts} for receipts from it"
            yield wrong(ko, en, *UNCONFIGURED_REMEDY)
    try:
        await store.read(known_carriers.check_carriers, kinds)
    except known_carriers.WrongCarriers as error:
        start = Text("이 설정으로는 서비스가 시작되지 않습니다", "a service will not start with these settings")
        yield wrong(*start, *error.text)


async def _check_delivery(
    store: Store, settings: Settings, kinds: Mapping[str, str], now: dates.Instant, is_running: bool | None
) -> AsyncIterator[Finding]:
    """Report messages that are due while nothing delivers."""
    depths = await store.read(queue_admin.depths, await store.read(slots.list_numbers), kinds, now)
    due = [
        each.oldest_ready_at
        for each in depths
        if each.lane != Lane.AWAITING_RECEIPT and each.oldest_ready_at is not None
    ]
    if not due or now - min(due) < LATE_MS:
        return
    if is_running or (is_running is None and await find_live_workers(store)):
        return
    since = dates.format_timestamp(min(due), settings.zone)
    work = Text("`pabal work`나 ", "`pabal work`, or ") if settings.is_on_postgresql else Text("", "")
    yield wrong(
        f"{since}부터 보내야 할 메시지가 있는데, 발송하는 프로세스가 없습니다",
        f"messages have been due since {since}, and nothing delivers them",
        f"{work.ko}`pabal serve`를 시작하세요.",
        f"Start {work.en}`pabal serve`.",
    )


async def _check_receipts(store: Store, settings: Settings, now: dates.Instant) -> AsyncIterator[Finding]:
    """Report carriers whose receipts are late."""
    timeouts = receipts.ReceiptTimeouts(
        settings.sms_timeout_hours * dates.HOUR, settings.other_timeout_hours * dates.HOUR
    )
    known, late_at = await store.read(slots.list_numbers), now - LATE_RECEIPT_MS
    oldest = await store.read(receipts.oldest_submitted_at, known, list(settings.carriers), timeouts, now)
    for name, at in oldest.items():
        if at > late_at:
            continue
        late = _many(await store.read(receipts.count_submitted_before, known, name, timeouts, late_at, now))
        unmatched = await store.read(receipts.count_unmatched, name, now)
        since = dates.format_timestamp(at, settings.zone)
        yield note(
            f"발송 경로 {name}: 15분 넘게 전송 결과를 기다리는 메시지 {late.ko}건, 가장 오래된 것은"
            f" {since}부터. 해당하는 메시지를 찾지 못한 결과 {_many(unmatched).ko}건",
            f"{late.en} messages have awaited their receipt from the carrier {name} for more than 15"
            f" minutes, the oldest since {since}; {_many(unmatched).en} receipts match no message",
            *(WRONG_IDS_REMEDY if unmatched else LATE_RECEIPTS_REMEDY),
        )


def _many(count: int) -> Text:
    is_capped = count >= receipts.MAX_COUNTED
    return Text(f"{count:,}" + " 이상" * is_capped, f"{count:,}" + " or more" * is_capped)


async def check_carriers(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    for carrier in await store.read(carriers.list_states):
        if carrier.name in settings.carriers and (carrier.reason or carrier.state != CarrierStatus.UP.value):
            word = CARRIER_WORDS[carrier.shown_state]
            since = dates.format_timestamp(carrier.since, settings.zone)
            worker = f" ({carrier.worker})" if carrier.worker else ""
            reason = f": {carrier.reason}" if carrier.reason else ""
            yield wrong(
                f"발송 경로 {carrier.name}: {since}부터 {word.ko}{worker}{reason}",
                f"the carrier {carrier.name} has been {word.en} since {since}{worker}{reason}",
                *(QUOTA_REMEDY if carrier.quotas else CARRIER_REMEDIES[carrier.shown_state]),
            )

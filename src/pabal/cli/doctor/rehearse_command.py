"""Runs `pabal carrier rehearse`: asks, sends, follows, and reports what the relay said."""

import argparse
import asyncio
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pabal import __version__
from pabal.carriers.base import Accepted, Declined, Rejected, code_of
from pabal.carriers.provider import RelayProvider
from pabal.carriers.relay.documented_shapes import Difference, shown_code
from pabal.cli.doctor.rehearsal import (
    Followed,
    Heard,
    Observer,
    Rehearsal,
    RelaySettings,
    build_carrier,
    documents_of,
)
from pabal.cli.doctor.rehearsal_messages import Choices, plan
from pabal.cli.serving.serve import listen
from pabal.cli.shared.command import WORLD
from pabal.cli.shared.language import CommandError, choose, say
from pabal.domain.base import dates
from pabal.domain.base.codes import Refused, Text
from pabal.domain.content.image import JPEG, Image
from pabal.domain.people.phone import mask, parse_mobile, parse_sender
from pabal.domain.sends.message import PRODUCT_BY_CODE, Attempt, Product
from pabal.settings.environment import explain_os_error
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.settings import Settings

MAX_WAIT_S = 3600.0
"""Longest wait for results."""


def conduct(settings: Settings, given: argparse.Namespace) -> int:
    """Run `pabal carrier rehearse` and return its exit status."""
    relay = _find_relay(settings, given.name)
    if not 0 < given.wait <= MAX_WAIT_S:
        limit = f"{MAX_WAIT_S:,.0f}"
        raise CommandError(f"--wait: 0보다 크고 {limit} 이하인 초", f"--wait: more than 0, at most {limit} seconds")
    choices = Choices(
        _parse_number("--to", given.to, parse_mobile),
        _choose_products(settings, relay, given.only or ()),
        _parse_number("--sender", given.sender, parse_sender) if given.sender else "",
        given.channel,
        given.template,
        _read_image(given.image) if given.image else None,
    )
    observer = Observer(documents_of(relay))
    attempts, unsent = asyncio.run(_plan(settings, relay, choices, observer))
    secret = relay.webhook_secret if isinstance(relay, SolapiSettings) else relay.webhook_signature
    has_webhook = bool(secret) and not given.no_webhook
    rehearsal = Rehearsal(settings, relay, WORLD, observer, choices.image, given.wait)
    followed = []
    if attempts and (given.yes or _confirm(relay.name, choices.receiver, attempts)):
        listener = _listen(settings) if has_webhook else None
        try:
            followed = asyncio.run(rehearsal.run(attempts, listener))
        finally:
            if listener:
                listener.close()
    elif attempts:
        say("아무것도 보내지 않았습니다", "nothing was sent", is_error=True)
        return 1
    day = dates.format_timestamp(WORLD.now(), settings.zone)[:10]
    for line in describe(relay, day, followed, unsent, observer, has_webhook=has_webhook):
        say(*line)
    if rehearsal.problem and followed:
        say(f"중계사의 상태: {rehearsal.problem}", f"State of the relay: {rehearsal.problem}")
    return exit_status(followed, unsent, observer, has_webhook=has_webhook)


def _listen(settings: Settings) -> socket.socket:
    """Return the socket that takes webhooks in place of the service. Raises CommandError."""
    try:
        return listen(settings.host, settings.port)
    except CommandError as error:
        raise CommandError(
            f"{error.text.ko}. 서비스가 실행 중이면 점검하는 동안 멈추거나, 웹훅을 빼려면 --no-webhook을 주세요",
            f"{error.text.en}. If the service is running, stop it meanwhile, or leave out webhooks by --no-webhook",
        ) from None


async def _plan(
    settings: Settings, relay: RelaySettings, choices: Choices, observer: Observer
) -> tuple[list[Attempt], list[tuple[Product, Text]]]:
    provider = build_carrier(relay, WORLD, observer, None).provider
    assert provider is None or isinstance(provider, RelayProvider)
    try:
        return await plan(choices, provider, WORLD, settings.zone)
    finally:
        if provider:
            await provider.close()


def _find_relay(settings: Settings, name: str) -> RelaySettings:
    relays = [each for each in settings.carriers.values() if isinstance(each, NhnCloudSettings | SolapiSettings)]
    for relay in relays:
        if relay.name == name:
            return relay
    known = ", ".join(each.name for each in relays) or "-"
    raise CommandError(
        f"{name}은(는) 설정에 있는 중계사가 아닙니다. 중계사: {known}. --config를 확인하세요",
        f"{name} is no relay of these settings, which have: {known}; check --config",
    )


def _choose_products(settings: Settings, relay: RelaySettings, only: Sequence[str]) -> list[Product]:
    """Return the kinds that go through a relay: those whose route names it, or all that it can send."""
    routed = [each for each in relay.products if relay.name in settings.routes.get(each.code, ())]
    usable = routed or list(relay.products)
    if unknown := [each for each in only if PRODUCT_BY_CODE.get(each) not in relay.products]:
        known = ", ".join(each.code for each in relay.products)
        raise CommandError(
            f"--only {unknown[0]}: 이 발송 경로가 보내는 종류가 아닙니다. 보내는 종류: {known}",
            f"--only {unknown[0]}: the carrier does not send it; it sends: {known}",
        )
    return [PRODUCT_BY_CODE[each] for each in dict.fromkeys(only)] if only else usable


def _parse_number(option: str, spelling: str, parse: Callable[[str], str]) -> str:
    try:
        return parse(spelling)
    except Refused as refused:
        problem = refused.problems[0]
        raise CommandError(f"{option}: {problem.message('ko')}", f"{option}: {problem.message('en')}") from None


def _read_image(path: Path) -> Image:
    try:
        return Image(JPEG, path.name, path.read_bytes())
    except OSError as error:
        why = explain_os_error(error)
        raise CommandError(
            f"--image: {path}을(를) 읽을 수 없습니다({why.ko})", f"--image: cannot read {path} ({why.en})"
        ) from None


def _confirm(name: str, receiver: str, attempts: list[Attempt]) -> bool:
    """Ask whether to send, as it costs money. Raises CommandError where nobody can be asked."""
    kinds = ", ".join(each.product.code for each in attempts)
    if not sys.stdin.isatty():
        raise CommandError(
            f"요금이 드는 메시지 {len(attempts)}건({kinds})을 보내려면 --yes를 주세요",
            f"give --yes to send messages that cost money, {len(attempts)} in all ({kinds})",
        )
    question = choose(
        f"{name}(으)로 {mask(receiver)}에 {len(attempts)}건을 보냅니다({kinds}). 요금이 듭니다. 보낼까요? [y/N] ",
        f"Send through {name} to {mask(receiver)}, {len(attempts)} in all ({kinds})? It costs money. [y/N] ",
    )
    return input(question).strip().lower() in ("y", "yes")


CLEAN, DIFFERENT = 0, 1
"""Exit statuses."""


def describe(
    relay: RelaySettings,
    day: str,
    followed: Sequence[Followed],
    unsent: Sequence[tuple[Product, Text]],
    observer: Observer,
    *,
    has_webhook: bool,
) -> Iterator[Text]:
    """Yield the lines of the report."""
    head = f"{relay.name} ({relay.kind}), Pabal {__version__}, {day}"
    yield Text(f"중계사 점검: {head}", f"Rehearsal: {head}")
    for each in followed:
        yield from _describe_message(each, has_webhook=has_webhook)
    for product, reason in unsent:
        yield Text(f"{product.code}: 보내지 않음. {reason.ko}", f"{product.code}: not sent: {reason.en}")
    if not has_webhook:
        yield Text("웹훅은 점검하지 않았습니다", "Webhooks were not tried")
    elif not observer.webhooks:
        yield Text(
            "웹훅이 하나도 오지 않았습니다. 중계사 콘솔의 주소와 서명, 프록시를 확인하세요",
            "No webhook came: check the address and the secret in the relay's console, and the proxy",
        )
    count = len(observer.differences)
    yield Text(f"문서와 다른 점: {count}개", f"Differences from the documents: {count}")
    for (where, difference), times in observer.differences.items():
        yield _describe_difference(where, difference, times)


def exit_status(
    followed: Sequence[Followed], unsent: Sequence[tuple[Product, Text]], observer: Observer, *, has_webhook: bool
) -> int:
    """Return 0 if every kind arrived, was reported in every way, and nothing differs."""
    is_complete = all(each.is_complete(has_webhook=has_webhook) for each in followed)
    return CLEAN if followed and is_complete and not unsent and not observer.differences else DIFFERENT


def _describe_message(followed: Followed, *, has_webhook: bool) -> Iterator[Text]:
    kind, verdict = followed.attempt.product.code, followed.verdict
    if isinstance(verdict, Accepted) and verdict.reference:
        yield Text(
            f"{kind}: {followed.accepted_s:.1f}초 만에 접수",
            f"{kind}: accepted after {followed.accepted_s:.1f} s",
        )
    else:
        label = verdict.label if verdict else "unknown"
        reason = f"{verdict.outcome.number}" if isinstance(verdict, Rejected | Declined) else ""
        code = shown_code(code_of(verdict) or "") if verdict and code_of(verdict) else ""
        more = " ".join(filter(None, (label, reason, code)))
        yield Text(f"{kind}: 접수되지 않음({more})", f"{kind}: not accepted ({more})")
    if followed.reference or followed.looked_up:
        if has_webhook:
            yield _describe_result("웹훅", "webhook", followed.by_webhook)
        yield _describe_result("결과 목록", "list of results", followed.by_list)
        found = Text("찾음", "found") if followed.is_found else Text("찾지 못함", "not found")
        yield Text(f"  조회: {found.ko}", f"  look-up: {found.en}")
    if followed.by_webhook and followed.by_list and followed.by_webhook.code != followed.by_list.code:
        yield Text("  웹훅과 결과 목록의 코드가 다릅니다", "  the webhook and the list have different codes")


def _describe_result(ko: str, en: str, heard: Heard | None) -> Text:
    if heard is None:
        return Text(f"  {ko}: 결과 없음", f"  {en}: no result")
    label, code = heard.outcome.label, shown_code(heard.code)
    return Text(
        f"  {ko}: {code} {label.ko}, {heard.after_s:.1f}초 뒤",
        f"  {en}: {code} {label.en}, after {heard.after_s:.1f} s",
    )


def _describe_difference(where: str, difference: Difference, times: int) -> Text:
    kind = difference.kind.value
    detail = f" ({difference.detail})" if difference.detail else ""
    return Text(
        f"  {where}: {difference.place or '-'}: {kind.ko}{detail}, {times}회",
        f"  {where}: {difference.place or '-'}: {kind.en}{detail}, {times}×",
    )

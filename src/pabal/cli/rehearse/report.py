"""The report of a rehearsal: what became of each message, and what differs; without anything personal."""

from collections.abc import Iterator, Sequence

from pabal import __version__
from pabal.carriers.base import Accepted, Declined, Rejected, code_of
from pabal.carriers.relay.documented import Difference, shown_code
from pabal.cli.rehearse.messages import Unsent
from pabal.cli.rehearse.rehearsal import Followed, Heard, Observer, RelaySettings
from pabal.domain.base.codes import Text

CLEAN, DIFFERENT = 0, 1
"""Exit statuses."""


def describe(
    relay: RelaySettings,
    day: str,
    followed: Sequence[Followed],
    unsent: Sequence[Unsent],
    observer: Observer,
    *,
    has_webhook: bool,
) -> Iterator[Text]:
    """Yield the lines of the report."""
    head = f"{relay.name} ({relay.kind}), Pabal {__version__}, {day}"
    yield Text(f"중계사 점검: {head}", f"Rehearsal: {head}")
    for each in followed:
        yield from _describe_message(each, has_webhook=has_webhook)
    for one in unsent:
        ko, en = one.reason
        yield Text(f"{one.product.code}: 보내지 않음. {ko}", f"{one.product.code}: not sent: {en}")
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
    followed: Sequence[Followed], unsent: Sequence[Unsent], observer: Observer, *, has_webhook: bool
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

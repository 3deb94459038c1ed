"""The reference of results, statuses and kinds of messages."""

from collections.abc import Iterable

from docs.generate.markdown import GENERATED_NOTE, join_lines, make_table
from pabal.domain.base.codes import Text
from pabal.domain.sends.message import Outcome, Product, Status

# Outcomes that Pabal decides; all others come from carriers.
OWN_OUTCOMES = {
    Outcome.TIMED_OUT: Text(
        "발송 경로가 접수했지만 제한 시간 안에 결과가 오지 않았습니다.",
        "The carrier accepted the message, but no receipt arrived in time.",
    ),
    Outcome.UNDELIVERABLE: Text(
        "발송 경로가 없거나, 본문을 만들 수 없거나, 프로필이 삭제되었을 때도 그렇습니다.",
        "Also if it has no route, its text cannot be composed, or its profile was deleted.",
    ),
    Outcome.UNKNOWN: Text(
        "발송 경로가 열 번 쓸 수 없는 응답을 했고, 발송 순서에 다른 경로가 없습니다.",
        "The carrier gave no usable answer ten times, and the route has no other carrier.",
    ),
    Outcome.NOT_SENDABLE_AS_TEXT: Text(
        "본문이 어떤 문자에도 들어가지 않는 대체 발송입니다.",
        "A fallback whose text does not fit into any text message.",
    ),
    Outcome.DUPLICATE: Text(
        "`duplicate_minutes` 안에 같은 번호로 같은 본문이 나갔으므로 발송하지 않았습니다.",
        "The same text went to the same number within `duplicate_minutes`: it was not sent.",
    ),
    Outcome.EXPIRED: Text(
        "발송 기한(`expireMinutes`)까지 접수되지 않아 발송하지 않았습니다. 대체 발송도 없습니다.",
        "No carrier took it by its deadline (`expireMinutes`): it was not sent, and has no fallback.",
    ),
    Outcome.CARRIER_ERROR: Text(
        "발송 경로가 혼잡을 이유로 열 번 거절했고, 발송 순서에 다른 경로가 없습니다.",
        "The carrier was busy ten times, and the route has no other carrier.",
    ),
}
NOTHING = Text("", "")

ENGLISH = {
    "head": [
        "# Result codes of messages",
        GENERATED_NOTE,
        "The record of a final message has a `resultCode`. Pabal translates the codes of carriers into these codes",
        "and never passes the originals through. A cancelled message has no result code.",
        "",
    ],
    "statuses": [
        "",
        "## Statuses",
        "",
        "`sendingStatus` changes from `waiting` to `sending` to `completed` or `fail`, or from `waiting` to",
        "`cancel`. `completed`, `fail` and `cancel` are final.",
        "",
    ],
    "kinds": [
        "",
        "## Kinds of message",
        "",
        "Values of `messageProductType`. `email` and `push` are only filters of the history; nothing sends them.",
        "",
    ],
}
KOREAN = {
    "head": [
        "# 메시지의 결과 코드",
        GENERATED_NOTE,
        "끝난 메시지의 기록에는 `resultCode`가 있습니다. Pabal은 발송 경로의 코드를 이 코드로 바꾸며, 원래 코드를",
        "그대로 넘기지 않습니다. 취소된 메시지에는 결과 코드가 없습니다.",
        "",
    ],
    "statuses": [
        "",
        "## 발송 상태",
        "",
        "`sendingStatus`는 `waiting`에서 `sending`으로, 그다음 `completed`나 `fail`로 바뀌거나, `waiting`에서",
        "`cancel`로 바뀝니다. `completed`, `fail`, `cancel`은 바뀌지 않습니다.",
        "",
    ],
    "kinds": [
        "",
        "## 메시지 종류",
        "",
        "`messageProductType`의 값입니다. `email`과 `push`는 발송 내역의 검색 조건일 뿐, 보내는 것은 없습니다.",
        "",
    ],
}


def result_codes_page(language: str) -> str:
    """Return the reference of the results, statuses and kinds of messages."""
    words = KOREAN if language == "ko" else ENGLISH
    return join_lines(
        [
            *words["head"],
            *_outcomes(language),
            *words["statuses"],
            *_values(Status, language),
            *words["kinds"],
            *_values(Product, language),
        ]
    )


def _outcomes(language: str) -> list[str]:
    own = {one: OWN_OUTCOMES.get(one, NOTHING).in_language(language) for one in Outcome}
    if language == "ko":
        head: tuple[str, ...] = ("코드", "상태", "뜻", "파발이 직접 정하는 경우")
        rows = [(f"`{one.number}`", f"`{one.status.code}`", one.label.ko, own[one]) for one in Outcome]
        return make_table(head, rows)
    head = ("Code", "Status", "Meaning", "뜻", "When Pabal itself decides it")
    return make_table(
        head,
        [(f"`{one.number}`", f"`{one.status.code}`", one.label.en, one.label.ko, own[one]) for one in Outcome],
    )


def _values(values: Iterable[Status | Product], language: str) -> list[str]:
    if language == "ko":
        return make_table(("값", "뜻"), [(f"`{one.code}`", one.label.ko) for one in values])
    return make_table(("Value", "Meaning", "뜻"), [(f"`{one.code}`", one.label.en, one.label.ko) for one in values])

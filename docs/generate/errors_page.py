"""The reference of the result codes of calls."""

from docs.generate.markdown import GENERATED_NOTE, join_lines, link_code, make_anchor, make_table
from pabal.domain.base.codes import Code
from pabal.web.endpoints.endpoint import COMMON_CODES
from pabal.web.endpoints.table import ENDPOINTS

ENGLISH_HEAD = [
    "# Errors",
    GENERATED_NOTE,
    "Every answer has a `result`: `SUCCESS` or one of the codes below. `resultMessage` explains it in Korean,",
    "or in English with `Accept-Language: en`. If fields are wrong, `errors` lists up to 100 problems, each",
    "with `field`, `code` and `message`. [Error handling](../how-to/error-handling.md) says what to do.",
    "",
    "With the setting [`always_ok`](settings.md), the `/api/` paths answer HTTP 200 instead of every 4xx",
    "status except 429; `result` stays the same.",
    "",
]
KOREAN_HEAD = [
    "# 오류",
    GENERATED_NOTE,
    "모든 응답에는 `result`가 있습니다. `SUCCESS`이거나 아래 코드 중 하나입니다. `resultMessage`가 한국어로,",
    "`Accept-Language: en`이면 영어로 설명합니다. 항목이 잘못되었으면 `errors`에 최대 100개의 문제가 각각",
    "`field`, `code`, `message`와 함께 나옵니다. 할 일은 [오류 처리](../how-to/error-handling.md)에 있습니다.",
    "",
    "설정 [`always_ok`](settings.md)를 쓰면 `/api/` 경로는 429를 뺀 모든 4xx 대신 HTTP 200으로 답합니다.",
    "`result`는 그대로입니다.",
    "",
]


def errors_page(language: str) -> str:
    """Return the reference of every result code."""
    is_korean = language == "ko"
    rows = [(link_code(code), code.http_status, code.text.in_language(language)) for code in Code]
    head = ("코드", "HTTP", "뜻") if is_korean else ("Code", "HTTP", "Meaning")
    lines = [*(KOREAN_HEAD if is_korean else ENGLISH_HEAD), *make_table(head, rows)]
    for code in Code:
        lines += ["", f"## {code.name}", "", *(_korean_lines(code) if is_korean else _english_lines(code))]
    return join_lines(lines)


def _english_lines(code: Code) -> list[str]:
    lines = [f"- HTTP status: {code.http_status}", f"- Message: {code.text.en}", f"- 메시지: {code.text.ko}"]
    if code.remedy.en:
        lines += [f"- Remedy: {code.remedy.en}", f"- 해결: {code.remedy.ko}"]
    return [*lines, f"- Answered by: {_answered_by(code, 'every endpoint', 'every unknown path')}"]


def _korean_lines(code: Code) -> list[str]:
    lines = [f"- HTTP 상태: {code.http_status}", f"- 메시지: {code.text.ko}"]
    if code.remedy.ko:
        lines += [f"- 해결: {code.remedy.ko}"]
    return [*lines, f"- 이 코드로 답하는 곳: {_answered_by(code, '모든 엔드포인트', '없는 경로')}"]


def _answered_by(code: Code, everywhere: str, unknown_path: str) -> str:
    if code in COMMON_CODES:
        return everywhere
    listed = [
        f"[{endpoint.path}](endpoints.md#{make_anchor(endpoint)})"
        for endpoint in ENDPOINTS
        if code in endpoint.codes
    ]
    if code is Code.NOT_FOUND:
        listed.insert(0, unknown_path)
    return ", ".join(listed)

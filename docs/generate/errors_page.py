"""The reference of the result codes of calls."""

from docs.generate.markdown import GENERATED_NOTE, join_lines, link_code, make_anchor, make_table
from pabal.domain.codes import Code
from pabal.web.endpoint import COMMON_CODES
from pabal.web.endpoints import ENDPOINTS


def errors_page() -> str:
    """Return the reference of every result code."""
    rows = [(link_code(code), code.http_status, code.text.en) for code in Code]
    lines = [
        "# Errors",
        GENERATED_NOTE,
        "Every answer has a `result`: `SUCCESS` or one of the codes below. `resultMessage` explains it in Korean,",
        "or in English with `Accept-Language: en`. If fields are wrong, `errors` lists up to 100 problems, each",
        "with `field`, `code` and `message`.",
        "",
        "With the setting [`always_ok`](settings.md), the `/api/` paths answer HTTP 200 instead of every 4xx",
        "status except 429; `result` stays the same.",
        "",
        *make_table(("Code", "HTTP", "Meaning"), rows),
    ]
    for code in Code:
        lines += ["", f"## {code.name}", "", f"- HTTP status: {code.http_status}"]
        lines += [f"- Message: {code.text.en}", f"- 메시지: {code.text.ko}"]
        if code.remedy.en:
            lines += [f"- Remedy: {code.remedy.en}", f"- 해결: {code.remedy.ko}"]
        lines.append(f"- Answered by: {_answered_by(code)}")
    return join_lines(lines)


def _answered_by(code: Code) -> str:
    if code in COMMON_CODES:
        return "every endpoint"
    listed = [
        f"[{endpoint.path}](endpoints.md#{make_anchor(endpoint)})"
        for endpoint in ENDPOINTS
        if code in endpoint.codes
    ]
    if code is Code.NOT_FOUND:
        listed.insert(0, "every unknown path")
    return ", ".join(listed)

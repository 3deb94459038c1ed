"""The words of the reference of the endpoints, in both languages."""

from pabal.domain.base.codes import Text

WORDS = {
    "title": Text("# 엔드포인트", "# Endpoints"),
    "key": Text(
        "모든 요청에 `apiKey` 헤더를 보냅니다. 본문은 JSON입니다(`Content-Type: application/json`).",
        "Send the header `apiKey` with every request. Bodies are JSON (`Content-Type: application/json`).",
    ),
    "unknown": Text(
        "모르는 항목은 무시하고, null은 없는 것과 같습니다. 날짜는 서비스의 시간대입니다.",
        "Unknown fields are ignored; null is the same as absent. Dates are in the service's time zone.",
    ),
    "document": Text(
        "실행 중인 서비스는 이 참조를 `/docs`에서, OpenAPI 3.1 문서로는 `/openapi.json`에서 보여 줍니다.",
        "A running service shows this reference at `/docs`, and as an OpenAPI 3.1 document at `/openapi.json`.",
    ),
    "envelope": Text(
        "모든 응답은 다음 형식이며, 호출이 성공하면 엔드포인트가 자기 항목을 더합니다. 값이 없는 항목은\n"
        "생략합니다.",
        "Every answer is this envelope; if the call succeeds, the endpoint adds its own fields. Fields without a\n"
        "value are left out.",
    ),
    "every": Text("모든 엔드포인트가 답할 수 있는 코드: {codes}.", "Every endpoint may answer {codes}."),
    "no_path": Text("없는 경로는 {code}로 답합니다.", "An unknown path answers {code}."),
    "endpoint": Text("엔드포인트", "Endpoint"),
    "scope": Text("권한 범위", "Scope"),
    "does": Text("하는 일", "What it does"),
    "supports": Text(
        "[`Idempotency-Key`](../how-to/idempotency.md)와 [`Dry-Run`](../how-to/dry-run.md)을 쓸 수 있습니다.",
        "Supports [`Idempotency-Key`](../how-to/idempotency.md) and [`Dry-Run`](../how-to/dry-run.md).",
    ),
    "body": Text("본문의 항목:", "Fields of the body:"),
    "query": Text("쿼리 문자열의 매개변수:", "Parameters of the query string:"),
    "anywhere": Text(
        "JSON 본문, 쿼리 문자열 또는 폼의 항목:", "Fields, in the JSON body, the query string or a form:"
    ),
    "no_fields": Text("항목이 없습니다.", "No fields."),
    "answer": Text("응답:", "Answer:"),
    "only_envelope": Text("응답: 공통 형식만.", "Answer: only the envelope."),
    "codes": Text("코드: {codes}.", "Codes: {codes}."),
    "events": Text("## 이벤트", "## Events"),
    "of_webhooks": Text(
        "[웹훅](../how-to/webhooks.md)이 받는 것입니다.", "What [webhooks](../how-to/webhooks.md) get."
    ),
    "event": Text("이벤트", "Event"),
    "items": Text("항목", "Items"),
    "when": Text("언제", "When"),
    "objects": Text("## 객체", "## Objects"),
    "inside": Text("본문, 응답, 전송 안에 있는 객체입니다.", "Objects inside bodies, answers and deliveries."),
    "field": Text("항목", "Field"),
    "type": Text("타입", "Type"),
    "meaning": Text("뜻", "Meaning"),
    "always": Text("항상", "Always"),
    "required": Text("필수", "Required"),
    "yes": Text("예", "yes"),
    "no": Text("아니요", "no"),
    "array": Text("{item} 배열", "array of {item}"),
    "see_kinds": Text(
        "[메시지 종류](result-codes.md#메시지-종류) 참조",
        "See [Kinds of message](result-codes.md#kinds-of-message).",
    ),
    "see_statuses": Text(
        "[발송 상태](result-codes.md#발송-상태) 참조", "See [Statuses](result-codes.md#statuses)."
    ),
    "see_results": Text("[결과 코드](result-codes.md) 참조", "See [Result codes](result-codes.md)."),
}

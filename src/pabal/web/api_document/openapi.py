"""The OpenAPI 3.1 document, built from the tables of endpoints, result codes and events."""

from functools import cache
from typing import Any

import msgspec

from pabal import __version__
from pabal.domain.base.codes import Text
from pabal.web.api_document.example_bodies import EXAMPLE_BODIES
from pabal.web.api_document.responses import HEADERS, build_responses, build_webhooks
from pabal.web.api_document.schemas import build_schemas, find_referred, pick_language, query_fields, refer_to
from pabal.web.endpoints.endpoint import MAX_IDEMPOTENCY_KEY_CHARACTERS, Endpoint
from pabal.web.endpoints.table import ENDPOINTS

MAX_RECEIVERS = 1000
"""Receivers of a request, unless the operator has set another number."""
_DESCRIPTION = Text(
    """\
국내 휴대폰으로 단문(SMS), 장문(LMS), 멀티미디어(MMS), 알림톡, 친구톡, 브랜드 메시지를 보내고
메시지마다 결과를 알려 줍니다.

모든 요청에 `apiKey` 헤더를 보내세요. 모든 응답은 같은 형식(`time`, `result`, `resultMessage`, `locale`)에
엔드포인트의 항목을 더한 것입니다. `Accept-Language: en`을 보내면 한국어 대신 영어로 응답합니다.

값이 없는 항목은 요청에서도 응답에서도 생략합니다. 응답에는 언제든 새 항목과 값이 추가될 수 있으니 모르는 것은
무시하세요. 그래서 이 문서는 응답 항목의 값을 제한하지 않습니다.
""",
    """\
Sends SMS, LMS, MMS, Alimtalk, friend talk and brand messages to Korean phones, and reports the result of each.

Send the header `apiKey` with every request. Every answer is the same envelope (`time`, `result`,
`resultMessage`, `locale`) plus the fields of the endpoint. `Accept-Language: en` switches from Korean to English.

A field without a value is left out, in bodies as in answers. Answers may get further fields and values at any time:
ignore what you do not know. So fields of answers have no fixed list of values here.
""",
)
_TAGS = {
    "Sender profiles": Text(
        "발신 프로필: 알림톡, 친구톡, 브랜드 메시지를 보내는 카카오톡 채널",
        "KakaoTalk channels that send Alimtalk, friend talk and brand messages.",
    ),
    "Sending": Text("발송: 메시지를 보내고, 대기 중인 메시지를 취소", "Send messages, and cancel those that wait."),
    "History": Text(
        "발송 내역: 메시지의 결과와 수신자가 보낸 메시지(MO)", "Results of messages, and what recipients wrote."
    ),
    "Templates": Text("템플릿: 알림톡 본문과 그 검수", "Texts of Alimtalk, and their review."),
    "Opt-outs": Text("수신거부: 광고를 원하지 않는 수신자", "Receivers who want no advertising."),
    "Webhooks": Text("웹훅: 이벤트를 호출자의 서버로 전송", "Have events delivered to your own server."),
    "Privacy": Text(
        "개인정보: 전화번호에 대해 저장된 것을 내보내고 파기",
        "Export and erase what is stored about a phone number.",
    ),
    "Testing": Text(
        "시험: 가상 휴대폰. 시뮬레이터가 발송 경로일 때만 있습니다",
        "Simulated phones; only where the simulator is a carrier.",
    ),
    "Events": Text(
        "이벤트: 웹훅이 받는 전송. 서명은 Standard Webhooks 규격을 따릅니다",
        "The deliveries that webhooks get, signed as the Standard Webhooks specification says.",
    ),
}
"""By the name of the group, which generators make module names of: it is the same in every language."""


@cache
def encode_document(language: str, max_receivers: int = MAX_RECEIVERS) -> bytes:
    """Return the document as JSON; `max_receivers` is how many receivers this installation takes in a request."""
    return msgspec.json.encode(build_document(language, max_receivers))


def build_document(language: str = "en", max_receivers: int = MAX_RECEIVERS) -> dict[str, Any]:
    """Return the document; its summaries and descriptions are in the language, and nothing else."""
    paths = {endpoint.path: {endpoint.method.lower(): _operation(endpoint)} for endpoint in ENDPOINTS}
    posts = build_webhooks("Events")
    used = find_referred([paths, posts])
    groups = [*dict.fromkeys(endpoint.group.en for endpoint in ENDPOINTS), "Events"]
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Pabal",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {
                "url": "/",
                "description": Text("이 문서를 제공하는 서비스", "The installation that serves this document."),
            }
        ],
        "security": [{"apiKey": []}],
        "tags": [{"name": name, "description": _TAGS[name]} for name in groups],
        "paths": paths,
        "webhooks": posts,
        "components": {
            "schemas": {
                name: _limit_receivers(schema, max_receivers)
                for name, schema in build_schemas(language).items()
                if name in used
            },
            "headers": HEADERS,
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "apiKey",
                    "description": Text(
                        "운영자가 발급한 키: `pb_`와 글자와 숫자 40자",
                        "A key that the operator has issued: `pb_` and 40 letters and digits.",
                    ),
                }
            },
        },
    }
    found: dict[str, Any] = pick_language(document, language)
    return found


def _limit_receivers(schema: dict[str, Any], most: int) -> dict[str, Any]:
    receivers = schema["properties"].get("receivers", {})
    if "minItems" not in receivers:
        return schema
    return {**schema, "properties": {**schema["properties"], "receivers": {**receivers, "maxItems": most}}}


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.id,
        "summary": endpoint.summary,
        "description": Text(f"필요한 권한 범위: `{endpoint.scope}`", f"Requires the scope `{endpoint.scope}`."),
        "tags": [endpoint.group.en],
        "parameters": _parameters(endpoint),
        "responses": build_responses(endpoint),
    }
    if endpoint.input_source != "query":
        media = {"schema": refer_to(endpoint.body), "example": EXAMPLE_BODIES[endpoint.id]}
        is_required = any(field.required for field in msgspec.structs.fields(endpoint.body))
        operation["requestBody"] = {"content": {"application/json": media}, "required": is_required}
    return operation


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    language = {"type": "string", "enum": ["ko", "en"], "default": "ko"}
    found: list[dict[str, Any]] = [
        {
            "name": "Accept-Language",
            "in": "header",
            "schema": language,
            "description": Text("응답의 언어", "Language of the answer."),
        }
    ]
    strict = Text(
        "모르는 항목이 있으면 `warnings`로 알리는 대신 거절할지 여부",
        "Whether unknown fields are refused, instead of named in `warnings`.",
    )
    found.append(_truth_header("Strict", strict))
    if endpoint.is_send:
        longest = MAX_IDEMPOTENCY_KEY_CHARACTERS
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": Text(
                    "같은 키와 같은 본문으로 다시 요청하면 처음의 응답을 돌려주고 발송하지 않습니다",
                    "A repeat with the same key and body gets the first answer and sends nothing.",
                ),
                "schema": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": longest,
                    "pattern": "^[!-~]([ -~]*[!-~])?$",
                },
                "example": "order-1001-shipped",
            }
        )
        dry_run = Text(
            "요청을 검사만 할지 여부. 응답은 실제로 보내면 일어날 일을 알려 줍니다",
            "Whether to check the request only: the answer says what would happen.",
        )
        found.append(_truth_header("Dry-Run", dry_run))
    if endpoint.input_source == "query":
        examples = EXAMPLE_BODIES[endpoint.id]
        for name, is_required, schema in query_fields(endpoint.body):
            parameter = {"name": name, "in": "query", "required": is_required, "schema": schema}
            parameter["description"] = schema["description"]
            found.append({**parameter, "example": examples[name]} if name in examples else parameter)
    return found


def _truth_header(name: str, description: Text) -> dict[str, Any]:
    schema = {"type": "string", "enum": ["true", "false"]}
    return {"name": name, "in": "header", "schema": schema, "description": description}

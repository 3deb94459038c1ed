"""The tools that an assistant gets, what each answers, and how they are served by the Model Context Protocol."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from pabal import __version__
from pabal.cli.calling.call import Call, describe_refusal, describe_silence
from pabal.cli.calling.confirmations import LIFETIME_S, Confirmations, NotConfirmed
from pabal.cli.calling.send_body import KINDS
from pabal.client import ApiError, NoAnswerError
from pabal.domain.base.codes import Text
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome
from pabal.models import KOREAN, operations
from pabal.models.operations import Operation
from pabal.world import RealWorld

DRY_RUN = "dry_run"
SEND = "send_message"


class ToolRefusal(Exception):
    """A call that was not carried out; its message says why, and what to do."""


_LOOK_UPS: Mapping[str, tuple[Operation[Any], Text]] = {
    "list_messages": (
        operations.LIST_MESSAGES,
        Text(
            "메시지를 최근 것부터 찾습니다. receivers(수신번호), requestId 또는 31일 이하의 requestDate 중 하나가"
            " 필요합니다.",
            "Find messages, newest first: by receivers (a number), requestId, or a requestDate of at most 31 days.",
        ),
    ),
    "look_up_request": (
        operations.LOOK_UP_REQUEST,
        Text(
            "발송 요청 하나의 상태별 건수와 메시지를 봅니다.",
            "Show the counts and the messages of one send request.",
        ),
    ),
    "explain_message": (
        operations.LOOK_UP_MESSAGE,
        Text(
            "메시지 하나에 무슨 일이 있었는지, 왜 실패했고 무엇을 하면 되는지 봅니다.",
            "Show what happened to one message, why it failed, and what to do about it.",
        ),
    ),
    "list_statistics": (
        operations.LIST_STATISTICS,
        Text(
            "기간별 발송 건수, 성공, 실패와 비용을 봅니다.",
            "Count messages of a period, by result, with their cost.",
        ),
    ),
    "list_templates": (
        operations.LIST_TEMPLATES,
        Text(
            "알림톡 템플릿의 본문, 버튼과 검수 상태를 봅니다.",
            "List Alimtalk templates: text, buttons and state of their review.",
        ),
    ),
    "list_senders": (
        operations.LIST_SENDERS,
        Text(
            "발신 프로필(카카오톡 채널)과 그 senderKey를 봅니다.",
            "List sender profiles (KakaoTalk channels) with their senderKey.",
        ),
    ),
}
_KINDS = {kind: KINDS[kind] for kind in ("sms", "lms", "alimtalk", "friendtalk")}
_TRY = Text(
    "발송을 검사하고 수신자마다 실제 본문, 발송 시각, 비용을 보여 줍니다. 아무것도 보내지 않습니다. 수신자는 최대"
    " {most}명입니다.",
    "Check a send, and show text, time and cost for each recipient. Nothing is sent. At most {most} recipients.",
)
_SEND = Text(
    "실제로 발송합니다. 먼저 dry_run을 실행해 결과를 사용자에게 보여 주고 동의를 받으세요."
    " 그다음 똑같은 kind와 message, 그리고 dry_run이 준 confirmation으로 부르세요."
    " confirmation은 5분 안에 한 번만 쓸 수 있습니다.",
    "Really send. First run dry_run, show the user what it answers and ask; then call this with exactly the same"
    " kind and message, and the confirmation of dry_run. A confirmation is good once, for 5 minutes.",
)
_CONFIRMATION = Text("dry_run이 돌려준 값", "What dry_run has returned.")
_NEXT = Text(
    "이 결과를 사용자에게 보여 주세요."
    " 보내도 된다고 하면 같은 kind와 message, 이 confirmation으로 send_message를 부르세요.",
    "Show this to the user; if they agree, call send_message with the same kind and message and this confirmation.",
)
_NEXT_RESULT = Text(
    "결과는 잠시 뒤 look_up_request로 확인하세요.", "Look up the result with look_up_request in a moment."
)
_REPEAT = Text(
    "같은 confirmation으로 다시 불러도 됩니다. 두 번 발송되지 않습니다.",
    "Call it again with the same confirmation if you like: nothing is sent twice.",
)
_TOO_MANY = Text(
    "수신자는 한 번에 최대 {most}명입니다(설정 mcp_max_receivers)."
    " 더 많으면 콘솔이나 `pabal send --csv`로 보내세요.",
    "At most {most} recipients at a time (the setting mcp_max_receivers). Send to more in the console, or with"
    " `pabal send --csv`.",
)
_WRONG_ARGUMENTS = Text(
    "{reason}. 도구의 입력 스키마에 맞게 다시 부르세요.", "{reason}. Call it again as its input schema says."
)


class _Arguments(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    message: dict[str, Any]
    confirmation: str = ""


class Tools:
    """The tools of one process; its confirmations end with it."""

    def __init__(self, call: Call, *, can_try: bool, can_send: bool) -> None:
        """`can_try` and `can_send` say which of the tools for sending are offered."""
        self._call = call
        self._can_send = can_send
        self._max_receivers = call.settings.mcp_max_receivers
        self._confirmations = Confirmations(RealWorld())
        self._sends: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {}
        if can_try:
            self._sends[DRY_RUN] = self._try
        if can_send:
            self._sends[SEND] = self._send

    def list_all(self) -> list[types.Tool]:
        """Return the tools that are offered."""
        language = self._call.language
        found = [
            _tool(name, self._call.t(text), schema_of(_strict(operation.body), language))
            for name, (operation, text) in _LOOK_UPS.items()
        ]
        texts = {DRY_RUN: _TRY, SEND: _SEND}
        for name in self._sends:
            text = self._call.t(texts[name], most=self._max_receivers)
            found.append(_tool(name, text, self._schema_of_send(name == SEND)))
        return found

    def use(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a call of a tool, and return its answer.

        Raises ToolRefusal; KeyError for a tool that is not offered.
        """
        run = self._sends.get(name) or (lambda given: self._look_up(name, given))
        try:
            return run(arguments)
        except msgspec.ValidationError as error:
            raise ToolRefusal(self._call.t(_WRONG_ARGUMENTS, reason=error)) from None
        except NotConfirmed as error:
            raise ToolRefusal(self._call.t(error.text)) from None
        except ApiError as error:
            raise ToolRefusal("\n".join(describe_refusal(error, self._call.language))) from None
        except NoAnswerError as error:
            lines = describe_silence(error, self._call.url, self._call.language)
            if name == SEND:
                lines.append(self._call.t(_REPEAT))
            raise ToolRefusal("\n".join(lines)) from None

    def _look_up(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        operation, _ = _LOOK_UPS[name]
        answer = getattr(self._call.client, operation.id)(msgspec.convert(arguments, _strict(operation.body)))
        if operation is not operations.LOOK_UP_MESSAGE:
            return _plain(answer)
        code = answer.item.resultCode
        outcome = OUTCOME_BY_NUMBER.get(int(code.value)) if code else None
        return {"message": _plain(answer.item), **self._explain(outcome)}

    def _explain(self, outcome: Outcome | None) -> dict[str, str]:
        if outcome is None or outcome not in ADVICE:
            return {}
        return {"why": self._call.t(outcome.label), "whatToDo": self._call.t(ADVICE[outcome])}

    def _try(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        kind, message, _ = self._read_send(arguments)
        answer = _plain(_KINDS[kind].send(self._call.client, message, dry_run=True))
        if not self._can_send:
            return answer
        confirmation = self._confirmations.issue(kind, message)
        return answer | {
            "confirmation": confirmation,
            "expiresInSeconds": LIFETIME_S,
            "next": self._call.t(_NEXT),
        }

    def _send(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        kind, message, token = self._read_send(arguments)
        confirmation = self._confirmations.take(token, kind, message)
        try:
            key = confirmation.idempotency_key
            answer = _KINDS[kind].send(self._call.client, message, idempotency_key=key)
        except NoAnswerError:
            self._confirmations.put_back(confirmation)
            raise
        return _plain(answer) | {"next": self._call.t(_NEXT_RESULT)}

    def _read_send(self, arguments: Mapping[str, Any]) -> tuple[str, Any, str]:
        """Return kind, message and token of a send.

        Raises ToolRefusal, msgspec.ValidationError; also for a field that does not exist: it may be a schedule.
        """
        given = msgspec.convert(arguments, _Arguments)
        if given.kind not in _KINDS:
            raise ToolRefusal(self._call.t(_WRONG_ARGUMENTS, reason=f"kind: {', '.join(_KINDS)}"))
        message: Any = msgspec.convert(given.message, _strict(_KINDS[given.kind].operation.body))
        if len(message.receivers) > self._max_receivers:
            raise ToolRefusal(self._call.t(_TOO_MANY, most=self._max_receivers))
        return given.kind, message, given.confirmation

    def _schema_of_send(self, has_confirmation: bool) -> dict[str, Any]:
        refs, components = msgspec.json.schema_components(
            [_strict(each.operation.body) for each in _KINDS.values()], ref_template="#/$defs/{name}"
        )
        properties: dict[str, Any] = {"kind": {"enum": list(_KINDS)}, "message": {"anyOf": list(refs)}}
        if has_confirmation:
            properties["confirmation"] = {"type": "string", "description": self._call.t(_CONFIRMATION)}
        schema = {"type": "object", "properties": properties, "required": list(properties), "$defs": components}
        return {**_in_language(schema, self._call.language), "additionalProperties": False}


def _tool(name: str, description: str, input_schema: dict[str, Any]) -> types.Tool:
    is_send = name == SEND
    annotations = types.ToolAnnotations(read_only_hint=not is_send, destructive_hint=is_send, open_world_hint=True)
    return types.Tool(name=name, description=description, input_schema=input_schema, annotations=annotations)


def schema_of(body: type[msgspec.Struct], language: str) -> dict[str, Any]:
    """Return the JSON schema of a body, as an object, with its descriptions in one language."""
    schema = msgspec.json.schema(body)
    components = schema["$defs"]
    root = components.pop(schema["$ref"].rpartition("/")[2])
    found: dict[str, Any] = _in_language({**root, "$defs": components} if components else root, language)
    return found


def _strict(body: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a body that refuses fields that it does not have."""
    return msgspec.defstruct(body.__name__, [], bases=(body,), kw_only=True, forbid_unknown_fields=True)


def _in_language(schema: Any, language: str) -> Any:
    if isinstance(schema, list):
        return [_in_language(each, language) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _in_language(value, language) for name, value in schema.items() if name != KOREAN}
    if language == "ko" and KOREAN in schema:
        found["description"] = schema[KOREAN]
    return found


def _plain(answer: msgspec.Struct) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(answer)
    return found


_NUMBER = Text(
    "번호가 맞는지 수신자에게 확인하세요. 다시 보내도 결과는 같습니다.",
    "Check the number with the recipient. Sending again ends in the same way.",
)
_LATER = Text("나중에 다시 보내세요.", "Send it again later.")
_FALLBACK = Text(
    "resend를 true로 하고 resendPhoneNumber를 주어, 메신저로 전달되지 않으면 문자로 보내세요.",
    "Send it with resend true and a resendPhoneNumber, so that a text follows where the app does not deliver.",
)
_RELAY = Text(
    "events와 carrierCode를 보고 운영자에게 문의하세요. 발송 경로의 문제일 수 있습니다.",
    "Look at events and carrierCode, and ask the operator: the carrier may have a problem.",
)
_WITHHELD = Text(
    "보내지 않는 것이 맞습니다. 다시 보내지 마세요.", "It is right not to send it. Do not send it again."
)

ADVICE: Mapping[Outcome, Text] = {
    Outcome.TIMED_OUT: Text(
        "전달되었을 수도 있습니다. 다시 보내면 두 번 받을 수 있으니 수신자에게 먼저 확인하세요.",
        "It may have arrived. Ask the recipient first: sending again may deliver it twice.",
    ),
    Outcome.PHONE_OFF: _LATER,
    Outcome.NO_SUBSCRIBER: _NUMBER,
    Outcome.NUMBER_NOT_ASSIGNED: _NUMBER,
    Outcome.REFUSED_BY_RECEIVER: _WITHHELD,
    Outcome.SPAM: Text(
        "본문과 발신번호를 바꾸거나, 수신자의 스팸 차단 설정을 확인하세요.",
        "Change the text or the sender number, or check the recipient's spam filter.",
    ),
    Outcome.DIFFERS_FROM_TEMPLATE: Text(
        "list_templates로 승인된 본문을 보고, 변수와 버튼을 그대로 맞추세요.",
        "Look at the approved text with list_templates, and match its variables and buttons exactly.",
    ),
    Outcome.UNDELIVERABLE: _RELAY,
    Outcome.NOT_A_USER: _FALLBACK,
    Outcome.BLOCKED_BY_USER: _FALLBACK,
    Outcome.NOT_A_FRIEND: _FALLBACK,
    Outcome.UNKNOWN: Text(
        "전달되었는지 알 수 없습니다. 다시 보내면 두 번 받을 수 있습니다.",
        "Nobody knows whether it arrived. Sending again may deliver it twice.",
    ),
    Outcome.NOT_SENDABLE_AS_TEXT: Text(
        "대체 발송 본문을 줄이거나 resendContent를 따로 주세요.",
        "Shorten the text of the fallback, or give a resendContent.",
    ),
    Outcome.OPTED_OUT: _WITHHELD,
    Outcome.EXPIRED: Text(
        "아직 필요하면 다시 보내고, expireMinutes를 더 길게 주세요.",
        "If it is still wanted, send it again with a longer expireMinutes.",
    ),
    Outcome.DUPLICATE: _WITHHELD,
    Outcome.CARRIER_ERROR: _LATER,
}


NAME = "pabal"


def run_server(tools: Tools) -> None:
    """Serve until standard input ends."""
    asyncio.run(_serve(tools))


async def _serve(tools: Tools) -> None:
    offered = {each.name: each for each in tools.list_all()}

    async def list_tools(context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(offered.values()))

    async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in offered:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}: {', '.join(offered)}")
        try:
            answer = await asyncio.to_thread(tools.use, params.name, params.arguments or {})
        except ToolRefusal as refusal:
            return types.CallToolResult(content=[types.TextContent(text=str(refusal))], is_error=True)
        text = json.dumps(answer, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=answer)

    server = Server(NAME, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())

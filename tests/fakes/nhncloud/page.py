"""A page that shows the state of the server, with buttons for the actions of its console."""

from collections.abc import Callable, Iterable
from html import escape
from typing import Any
from urllib.parse import parse_qs

from tests.fakes.nhncloud.answers import Reply, Request, format_seoul
from tests.fakes.nhncloud.console import Console
from tests.fakes.nhncloud.outcomes import result_name
from tests.fakes.nhncloud.state import Message, Profile, State, Template

MAX_ROWS = 50
REFRESH_S = 3
_STYLE = """
body{font:15px/1.5 system-ui,"Noto Sans KR","Apple SD Gothic Neo",sans-serif;margin:1.5rem;max-width:75rem}
table{border-collapse:collapse;width:100%;margin:.3rem 0 1.5rem}
td,th{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left;vertical-align:top}
td{white-space:pre-wrap;overflow-wrap:anywhere}
form{display:inline}button{margin:0 .2rem .2rem 0}code{font-size:1.05em}
"""
_STATES = {"TSC01": "요청", "TSC02": "검수 중", "TSC03": "승인", "TSC04": "반려"}
_ACTIONS: dict[str, Callable[[Console, str, str], None]] = {"approve": Console.approve, "reject": Console.reject}


def answer(state: State, console: Console, request: Request) -> Reply:
    """Return the page, or perform the action of a button."""
    if request.method == "POST" and request.path == "/console":
        return _do(console, request)
    if request.method != "GET" or request.path != "/":
        return Reply(404, "text/plain;charset=UTF-8", "그런 주소는 없습니다.".encode())
    return Reply(200, "text/html;charset=UTF-8", _page(state).encode())


def _do(console: Console, request: Request) -> Reply:
    form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    action = _ACTIONS.get(form.get("do", ""))
    if action is None:
        return Reply(404, "text/plain;charset=UTF-8", "그런 일은 없습니다.".encode())
    action(console, form["sender"], form["code"])
    return Reply(302, "text/plain;charset=UTF-8", b"")


def _page(state: State) -> str:
    last = state.messages[-MAX_ROWS:][::-1]
    return f"""<!doctype html>
<html lang="ko"><head><meta charset="utf-8"><title>NHN Cloud 문서대로 답하는 서버</title>
<meta http-equiv="refresh" content="{REFRESH_S}"><meta name="viewport" content="width=device-width">
<style>{_STYLE}</style></head><body>
<h1>NHN Cloud 문서대로 답하는 서버</h1>
<p>받은 메시지 {len(state.messages)}건, 거절한 수신자 {len(state.refused)}건, 호출 {len(state.calls)}번,
두 번 이상 받은 recipientGroupingKey {len(state.duplicates())}개. {REFRESH_S}초마다 새로 고칩니다.</p>
<h2>관리자 휴대폰으로 보낸 인증 토큰</h2>
{_table(("시각", "휴대폰", "채널", "토큰"), (_token(*each) for each in state.tokens_sent[-MAX_ROWS:][::-1]))}
<h2>발신 번호</h2>
{_table(("번호", "상태"), ((each.number, each.block_reason or "사용") for each in state.numbers.values()))}
<h2>발신 프로필</h2>
{_table(("채널", "발신 키", "상태"), map(_profile, state.profiles.values()))}
<h2>템플릿</h2>
{_table(("코드", "이름", "내용", "상태", "의견", ""), map(_template, state.templates.values()))}
<h2>마지막으로 받은 메시지</h2>
{_table(("시각", "종류", "받는 번호", "보낸 곳", "내용", "결과"), map(_message, last))}
</body></html>
"""


class _Markup(str):
    """Text that is HTML already."""


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    if not lines:
        return "<p>아직 없습니다.</p>"
    return f"<table><tr>{''.join(f'<th>{escape(each)}</th>' for each in heads)}</tr>{lines}</table>"


def _cell(value: Any) -> str:
    return f"<td>{value if isinstance(value, _Markup) else escape(str(value))}</td>"


def _buttons(template: Template) -> _Markup:
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in (("sender", template.sender_key), ("code", template.code))
    )
    return _Markup(
        "".join(
            f'<form method="post" action="/console">{hidden}<button name="do" value="{do}">{word}</button></form>'
            for do, word in (("approve", "승인"), ("reject", "반려"))
        )
    )


def _token(at: int, phone: str, channel: str, token: int) -> tuple[Any, ...]:
    return format_seoul(at), phone, channel, _Markup(f"<code>{token}</code>")


def _profile(profile: Profile) -> tuple[Any, ...]:
    if not profile.is_registered:
        return profile.channel, "", f"토큰 인증 대기 중 ({profile.token})"
    state = "차단" if profile.is_blocked else "휴면" if profile.is_dormant else "정상 등록"
    return profile.channel, profile.sender_key, state


def _template(template: Template) -> tuple[Any, ...]:
    draft = template.pending_change or template.current
    state = _STATES[draft.status] + (" (수정)" if template.pending_change else "")
    state += " · 차단" if template.is_blocked else ""
    comments = "\n".join(f"{each['userName']}: {each['content']}" for each in draft.comments)
    return (
        template.code,
        draft.fields["templateName"],
        draft.fields["templateContent"],
        state,
        comments,
        _buttons(template) if draft.status != "TSC03" else "",
    )


def _message(message: Message) -> tuple[Any, ...]:
    result = f"{message.code} {result_name(message)}" if message.code else "보내는 중"
    sender = message.sender if message.product == "sms" else message.template_code or message.sender[:8]
    return format_seoul(message.accepted_at), message.kind, message.recipient_no, sender, message.content, result

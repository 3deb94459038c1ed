"""`pabal mcp`: declares the command, and finds out what its key may do."""

from importlib.util import find_spec

from pabal.cli.calling.call import Call, ExitStatus, add_call_options, parse_count
from pabal.cli.shared.language import CommandError
from pabal.cli.shared.options import CommandParser
from pabal.client import ApiError, Client, SendSms
from pabal.client.errors import AccessError, ForbiddenError, TemporaryError
from pabal.domain.base.codes import Text

MAX_RECEIVERS = 1000
INSTALL = "pip install 'pabal[mcp]'"
_NO_SDK = (
    f"이 명령에는 MCP의 Python SDK가 필요한데 설치되어 있지 않습니다. 설치: {INSTALL}",
    f"this needs the Python SDK of MCP, which is not installed here; install it with: {INSTALL}",
)
_CANNOT_SEND = Text(
    "이 API 키로는 발송할 수 없어 조회 도구만 제공합니다: {reason} 권한 범위 send가 있는 키를 쓰세요.",
    "This API key may not send, so that only look-ups are offered: {reason} Use a key with the scope send.",
)


def declare_mcp(parser: CommandParser) -> None:
    """Declare `pabal mcp`."""
    add_call_options(parser, _serve, has_json=False)
    parser.add_flag(
        "--allow-send",
        "발송 도구도 제공합니다. API 키에 권한 범위 send가 필요합니다",
        "offer to send messages as well; the API key needs the scope send",
    )
    parser.add_option(
        "--max-receivers N",
        "한 번에 보낼 수 있는 최대 수신자 수(기본값: 설정 mcp_max_receivers, 10)",
        "most receivers of one send (default: the setting mcp_max_receivers, 10)",
        type=lambda given: parse_count(given, MAX_RECEIVERS),
    )


def _serve(call: Call) -> int:
    if find_spec("mcp") is None:
        raise CommandError(*_NO_SDK)
    from pabal.cli.calling.mcp_tools import Tools, run_server

    refusal = _find_refusal(call.client)
    if call.given.allow_send and refusal:
        call.report(_CANNOT_SEND, reason=refusal.message)
    run_server(Tools(call, can_try=not refusal, can_send=not refusal and call.given.allow_send))
    return ExitStatus.DONE


def _find_refusal(client: Client) -> ForbiddenError | None:
    """Return why the key may not send, if so: by a dry run without receivers, which is refused in any case.

    Raises ApiError for a key that may not call at all, NoAnswerError.
    """
    try:
        client.send_sms(SendSms(content="", sender="", receivers=[]), dry_run=True)
    except ForbiddenError as refusal:
        return refusal
    except (AccessError, TemporaryError):
        raise
    except ApiError:
        pass
    return None

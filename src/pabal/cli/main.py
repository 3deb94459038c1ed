"""The `pabal` command: imports the module of one command, parses its arguments and runs it."""

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from pabal import __version__
from pabal.cli.shared.language import choose, say, translate_argparse
from pabal.cli.shared.options import CommandParser
from pabal.domain.base.codes import Refused, TextError
from pabal.logs import hide_error_messages


class Command(NamedTuple):
    """A command: the module that declares and runs it, and what it does."""

    module: str
    ko: str
    en: str


CLIENT_COMMANDS = {
    "send": Command(
        "calling.send",
        "번호 몇 개나 CSV 파일의 각 행에 메시지를 보냅니다.",
        "Send messages to some numbers, or to the rows of a CSV file.",
    ),
    "history": Command(
        "calling.history",
        "메시지를 최근 것부터 보여 줍니다. 옵션이 없으면 어제부터의 것입니다.",
        "List messages, newest first; without options those since yesterday.",
    ),
    "phone": Command(
        "calling.history",
        "시뮬레이터의 휴대폰을 봅니다: 있는 것과 도착하는 것을 출력합니다.",
        "Watch a simulated phone: print what it has, and what arrives.",
    ),
    "status": Command(
        "calling.status",
        "대기열, 발송 경로, 속도, 워커를 보여 줍니다. 터미널에서는 계속 새로 고칩니다.",
        "Show queue, carriers, rates and workers; on a terminal again and again.",
    ),
    "webhook": Command(
        "calling.listen",
        "웹훅이 받을 이벤트를 이 컴퓨터에서 받습니다.",
        "Get what webhooks would be told on this machine.",
    ),
    "mcp": Command(
        "calling.mcp_command",
        "AI 비서(Claude, Cursor 등)가 이 서비스를 쓰게 하는 MCP 서버를 실행합니다.",
        "Run an MCP server, by which an AI assistant such as Claude or Cursor uses a service.",
    ),
    "completion": Command(
        "calling.completion",
        "셸에서 명령과 옵션을 자동 완성하는 스크립트를 출력합니다.",
        "Print a script that completes commands and options in a shell.",
    ),
}
"""The commands that need nothing of the service."""
SERVER_COMMANDS = {
    "serve": Command(
        "serving.commands", "서비스를 실행합니다: API, 콘솔, 발송.", "Run the service: API, console and delivery."
    ),
    "work": Command(
        "serving.commands",
        "발송만 하는 워커를 실행합니다. PostgreSQL이 필요합니다.",
        "Run a worker that only delivers; needs PostgreSQL.",
    ),
    "smsc": Command(
        "serving.smsc",
        "SMPP 설정을 시험할 작은 SMSC를 실행합니다.",
        "Run a small SMSC to try an SMPP set-up with.",
    ),
    "migrate": Command(
        "manage.migrate",
        "저장소 스키마에 빠진 마이그레이션을 적용합니다.",
        "Apply missing migrations to the store's schema.",
    ),
    "settings": Command(
        "serving.commands", "모든 설정의 값과 뜻을 보여 줍니다.", "List every setting with its value and meaning."
    ),
    "doctor": Command(
        "doctor.doctor",
        "설치 상태를 점검하고 고치는 방법을 알려 줍니다.",
        "Check the installation, and say how to fix what is wrong.",
    ),
    "backup": Command(
        "manage.backup",
        "SQLite 저장소를 서비스 실행 중에도 파일로 복사합니다.",
        "Copy the SQLite store to a file, even while the service runs.",
    ),
    "restore": Command(
        "manage.backup",
        "SQLite 저장소를 백업으로 바꿉니다. 먼저 서비스를 멈추세요.",
        "Replace the SQLite store by a backup. Stop the service first.",
    ),
    "cancel-after-restore": Command(
        "manage.backup",
        "다른 방법으로 복원한 저장소의 대기 메시지를 취소합니다. 먼저 서비스를 멈추세요.",
        "Cancel due messages in a store that you restored by other means. Stop the service first.",
    ),
    "move": Command(
        "manage.move",
        "SQLite 저장소를 설정의 PostgreSQL 데이터베이스로 옮깁니다. 먼저 서비스를 멈추세요.",
        "Move a SQLite store to the PostgreSQL database of the settings. Stop the service first.",
    ),
    "key": Command("manage.keys", "API 키를 관리합니다.", "Manage API keys."),
    "account": Command("manage.accounts", "계정을 관리합니다.", "Manage accounts."),
    "profile": Command("manage.profiles", "발신 프로필을 관리합니다.", "Manage sender profiles."),
    "template": Command("manage.profiles", "알림톡 템플릿을 관리합니다.", "Manage Alimtalk templates."),
    "number": Command("manage.accounts", "등록된 발신번호를 관리합니다.", "Manage the registered sender numbers."),
    "opt-out": Command(
        "manage.recipients", "광고를 거부한 수신자를 관리합니다.", "Manage the receivers who want no advertising."
    ),
    "mapping": Command(
        "manage.profiles",
        "발신 프로필과 템플릿을 다른 중계사의 것에 연결합니다.",
        "Map sender profiles and templates to those of other relays.",
    ),
    "user": Command("manage.users", "콘솔 사용자를 관리합니다.", "Manage the users of the console."),
    "carrier": Command(
        "manage.carriers",
        "중계사를 점검하고, 설정에서 빠진 발송 경로의 메시지를 관리합니다.",
        "Try a relay, and manage the messages of carriers that are not configured any more.",
    ),
    "compat": Command(
        "manage.keys",
        "다른 중계사의 API로 만든 프로그램의 호출이 여기서 무엇이 다른지 보여 줍니다.",
        "Show how calls of programs that were written for another relay differ here.",
    ),
    "privacy": Command(
        "manage.recipients",
        "전화번호 하나에 대해 저장된 것을 내보내거나 파기합니다.",
        "Export or erase what is stored about one phone number.",
    ),
    "secrets": Command(
        "manage.secrets",
        "저장소의 비밀 값을 암호화하는 키를 관리합니다.",
        "Manage the key that encrypts secrets in the store.",
    ),
    "webhook": Command(
        "manage.webhooks",
        "계정의 이벤트를 보낼 웹훅을 관리합니다.",
        "Manage the webhooks that events of accounts are posted to.",
    ),
}
COMMANDS = CLIENT_COMMANDS | SERVER_COMMANDS
INSTALL = "pip install 'pabal[server]'"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; without `argv` that of this process."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        hide_error_messages()
    if words and words[0] in SERVER_COMMANDS.keys() - CLIENT_COMMANDS and not _has_server():
        say(
            f"pabal: 이 명령에는 서비스가 필요한데 설치되어 있지 않습니다. 설치: {INSTALL}",
            f"pabal: this needs the service, which is not installed here; install it with: {INSTALL}",
            is_error=True,
        )
        return 2
    given = build_parser(words[:1]).parse(words)
    given.words = words
    os.umask(0o077)  # files are readable by this user only
    if hasattr(given, "complete"):
        status: int = given.complete(build_parser(COMMANDS if _has_server() else CLIENT_COMMANDS), given.shell)
        return status
    if hasattr(given, "run_call"):
        from pabal.cli.calling.call import run_call

        return run_call(given)
    if hasattr(given, "run_alone"):
        status = given.run_alone(given)
        return status
    if not hasattr(given, "run"):
        given.parser.print_help()
        return 2
    return _run(given)


def build_parser(names: Collection[str] = tuple(COMMANDS)) -> CommandParser:
    """Return the parser of the command line; only the commands of these names have their options."""
    translate_argparse()
    has_server = _has_server()
    parser = CommandParser(
        "pabal",
        description=choose("직접 운영하는 메시지 발송 서비스입니다.", "A self-hosted messaging service."),
        epilog=None
        if has_server
        else choose(
            f"그 밖의 명령에는 서비스가 필요합니다. 설치: {INSTALL}",
            f"other commands need the service; install it with: {INSTALL}",
        ),
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"pabal {__version__}",
        help=choose("버전을 보여 줍니다", "show program's version number and exit"),
    )
    for name, command in (COMMANDS if has_server else CLIENT_COMMANDS).items():
        added = parser.add_subcommand(name, command.ko, command.en)
        if name in names:
            module = import_module(f"pabal.cli.{command.module}")
            getattr(module, f"declare_{name.replace('-', '_')}")(added)
    return parser


def _has_server() -> bool:
    """Say whether the packages of the service are installed; the client can be installed without them."""
    return find_spec("apsw") is not None


def _run(given: argparse.Namespace) -> int:
    """Run a command with its settings, and return its exit status."""
    from pabal.settings.settings import load
    from pabal.store.engine.base import StoreUnavailable

    overrides = {name: getattr(given, name, None) for name in ("host", "port", "work_port", "processes")}
    try:
        settings = load(file=given.config, data=given.data, **overrides)
        return given.run(settings, given) or 0
    except TextError as error:
        say(f"pabal: {error.text.ko}", f"pabal: {error.text.en}", is_error=True)
        return 2
    except Refused as refused:
        first = refused.problems[0]
        ko, en = (f"pabal: {first.message(each)} {first.code.remedy.in_language(each)}" for each in ("ko", "en"))
        say(ko, en, is_error=True)
        return 1
    except StoreUnavailable as error:
        say(
            f"pabal: 저장소를 쓸 수 없습니다({error}). `pabal doctor`를 실행하세요",
            f"pabal: the store is not available ({error}); run `pabal doctor`",
            is_error=True,
        )
        return 1
    except KeyboardInterrupt:
        return 130

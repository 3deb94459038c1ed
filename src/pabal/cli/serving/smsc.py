"""`pabal smsc`: a small SMSC to try an SMPP set-up with."""

import argparse
import asyncio

from pabal.carriers.smpp.receipt_parser import STATES
from pabal.carriers.smpp.smsc import BindCredentials, Reported, Smsc
from pabal.cli.shared.language import say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import printable
from pabal.world import RealWorld

DEFAULT_PORT = 2775


def declare_smsc(parser: CommandParser) -> None:
    """Declare `pabal smsc`."""
    parser.set_defaults(run_alone=_run)
    parser.add_option(
        "--host",
        "접속을 받을 주소(기본값: 127.0.0.1, 이 컴퓨터에서만)",
        "address to listen on (default: 127.0.0.1, this machine only)",
        default="127.0.0.1",
    )
    parser.add_option(
        "--port",
        "접속을 받을 포트(기본값: 2775)",
        "port to listen on (default: 2775)",
        type=int,
        default=DEFAULT_PORT,
    )
    parser.add_option(
        "--system-id ID",
        "이 system_id만 받습니다(기본값: 모두)",
        "accept only this system_id (default: any)",
        default="",
    )
    parser.add_option(
        "--password", "이 비밀번호만 받습니다(기본값: 모두)", "accept only this password (default: any)", default=""
    )
    parser.add_option(
        "--stat STAT",
        "결과의 상태(기본값: DELIVRD). 예: UNDELIV, EXPIRED, REJECTD",
        "the state in receipts (default: DELIVRD), such as UNDELIV, EXPIRED or REJECTD",
        default="DELIVRD",
        choices=sorted(STATES),
    )
    parser.add_option(
        "--err CODE", "결과의 오류 코드(기본값: 000)", "the error code in receipts (default: 000)", default="000"
    )


def _run(given: argparse.Namespace) -> int:
    try:
        asyncio.run(_serve(given))
    except OSError as error:
        say(
            f"pabal: {given.host} 포트 {given.port}에서 접속을 받을 수 없습니다({error.strerror})."
            " --port로 다른 포트를 주세요",
            f"pabal: cannot listen on {given.host} port {given.port} ({error.strerror}); give another with --port",
            is_error=True,
        )
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve(given: argparse.Namespace) -> None:
    smsc = Smsc(
        RealWorld(),
        lambda line: print(printable(" ".join(line.splitlines())), flush=True),
        BindCredentials(given.system_id, given.password),
        Reported(given.stat, given.err),
    )
    server = await asyncio.get_running_loop().create_server(smsc.connect, given.host, given.port)
    host, port = server.sockets[0].getsockname()[:2]
    say(
        f"SMSC가 {host} 포트 {port}에서 기다립니다. Ctrl-C로 멈춥니다.",
        f"SMSC on {host} port {port}. Stop with Ctrl-C.",
    )
    await server.serve_forever()

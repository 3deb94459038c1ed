"""`pabal serve` and `pabal work`: the commands that run the service, in one process or several."""

import argparse

from pabal.cli.serving import processes, serve
from pabal.cli.shared.options import add_option, add_settings_options
from pabal.settings.settings import Settings


def declare_serve(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal serve`."""
    add_settings_options(parser, _serve)
    add_option(parser, "--port", "접속을 받을 포트(기본값: 8080)", "port to listen on (default: 8080)", type=int)
    add_option(
        parser,
        "--no-deliver",
        "발송하지 않습니다. `pabal work`가 발송합니다",
        "do not deliver; `pabal work` does it",
        action="store_true",
    )
    _add_process_options(parser)


def declare_work(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal work`."""
    add_settings_options(parser, _work)
    add_option(
        parser,
        "--port",
        "상태 확인과 지표를 위한 포트(기본값: 없음)",
        "port for health and metrics (default: none)",
        type=int,
        dest="work_port",
    )
    _add_process_options(parser)


def _add_process_options(parser: argparse.ArgumentParser) -> None:
    add_option(parser, "--host", "접속을 받을 주소(기본값: 127.0.0.1)", "address to listen on (default: 127.0.0.1)")
    add_option(
        parser,
        "--processes",
        "프로세스 수. SQLite에서는 최대 3. 0은 코어마다 하나(기본값: 1)",
        "run this many processes, at most 3 on SQLite; 0: one for each core (default: 1)",
        type=int,
        metavar="N",
    )
    parser.add_argument("--child", type=int, nargs=4, help=argparse.SUPPRESS)


def _serve(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        inherited = serve.InheritedSockets(*given.child)
        return serve.serve_child(settings, inherited, delivers=not given.no_deliver)
    if settings.processes != 1:
        return processes.serve_all(settings, given.words, delivers=not given.no_deliver)
    return serve.serve(settings, delivers=not given.no_deliver)


def _work(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        return serve.serve_child(settings, serve.InheritedSockets(*given.child), delivers=True)
    if settings.processes != 1:
        return processes.work_all(settings, given.words)
    return serve.work(settings)

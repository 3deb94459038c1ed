"""`pabal status`: queue, carriers, rates and workers of a running service, live on a terminal."""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from pabal.cli.calling.call import Call, ExitStatus, add_call_options
from pabal.cli.shared.language import choose
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Columns, format_table, print_json
from pabal.client import NoAnswerError
from pabal.domain.base.codes import Text
from pabal.world import RealWorld

_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class Sample(NamedTuple):
    """One value of a metric, with its labels."""

    labels: Mapping[str, str]
    value: float


def parse_metrics(page: str) -> dict[str, list[Sample]]:
    """Return the values of every metric of a page in the text format of Prometheus."""
    found: dict[str, list[Sample]] = {}
    for name, labels, value in _LINE.findall(page):
        found.setdefault(name, []).append(Sample(_parse_labels(labels), float(value)))
    return found


def _parse_labels(text: str) -> dict[str, str]:
    return {
        name: _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], value)
        for name, value in _LABEL.findall(text)
    }


class StatusFigures(NamedTuple):
    """What the metrics say about delivery at one time."""

    queue: list[tuple[object, ...]]
    """Carrier and lane, its jobs, and for how many seconds the oldest is due."""
    carriers: list[tuple[object, ...]]
    """Carrier and worker, its state, and messages a minute; the only process has no name."""
    workers: list[tuple[str, int, int]]
    """Worker, its slots, and its heartbeats."""
    accepted: float
    """Messages that this process has accepted since it started."""
    ended: float


def read_figures(page: str) -> StatusFigures:
    """Return what a page of metrics says about delivery."""
    metrics = parse_metrics(page)
    due = _by_labels(metrics.get("pabal_queue_oldest_due_seconds", ()), "carrier", "lane")
    rates = _by_labels(metrics.get("pabal_carrier_messages_per_minute", ()), "carrier", "worker")
    beats = _by_labels(metrics.get("pabal_worker_heartbeats", ()), "worker")
    jobs = _by_labels(metrics.get("pabal_queue_jobs", ()), "carrier", "lane")
    states = _by_labels(metrics.get("pabal_carrier_state", ()), "carrier", "worker", "state")
    slots = _by_labels(metrics.get("pabal_worker_slots", ()), "worker")
    return StatusFigures(
        [(*lane, int(value), round(due.get(lane, 0.0), 1)) for lane, value in jobs.items()],
        [(*key, int(rates.get(key[:2], 0.0))) for key in states],
        [(key[0], int(value), int(beats.get(key, 0.0))) for key, value in slots.items()],
        sum(each.value for each in metrics.get("pabal_messages_accepted_total", ())),
        sum(each.value for each in metrics.get("pabal_messages_ended_total", ())),
    )


def _by_labels(samples: Iterable[Sample], *names: str) -> dict[tuple[str, ...], float]:
    return {tuple(each.labels.get(name, "") for name in names): each.value for each in samples}


if TYPE_CHECKING:
    import httpx

WORLD = RealWorld()
INTERVAL_S = 2.5
"""Between two looks: a living worker has sent a heartbeat since."""
MAX_INTERVAL_S = 3600
TIMEOUT_S = 10.0
CLEAR = "\x1b[H\x1b[J"
"""Clears the terminal."""
QUEUE_COLUMNS = {
    "carrier": Text("발송 경로", "Carrier"),
    "lane": Text("레인", "Lane"),
    "jobs": Text("대기", "Jobs"),
    "oldestDueSeconds": Text("가장 오래 기다린 초", "Oldest due, seconds"),
}
CARRIER_COLUMNS = {
    "carrier": Text("발송 경로", "Carrier"),
    "worker": Text("워커", "Worker"),
    "state": Text("상태", "State"),
    "messagesPerMinute": Text("분당 메시지", "Messages a minute"),
}
WORKER_COLUMNS = {
    "worker": Text("워커", "Worker"),
    "slots": Text("슬롯", "Slots"),
    "isAlive": Text("살아 있음", "Alive"),
}
_HEAD = Text(
    "{url}  {ready}  접수 {accepted:,.1f}/초  종료 {ended:,.1f}/초",
    "{url}  {ready}  accepted {accepted:,.1f}/s  ended {ended:,.1f}/s",
)
_READY = Text("정상", "ready")
_NOT_READY = Text("준비되지 않음", "not ready")
_QUEUE, _CARRIERS, _WORKERS = Text("대기열", "Queue"), Text("발송 경로", "Carriers"), Text("워커", "Workers")
_YES, _NO = Text("예", "yes"), Text("아니요", "no")
_NO_METRICS = Text(
    "이 주소에는 지표가 없습니다. `--processes`로 실행한 프로세스는 설정 work_port부터 각자의 포트에서 지표를 보여"
    " 줍니다. 그 포트를 --url로 주세요.",
    "There are no metrics at this address. Processes of `--processes` have theirs at ports of their own, from the"
    " setting work_port on: give one of them with --url.",
)
_AWAY = Text("{url}: 응답이 없습니다({reason}).", "{url}: no answer ({reason})")


class Look(NamedTuple):
    """What the service said at one time."""

    at_s: float
    is_ready: bool
    has_metrics: bool
    figures: StatusFigures


def declare_status(parser: CommandParser) -> None:
    """Declare `pabal status`."""
    add_call_options(parser, _show, needs_key=False)
    parser.add_option(
        "--interval SECONDS",
        "새로 고치는 간격(초, 기본값: 2.5)",
        "how long to wait between two looks (default: 2.5)",
        type=_parse_seconds,
        default=INTERVAL_S,
    )
    parser.add_flag(
        "--once",
        "한 번만 보여 줍니다. 터미널이 아니면 기본값입니다",
        "show it once; the default where the output is no terminal",
    )


def _parse_seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= MAX_INTERVAL_S:
        raise argparse.ArgumentTypeError(
            choose(
                f"0.01부터 {MAX_INTERVAL_S:,}까지의 초여야 합니다",
                f"must be a number of seconds from 0.01 to {MAX_INTERVAL_S:,}",
            )
        )
    return seconds


def _show(call: Call) -> int:
    import httpx

    is_live = sys.stdout.isatty() and not call.given.once and not call.given.json
    with httpx.Client(base_url=call.url, timeout=TIMEOUT_S) as http:
        before = _look(http)
        Event().wait(call.given.interval)
        while True:
            try:
                now = _look(http)
            except NoAnswerError as error:
                if not is_live:
                    raise
                print(CLEAR + call.t(_AWAY, url=call.url, reason=error), flush=True)
            else:
                _print(call, before, now, is_live=is_live)
                if not is_live:
                    return ExitStatus.DONE if now.is_ready else ExitStatus.NO_ANSWER
                before = now
            Event().wait(call.given.interval)


def _look(http: "httpx.Client") -> Look:
    """Return what the service says now.

    Raises NoAnswerError.
    """
    import httpx

    try:
        ready, page = http.get("/readyz"), http.get("/metrics")
    except httpx.RequestError as error:
        raise NoAnswerError(f"{type(error).__name__}: {error}", was_sent=False) from None
    figures = read_figures(page.text if page.is_success else "")
    return Look(WORLD.monotonic(), ready.is_success, page.is_success, figures)


def _print(call: Call, before: Look, now: Look, *, is_live: bool) -> None:
    seconds = max(now.at_s - before.at_s, 0.001)
    accepted, ended = (
        max(0.0, (getattr(now.figures, name) - getattr(before.figures, name)) / seconds)
        for name in ("accepted", "ended")
    )
    figures, before_beats = now.figures, {name: beats for name, _, beats in before.figures.workers}
    workers = [(name, slots, beats != before_beats.get(name)) for name, slots, beats in figures.workers]
    if call.given.json:
        if now.is_ready and not now.has_metrics:
            call.report(_NO_METRICS)
        print_json(
            {
                "isReady": now.is_ready,
                "acceptedPerSecond": round(accepted, 1),
                "endedPerSecond": round(ended, 1),
                "queue": [dict(zip(QUEUE_COLUMNS, each, strict=True)) for each in figures.queue],
                "carriers": [dict(zip(CARRIER_COLUMNS, each, strict=True)) for each in figures.carriers],
                "workers": [dict(zip(WORKER_COLUMNS, each, strict=True)) for each in workers],
            }
        )
        return
    ready = call.t(_READY if now.is_ready else _NOT_READY)
    lines = [call.t(_HEAD, url=call.url, ready=ready, accepted=accepted, ended=ended)]
    alive = [(name, slots, call.t(_YES if is_alive else _NO)) for name, slots, is_alive in workers]
    parts: list[tuple[Text, Columns, Sequence[Sequence[object]]]] = [
        (_QUEUE, QUEUE_COLUMNS, figures.queue),
        (_CARRIERS, CARRIER_COLUMNS, figures.carriers),
        (_WORKERS, WORKER_COLUMNS, alive),
    ]
    for title, columns, rows in parts:
        if rows:
            lines += ["", call.t(title), *format_table(columns, rows)]
    if now.is_ready and not now.has_metrics:
        lines += ["", call.t(_NO_METRICS)]
    print((CLEAR if is_live else "") + "\n".join(lines), flush=True)

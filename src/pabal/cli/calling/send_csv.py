"""Sends to the rows of a file: in requests that are journalled, so that it goes on where it was stopped."""

import hashlib
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from pabal.cli.calling.call import Call, ExitStatus, list_warnings, report_refusal, status_of
from pabal.cli.calling.journal import Journal
from pabal.cli.calling.receiver_file import ReceiverFile, read_receivers, write_report
from pabal.cli.calling.send_body import KINDS, with_receivers
from pabal.cli.shared.language import CommandError
from pabal.cli.shared.table import print_json
from pabal.client import ApiError, NoAnswerError, ReceiverBody
from pabal.client.errors import AccessError, TemporaryError
from pabal.console.sheets.sheet import SheetRow
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import HOUR
from pabal.models.send_answers import AcceptedAnswer
from pabal.world import RealWorld

BAR_CHARACTERS = 30
REDRAW_INTERVAL_S = 0.1


class ProgressBar:
    """Draws how much is done to standard error, if that is a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began_at = WORLD.monotonic()
        self._drawn_at = float("-inf")
        self._first: int | None = None
        self._is_shown = sys.stderr.isatty()

    def show(self, done: int) -> None:
        """Draw so much as done."""
        now = WORLD.monotonic()
        if self._first is None:
            self._first = done
        is_due = now - self._drawn_at >= REDRAW_INTERVAL_S or done >= self._total
        if self._is_shown and is_due:
            self._drawn_at = now
            sys.stderr.write(f"\r{format_bar(done, self._total, done - self._first, now - self._began_at)}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._is_shown and self._first is not None:
            sys.stderr.write("\n")


def format_bar(done: int, total: int, lately: int, seconds: float) -> str:
    """Return the bar as text: how much of the total is done, and how fast."""
    share = done / total if total else 1.0
    filled = int(share * BAR_CHARACTERS)
    rate = f"  {lately / seconds:,.0f}/s" if lately and seconds > 0 else ""
    return f"[{'#' * filled}{'.' * (BAR_CHARACTERS - filled)}] {share:4.0%}  {done:,}/{total:,}{rate}"


WORLD = RealWorld()
SAFE_REPEAT_MS = 20 * HOUR
"""How long a request without an answer is repeated: services know its idempotency key for 24 hours."""
SEND, SKIP = "send", "skip"
"""The values of --in-doubt."""
_RECEIVER = re.compile(r"receivers\[([0-9]+)\]")
_SENT_BEFORE = Text(
    "{file}: 이미 발송했습니다({journal}). 다시 발송하려면 --again을 주세요.",
    "{file}: was sent already ({journal}); --again sends it once more",
)
_BEGUN_OTHERWISE = Text(
    "{file}: 다른 내용이나 옵션으로 발송을 시작했습니다({journal}). 처음부터 새로 발송하려면 --again을 주세요.",
    "{file}: was begun with other rows or options ({journal}); --again sends all of it from the start",
)
_IN_DOUBT = Text(
    "{count}행은 오래전에 요청했지만 응답을 받지 못해 이미 발송되었을 수 있습니다. `pabal history`로 확인한 뒤"
    " --in-doubt send(다시 발송) 또는 --in-doubt skip(건너뛰기)을 주세요.",
    "{count} rows were requested long ago without an answer, and may have been sent. Look with `pabal history`,"
    " then give --in-doubt send or --in-doubt skip.",
)
_SKIPPED = Text("이미 발송되었을 수 있어 건너뛰었습니다.", "skipped, since it may have been sent")
_NOTHING_SENT = Text("아무것도 발송하지 않았습니다.", "Nothing was sent.")
_SENT = Text(
    "{rows:,}행 가운데 {sent:,}행을 요청 {requests:,}건으로 발송했습니다.",
    "{sent:,} of {rows:,} rows were sent in {requests:,} requests.",
)
_CHECKED = Text("{rows:,}행 가운데 {sent:,}행을 발송할 수 있습니다.", "{sent:,} of {rows:,} rows can be sent.")
_WRONG = Text("{count:,}행은 발송하지 않았습니다: {report}", "{count:,} rows were not sent: {report}")
_WARNINGS = Text("경고 {count:,}건: {message}", "{count:,} warnings: {message}")
_GO_ON = Text("같은 명령을 다시 실행하면 이어서 발송합니다.", "Run the same command again: it goes on from here.")


def send_csv(call: Call, kind: str, body: msgspec.Struct) -> int:
    """Send to the rows of a file, and return the exit status."""
    given, path = call.given, call.given.csv
    file = read_receivers(path, body, KINDS[kind].receiver, call.language)
    sending = FileSending(call, file, lambda receivers: with_receivers(body, receivers), KINDS[kind].send)
    if given.dry_run or given.strict:
        sending.check_all()
        if given.dry_run or sending.wrong:
            return sending.report(_CHECKED if given.dry_run else _NOTHING_SENT)
    parts = [kind, str(given.chunk), call.url, msgspec.json.encode(body).decode()]
    digest = hashlib.sha256(file.digest + "\0".join(parts).encode()).hexdigest()
    with Journal(_beside(path, ".journal")) as journal:
        _prepare(call, journal, digest)
        try:
            sending.send_all(journal)
        except ApiError as error:
            report_refusal(error, call.language, call.given.flags)
            return _stop(call, sending, status_of(error))
        except (NoAnswerError, KeyboardInterrupt):
            _stop(call, sending, ExitStatus.NO_ANSWER)
            raise
        journal.finish()
        return sending.report(_SENT)


def _prepare(call: Call, journal: Journal, digest: str) -> None:
    """Start the journal, or go on with it.

    Raises CommandError if the file was sent before, or if sending was begun otherwise.
    """
    if not journal.is_new and not call.given.again:
        is_same = journal.digest == digest
        if journal.is_finished or not is_same:
            text = _SENT_BEFORE if journal.is_finished and is_same else _BEGUN_OTHERWISE
            values = {"file": call.given.csv, "journal": journal.path}
            raise CommandError(text.ko.format(**values), text.en.format(**values))
        return
    journal.start(digest)


def _stop(call: Call, sending: "FileSending", status: ExitStatus) -> ExitStatus:
    sending.report(_SENT)
    call.report(_GO_ON)
    return status


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


class FileSending:
    """Sends a file in requests of some rows each; request i has the same rows whenever it is made."""

    def __init__(
        self,
        call: Call,
        file: ReceiverFile,
        make_body: Callable[[list[ReceiverBody]], msgspec.Struct],
        send: Callable[..., AcceptedAnswer],
    ) -> None:
        self._call = call
        self._file = file
        self._make_body = make_body
        self._send = send
        size = call.given.chunk
        self._requests = [file.rows[first : first + size] for first in range(0, len(file.rows), size)]
        self.wrong = dict(file.wrong)
        """Why rows were not sent, by row number."""
        self._sent = 0
        self._request_ids: list[str] = []
        self._warnings: dict[str, list[str]] = {}
        """The messages of warnings, by their code."""

    def check_all(self) -> None:
        """Have the service check every row, without sending any."""
        bar = ProgressBar(len(self._file.rows))
        for rows in self._requests:
            self._try(rows, lambda body: self._send(self._call.client, body, dry_run=True))
            self._sent += sum(row.number not in self.wrong for row in rows)
            bar.show(self._sent + len(self.wrong))
        bar.end()

    def send_all(self, journal: Journal) -> None:
        """Send what was not sent yet.

        Raises ApiError, NoAnswerError, and CommandError where the user has to decide.
        """
        self._sent = 0
        self.wrong |= journal.wrong
        self._check_doubts(journal)
        bar = ProgressBar(len(self._file.rows))
        done = 0
        try:
            for number, rows in enumerate(self._requests):
                if number not in journal.accepted:
                    self._send_request(journal, number, rows)
                self._count(journal, number, rows)
                done += len(rows)
                bar.show(done)
        finally:
            bar.end()

    def report(self, text: Text) -> ExitStatus:
        """Print how much was sent, write the report of other rows, and return the exit status."""
        call, rows = self._call, len(self._file.rows)
        report = _beside(call.given.csv, ".bad.csv")
        if self.wrong:
            write_report(report, self._file, self.wrong, call.language)
        if call.given.json:
            names = {"rows": rows, "sent": 0 if text is _NOTHING_SENT else self._sent, "wrong": len(self.wrong)}
            print_json({**names, "requestIds": self._request_ids, "report": str(report) if self.wrong else None})
        else:
            call.report(text, rows=rows, sent=self._sent, requests=len(self._request_ids))
        if self.wrong:
            call.report(_WRONG, count=len(self.wrong), report=report)
        for messages in self._warnings.values():
            call.report(_WARNINGS, count=len(messages), message=messages[0])
        return ExitStatus.INCOMPLETE if self.wrong else ExitStatus.DONE

    def _check_doubts(self, journal: Journal) -> None:
        """Raise CommandError if requests are too old to be repeated, and nothing says what to do with them."""
        oldest = WORLD.now() - SAFE_REPEAT_MS
        old = [each for each, begun in journal.begun.items() if begun.at < oldest and each not in journal.accepted]
        decision = self._call.given.in_doubt
        if old and not decision:
            count = sum(len(self._requests[number]) for number in old)
            raise CommandError(_IN_DOUBT.ko.format(count=count), _IN_DOUBT.en.format(count=count))
        if decision == SKIP:
            reason = self._call.t(_SKIPPED)
            for number in old:
                skipped = {row.number: reason for row in self._requests[number] if row.number not in self.wrong}
                journal.refuse(skipped)
                self.wrong |= skipped
                journal.accept(number, "")

    def _send_request(self, journal: Journal, number: int, rows: Sequence[SheetRow]) -> None:
        """Send one request, without the rows that the service refuses."""

        def send(body: msgspec.Struct) -> AcceptedAnswer:
            dropped = frozenset(row.number for row in rows if row.number in self.wrong)
            journal.begin(number, WORLD.now(), dropped)
            key = f"csv-{journal.digest[:40]}-{journal.run}-{number}-{len(dropped)}"
            return self._send(self._call.client, body, idempotency_key=key)

        try:
            answer = self._try(rows, send, journal.refuse)
        except ApiError as error:
            if not isinstance(error, AccessError | TemporaryError):  # else an earlier try may have been accepted
                journal.withdraw(number)
            raise
        journal.accept(number, answer.request_id if answer else "")

    def _count(self, journal: Journal, number: int, rows: Sequence[SheetRow]) -> None:
        if request_id := journal.accepted[number]:
            self._request_ids.append(request_id)
            self._sent += sum(row.number not in self.wrong for row in rows)

    def _try(
        self,
        rows: Sequence[SheetRow],
        send: Callable[[msgspec.Struct], AcceptedAnswer],
        on_refused: Callable[[dict[int, str]], None] = lambda wrong: None,
    ) -> AcceptedAnswer | None:
        """Send rows, leave out those that the service refuses, and return its answer; None if no row is left.

        Raises ApiError for what is wrong with the whole request.
        """
        while True:
            left = [row.number for row in rows if row.number not in self.wrong]
            if not left:
                return None
            try:
                answer = send(self._make_body([self._file.receivers[number] for number in left]))
                for each in list_warnings(answer):
                    self._warnings.setdefault(each.code, []).append(each.message)
                return answer
            except ApiError as error:
                places = [_RECEIVER.match(each.field) for each in error.errors]
                if not places or not all(places):
                    raise
                refused = {
                    left[int(place[1])]: f"{each.code}: {each.message}"
                    for place, each in zip(places, error.errors, strict=True)
                    if place
                }
            on_refused(refused)
            self.wrong |= refused

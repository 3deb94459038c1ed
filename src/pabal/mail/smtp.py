"""Hands mails to an SMTP server, one connection each, in a thread of its own."""

import asyncio
import contextlib
import re
import smtplib
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

from pabal.mail.mailer import Mail, MailOutcome, MailResult, SmtpServer, spell_mail, to_one_line
from pabal.world import World

MAX_THREADS = 2
"""One sends; another is there while the first hangs in a look-up of the server's name."""
ABORT_WAIT_S = 1.0
"""How long an exchange that took too long may take to end once its connection is closed."""
MAX_DETAIL_CHARACTERS = 300
READY, OK, GO_AHEAD, CLOSING = 220, 250, 354, 421
"""Answers of SMTP."""
_LINE_BEGINS_WITH_DOT = re.compile(rb"(?m)^\.")
TOO_LONG = "the server did not answer in time"


class _Unavailable(Exception):
    """The server takes no mails; the message says why."""


class SmtpMailer:
    """Hands mails to one server."""

    def __init__(self, server: SmtpServer, world: World) -> None:
        self._server = server
        self._world = world
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mail")
        self._exchanges: set[_Exchange] = set()

    @property
    def name(self) -> str:
        """The server's host and port."""
        return self._server.name

    @property
    def timeout_s(self) -> float:
        """How long handing one mail over may take."""
        return self._server.timeout_s + ABORT_WAIT_S

    async def send(self, mail: Mail) -> MailResult:
        """Hand a mail over; every failure is a result, too."""
        content = spell_mail(mail, self._server.sender, self._world.now())
        exchange = _Exchange(self._server, mail.address, content)
        self._exchanges.add(exchange)
        running = asyncio.get_running_loop().run_in_executor(self._threads, exchange.run)
        try:
            await asyncio.wait([running], timeout=self._server.timeout_s)
            if not running.done():  # the sockets' own time-outs are for each answer
                exchange.abort()
                await asyncio.wait([running], timeout=ABORT_WAIT_S)
            return running.result() if running.done() else exchange.describe_failure(TOO_LONG)
        finally:
            exchange.abort()
            self._exchanges.discard(exchange)

    async def close(self) -> None:
        """End what is in flight."""
        for exchange in list(self._exchanges):
            exchange.abort()
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Exchange:
    """One mail over one connection; a thread runs it, and another may end it."""

    def __init__(self, server: SmtpServer, address: str, content: bytes) -> None:
        self._server = server
        self._address = address
        self._content = content
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_aborted = False
        self._has_submitted = False

    def abort(self) -> None:
        """Close the connection, whatever it waits for."""
        with self._lock:
            self._is_aborted = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def describe_failure(self, detail: str) -> MailResult:
        """Return the result of an exchange that was cut off."""
        outcome = MailOutcome.IN_DOUBT if self._has_submitted else MailOutcome.UNAVAILABLE
        return MailResult(outcome, to_one_line(detail, MAX_DETAIL_CHARACTERS))

    def run(self) -> MailResult:
        """Hand the mail over."""
        try:
            with self._connect() as connection:
                result = self._talk(connection)
            return self.describe_failure(TOO_LONG) if self._is_aborted else result  # half an answer is none
        except _Unavailable as error:
            return self.describe_failure(TOO_LONG if self._is_aborted else str(error))
        except TimeoutError:
            return self.describe_failure(TOO_LONG)
        except ssl.SSLCertVerificationError as error:
            return self.describe_failure(f"the server's certificate is not valid: {error.verify_message}")
        except ssl.SSLError as error:
            return self.describe_failure(f"TLS failed: {error.reason or 'the connection was closed'}")
        except smtplib.SMTPAuthenticationError as error:
            return self.describe_failure(f"the server refuses user or password: {_spell_answer(*error.args)}")
        except smtplib.SMTPException as error:
            is_late = self._is_aborted or isinstance(error.__context__, TimeoutError)
            return self.describe_failure(TOO_LONG if is_late else str(error))
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or str(error)
            return self.describe_failure(TOO_LONG if self._is_aborted else f"no connection: {cause}")

    def _connect(self) -> socket.socket:
        server = self._server
        connection = socket.create_connection((server.host, server.port), server.timeout_s)
        self._watch(connection)
        return self._encrypt(connection) if server.tls == "tls" else connection

    def _watch(self, connection: socket.socket) -> None:
        """Make abort() close this connection."""
        with self._lock:
            self._socket = connection
            if self._is_aborted:
                connection.close()
                raise _Unavailable(TOO_LONG)

    def _encrypt(self, connection: socket.socket) -> socket.socket:
        """Return the connection with TLS, for which the server has a certificate that is valid for its name."""
        context = ssl.create_default_context(cafile=str(self._server.tls_ca) if self._server.tls_ca else None)
        encrypted = context.wrap_socket(
            connection, server_hostname=self._server.host, do_handshake_on_connect=False
        )
        try:
            self._watch(encrypted)  # the old one is no socket any more
            encrypted.do_handshake()
        except BaseException:
            encrypted.close()
            raise
        return encrypted

    def _talk(self, connection: socket.socket) -> MailResult:
        smtp = smtplib.SMTP(local_hostname=self._server.sender.rpartition("@")[2], timeout=self._server.timeout_s)
        smtp.sock = connection
        try:
            self._open_session(smtp)
            return self._submit(smtp)
        finally:
            smtp.close()  # the socket of the moment, which is another one after STARTTLS

    def _open_session(self, smtp: smtplib.SMTP) -> None:
        """Greet the server, encrypt the connection and sign in.

        Raises _Unavailable, and what smtplib and ssl raise.
        """
        _expect(smtp.getreply(), READY, "the server does not accept connections")
        _expect(smtp.ehlo(), OK, "the server does not speak ESMTP")
        if self._server.tls == "starttls":
            if not smtp.has_extn("starttls"):
                raise _Unavailable("the server offers no STARTTLS; nothing is sent without encryption")
            _expect(smtp.docmd("STARTTLS"), READY, "the server refuses STARTTLS")
            assert smtp.sock is not None
            smtp.sock = self._encrypt(smtp.sock)
            smtp.file = None  # what was sent before the encryption must not count
            _expect(smtp.ehlo(), OK, "the server does not speak ESMTP")
        if self._server.user:
            smtp.login(self._server.user, self._server.password)

    def _submit(self, smtp: smtplib.SMTP) -> MailResult:
        _expect(smtp.mail(self._server.sender), OK, "the server refuses the sender")
        code, answer = smtp.rcpt(self._address)
        if not _is_success(code):
            return _judge(code, answer)
        code, answer = smtp.docmd("DATA")
        if code != GO_AHEAD:
            return _judge(code, answer)
        self._has_submitted = True
        smtp.send(_LINE_BEGINS_WITH_DOT.sub(b"..", self._content) + b".\r\n")
        code, answer = smtp.getreply()
        if _is_success(code):
            with contextlib.suppress(smtplib.SMTPException, OSError):  # the mail is taken, whatever follows
                smtp.quit()
            return MailResult(MailOutcome.SENT)
        return _judge(code, answer)


def _expect(answer: tuple[int, bytes], code: int, problem: str) -> None:
    if answer[0] != code:
        raise _Unavailable(f"{problem}: {_spell_answer(*answer)}")


def _is_success(code: int) -> bool:
    return 200 <= code < 300


def _judge(code: int, answer: bytes) -> MailResult:
    """Return what an answer other than success means for a mail."""
    outcome = MailOutcome.DEFERRED if 400 <= code < 500 else MailOutcome.REFUSED
    if code == CLOSING or not 400 <= code < 600:
        outcome = MailOutcome.UNAVAILABLE
    return MailResult(outcome, to_one_line(_spell_answer(code, answer), MAX_DETAIL_CHARACTERS))


def _spell_answer(code: int, answer: bytes) -> str:
    return f"{code} {answer[:MAX_DETAIL_CHARACTERS].decode('utf-8', 'replace')}"

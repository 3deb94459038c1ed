"""A signed-in browser for the console, and files for it."""

import io
import re
import time
from pathlib import Path
from typing import Any

import httpx
from openpyxl import Workbook

from bench.environment import ACCOUNT, SENDER, Environment
from bench.server import BenchmarkFailed, Server

USER = "owner"
TIMEOUT_S = 300.0
UPLOAD_ROWS = 100_000
BAD_EVERY = 100
"""One of every BAD_EVERY rows has an invalid number."""
COLUMNS = ("휴대폰번호", "이름", "금액", "지점")
CONTENT = "#{이름}님, #{지점}에서 #{금액}원을 쓰셨습니다."
SEE_OTHER = 303
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def create_user(env: Environment, data: Path) -> str:
    """Create an owner of the account, and return the password."""
    return env.run_command(data, "user", "create", USER, "--account", ACCOUNT, "--role", "owner")


class Browser:
    """A browser in which the owner has signed in."""

    def __init__(self, server: Server, password: str) -> None:
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=TIMEOUT_S)
        csrf = self._csrf("/console/login")
        self.submit("/console/login", {"csrf": csrf, "name": USER, "password": password})
        self.csrf = self._csrf("/console/history")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def get(self, path: str) -> httpx.Response:
        """Return a page.

        Raises BenchmarkFailed if it is an error.
        """
        page = self._client.get(path)
        if page.status_code != 200:
            raise BenchmarkFailed(f"{path}: {page.status_code}")
        return page

    def time(self, path: str) -> float:
        """Return how long a page takes, in seconds."""
        began = time.perf_counter()
        self.get(path)
        return time.perf_counter() - began

    def submit(
        self, path: str, fields: dict[str, str], file: bytes | None = None, expected: int = SEE_OTHER
    ) -> Any:
        """Send a form, with the token against forged requests and a file, if there is one; return the answer.

        Raises BenchmarkFailed if its status is not the expected one.
        """
        if "csrf" not in fields:
            fields = {"csrf": self.csrf} | fields
        files = {"file": ("list", file)} if file is not None else None
        answer = self._client.post(path, data=fields, files=files)
        if answer.status_code != expected:
            raise BenchmarkFailed(f"{path}: {answer.status_code}")
        return answer

    def start_upload(self) -> str:
        """Compose a message for the rows of a file, and return the address of the campaign."""
        message = {"kind": "lms", "sender": SENDER, "content": CONTENT}
        return str(self.submit("/console/send/upload", message).headers["location"])

    def _csrf(self, path: str) -> str:
        found = _CSRF.search(self._client.get(path).text)
        if not found:
            raise BenchmarkFailed(f"{path} has no form")
        return found[1]


def receivers_csv(rows: int = UPLOAD_ROWS) -> bytes:
    """Return a list of receivers as a CSV file."""
    return "".join(f"{','.join(row)}\r\n" for row in (COLUMNS, *_rows(rows))).encode()


def receivers_xlsx(rows: int = UPLOAD_ROWS) -> bytes:
    """Return the same list as an Excel file."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (COLUMNS, *_rows(rows)):
        sheet.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _rows(rows: int) -> list[tuple[str, str, str, str]]:
    return [
        (
            "12345" if number % BAD_EVERY == 0 else f"010-2{number // 10_000:03}-{number % 10_000:04}",
            f"고객{number}",
            str(1000 + number),
            f"지점 {number % 50}",
        )
        for number in range(rows)
    ]

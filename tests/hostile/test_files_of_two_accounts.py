"""A costly file of one account does not delay another account's, and ends with its connection."""

import contextlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx

from pabal.console.contacts.contact_import import IMPORT_PATH
from pabal.console.shell.site import MAX_FILE_CHECKS_PER_ACCOUNT
from tests.fixtures.live import LiveService, run, serving, wait_until
from tests.fixtures.processes import list_file_readers
from tests.fixtures.sheets import costly_excel

SMALL = "휴대폰번호,이름\n010-1111-2222,홍길동\n010-3333-4444,김철수\n".encode()


@contextlib.contextmanager
def signed_in(live: LiveService, account: str) -> Iterator[httpx.Client]:
    """Give a browser of an owner of this account, which is made."""
    words = ("--account", account, "--role", "owner", "--new-account")
    password = run("user", "create", account, *words, data=live.data).stdout.strip()
    with httpx.Client(base_url=live.base_url, timeout=60) as client:
        fields = {"csrf": read_csrf(client, "/console/login"), "name": account, "password": password}
        assert client.post("/console/login", data=fields).status_code == 303
        yield client


def read_csrf(client: httpx.Client, path: str) -> str:
    return str(re.findall(r'name="csrf" value="([\w-]+)"', client.get(path).text)[0])


def preview(client: httpx.Client, file: bytes) -> httpx.Request:
    return client.build_request(
        "POST",
        f"{IMPORT_PATH}/columns",
        data={"csrf": read_csrf(client, IMPORT_PATH)},
        files={"file": ("list.xlsx", file, "text/csv")},
    )


def post_and_leave_open(request: httpx.Request) -> socket.socket:
    """Send a request without waiting for its answer."""
    connection = socket.create_connection((request.url.host, request.url.port or 80))
    lines = [f"POST {request.url.path} HTTP/1.1", *(f"{name}: {value}" for name, value in request.headers.items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + request.read())
    return connection


def test_costly_files_of_an_account_delay_no_other_and_end_with_their_clients(tmp_path: Path) -> None:
    def readers() -> int:
        return len(list_file_readers(live.process.pid))

    with (
        serving(tmp_path / "data") as live,
        signed_in(live, "hostile") as hostile,
        signed_in(live, "other") as other,
    ):
        costly = preview(hostile, costly_excel())
        left = [post_and_leave_open(costly) for _ in range(MAX_FILE_CHECKS_PER_ACCOUNT)]
        wait_until(readers, lambda running: running == MAX_FILE_CHECKS_PER_ACCOUNT)

        beyond = hostile.send(costly)
        shown = other.send(preview(other, SMALL))
        running = readers()
        for connection in left:
            connection.close()
        wait_until(readers, lambda running: running == 0)
        again = hostile.send(preview(hostile, SMALL))

        assert "다른 파일을 확인하고 있습니다" in beyond.text
        assert (shown.status_code, "홍길동" in shown.text) == (200, True)
        assert running >= MAX_FILE_CHECKS_PER_ACCOUNT
        assert (again.status_code, "홍길동" in again.text) == (200, True)

"""Visitors of the console in this process: they hold cookies and fill in forms, as a browser does."""

import asyncio
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pabal.domain.user import Role
from pabal.service import passwords, users
from pabal.web.api import AsgiApp
from tests.virtual import Town

WORD = "correct horse battery"
HASHES: dict[str, str] = {}
CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')


class Shown(NamedTuple):
    """What a visitor is shown."""

    status: int
    text: str
    headers: dict[str, str]
    cookies: list[str]
    body: bytes = b""

    @property
    def location(self) -> str:
        return self.headers.get("location", "")


class Visitor:
    """Someone before a browser, signed in or not."""

    def __init__(self, service: AsgiApp, peer: str = "127.0.0.1", **headers: str) -> None:
        self._service = service
        self._peer = peer
        self.headers = headers
        self.cookies: dict[str, str] = {}

    async def get(self, path: str, method: str = "GET", **headers: str) -> Shown:
        """Look at a page."""
        return await self._ask(method, path, b"", headers)

    async def post(self, path: str, fields: Mapping[str, str] | None = None, **headers: str) -> Shown:
        """Send a form, as it is given."""
        body = urlencode(fields or {}).encode()
        return await self._ask("POST", path, body, {"content-type": "application/x-www-form-urlencoded", **headers})

    async def upload(self, path: str, file: bytes, **headers: str) -> Shown:
        """Send a file, as the page's script does."""
        given = {"content-type": "application/octet-stream", "x-csrf-token": await self.csrf(), **headers}
        return await self._ask("POST", path, file, given)

    async def csrf(self) -> str:
        """Return what forms must carry, from any page."""
        page = await self.get("/console/accounts") if self.is_signed_in else await self.get("/console/login")
        found = CSRF.search(page.text)
        assert found, page
        return found[1]

    async def fill_in(self, path: str, **fields: str) -> Shown:
        """Send a form as the page has it."""
        return await self.post(path, {"csrf": await self.csrf(), **fields})

    async def bring(self, path: str, file: tuple[str, str, bytes], fields: Mapping[str, str]) -> Shown:
        """Send a form with a picture (its name, its type and its bytes), as a browser puts it together."""
        texts = {"csrf": await self.csrf(), **fields}
        parts = [f'name="{name}"\r\n\r\n{value}'.encode() for name, value in texts.items()]
        name, kind, body = file
        head = f'name="image"; filename="{name.replace(chr(34), "%22")}"\r\nContent-Type: {kind}\r\n\r\n'
        parts.append(head.encode() + body)
        whole = b"".join(b"--cut\r\nContent-Disposition: form-data; " + part + b"\r\n" for part in parts)
        return await self._ask(
            "POST", path, whole + b"--cut--\r\n", {"content-type": "multipart/form-data; boundary=cut"}
        )

    @property
    def is_signed_in(self) -> bool:
        return any(name.endswith("pabal_session") for name in self.cookies)

    async def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Shown:
        path, _, query = path.partition("?")
        given = {**self.headers, **headers}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        if self.cookies:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "http_version": "1.1",
            "scheme": "http",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
            "client": (self._peer, 50000),
            "server": ("127.0.0.1", 80),
        }
        sent: list[Any] = []

        bodies = iter([body])

        async def receive() -> dict[str, Any]:
            for each in bodies:
                return {"type": "http.request", "body": each, "more_body": False}
            await asyncio.Event().wait()  # the visitor stays
            raise AssertionError

        async def send(message: Any) -> None:
            sent.append(message)

        await self._service(scope, receive, send)
        whole = b"".join(message.get("body", b"") for message in sent[1:])
        pairs = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        given_cookies = [value for name, value in pairs if name == "set-cookie"]
        self._hold(given_cookies)
        return Shown(sent[0]["status"], readable(whole), dict(pairs), given_cookies, whole)

    def _hold(self, cookies: Sequence[str]) -> None:
        for cookie in cookies:
            name, _, rest = cookie.partition("=")
            value = rest.partition(";")[0].strip('"')
            if "Max-Age=0" in cookie:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value


def readable(body: bytes) -> str:
    """Return what can be read in an answer, also in a workbook, and of a picture whatever it is."""
    if not body.startswith(b"PK"):
        return body.decode(errors="replace")
    with zipfile.ZipFile(io.BytesIO(body)) as parts:
        return "".join(parts.read(name).decode() for name in parts.namelist())


async def make_user(town: Town, role: Role = Role.OWNER, account: str = "acme", name: str = "") -> str:
    """Make a user and return the name."""
    name = name or f"{role.word}-of-{account}"
    if WORD not in HASHES:
        HASHES[WORD] = passwords.hashed(WORD, town.world)
    owner = None if role is Role.OPERATOR else account
    await town.store.write(users.create, owner, name, role, HASHES[WORD], town.world.now())
    return name


async def sign_in(town: Town, name: str, visitor: Visitor | None = None) -> Visitor:
    """Return a visitor who has signed in by this name."""
    visitor = visitor or Visitor(town.service)
    shown = await visitor.fill_in("/console/login", name=name, password=WORD)
    assert shown.status == 303, shown
    return visitor


async def visitor_of(town: Town, role: Role = Role.OWNER, account: str = "acme") -> Visitor:
    """Return a visitor of this role who has signed in."""
    return await sign_in(town, await make_user(town, role, account))

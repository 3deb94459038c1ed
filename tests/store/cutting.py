"""Stands between a store and its PostgreSQL, and cuts the connection at a commit."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

SOCKET = ".s.PGSQL.5432"
COMMIT = b"commit\x00"
OCTETS = 65536


class Cut(Enum):
    """When to cut: the server never hears of the commit, the store never hears that it was done, or not at all."""

    BEFORE = "before"
    AFTER = "after"
    NOT = "not"


class Cutter(NamedTuple):
    """Where to connect to, and what will be cut: the next commits, in this order."""

    folder: Path
    cuts: list[Cut]

    def address(self, address: str) -> str:
        """Return the address by way of here."""
        return f"{address.partition('?')[0]}?host={self.folder}"


@contextlib.contextmanager
def cutting(server: Path, folder: Path) -> Iterator[Cutter]:
    """Pass everything on between a folder's socket and the server's, but what is to be cut."""
    cutter = Cutter(folder, [])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / SOCKET))
    listener.listen()

    def take_calls() -> None:
        with contextlib.suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = listener.accept()
                onward = socket.socket(socket.AF_UNIX)
                try:
                    onward.connect(str(server / SOCKET))
                except OSError:  # it is down
                    client.close()
                    onward.close()
                    continue
                threading.Thread(target=_pass_back, args=(onward, client), daemon=True).start()
                threading.Thread(target=_pass_on, args=(client, onward, cutter.cuts), daemon=True).start()

    thread = threading.Thread(target=take_calls, daemon=True)
    thread.start()
    yield cutter
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def _pass_on(client: socket.socket, server: socket.socket, cuts: list[Cut]) -> None:
    with contextlib.suppress(OSError), client, server:
        while said := client.recv(OCTETS):
            cut = cuts.pop(0) if cuts and COMMIT in said else None
            if cut is Cut.AFTER:
                client.shutdown(socket.SHUT_WR)  # what the server answers is not passed back
            if cut is not Cut.BEFORE:
                server.sendall(said)
            if cut in (Cut.BEFORE, Cut.AFTER):
                server.shutdown(socket.SHUT_WR)  # it ends once it has done what it was told
                return


def _pass_back(server: socket.socket, client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while said := server.recv(OCTETS):
            client.sendall(said)
        client.shutdown(socket.SHUT_RDWR)

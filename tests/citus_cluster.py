"""Builds Citus from its source, starts a cluster of it, runs the tests on it and stops it: `make citus`.

It fetches nothing. What it needs besides PostgreSQL are a compiler and the headers that Citus asks for.
"""

import argparse
import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psycopg

from tests.fixtures.citus import ADDRESS_VARIABLE, forget_nodes
from tests.fixtures.postgres import Server, binaries, unprivileged_user
from tests.fixtures.processes import free_ports

BUILD = Path(".venv/citus")
"""Where a copy of the source is built."""
TESTS = ("tests/store/engine", "tests/service/delivery/workers", "tests/service/upkeep/test_partitions.py")
"""The tests that run where none are named: those of Citus itself, and of what it changes."""
DATABASE, USER = "pabal", "pabal"
KEY = "key.pem"
"""The file of the nodes' TLS key."""
NODES = 3
"""The coordinator and two workers."""
HEADERS = (
    "On Debian or Ubuntu: apt-get install postgresql-server-dev-all libcurl4-openssl-dev liblz4-dev libzstd-dev"
    " libssl-dev libkrb5-dev libicu-dev autoconf flex bison gcc make"
)
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "shared_preload_libraries": "citus,pg_stat_statements",
    "wal_level": "logical",
    "max_prepared_transactions": "200",
    "max_connections": "200",
    "citus.enable_statistics_collection": "off",
}


class Node(Server):
    """A node, whose users need a password where there is one, and TLS where there is a certificate."""

    def __init__(
        self, folder: Path, port: int, password: str = "", certificate: Path | None = None, **options: str
    ) -> None:
        self._verified = f"sslmode=verify-full sslrootcert={certificate}" if certificate else ""
        secured = {
            "ssl": "on",
            "ssl_cert_file": str(certificate),
            "ssl_key_file": str(folder.parent / KEY),
            "citus.node_conninfo": self._verified,
        }
        super().__init__(folder, **(OPTIONS | options), port=str(port), **(secured if certificate else {}))
        self.port = port
        self._password = password

    def address_of(self, database: str) -> str:
        password = f":{self._password}" if self._password else ""
        verified = f"?{self._verified.replace(' ', '&')}" if self._verified else ""
        return f"postgresql://{USER}{password}@127.0.0.1:{self.port}/{database}{verified}"

    def start(self, **further: str) -> None:
        """Start it with a home of its own: a server may not look into ours."""
        home, os.environ["HOME"] = os.environ.get("HOME", ""), str(self.folder.parent)
        try:
            super().start(**further)
        finally:
            os.environ["HOME"] = home

    def secure(self) -> None:
        """Give the role its password; let nobody in without one, or without TLS, where these are used."""
        if not (self._password or self._verified):
            return
        if self._password:
            with psycopg.connect(self.address(), port=self.port, autocommit=True) as connection:
                connection.execute(f"alter role {USER} password '{self._password}'".encode())
        transport, method = "hostssl" if self._verified else "host", "scram-sha-256" if self._password else "trust"
        (self.folder / "data" / "pg_hba.conf").write_text(f"{transport} all all 127.0.0.1/32 {method}\n")
        self.stop("fast")
        self.start()


def make_certificate(folder: Path) -> Path:
    """Make the certificate that all nodes have, which everybody trusts, with its key beside it."""
    certificate, key = folder / "certificate.pem", folder / KEY
    subject = ["-subj", "/CN=nodes", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    key.chmod(0o600)
    _give_to_servers(key)
    return certificate


def _give_to_servers(file: Path) -> None:
    owner = unprivileged_user()
    if owner:
        os.chown(file, owner["user"], owner["group"])


def build(source: Path) -> None:
    """Build a copy of the source tree, and install it into the PostgreSQL that the tests use."""
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(source, BUILD, ignore=shutil.ignore_patterns(".git"))
    for file in BUILD.glob("src/**/*.[ch]"):  # newer minor versions of PostgreSQL have a function of this name
        text = file.read_bytes()
        if b"have_createdb_privilege" in text:
            file.write_bytes(text.replace(b"have_createdb_privilege", b"citus_have_createdb_privilege"))
    tools = f"PG_CONFIG={binaries() / 'pg_config'}"
    for command in (
        ["./configure", tools, "CFLAGS=-O2 -Wno-error"],
        ["make", "-s", f"-j{os.cpu_count()}", "with_llvm=no", "extension"],
        ["make", "-s", "with_llvm=no", "install-extension"],
    ):
        log = BUILD / "build.log"
        with log.open("ab") as output:
            said = subprocess.run(command, cwd=BUILD, stdout=output, stderr=subprocess.STDOUT, check=False)
        if said.returncode:
            sys.exit(f"{' '.join(command)} failed: see {log}. {HEADERS}")


def start(nodes: Sequence[Node]) -> None:
    """Start the nodes, and make a cluster of them; the first one is the coordinator."""
    for node in nodes:
        node.init()
        node.start()
        node.secure()
        with psycopg.connect(node.address_of("postgres"), autocommit=True) as connection:
            connection.execute(f"create database {DATABASE}".encode())
        with psycopg.connect(node.address_of(DATABASE), autocommit=True) as connection:
            connection.execute("create extension citus")
    coordinator, *workers = nodes
    with psycopg.connect(coordinator.address_of(DATABASE), autocommit=True) as connection:
        connection.execute("select citus_set_coordinator_host('127.0.0.1', %s)", (coordinator.port,))
        for node in workers:
            connection.execute("select citus_add_node('127.0.0.1', %s)", (node.port,))


@contextlib.contextmanager
def running_cluster(count: int, options: Mapping[str, str]) -> Iterator[list[Node]]:
    """Run a coordinator and workers until the end of the block; the tests' databases are on it."""
    folder = Path(tempfile.mkdtemp(prefix="pabal-citus-"))
    folder.chmod(0o755)
    first = free_ports(count)
    nodes = [Node(folder / f"node{at}", first + at, "", None, **options) for at in range(count)]
    before = os.environ.get(ADDRESS_VARIABLE, "")
    try:
        start(nodes)
        os.environ[ADDRESS_VARIABLE] = nodes[0].address_of(DATABASE)
        forget_nodes()
        yield nodes
    finally:
        os.environ[ADDRESS_VARIABLE] = before
        forget_nodes()
        _remove(nodes, folder)


def _remove(nodes: Sequence[Node], folder: Path) -> None:
    for node in nodes:
        if node.is_running:
            node.stop()
    shutil.rmtree(folder)


def main() -> int:
    """Run pytest on a new cluster; return its exit status."""
    parser = argparse.ArgumentParser(prog="make citus", description=__doc__)
    parser.add_argument(
        "--source", type=Path, help="source tree of Citus; without it, one that is installed is used"
    )
    parser.add_argument("--passwords", action="store_true", help="nodes ask each other for passwords")
    parser.add_argument("--tls", action="store_true", help="nodes are reached by TLS alone, with certificates")
    given, rest = parser.parse_known_args()
    if given.source:
        build(given.source)
    folder = Path(tempfile.mkdtemp(prefix="pabal-citus-"))
    folder.chmod(0o755)
    password = secrets.token_hex(8) if given.passwords else ""
    if password:  # the servers, too, find it here when they connect to each other
        file = folder / "passwords"
        file.write_text(f"127.0.0.1:*:*:{USER}:{password}\n")
        file.chmod(0o600)
        _give_to_servers(file)
        os.environ["PGPASSFILE"] = str(file)
    certificate = make_certificate(folder) if given.tls else None
    first = free_ports(NODES)
    nodes = [Node(folder / f"node{at}", first + at, password, certificate) for at in range(NODES)]
    try:
        start(nodes)
        os.environ[ADDRESS_VARIABLE] = nodes[0].address_of(DATABASE)
        names_tests = any(Path(word.partition("::")[0]).exists() for word in rest)
        words = [*rest, *(() if names_tests else TESTS), *(() if "-k" in rest else ("-k", "citus"))]
        return subprocess.run([sys.executable, "-m", "pytest", "-n", "1", "-q", *words], check=False).returncode
    finally:
        _remove(nodes, folder)


if __name__ == "__main__":
    sys.exit(main())

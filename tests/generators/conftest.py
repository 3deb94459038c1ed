"""A running service for generated clients, and its OpenAPI document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.fixtures import live

CLOSED_PORT = 1


class Target(NamedTuple):
    """A running service, a key with every scope, the address of a webhook, and the document as a file."""

    base_url: str
    key: str
    url: str
    document: Path

    @property
    def arguments(self) -> list[str]:
        """The arguments of the programs that drive it."""
        return [self.base_url, self.key, self.url]


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A service where it is noon, so that it sends advertisements."""
    folder = tmp_path_factory.mktemp("driven")
    scopes = [word for scope in ("send", "read", "manage", "privacy") for word in ("--scope", scope)]
    created = live.run("key", "create", "--account", "acme", *scopes, data=folder / "data")
    settings: dict[str, Any] = {"zone": live.zone_at_noon(), "webhook_allow": f"acme@localhost:{CLOSED_PORT}"}
    with live.serving(folder / "data", **settings) as service:
        document = folder / "openapi.json"
        document.write_bytes(httpx.get(f"{service.base_url}/openapi.json").content)
        yield Target(service.base_url, created.stdout.strip(), f"https://localhost:{CLOSED_PORT}/pabal", document)

"""A running service with Solapi's endpoints, and the account that its clients use."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fixtures import live

API_KEY, API_SECRET = "NCSAYU7YDBXYORXC", "0ZIJ8OZ1S3QYPWCBDVVJDTEW4GHRXXXX"
SECRET_KEY = base64.b64encode(bytes(range(32))).decode()


class Solapi(NamedTuple):
    """Where a client finds the endpoints, and the key that it has."""

    address: str
    api_key: str
    api_secret: str
    base_url: str
    own_key: str
    """Opens our own API for the same account."""
    config: Path
    data: Path


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Solapi]:
    """The service as an operator runs it, at noon for advertising, with a key that its caller brings along."""
    folder = tmp_path_factory.mktemp("compat")
    config, data = folder / "pabal.toml", folder / "data"
    config.write_text(
        f'secret_key = ["{SECRET_KEY}"]\nkey_rate = 0\nzone = "{live.zone_at_noon()}"\n'
        '[compat.solapi]\nhosts = ["api.old.example"]\n'
    )
    with live.serving(data, config=config) as running:
        _create_key(data, config)
        yield Solapi(
            f"{running.base_url}/compat/solapi", API_KEY, API_SECRET, running.base_url, running.key, config, data
        )


def _create_key(data: Path, config: Path) -> None:
    words = ("--account", "first", "--kind", "solapi", "--id", API_KEY, "--secret", API_SECRET)
    made = live.run("key", "create", *words, data=data, config=config)
    assert (made.returncode, made.stdout.strip()) == (0, API_KEY), made.stderr

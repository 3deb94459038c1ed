"""npm's `oidc-provider` as a process: a real OpenID Connect provider."""

import contextlib
import json
from pathlib import Path
from typing import Any

from tests.fakes.smsc.peer import NODE, PACKAGES, Peer, running

HERE = Path(__file__).parent
CLIENT_ID, CLIENT_SECRET = "pabal", "a secret of forty characters: /+%&= 0123"


class OpenIdServer(Peer):
    """The provider; its host is another than the console's, so that browsers take it for another site."""

    def __init__(self) -> None:
        super().__init__(client_id=CLIENT_ID, client_secret=CLIENT_SECRET)

    def command(self) -> list[str]:
        assert (PACKAGES / "oidc-provider").is_dir(), "run `make setup`"
        return [str(NODE), str(HERE / "server.mjs")]

    @property
    def issuer(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a service that knows it."""
        return {
            "openid_issuer": self.issuer,
            "openid_client_id": CLIENT_ID,
            "openid_client_secret": CLIENT_SECRET,
            "openid_name": "Acme ID",
        }

    def register(self, console: str) -> None:
        """Let the console at this address be a client; return once it is."""
        seen = len(self.all_events)
        self.send_command(json.dumps({"redirect_uri": f"{console}/console/login/openid/callback"}))
        self.wait_for(lambda event: event["event"] == "changed", since=seen)


def running_provider() -> contextlib.AbstractContextManager[OpenIdServer]:
    """Run a provider until the end of the block."""
    return running(OpenIdServer())

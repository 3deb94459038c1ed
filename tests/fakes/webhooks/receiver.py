"""A receiver of webhooks that verifies with the published Node.js library, as a process."""

import contextlib
import json
from pathlib import Path
from typing import Any

from tests.fakes.smsc.peer import NODE, PACKAGES, Peer, running
from tests.fixtures.certificates import TLS

HERE = Path(__file__).parent


class Receiver(Peer):
    """An https server on localhost; its events are `post` (verified) and `refused`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(pem=str(TLS / "server.pem"), **options)

    def command(self) -> list[str]:
        assert (PACKAGES / "standardwebhooks").is_dir(), "run `make setup`"
        return [str(NODE), str(HERE / "receiver.js")]

    @property
    def url(self) -> str:
        """Where to post; its certificate is for this host."""
        return f"https://localhost:{self.port}/hook"

    def change(self, **options: Any) -> None:
        """Change `secret` or `status`, for restarts as well; return once it holds."""
        self.options |= options
        seen = len(self.all_events)
        self.send_command(json.dumps(options))
        self.wait_for(lambda event: event["event"] == "changed", since=seen)


def running_receiver(**options: Any) -> contextlib.AbstractContextManager[Receiver]:
    """Run a receiver until the end of the block."""
    return running(Receiver(**options))

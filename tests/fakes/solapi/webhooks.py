"""Webhooks of the fake Solapi: reports of messages, called up to five times until 200 is returned."""

import hashlib
from collections.abc import Mapping

from tests.fakes.relay_webhooks import MAX_HOOKS_PER_POST, RelayWebhooks
from tests.fakes.solapi.messages import row
from tests.fakes.solapi.state import Json, SolapiMessage


class ReportWebhooks(RelayWebhooks):
    max_attempts = 5
    """Client example webhooks/index.js: it is called five times in all if 200 is not returned."""

    def set(self, address: str, secret: str) -> None:
        self._state.has_hooks = True
        super().set(address, secret)

    def accepts(self, status: int) -> bool:
        return status == 200

    def headers(self) -> Mapping[str, str]:
        """Return the headers of a report: the event, and the SHA-1 of the secret in hex."""
        digest = hashlib.sha1(self._secret.encode(), usedforsecurity=False).hexdigest()
        return {"X-Solapi-Event-Name": "SINGLE-REPORT", "X-Solapi-Secret": digest}

    def next_change_at(self) -> int | None:
        at: int | None = self._state.next_result_at()
        return at

    def collect(self) -> None:
        state = self._state
        messages, state.pending_hooks = state.pending_hooks * state.behavior.result_copies, []
        for first in range(0, len(messages), MAX_HOOKS_PER_POST):
            self.add([self._report(one) for one in messages[first : first + MAX_HOOKS_PER_POST]])

    def _report(self, message: SolapiMessage) -> Json:
        """Return a message, alone or inside its event: the two clients for Node and Python disagree."""
        state = self._state
        if not state.behavior.wraps_reports:
            return row(state, message)
        return {"eventDataId": state.new_id("WE01"), "data": row(state, message), "retryCount": 0}

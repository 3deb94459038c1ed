"""Logs when an endpoint begins to fail, and when all that has failed was delivered: one line each."""

import logging

from pabal.domain.events.webhook import Webhook
from pabal.store.events.webhook_posts import Delivery

log = logging.getLogger("pabal.webhooks")


class FailureLog:
    """Knows which posts of an endpoint have failed since it worked.

    A post that an endpoint refuses while others are delivered is one failure, however often it is tried.
    """

    def __init__(self, *, is_failing: bool) -> None:
        self.is_failing = is_failing
        """Whether a post has failed that was not delivered since."""
        self._failed: set[bytes] = set()

    def add(self, webhook: Webhook, delivery: Delivery) -> None:
        """Note a post that has failed."""
        self._failed.add(delivery.post_id)
        if not self.is_failing:
            self.is_failing = True
            log_delivery("webhook fails; what it was not told is tried again", webhook, delivery)

    def remove(self, webhook: Webhook, delivery: Delivery) -> None:
        """Note a post that was delivered."""
        self._failed.discard(delivery.post_id)
        if self.is_failing and not self._failed:
            self.is_failing = False
            log_delivery("webhook works again; nothing waits for a retry", webhook, delivery)

    def forget(self) -> None:
        """Note that no post is left: some may have been given up, or erased."""
        self._failed.clear()


def log_delivery(text: str, webhook: Webhook, delivery: Delivery) -> None:
    """Log what came of a try; the address is not logged, since it may contain a secret."""
    log.warning(
        text,
        extra={
            "webhook_id": webhook.id,
            "account": webhook.account,
            "status": delivery.status,
            "error_detail": delivery.error,
        },
    )

"""Inserts rows into PostgreSQL by COPY, the fastest way, as a baseline."""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

from pabal.domain.sends.message import Status
from pabal.service.sending.accept import NewRequest

_REQUESTS = (
    "id, slot, account_id, product, total, scheduled_at, sender, subject, content, variables, buttons,"
    " has_image, image_link, is_ad, fallback_sender, fallback_content, profile_id, template_code"
)
_MESSAGES = "id, slot, account_id, receiver, product, variables, content, reference, status"
_JOBS = "id, slot, carrier, lane, ready_at, attempt, tries"


def copy_all(connection: "psycopg.Connection[Any]", new_requests: Sequence[NewRequest]) -> None:
    """Insert the rows of sends in one transaction, the same as `accept.store_requests` does."""
    with connection.transaction():
        _copy(connection, f"requests ({_REQUESTS})", (each.request for each in new_requests))
        _copy(
            connection,
            f"messages ({_MESSAGES})",
            ((*row, Status.WAITING.number) for each in new_requests for row in each.messages),
        )
        _copy(
            connection,
            f"jobs ({_JOBS})",
            (
                (row[0], row[1], each.carrier, each.lane, each.scheduled_at, 0, 0)
                for each in new_requests
                for row in each.messages
            ),
        )


def _copy(connection: "psycopg.Connection[Any]", into: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor().copy(f"copy {into} from stdin".encode()) as copying:
        for row in rows:
            copying.write_row(row)

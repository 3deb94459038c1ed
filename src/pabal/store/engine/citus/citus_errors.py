"""Recognizes the errors of a Citus coordinator that say that a node cannot be reached."""

import re

import psycopg

from pabal.store.engine.base import NodeUnavailable, StoreUnavailable

_CONNECTION_STATES = ("08", "57P01", "57P02", "57P03", "XX000")
"""SQLSTATEs, or how they begin: a connection failed, a server is being shut down or started, or Citus gave none."""
_BROKEN = re.compile(r"connection|could not (receive|send) data|failed to prepare transaction|database system")
"""What such an error says when a node has gone away; other internal errors are bugs."""
_NODE = re.compile(
    r"(?:remote node (?:[^@\s]+@)?|marked as essential: |on host |while executing command on )(\S+:[0-9]+)"
)
_NOT_COMMITTED = "could not commit transaction for shard"
"""What an error says when the commit of the only node had no answer; it does not name the node."""


def find_lost_node(error: BaseException) -> str | None:
    """Return host and port of the node that an error says cannot be reached; empty: one that is not named.

    None: it says nothing of that kind.
    """
    if not isinstance(error, psycopg.Error) or not (error.sqlstate or "").startswith(_CONNECTION_STATES):
        return None
    primary = error.diag.message_primary or ""
    if primary.startswith(_NOT_COMMITTED):
        return ""
    named = _NODE.search(f"{primary}\n{error.diag.context or ''}")
    return named[1] if named and _BROKEN.search(primary) else None


def unavailable(error: BaseException, *, is_uncertain: bool = False) -> StoreUnavailable:
    """Return what the callers of a transaction are told that failed with this error."""
    node = find_lost_node(error)
    if node is None:
        return StoreUnavailable(type(error).__name__)
    return NodeUnavailable(node, _reason(error), is_uncertain=is_uncertain)


def _reason(error: BaseException) -> str:
    """Return why the node cannot be reached, in one line."""
    said, *_ = str(error).splitlines() or [type(error).__name__]
    return said.partition("failed with the following error: ")[2] or said

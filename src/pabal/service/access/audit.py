"""The audit log, as pages and commands use it."""

from pabal.store.audit_log import Actor, AuditEntry

__all__ = ["Actor", "AuditEntry"]

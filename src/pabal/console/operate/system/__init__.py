"""Pages of the audit log, settings and mail."""

"""Claims due messages: which, and what keeps one from being submitted."""

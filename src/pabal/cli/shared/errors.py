"""The error of a command that cannot do its work."""


class CommandError(Exception):
    """A command cannot do its work; the message says why and what to do."""

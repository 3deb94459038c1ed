"""Keys of keyed hashes: made when they are first needed, and encrypted if the operator has set a key for that."""

from typing import Protocol

from pabal.store.engine.base import Tx

OPT_OUTS = "opt_outs"
"""The name of the key by which the numbers of opt-outs are hashed."""


class KeyBox(Protocol):
    """Encrypts what is stored, if the operator has set a key; only the same `context` can open it."""

    def seal(self, secret: bytes, context: str) -> bytes:
        """Return what to store of a secret."""

    def open(self, stored: bytes, context: str) -> bytes:
        """Return a stored secret."""


class HashKeys:
    """Reads the keys of hashes. Each transaction reads what is stored; what that means is remembered."""

    def __init__(self, box: KeyBox) -> None:
        self._box = box
        self._opened = (b"", b"")
        """What was stored at the last read, and the key in it: to decrypt it for every send would cost time."""

    def get(self, tx: Tx, name: str = OPT_OUTS) -> bytes | None:
        """Return a key; None: it was not needed yet. What the box raises for one that it cannot open is raised."""
        stored = get_stored(tx, name)
        return None if stored is None else self._open(stored, name)

    def ensure(self, tx: Tx, new_key: bytes, name: str = OPT_OUTS) -> bytes:
        """Return a key, which is `new_key` if there was none."""
        found = self.get(tx, name)
        if found is not None:
            return found
        tx.execute(
            "insert into hash_keys (name, value) values (?, ?) on conflict (name) do nothing",
            (name, self.seal(new_key, name)),
        )
        return self.get(tx, name) or new_key

    def seal(self, key: bytes, name: str = OPT_OUTS) -> bytes:
        return self._box.seal(key, _context(name))

    def seal_again(self, stored: bytes, name: str = OPT_OUTS) -> bytes:
        """Return a stored key as it would be stored now."""
        return self.seal(self._box.open(stored, _context(name)), name)

    def _open(self, stored: bytes, name: str) -> bytes:
        last, key = self._opened
        if last != stored:
            key = self._box.open(stored, _context(name))
            self._opened = stored, key
        return key


def get_stored(tx: Tx, name: str = OPT_OUTS) -> bytes | None:
    """Return a key as it is stored; None: it was not needed yet."""
    return tx.fetch_value("select value from hash_keys where name = ?", (name,))


def put(tx: Tx, stored: bytes, name: str = OPT_OUTS) -> None:
    """Store a key in place of the one that is there."""
    tx.execute("update hash_keys set value = ? where name = ?", (stored, name))


def replace(tx: Tx, old: bytes, new: bytes, name: str = OPT_OUTS) -> bool:
    """Store a key in another form; return False if it has changed meanwhile."""
    return tx.changes("update hash_keys set value = ? where name = ? and value = ?", (new, name, old))


def _context(name: str) -> str:
    return f"hash key {name}"

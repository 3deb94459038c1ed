"""The carriers that were ever configured, each with its kind."""

from collections.abc import Mapping

from pabal.store.engine.base import Tx


def get_kinds(tx: Tx) -> dict[str, str]:
    """Return the kind of every known carrier, by name."""
    return dict(tx.fetch_all("select name, kind from carriers order by name"))


def save_kinds(tx: Tx, kinds: Mapping[str, str]) -> None:
    """Save the kinds of carriers."""
    tx.execute_many(
        "insert into carriers (name, kind) select v.name, v.kind from (values {rows}) as v(name, kind) where true"
        " on conflict (name) do update set kind = excluded.kind",
        kinds.items(),
    )


def delete(tx: Tx, name: str) -> bool:
    """Forget a carrier; say whether it was known."""
    return bool(tx.execute("delete from carriers where name = ?", (name,)))

"""What is remembered is bounded: the entry that was set longest ago is forgotten."""

from pabal.domain.base.newest import Newest


def test_only_the_entries_that_were_set_last_are_remembered() -> None:
    known: Newest[str, int] = Newest(2)

    for key in "abac":
        known[key] = len(known)

    assert dict(known) == {"a": 2, "c": 2}

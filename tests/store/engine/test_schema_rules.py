"""Old and new versions share one store: rules for migrations and for statements."""

import pytest

from pabal.store.engine.migrate import Migration, all_migrations
from tests.fixtures import second_step
from tests.fixtures.schema_rules import (
    ADDS_CONSTRAINT,
    NEEDS_DEFAULT,
    NEEDS_IF_NOT_EXISTS,
    ONLY_ADDS,
    WRITES_SHARED_TABLE,
    find_violations,
)

OF_THE_TESTS = Migration(second_step.NUMBER, second_step.NAME, second_step.SQL)


@pytest.mark.parametrize(
    "step", [*all_migrations()[1:], OF_THE_TESTS], ids=lambda step: f"{step.number:04}_{step.name}"
)
def test_migrations_keep_the_previous_version_working(step: Migration) -> None:
    assert find_violations(step.sql) == [], (
        "see `Rules for migrations` in docs/how-to/upgrade.md; where it must be so, say why in the file:"
        " a line `-- exception: REASON` in the paragraph of the statement"
    )


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        ("drop table jobs", ONLY_ADDS),
        ("alter table jobs drop column lane", ONLY_ADDS),
        ("alter table jobs rename column lane to track", ONLY_ADDS),
        ("alter table jobs rename to work", ONLY_ADDS),
        ("update jobs set lane = 0", ONLY_ADDS),
        ("delete from jobs", ONLY_ADDS),
        ("insert into jobs (id) select id from messages", WRITES_SHARED_TABLE),
        ("alter table jobs add column weight integer not null", NEEDS_DEFAULT),
        ("alter table jobs add column weight integer unique", ADDS_CONSTRAINT),
        ("alter table jobs add column owner {big} references accounts (id)", ADDS_CONSTRAINT),
        ("create unique index if not exists one on jobs (carrier)", ADDS_CONSTRAINT),
        ("create index of_carrier on jobs (carrier)", NEEDS_IF_NOT_EXISTS),
    ],
)
def test_change_that_breaks_the_previous_version_is_detected(sql: str, rule: str) -> None:
    assert find_violations(f"-- Why;\n{sql};   -- and so on") == [(sql, rule)]


@pytest.mark.parametrize(
    "sql",
    [
        "create table hooks (id {serial}, url text not null unique); create unique index u on hooks (url)",
        "create table words (word text); insert into words values ('a')",
        "alter table jobs add column weight {small} not null default 1",
        "alter table jobs add column note text",
        "create index if not exists of_carrier on jobs (carrier)",
    ],
)
def test_additive_change_is_allowed(sql: str) -> None:
    assert find_violations(sql) == []


def test_exception_covers_its_paragraph_and_needs_a_reason() -> None:
    assert find_violations("-- exception: nobody reads it any more.\ndrop table a;\ndrop table b;") == []
    assert find_violations("-- exception:\ndrop table a;") == [("drop table a", ONLY_ADDS)]
    assert find_violations("-- exception: nobody reads it.\ndrop table a;\n\ndrop table b;") == [
        ("drop table b", ONLY_ADDS)
    ]

"""What `pabal doctor` says about the nodes of a real Citus, and what the metrics show of prepared transactions."""

import contextlib
from collections.abc import Iterator

import psycopg
import pytest

from pabal.store.engine.citus.problems import find_problems, oldest_prepared_s
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from tests.fixtures import citus

if citus.is_available():  # else the summary says that it was not run

    @pytest.fixture
    def address() -> str:
        return citus.empty_database()

    @pytest.fixture
    def left_prepared(address: str) -> Iterator[str]:
        """A node on which a transaction was left prepared, which is no transaction of Citus."""
        host, port = citus.nodes()[-1]
        name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
        with contextlib.closing(
            psycopg.connect(citus.address_on(host, port, str(name)), autocommit=True)
        ) as connection:
            connection.execute("begin")
            connection.execute("select pg_advisory_xact_lock(17)")
            connection.execute("prepare transaction 'left'")
            yield f"{host}:{port}"
            connection.execute("rollback prepared 'left'")

    def problems_of(address: str, max_prepared_s: int) -> list[str]:
        with contextlib.closing(connect(address)) as connection:
            found = find_problems(PostgresTx(connection), max_prepared_s)
        return [each.message.en for each in found if "recover_2pc_interval" not in each.message.en]

    def test_cluster_as_the_tests_need_it_has_no_problem(address: str) -> None:
        assert problems_of(address, -1) == []

    def test_transaction_that_stays_prepared_is_reported_with_its_node(address: str, left_prepared: str) -> None:
        with contextlib.closing(connect(address)) as connection:
            ages = oldest_prepared_s(PostgresTx(connection))

        assert list(ages) == [left_prepared]
        assert 0 <= ages[left_prepared] <= 60
        (said,) = problems_of(address, -1)
        assert said.startswith(f"the node {left_prepared} has a transaction that was prepared ")
        assert problems_of(address, 60) == []

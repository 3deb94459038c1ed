"""Images of requests: equal ones of an account are stored once for each slot and month."""

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import JPEG, SIS, Image
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions
from pabal.store.messages import images
from pabal.store.people import personal_data
from tests.fixtures.engines import partitioned_only
from tests.fixtures.rows import ACCOUNT, ExplainingTx, add_request, message_id, request_id, sms, store_request
from tests.fixtures.virtual import NOON

DECEMBER = partitions.month_start(202612)
A, B = (Image(JPEG, f"{name}.jpg", b"\xff\xd8\xff" + name.encode() * 50_000) for name in "ab")


def add(tx: Tx, number: int, *pictures: Image, account: int = ACCOUNT, at: Instant = NOON, slot: int = 0) -> bytes:
    """Store a request with pictures; return its id."""
    one = identifiers.make_request_id(at, slot, number)
    add_request(tx, one, account, sms(images=pictures), at)
    return one


def bodies(tx: Tx) -> list[int]:
    """Return the sizes of the bytes that are stored."""
    return [row[0] for row in tx.fetch_all("select length(body) from images where length(body) > 0")]


def collect(tx: Tx) -> list[bool]:
    """Do what housekeeping does about bytes that may be unused; return what is done with."""
    found = personal_data.list_pending(tx, b"", 100)
    done = [one for one in found if personal_data.erase(tx, one)]
    personal_data.delete_pending(tx, done)
    return [one in done for one in found]


def test_equal_pictures_of_many_requests_are_stored_once(tx: Tx) -> None:
    ids = [add(tx, number, A) for number in range(20)]
    several = add(tx, 20, B, A, B._replace(file_name="again.jpg"))

    assert bodies(tx) == [len(A.body)] * 2
    assert {images.get(tx, one) for one in ids} == {(A,)}
    assert images.get(tx, several) == (B, A, B._replace(file_name="again.jpg"))


def test_requests_of_one_transaction_share_pictures(tx: Tx) -> None:
    ids = [request_id(number) for number in range(3)]

    images.add_all(tx, [row for one in ids for row in images.build_rows(one, ACCOUNT, (A, B, A))])

    assert bodies(tx) == [len(A.body)] * 2
    assert [images.get(tx, one) for one in ids] == [(A, B, A)] * 3


@pytest.mark.parametrize(
    ("picture", "other"),
    [
        (A, {"account": ACCOUNT + 1}),
        (A, {"at": DECEMBER}),
        (A, {"slot": 7}),
        (A._replace(content_type=SIS), {}),
        (A._replace(body=A.body + b"b"), {}),
    ],
    ids=["account", "month", "slot", "type", "content"],
)
def test_pictures_of_another_are_not_shared(tx: Tx, picture: Image, other: dict[str, int]) -> None:
    first, second = add(tx, 1, A), add(tx, 2, picture, **other)

    assert sorted(bodies(tx)) == sorted([len(A.body), len(picture.body)])

    personal_data.erase_request(tx, first)
    assert (collect(tx), collect(tx)) == ([False], [True])
    assert (images.get(tx, first), images.get(tx, second)) == ((), (picture,))
    assert bodies(tx) == [len(picture.body)]


@pytest.mark.parametrize("at", [DECEMBER - 1, DECEMBER])
def test_bytes_are_of_the_month_of_their_requests(tx: Tx, at: Instant) -> None:
    for number in range(2):
        add(tx, number, A, at=at)

    low, high = partitions.month_bounds(partitions.month_at(at), "images")
    rows = tx.fetch_all("select request_id from images where request_id >= ? and request_id < ?", (low, high))

    assert len(rows) == 3
    assert len(tx.fetch_all("select 1 from images")) == 3


def test_erased_request_leaves_the_picture_of_the_others(tx: Tx) -> None:
    first, second = add(tx, 1, A), add(tx, 2, A)

    personal_data.erase_request(tx, first)

    assert collect(tx) == [True]
    assert (images.get(tx, first), images.get(tx, second)) == ((), (A,))
    personal_data.erase_request(tx, second)
    assert (collect(tx), collect(tx), collect(tx)) == ([False], [True], [])
    assert tx.fetch_all("select 1 from images") == []


def test_erased_message_of_several_leaves_the_picture(tx: Tx) -> None:
    one = store_request(tx, 1, sms(["01000000001", "01000000002"], images=(A,)))

    assert personal_data.erase(tx, message_id(1))

    assert images.get(tx, one) == (A,)
    assert collect(tx) == []


def test_picture_that_is_being_deleted_is_stored_again(tx: Tx) -> None:
    personal_data.erase_request(tx, add(tx, 1, A))
    assert collect(tx) == [False]  # nobody may use it any more

    second = add(tx, 2, A)

    assert images.get(tx, second) == (A,)
    assert collect(tx) == [True]
    assert images.get(tx, second) == (A,)
    assert [images.get(tx, add(tx, number, A)) for number in (3, 4)] == [(A,)] * 2
    assert bodies(tx) == [len(A.body)] * 2


def test_picture_found_before_it_was_closed_opens_it_again(tx: Tx) -> None:
    first = add(tx, 1, A)
    personal_data.erase_request(tx, first)
    rows = images.build_rows(request_id(2), ACCOUNT, (A,))
    images.add_all(tx, rows)
    tx.execute("update images set shared_id = ? where request_id = ?", (b"", rows[0].shared_id))

    assert collect(tx) == [True]

    third = add(tx, 3, A)
    assert [images.get(tx, one) for one in (request_id(2), third)] == [(A,)] * 2
    assert bodies(tx) == [len(A.body)]


def test_image_whose_bytes_are_lost_is_not_read_as_an_empty_one(tx: Tx) -> None:
    one = add(tx, 1, A, B)
    (shared_id,) = [row.shared_id for row in images.build_rows(one, ACCOUNT, (A,))]
    assert shared_id

    tx.execute("delete from images where request_id = ?", (shared_id,))

    assert images.get(tx, one) == ()


def test_version_before_finds_the_picture_in_its_own_row(tx: Tx) -> None:
    rows = images.build_rows(request_id(1), ACCOUNT, (A,), are_shared=False)
    images.add_all(tx, rows)

    assert tx.fetch_all("select body from images where request_id = ?", (request_id(1),)) == [(A.body,)]
    assert images.get(tx, request_id(1)) == (A,)
    images.delete(tx, request_id(1))
    assert collect(tx) == []


def test_queries_find_pictures_by_index(tx: Tx) -> None:
    for number in range(100, 700):
        add(tx, number, A._replace(body=number.to_bytes(2, "big")))
    ids = [add(tx, number, *(A, B)[: 1 + number % 2]) for number in range(20)]
    explaining = ExplainingTx(tx)

    images.add_all(explaining, images.build_rows(request_id(99), ACCOUNT, (A, B)))
    images.get(explaining, ids[1])
    for one in [*ids, request_id(99)]:
        images.delete(explaining, one)
    assert (collect(explaining), collect(explaining)) == ([False] * 2, [True] * 2)

    assert explaining.scans == []
    assert explaining.uses("images_by_shared")


@partitioned_only
def test_queries_read_only_the_partition_of_the_month(tx: Tx) -> None:
    one = add(tx, 1, A)
    explaining = ExplainingTx(tx)

    images.add_all(explaining, images.build_rows(request_id(2), ACCOUNT, (A,)))
    images.get(explaining, one)
    images.delete_unused(explaining, images.build_rows(one, ACCOUNT, (A,))[0].shared_id or b"")

    read = {word for step, _ in explaining.plans for word in step.split() if word.startswith("images_2")}
    assert read
    assert all("202611" in name for name in read)

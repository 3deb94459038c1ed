"""The options of a transaction: stated by a decorator, visible through wrappers."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pabal.store.engine.base import Priority, TransactionOptions, Tx, options_of, transaction


def do_all(tx: Tx, arguments: Sequence[int]) -> list[int]:
    return [do_one(tx, each) for each in arguments]


@transaction(retryable=True, priority=Priority.PATIENT, batched_by=do_all)
def do_one(tx: Tx, argument: int) -> int:
    return argument + 1


@transaction(exclusive=True)
def do_alone(tx: Tx) -> None: ...


def do_plain(tx: Tx) -> None: ...


def flags(work: Any) -> tuple[bool, bool, Priority]:
    options = options_of(work)
    return options.retryable, options.exclusive, options.priority


def logged(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return work(*args, **kwargs)

    return wrapper


class Wrapper:
    """A wrapper that names what it wraps, but shares no attributes with it."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self.__wrapped__ = work


def test_decorator_states_the_options_of_a_transaction() -> None:
    assert options_of(do_one) == TransactionOptions(
        Priority.PATIENT, retryable=True, batched_by=do_all, work=do_one
    )
    assert flags(do_alone) == (False, True, Priority.NORMAL)


def test_function_without_decorator_has_no_options() -> None:
    assert options_of(do_plain) == TransactionOptions()
    assert options_of(functools.partial(do_plain)) == TransactionOptions()
    assert options_of(lambda tx: None) == TransactionOptions()


def test_options_are_visible_through_wrappers() -> None:
    for wrapped in (
        functools.partial(do_one, argument=1),
        functools.partial(functools.partial(do_one), argument=1),
        logged(do_one),
        functools.partial(logged(do_one), argument=1),
        Wrapper(do_one),
        Wrapper(functools.partial(do_one, argument=1)),
    ):
        assert flags(wrapped) == (True, False, Priority.PATIENT)
    assert flags(functools.partial(do_alone)) == (False, True, Priority.NORMAL)


def test_wrapper_is_not_left_out_by_the_batch_function() -> None:
    for wrapped in (functools.partial(do_one, argument=1), logged(do_one), Wrapper(do_one)):
        assert options_of(wrapped).batched_by is None

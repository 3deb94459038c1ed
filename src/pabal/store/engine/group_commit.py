"""Writes for many callers at once: what is asked for in one turn of the loop is handed over together."""

import asyncio
import contextlib
import queue
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Concatenate, NamedTuple, Protocol

from pabal.store.engine.base import P, StoreAway, T, Tx, is_done_alone, may_take_long, together_of
from pabal.store.engine.timeouts import NO_ANSWER, Patience
from pabal.world import World

MAX_COMMIT_CALLERS = 512
MAX_ALIKE = 50
CLOSE_WITHIN_S = 5.0
MAX_COMMIT_S = 0.03
"""A commit takes in no further caller once it has worked this long: nobody waits behind a long queue."""


class Batch(NamedTuple):
    """What one commit held, for whoever watches."""

    callers: int
    seconds: float


class Call(NamedTuple):
    """A transaction that waits for its turn, and who waits for it."""

    work: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"

    @property
    def is_given_up(self) -> bool:
        """Whether its caller was told that there is no answer; one that has just gone is served all the same."""
        return self.future.done() and not self.future.cancelled()

    def run(self, tx: Tx) -> Any:
        return self.work(tx, *self.args, **self.kwargs)


Told = tuple[Call, Any, BaseException | None]
"""A call with its answer, or with what it raised."""


class Session(Protocol):
    """A connection to write by; each of its words may raise the engine's errors."""

    @property
    def tx(self) -> Tx:
        """The transaction under way."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def roll_back(self) -> None: ...

    def mark(self) -> None:
        """Set the point to go back to."""

    def keep(self) -> None:
        """Stand by what was done since the mark; from here on it can fail no more by itself."""

    def go_back(self) -> None:
        """Undo what was done since the mark."""

    def close(self) -> None: ...


class GroupedStore(ABC):
    """A store that commits for many callers at once; an engine brings the sessions and the reading."""

    errors: type[Exception]
    """What the engine raises."""
    faults: tuple[type[Exception], ...]
    """Those among them that are bugs of ours, told as they are: trying again would not help."""
    answer_within_s: float | None = None
    """How long a caller waits at most, where the engine may fall silent without going away."""

    def __init__(
        self,
        world: World,
        sessions: Sequence[Session],
        *,
        readers: int,
        most_waiting: int,
        watch: Callable[[Batch], None],
    ) -> None:
        self._world = world
        self._sessions = sessions
        self._most_waiting = most_waiting
        self._watch = watch
        self._is_closed = False
        self._fresh: list[Call] = []
        self._waiting = 0
        self._reads_waiting = 0
        self._patience = Patience(self.answer_within_s, world) if self.answer_within_s else None
        self._calls: queue.SimpleQueue[list[Call] | None] = queue.SimpleQueue()
        if world.in_threads:
            self._readers = ThreadPoolExecutor(readers, "pabal-read")
            self._writers = [
                threading.Thread(target=self._write_on, args=(session,), name="pabal-write", daemon=True)
                for session in sessions
            ]
            for writer in self._writers:
                writer.start()

    async def write(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._is_closed or self._waiting >= self._most_waiting:
            raise StoreAway("closed" if self._is_closed else "too many are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._fresh.append(Call(work, args, kwargs, loop, future))
        if len(self._fresh) == 1:
            loop.call_soon(self._hand_over)
        self._waiting += 1
        if self._patience and not may_take_long(work):
            self._patience.watch(loop, future)
        return await future

    async def read(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        within_s = None if may_take_long(work) else self.answer_within_s
        return await self._apart(partial(self._read, work, args, kwargs), within_s)

    async def _apart(self, job: Callable[[], T], within_s: float | None) -> T:
        """Run a job in one of the threads for reading."""
        if self._is_closed or self._reads_waiting >= self._most_waiting:
            raise StoreAway("closed" if self._is_closed else "too many are waiting")
        if not self._world.in_threads:
            await asyncio.sleep(0)
            return job()
        self._reads_waiting += 1
        reading = asyncio.get_running_loop().run_in_executor(self._readers, job)
        reading.add_done_callback(self._has_read)
        try:
            async with asyncio.timeout(within_s):
                return await asyncio.shield(reading)
        except TimeoutError:
            reading.cancel()  # what has not begun by now is not done later
            raise StoreAway(NO_ANSWER) from None

    def _has_read(self, _: "asyncio.Future[Any]") -> None:
        self._reads_waiting -= 1

    async def note(self, work: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._hand_over()
        if self._world.in_threads:
            await asyncio.to_thread(self._end_threads)
        self._close_readers()
        for session in self._sessions:
            session.close()

    def _end_threads(self) -> None:
        """Let the threads finish what is under way; an engine that has fallen silent is not waited for."""
        impatience = threading.Timer(CLOSE_WITHIN_S, self._cut_off)
        impatience.start()
        for _ in self._writers:
            self._calls.put(None)
        for writer in self._writers:
            writer.join()
        self._readers.shutdown()
        impatience.cancel()

    @abstractmethod
    def _cut_off(self) -> None:
        """End what is under way, if that can be done from outside."""

    @abstractmethod
    def _read(self, work: Callable[..., T], args: Any, kwargs: Any) -> T:
        """Run `work` on one consistent view."""

    @abstractmethod
    def _close_readers(self) -> None:
        """Let go of what was read by."""

    @abstractmethod
    def _after_trouble(self, session: Session, taken: list[Call], error: Exception) -> list[Told]:
        """Return what to tell the callers of a transaction in which the engine failed."""

    def _hand_over(self) -> None:
        """Give a writer all that was asked for in this turn of the loop: it is woken once, and commits once."""
        fresh, self._fresh = self._fresh, []
        if self._world.in_threads:
            self._calls.put(fresh)
            return
        pending = deque(fresh)
        while pending:
            self._commit_some(self._sessions[0], pending)

    def _write_on(self, session: Session) -> None:
        pending: deque[Call] = deque()
        is_open = True
        while is_open or pending:
            if is_open:
                is_open = self._gather(pending)
            if pending:
                self._commit_some(session, pending)

    def _gather(self, pending: deque[Call]) -> bool:
        """Take in what has been handed over, waiting if there is nothing to do; say whether more may come."""
        with contextlib.suppress(queue.Empty):
            while True:
                calls = self._calls.get(block=not pending)
                if calls is None:
                    return False
                pending.extend(calls)
        return True

    def _without_given_up(self, pending: deque[Call]) -> int:
        """Leave undone what callers were told there is no answer to: they may ask again. Say how many are left."""
        stale = [call for call in pending if call.is_given_up]
        if stale:
            left = [call for call in pending if not call.is_given_up]
            pending.clear()
            pending.extend(left)
            self._tell([(call, None, None) for call in stale])
        return len(pending)

    def _commit_some(self, session: Session, pending: deque[Call]) -> None:
        """Commit calls from the front of the queue together, and tell their callers."""
        if self._patience and not self._without_given_up(pending):
            return
        began = self._world.stopwatch()
        taken: list[Call] = []
        try:
            done = self._committed(session, pending, taken)
        except self.errors as error:
            done = self._after_trouble(session, taken, error)
        self._watch(Batch(len(done), self._world.stopwatch() - began))
        self._tell(done)

    def _committed(self, session: Session, pending: deque[Call], taken: list[Call]) -> list[Told]:
        """Return the answers of calls from the front of the queue, all of them durable; `taken` are these."""
        return self._all_at_once(session, pending, taken) or self._one_by_one(session, taken)

    def _all_at_once(self, session: Session, pending: deque[Call], taken: list[Call]) -> list[Told] | None:
        """Return the answers of calls that all went well; None, and nothing kept, where one did not."""
        began = self._world.stopwatch()
        done: list[Told] = []
        taken.append(pending.popleft())
        try:
            session.begin()
        except self.errors:
            taken += pending  # they would all fail at the same, and after as long a wait
            pending.clear()
            raise
        try:
            done += self._alike(session.tx, taken[0], pending, taken)
            while self._may_join(taken, pending) and self._world.stopwatch() - began < MAX_COMMIT_S:
                taken.append(pending.popleft())
                done += self._alike(session.tx, taken[-1], pending, taken)
            session.commit()
        except Exception as error:
            if self._is_trouble(error):
                raise
            session.roll_back()
            return None
        return done

    @staticmethod
    def _may_join(taken: list[Call], pending: deque[Call]) -> bool:
        """Say whether the next call may be in one transaction with those taken."""
        if not pending or len(taken) >= MAX_COMMIT_CALLERS:
            return False
        return not is_done_alone(taken[-1].work) and not is_done_alone(pending[0].work)

    def _alike(self, tx: Tx, first: Call, pending: deque[Call], taken: list[Call]) -> list[Told]:
        """Return the answer of a call, and of those behind it that can be done in one go with it."""
        together = together_of(first.work)
        if together is None:
            return [(first, first.run(tx), None)]
        alike = [first]
        while pending and pending[0].work is first.work and len(alike) < MAX_ALIKE:
            alike.append(pending.popleft())
        taken += alike[1:]
        answers = together(tx, [call.args[0] for call in alike])
        return [(call, answer, None) for call, answer in zip(alike, answers, strict=True)]

    def _one_by_one(self, session: Session, calls: list[Call]) -> list[Told]:
        """Return the answers of calls of which some may fail: each by itself, so that its no is its own."""
        session.begin()
        done = [self._done(session, call) for call in calls]
        session.commit()
        return done

    def _done(self, session: Session, call: Call) -> Told:
        session.mark()
        try:
            answer = call.run(session.tx)
            session.keep()
        except Exception as error:
            if self._is_trouble(error):
                raise
            session.go_back()
            return call, None, error
        return call, answer, None

    def _is_trouble(self, error: Exception) -> bool:
        """Say whether the engine failed, not a work or its statement."""
        return isinstance(error, self.errors) and not isinstance(error, self.faults)

    def _tell(self, done: list[Told]) -> None:
        """Give every caller its answer, with one wake-up for each loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[Told]] = {}
        for each in done:
            by_loop.setdefault(each[0].loop, []).append(each)
        for loop, answers in by_loop.items():
            with contextlib.suppress(RuntimeError):  # that loop has ended: nobody is left to be told
                loop.call_soon_threadsafe(self._resolve, answers)

    def _resolve(self, answers: list[Told]) -> None:
        self._waiting -= len(answers)
        for call, answer, error in answers:
            if call.future.done():
                continue
            if error is None:
                call.future.set_result(answer)
            else:
                call.future.set_exception(error)

"""A batch on its way: which submits carry which message, and which messages have all their answers."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from pabal.carriers.base import Busy
from pabal.carriers.smpp.session import SubmitGroup, SubmitResult
from pabal.carriers.smpp.verdict import refusal_of
from pabal.domain.message import Attempt


class SubmitBatch:
    """Messages, each as one submit or as several."""

    def __init__(self, attempts: Sequence[Attempt], written: Sequence[Sequence[bytes]]) -> None:
        self.attempts = attempts
        self.bodies = [body for each in written for body in each]
        self.untold = set(range(len(attempts)))
        self._owners = [number for number, each in enumerate(written) for _ in each]
        self._counts = [len(each) for each in written]
        self._firsts = [0, *accumulate(self._counts)]
        self._left = list(self._counts)
        self.answers: list[SubmitResult] = [None] * len(self.bodies)
        self.sent = [False] * len(self.bodies)

    def places(self, number: int) -> range:
        """Return the places of a message's submits."""
        return range(self._firsts[number], self._firsts[number] + self._counts[number])

    def begins(self, place: int) -> bool:
        """Say whether a submit is the first of its message."""
        return self._firsts[self._owners[place]] == place

    def take_in(self, lot: SubmitGroup, places: Sequence[int]) -> list[int]:
        """Take in what a lot has been answered since; return the messages that have all their answers now."""
        fresh, lot.fresh = lot.fresh, []
        whole = []
        for index in fresh:
            place = places[index]
            self.answers[place] = lot.answers[index]
            self.sent[place] = True
            owner = self._owners[place]
            self._left[owner] -= 1
            if not self._left[owner]:
                whole.append(owner)
        return whole

    def give_up(self, lot: SubmitGroup, places: Sequence[int]) -> list[int]:
        """Take in that no more answers will come to a lot; return its messages that lack some."""
        for index in range(lot.sent):
            self.sent[places[index]] = True
        return [number for number in dict.fromkeys(self._owners[place] for place in places) if self._left[number]]

    def stuck(self, numbers: Iterable[int]) -> list[int]:
        """Return those messages of which all that is missing are parts that may be tried again."""
        return [number for number in numbers if self._counts[number] > 1 and self._missing(number)]

    def reopen(self, numbers: Iterable[int]) -> list[int]:
        """Return the places of the missing parts of messages, which are to be submitted again."""
        places = [place for number in numbers for place in self._missing(number)]
        for place in places:
            self.answers[place], self.sent[place] = None, False
        for number in numbers:
            self._left[number] = len(self._missing(number))
        return places

    def _missing(self, number: int) -> list[int]:
        """Return the places of the parts that may be tried again, none where others than these are not taken."""
        places = self.places(number)
        missing = [place for place in places if not isinstance(self.answers[place], str)]
        is_worth_it = len(missing) < len(places) and all(self._may_go_again(place) for place in missing)
        return missing if is_worth_it else []

    def _may_go_again(self, place: int) -> bool:
        answer = self.answers[place]
        if answer is None:
            return not self.sent[place]
        return isinstance(answer, int) and isinstance(refusal_of(answer), Busy)

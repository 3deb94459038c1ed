"""Seeded mutations of valid input: what a fuzzer feeds to a parser."""

import os
from collections.abc import Iterator, Sequence
from random import Random

ROUNDS = 20_000 if os.environ.get("PABAL_TORTURE") else 1000
"""How many mutations of a corpus a test tries."""
_TOKENS = [
    b"\0",
    b"\xff",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b'"',
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b";",
    b"=",
    b"~",
    b"-",
    b"#{",
    b"%00",
    b"\\u0000",
    b"\\ud800",
    b"1e400",
    b"NaN",
    b"99999999999999999999",
    b"-1",
    b"\xea\xb0\x80",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
]


def mutations(corpus: Sequence[bytes], seed: int, rounds: int = ROUNDS) -> Iterator[bytes]:
    """Yield each entry of the corpus, every prefix of short ones, then seeded mutations of all."""
    rng = Random(seed)
    yield from corpus
    for entry in corpus:
        if len(entry) <= 200:
            yield from (entry[:end] for end in range(len(entry)))
    for _ in range(rounds):
        found = rng.choice(corpus)
        for _ in range(rng.randint(1, 6)):
            found = _mutate(found, corpus, rng)
        yield found


def _mutate(data: bytes, corpus: Sequence[bytes], rng: Random) -> bytes:
    at = rng.randint(0, len(data))
    end = min(len(data), at + rng.randint(0, 8))
    kind = rng.randrange(7)
    if kind == 0 and data:
        place = rng.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if kind == 1:
        return data[:at] + data[end:]
    if kind == 2:
        return data[:at] + rng.choice(_TOKENS) + data[end:]
    if kind == 3:
        return data[:at] + data[at:end] * rng.randint(2, 300) + data[end:]
    if kind == 4:
        other = rng.choice(corpus)
        return data[:at] + other[rng.randint(0, len(other)) :]
    if kind == 5:
        return data[:at] + rng.randbytes(rng.randint(1, 16)) + data[at:]
    return data[:at]

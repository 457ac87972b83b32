"""What it costs to generate large streams, against two plain loops over `random` with as many records.

One loop makes plain tuples: the least that anybody would write. The other makes `fs.Record`s, as a stream has them, so
what lies between the two is the price of a record, and the rest that of drawing streams.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from run import Bound

import firesteel as fs
from firesteel import strategies as ss

CASES, BATCHES, ROUNDS = 100, 20, 3
SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"


def cpu(action: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    action(size)
    return time.process_time() - start


def tuples(size: int) -> list[list[list[tuple[int, bool]]]]:
    rng = random.Random(0)
    return [
        [[(rng.randint(1, 50), rng.random() < 0.5) for _ in range(size)] for _ in range(BATCHES)] for _ in range(CASES)
    ]


def records(size: int) -> list[list[list[fs.Record]]]:
    rng = random.Random(0)
    return [
        [[fs.Record(user=rng.randint(1, 50), honest=rng.random() < 0.5) for _ in range(size)] for _ in range(BATCHES)]
        for _ in range(CASES)
    ]


def generate(size: int) -> int:
    event = ss.records(SCHEMA, user=st.integers(1, 50))
    streams = ss.always(ss.batches(event, min_size=size, max_size=size), during=BATCHES)
    made = []

    @settings(
        max_examples=CASES, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(streams)
    def draw(stream: fs.Stream) -> None:
        made.append(sum(map(len, stream)))

    draw()
    assert len(made) == CASES and set(made) == {BATCHES * size}, "every case was made, and whole"
    return sum(made)


def measure() -> Mapping[str, Bound]:
    bounds = {}
    print(f"{CASES} cases of {BATCHES} batches of two-column records, CPU seconds, best of {ROUNDS}\n")
    heads = ("records a batch", "tuples", "records", "firesteel", "to tuples", "to records")
    print("".join(head.rjust(len(head) + 3) for head in heads))
    for size, at_most in ((50, 12), (350, 7)):
        plain, made, ours = (min(cpu(side, size) for _ in range(ROUNDS)) for side in (tuples, records, generate))
        cells = (f"{size}", f"{plain:.3f}", f"{made:.3f}", f"{ours:.3f}", f"{ours / plain:.2f}", f"{ours / made:.2f}")
        print("".join(cell.rjust(len(head) + 3) for head, cell in zip(heads, cells, strict=True)))
        bounds[f"to_tuples_{size}"] = Bound(ours / plain, at_most=at_most)
        bounds[f"to_records_{size}"] = Bound(ours / made, at_most=3)
    return bounds

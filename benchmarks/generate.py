"""What it costs to generate large streams, against making as many records with `random` in a plain loop."""

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


def plain_loop(size: int) -> list[list[list[fs.Record]]]:
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
    print(f"{'records a batch':>16}{'plain loop':>12}{'firesteel':>11}{'ratio':>8}")
    for size in (50, 350):
        loop = min(cpu(plain_loop, size) for _ in range(ROUNDS))
        ours = min(cpu(generate, size) for _ in range(ROUNDS))
        print(f"{size:16}{loop:12.3f}{ours:11.3f}{ours / loop:8.2f}")
        bounds[f"ratio_{size}"] = Bound(ours / loop, at_most=3)
    return bounds

"""What matching costs: the indexed matchers against a bare loop, and how the general algorithm takes a backlog."""

from __future__ import annotations

import gc
import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from statistics import median

from run import Bound

from firesteel.equivalence import Matcher, barrier, depends, ordered, same_key, unordered
from firesteel.equivalence.index import Scan
from firesteel.values.records import Record, make_record

RECORDS = 1_000_000  # on both sides together
KEYS = 1_000
BACKLOG = 10_000
DRIFTS = (100, 10_000)
ROUNDS = 5
PAPERS = "the paper's matcher, in Java: mean 2 us, more than 99.99% of records within 100 us"


def is_mark(record: Record) -> bool:
    return record.n == 0  # type: ignore[no-any-return]


Streams = tuple[list[Record], list[Record]]
MATCHED = {
    "unordered": unordered(),
    "same key": same_key("key"),
    "ordered": ordered(),
    "barrier": barrier(is_mark),
}


def streams(count: int) -> Streams:
    """The same records twice, in one order: `count` on each side, no object of one side on the other."""
    return stream(count), stream(count)


def stream(count: int) -> list[Record]:
    keys = random.Random(count)
    return [make_record({"key": keys.randrange(KEYS), "n": n % 1_000, "text": f"t{n % 97}"}) for n in range(count)]


def cpu(action: Callable[[], object]) -> float:
    """Seconds of this process: what else the machine does counts less."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def match(matcher: Matcher, both: Streams, drift: int) -> None:
    """The right comes `drift` records after the left."""
    left, right = both
    take_left, take_right = matcher.left, matcher.right
    for record in left[:drift]:
        take_left(record)
    for one, other in zip(left[drift:], right, strict=False):
        take_left(one)
        take_right(other)
    for record in right[len(right) - drift :]:
        take_right(record)
    assert matcher.finish() and matcher.counts.most_unmatched <= drift + 1


# The bare loops: no function, no answer, no comparison, nothing but the record put somewhere and taken out again.


def bare_queues(both: Streams, drift: int) -> None:
    left, right = both
    queues: dict[int, deque[Record]] = defaultdict(deque)
    for record in left[:drift]:
        queues[record["key"]].append(record)
    for one, other in zip(left[drift:], right, strict=False):
        queues[one["key"]].append(one)
        queues[other["key"]].popleft()
    for record in right[len(right) - drift :]:
        queues[record["key"]].popleft()


def bare_counts(both: Streams, drift: int) -> None:
    left, right = both
    counts: dict[tuple[object, ...], int] = defaultdict(int)
    for record in left[:drift]:
        counts[tuple(record)] += 1
    for one, other in zip(left[drift:], right, strict=False):
        counts[tuple(one)] += 1
        key = tuple(other)
        counts[key] -= 1
        if not counts[key]:
            del counts[key]
    for record in right[len(right) - drift :]:
        counts[tuple(record)] -= 1


def bare_epochs(both: Streams, drift: int) -> None:
    left, right = both
    counts: dict[tuple[object, ...], int] = defaultdict(int)
    epoch = behind = 0
    for record in left[:drift]:
        epoch += is_mark(record)
        counts[epoch, tuple(record)] += 1
    for one, other in zip(left[drift:], right, strict=False):
        epoch += is_mark(one)
        counts[epoch, tuple(one)] += 1
        behind += is_mark(other)
        key = behind, tuple(other)
        counts[key] -= 1
        if not counts[key]:
            del counts[key]
    for record in right[len(right) - drift :]:
        behind += is_mark(record)
        counts[behind, tuple(record)] -= 1


BARE = {"unordered": bare_counts, "same key": bare_queues, "ordered": bare_queues, "barrier": bare_epochs}


def latencies(matcher: Matcher, both: Streams, drift: int) -> tuple[float, float]:
    """Mean and 99.99th percentile, microseconds a record, the clock's own cost taken off the mean."""
    left, right = both
    clock = time.thread_time_ns  # without the time that the machine gave to others
    times: list[int] = []
    steps = [(matcher.left, record) for record in left[:drift]]
    for one, other in zip(left[drift:], right, strict=False):
        steps += [(matcher.left, one), (matcher.right, other)]
    for take, record in steps:
        start = clock()
        take(record)
        times.append(clock() - start)
    nothing = []
    for _ in range(10_000):
        start = clock()
        nothing.append(clock() - start)
    times.sort()
    own = sorted(nothing)[len(nothing) // 2]
    return (sum(times) / len(times) - own) / 1_000, times[int(len(times) * 0.9999)] / 1_000


def backlog(count: int) -> float:
    """Everything of the left before anything of the right, an opaque function that orders all."""
    records = [Record(n=n) for n in range(count)]

    def run() -> None:
        matcher = Matcher(depends(lambda a, b: True))
        assert isinstance(matcher.plan, Scan)
        for record in records:
            matcher.left(record)
        for record in records:
            matcher.right(record)
        assert matcher.finish()

    return min(cpu(run) for _ in range(ROUNDS))


def measure() -> Mapping[str, Bound]:
    whole = streams(RECORDS // 2)
    half = whole[0][: RECORDS // 4], whole[1][: RECORDS // 4]
    gc.collect()
    gc.freeze()  # the input is no part of what is measured
    print(f"{RECORDS:,} records, {KEYS:,} keys; microseconds a record; {PAPERS}\n")
    print(
        f"{'dependence':12}{'drift':>8}{'us':>8}{'bare':>8}{'x bare':>8}{'doubling':>10}{'mean us':>9}{'99.99% us':>11}"
    )
    worst_ratio = worst_doubling = 0.0
    for name, dependence in MATCHED.items():
        for drift in DRIFTS:
            bare, cost, growth = [], [], []
            for _ in range(ROUNDS):  # in turn, so that a busy moment of the machine hits all alike
                bare.append(cpu(lambda: BARE[name](whole, drift)))  # noqa: B023
                before = cpu(lambda: match(Matcher(dependence), half, drift))  # noqa: B023
                cost.append(cpu(lambda: match(Matcher(dependence), whole, drift)))  # noqa: B023
                after = cpu(lambda: match(Matcher(dependence), half, drift))  # noqa: B023
                growth.append(cost[-1] / ((before + after) / 2))
            ratio, doubling = min(cost) / min(bare), median(growth)
            mean, rare = latencies(Matcher(dependence), whole, drift)
            us = 1e6 / RECORDS
            print(
                f"{name:12}{drift:8,}{min(cost) * us:8.2f}{min(bare) * us:8.2f}{ratio:8.2f}{doubling:10.2f}"
                f"{mean:9.2f}{rare:11.1f}"
            )
            worst_ratio, worst_doubling = max(worst_ratio, ratio), max(worst_doubling, doubling)
    short, long = backlog(BACKLOG), backlog(2 * BACKLOG)
    print(f"\ngeneral algorithm, all ordered, backlog {BACKLOG:,}: {short:.3f} s; {2 * BACKLOG:,}: {long:.3f} s")
    return {
        "against_bare_loop": Bound(worst_ratio, at_most=3),
        "doubling": Bound(worst_doubling, at_most=2.2),
        "general_backlog_doubling": Bound(long / short, at_most=4.5),
    }

"""How the cost of judging grows with the trace, and what it costs at the least.

The growth is measured from an eighth of the trace to the whole, three doublings, and given for one of them: what a busy
machine adds to either side then counts for a third. A cost that is linear doubles (2), a quadratic one is 4.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from run import Bound

import firesteel as fs

INSTANTS = 200_000
ROUNDS = 5
DOUBLINGS = 3


def letters(count: int) -> Iterator[int]:
    """A trace that is never held in memory."""
    return (n % 7 for n in range(count))


FORMULAS = {
    "always": fs.always(lambda x: x >= 0),
    "always consume eventually": fs.always(fs.consume(lambda x: fs.eventually(lambda y: y > x or x == 6, within=3))),
    "until": fs.until(lambda x: x < 7, lambda x: x == 7),
    "always until": fs.always(fs.until(lambda x: x < 6, lambda x: x == 6, within=7)),
    "release": fs.release(lambda x: x == 7, lambda x: x < 7),
    "always release": fs.always(fs.release(lambda x: x == 6, lambda x: x < 7, during=7)),
    "nested": fs.always(fs.eventually(fs.always(lambda x: x > 2, during=3), within=7)),
    "nested, no bounds": fs.always(fs.eventually(fs.always(fs.eventually(lambda x: x == 3)))),
    "past": fs.always(fs.implies(lambda x: x == 5, fs.since(lambda x: x > 0, lambda x: x == 1, within=6))),
}


def cpu(action: Callable[[], object]) -> float:
    """Seconds of this process: what else the machine does counts less."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def judge(formula: fs.Formula, instants: int) -> None:
    monitor = formula.monitor()
    for letter in letters(instants):
        monitor.step(letter)
    monitor.finish()


def doubling(formula: fs.Formula) -> tuple[float, float]:
    """Seconds for the whole trace, and by how much twice the trace multiplies them: the median of a few rounds."""
    whole, growth = [], []
    for _ in range(ROUNDS):
        # The two sides of a round follow each other, so that both meet the machine in about the same mood.
        eighth = cpu(lambda: judge(formula, INSTANTS // 2**DOUBLINGS))
        whole.append(cpu(lambda: judge(formula, INSTANTS)))
        growth.append((whole[-1] / eighth) ** (1 / DOUBLINGS))
    return min(whole), median(growth)


def peak(formula: fs.Formula, instants: int) -> int:
    gc.collect()
    tracemalloc.start()
    judge(formula, instants)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def predicate_only() -> float:
    predicate = lambda x: x >= 0  # noqa: E731

    def loop() -> None:
        for letter in letters(INSTANTS):
            predicate(letter)

    return min(cpu(loop) for _ in range(ROUNDS))


def measure() -> Mapping[str, Bound]:
    loop = predicate_only()
    print(f"{INSTANTS:,} instants; a loop that only calls a predicate: {loop:.3f} s\n")
    print(f"{'formula':28}{'seconds':>9}{'doubling':>10}{'x loop':>8}{'peak kB at 5,000':>18}{'at 20,000':>11}")
    worst_doubling, worst_growth, always_cost = 0.0, 0.0, 0.0
    for name, formula in FORMULAS.items():
        seconds, ratio = doubling(formula)
        short, long = peak(formula, 5_000), peak(formula, 20_000)
        print(f"{name:28}{seconds:9.3f}{ratio:10.2f}{seconds / loop:8.1f}{short / 1024:18.1f}{long / 1024:11.1f}")
        worst_doubling = max(worst_doubling, ratio)
        worst_growth = max(worst_growth, long / short)
        if name == "always":
            always_cost = seconds / loop
    return {
        "doubling": Bound(worst_doubling, at_most=2.2),
        "memory_growth": Bound(worst_growth, at_most=1.2),
        "always_against_loop": Bound(always_cost, at_most=50),
    }

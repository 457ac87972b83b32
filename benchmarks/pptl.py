"""Monitors of PPTL on a long trace, and how large automata become: nested star, projection and negation."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from run import Bound

from firesteel.logic import pptl
from firesteel.logic.pptl import automata

STATES = 200_000
ROUNDS = 5
CAP = 2_000
# Formulas that stay inconclusive until the end.
FORMULAS = {
    "always": "[] (request -> <> reply)",
    "every second": "((request or reply) and len(2))* ; (skip or empty)",
    "loop": "while request {len(4)}",
    "chop": "not (true ; request and skip ; request ; true)",
    "projection": "(len(2), (len(2) and reply)) prj [] (request -> wnext (reply or not request))",
    "many parts": "[] (request -> next (not request until reply)) and [] not (request and reply) and fin(reply)",
}
SIZES = range(4, 13)
PER_SIZE = 60


def states(count: int) -> Iterator[frozenset[str]]:
    """A trace that is never held in memory, of states that are there already."""
    both = [frozenset({"request"}), frozenset(), frozenset({"reply"}), frozenset()]
    return (both[n % 4] for n in range(count))


def kinds_of_states() -> dict[str, list[Any]]:
    """The same states as sets and as mappings, each held once."""
    names = ("request", "reply")
    sets: list[Any] = [set(state) for state in states(4)]
    return {"sets": sets, "mappings": [{name: name in state for name in names} for state in sets]}


def cpu(action: Callable[[], object]) -> float:
    """Seconds of this process: what else the machine does counts less."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def judge(formula: pptl.Formula, count: int) -> None:
    monitor = formula.monitor(names=["request", "reply"])
    step = monitor.step
    for state in states(count):
        step(state)
    monitor.finish()


def loop(count: int) -> None:
    """What one would write by hand for the first of the formulas."""
    open_request = False
    for state in states(count):
        if "reply" in state:
            open_request = False
        elif "request" in state:
            open_request = True
    assert open_request in (True, False)


def loop_over(kind: str, held: Sequence[Any], count: int) -> None:
    """The same by hand, for states of another kind."""
    open_request = False
    for n in range(count):
        state = held[n % 4]
        if state["reply"] if kind == "mappings" else "reply" in state:
            open_request = False
        elif state["request"] if kind == "mappings" else "request" in state:
            open_request = True
    assert open_request in (True, False)


def peak(formula: pptl.Formula, count: int) -> int:
    gc.collect()
    tracemalloc.start()
    judge(formula, count)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def monitors() -> dict[str, Bound]:
    by_hand = min(cpu(lambda: loop(STATES)) for _ in range(ROUNDS))
    print(f"{STATES:,} states; a loop by hand over them: {by_hand:.3f} s\n")
    print(f"{'formula':14}{'states/s':>12}{'x loop':>8}{'doubling':>10}{'peak kB at 5,000':>18}{'at 50,000':>11}")
    slowest, worst_doubling, worst_growth = 0.0, 0.0, 0.0
    for name, text in FORMULAS.items():
        formula = pptl.parse(text)
        formula.automaton()
        halves, wholes = [], []
        for _ in range(ROUNDS):
            halves.append(cpu(lambda: judge(formula, STATES // 2)))  # noqa: B023
            wholes.append(cpu(lambda: judge(formula, STATES)))  # noqa: B023
        seconds, ratio = min(wholes), min(wholes) / min(halves)
        short, long = peak(formula, 5_000), peak(formula, 50_000)
        print(
            f"{name:14}{STATES / seconds:12,.0f}{seconds / by_hand:8.1f}{ratio:10.2f}{short / 1024:18.1f}"
            f"{long / 1024:11.1f}"
        )
        slowest = max(slowest, seconds / by_hand)
        worst_doubling, worst_growth = max(worst_doubling, ratio), max(worst_growth, long / short)
    print("\nthe first formula on states of other kinds, against a loop over these")
    others = {}
    for kind, held in kinds_of_states().items():
        step = pptl.parse(FORMULAS["always"]).monitor().step
        seconds = min(cpu(lambda: [step(held[n % 4]) for n in range(STATES)]) for _ in range(ROUNDS))  # noqa: B023
        own = min(cpu(lambda: loop_over(kind, held, STATES)) for _ in range(ROUNDS))  # noqa: B023
        print(f"{kind:14}{STATES / seconds:12,.0f}{seconds / own:8.1f}")
        others[f"{kind}_against_loop"] = Bound(seconds / own, at_most=15)
    return {
        "monitor_against_loop": Bound(slowest, at_most=15),
        **others,
        "doubling": Bound(worst_doubling, at_most=2.2),
        "memory_growth": Bound(worst_growth, at_most=1.2),
    }


def nested(rng: random.Random, size: int) -> pptl.Formula:
    """A formula of this many operators and names, most of them star, projection, chop and negation."""
    if size <= 1:
        return pptl.parse(rng.choice(["p", "q", "r", "skip", "len(2)", "more"]))
    if size == 2:
        return rng.choice([pptl.star, pptl.not_, pptl.next_, pptl.eventually])(nested(rng, 1))
    kind = rng.choice(["star", "not", "not", "prj", "prj", "chop", "chop", "and"])
    if kind in ("star", "not"):
        return (pptl.star if kind == "star" else pptl.not_)(nested(rng, size - 1))
    if kind == "prj" and size >= 4:
        first, second = sorted(rng.sample(range(1, size - 1), 2))
        parts = [nested(rng, first), nested(rng, second - first)]
        return pptl.prj(parts, nested(rng, size - 1 - second))
    cut = rng.randint(1, size - 2)
    made = pptl.chop if kind != "and" else pptl.and_
    return made(nested(rng, cut), nested(rng, size - 1 - cut))


def stars(size: int) -> str:
    text = "p and skip"
    for n in range(size):
        text = f"(({text}) ; {'pq'[n % 2]} and skip)*"
    return text


def negations(size: int) -> str:
    text = "p"
    for n in range(size):
        text = f"not (({text}) ; {'qp'[n % 2]} and len({1 + n % 3}))"
    return text


def projections(size: int) -> str:
    parts = ["(p and skip)*" if n % 2 else "q and len(2)" for n in range(size)]
    return f"({', '.join(parts)}) prj <> (p and len(2))"


FAMILIES = {"star": stars, "negation": negations, "projection": projections}


def families() -> list[str]:
    """States and seconds of formulas that nest one operator; those over the cap are returned."""
    print(f"\none operator nested, or that many parts; cap {CAP:,} states\n")
    print(f"{'size':>4}" + "".join(f"{f'{name}: states':>20}{'seconds':>9}" for name in FAMILIES))
    over = []
    for size in SIZES:
        row = f"{size:4}"
        for family in FAMILIES.values():
            count, seconds = built(pptl.parse(family(size)))
            row += f"{'over the cap' if count is None else count:>20}{seconds:9.2f}"
            if count is None:
                over.append(family(size))
        print(row)
    return over


# What is known to explode: the automaton has to remember which of the last n states had p.
_EXPLODING = [f"<> (p and len({n}))" for n in (4, 6, 8, 10, 12)] + [
    f"(len(1)^{n}, len(1)) prj (<> (p and len(1)))" for n in (2, 4)
]


def built(formula: pptl.Formula) -> tuple[int | None, float]:
    """How many states the automaton has, or None if it is over the cap; and the seconds that this took."""
    automata._built.cache_clear()
    start = time.process_time()
    try:
        return len(formula.automaton(cap=CAP)), time.process_time() - start
    except pptl.Inconclusive:
        return None, time.process_time() - start


def sizes() -> dict[str, Bound]:
    rng = random.Random(18)
    print(f"\nautomata of random formulas with nested star, projection, chop and negation; cap {CAP:,} states\n")
    print(f"{'size':>4}{'formulas':>10}{'over the cap':>14}{'states: median':>16}{'most':>7}{'seconds: most':>15}")
    exploding: list[str] = []
    largest: list[tuple[pptl.Formula, int | None, float]] = []
    longest, kept, tried = 0.0, 0, 0
    for size in SIZES:
        found = [(formula, *built(formula)) for formula in (nested(rng, size) for _ in range(PER_SIZE))]
        counts = sorted(count for _, count, _ in found if count is not None)
        exploding += [str(formula) for formula, count, _ in found if count is None]
        most = max(seconds for _, _, seconds in found)
        longest, kept, tried = max(longest, most), kept + len(counts), tried + len(found)
        row = f"{size:4}{len(found):10}{len(found) - len(counts):14}"
        print(f"{row}{counts[len(counts) // 2]:16}{counts[-1]:7}{most:15.3f}")
        largest += [max(found, key=lambda each: each[1] or 0)]
    exploding += families()
    explosions([*(str(formula) for formula, _, _ in largest), *exploding])
    return {
        "share_within_the_cap": Bound(kept / tried, at_least=0.9),
        "seconds_until_given_up": Bound(longest, at_most=60),
    }


def explosions(random_ones: Sequence[str]) -> None:
    print(
        "\nformulas that explode, the largest of each size, and those over the cap, with the states of their automaton:"
    )
    for text in (*_EXPLODING, *random_ones):
        count, seconds = built(pptl.parse(text))
        shown = text if len(text) <= 100 else f"{text[:97]}..."
        print(f"  {'over the cap' if count is None else f'{count:,}':>12}{seconds:9.2f} s  {shown}")


def measure() -> Mapping[str, Bound]:
    return {**monitors(), **sizes()}

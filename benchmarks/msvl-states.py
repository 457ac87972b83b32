"""How fast the MSVL interpreter makes states: processes in parallel that each append records to a list of their own.

The growth is measured from an eighth of the records to all of them, and given as a multiple of what a linear cost would
be. The check of a formula with four propositions is measured beside the bare run, on the same program.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

from run import Bound

import firesteel as fs
from firesteel.model import msvl

RECORDS = 100_000
ROUNDS = 3
PROCESSES = (1, 5, 20)
FORMULA = "some and [] (short and (full or not done)) and <> done"


def program(processes: int) -> msvl.Program:
    """A function for each process, with a counter of its own and a list that all can see."""
    functions = [
        f"function Fill{number}() {{ frame(i) and (int i <== 0 and skip ; "
        f"while i < n {{ out{number} := out{number}.append(i) and i := i + 1 }} ; done{number} := true) }}"
        for number in range(processes)
    ]
    names = ", ".join(f"out{number}, done{number}" for number in range(processes))
    first = " and ".join(f"out{number} <== [] and done{number} <== false" for number in range(processes))
    calls = " || ".join(f"Fill{number}()" for number in range(processes))
    return msvl.load("\n".join([*functions, f"frame({names}) and ({first} and skip ; ({calls}))"]))


def propositions(processes: int) -> dict[str, str]:
    """Two read a list that grows in every state, two read what hardly ever changes."""
    last = processes - 1
    return {"short": "size(out0) <= n", "full": f"size(out{last}) = n", "done": f"done{last}", "some": "n > 0"}


def cpu(action: Callable[[], object]) -> float:
    """Seconds of this process: what else the machine does counts less."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def measure() -> Mapping[str, Bound]:
    print(f"{RECORDS:,} records a process\n")
    print(f"{'processes':>9}{'states/s':>12}{'us a process and state':>24}{'growth':>9}{'with a formula':>16}")
    slowest, growth, checked = 0.0, 0.0, 0.0
    for processes in PROCESSES:
        made = program(processes)
        meaning = propositions(processes)
        rounds = ROUNDS if processes < 20 else 1
        few = min(cpu(lambda: made.run({"n": RECORDS // 8})) for _ in range(rounds))  # noqa: B023
        bare = min(cpu(lambda: made.run({"n": RECORDS})) for _ in range(rounds))  # noqa: B023
        with_formula = min(
            cpu(lambda: fs.verify(made, FORMULA, propositions=meaning, inputs={"n": RECORDS}))  # noqa: B023
            for _ in range(rounds)
        )
        states = RECORDS + 4
        each, grown, ratio = bare / states / processes * 1e6, bare / few / 8, with_formula / bare
        print(f"{processes:9}{states / bare:12,.0f}{each:24.2f}{grown:9.2f}{ratio:16.2f}")
        slowest, growth, checked = max(slowest, each), max(growth, grown), max(checked, ratio)
    return {
        "microseconds_a_process_and_state": Bound(slowest, at_most=15),
        "growth_against_linear": Bound(growth, at_most=1.1),
        "with_four_propositions": Bound(checked, at_most=1.5),
    }

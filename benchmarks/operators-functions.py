"""What each technique finds: recall and time to evidence on the zoo, beside the paper's Tables II and III.

The pairs are every instance of `tests/operators/zoo.py` with each of the six properties that it violates. Every
technique has 0.5 s for a pair, a worker's start not counted. OPERATORS_SEEDS=1 makes a quick run,
OPERATORS_ONLY=hybrid compares ours with one technique. On a machine that others use, OPERATORS_CLOCK=cpu counts the
processor's time, of this process and its workers together: on a quiet machine they work one after the other, so that
is about the time that passes.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

from run import Bound

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.operators.zoo import SIX, Instance, instances

from firesteel import Finding, Verdict
from firesteel.operators import examine, symbolic
from firesteel.operators.analysis import _tried
from firesteel.operators.constants import pool_of
from firesteel.operators.examine import Budget, Examiner
from firesteel.operators.execute import Loaded
from firesteel.operators.inputs import known_inputs
from firesteel.operators.properties import About
from firesteel.operators.sending import CannotLoad
from firesteel.operators.techniques import HYBRID, OURS, TWELVE, Technique
from firesteel.operators.workers import Workers
from firesteel.values.equality import EXACT

SECONDS = float(os.environ.get("OPERATORS_SECONDS", "0.5"))
BY_CPU = os.environ.get("OPERATORS_CLOCK") == "cpu"
OUR_SEEDS = int(os.environ.get("OPERATORS_SEEDS", "10"))
THEIR_SEEDS = min(3, OUR_SEEDS)
WITHOUT_BRANCHES = (Technique("mixed", mutation=True, reuse=True),)
WAYS: dict[str, tuple[tuple[Technique, ...], int]] = {
    **{repr(each): ((each,), THEIR_SEEDS) for each in TWELVE},
    "hybrid": (HYBRID, THEIR_SEEDS),
    "ours, no branches": (WITHOUT_BRANCHES, THEIR_SEEDS),
    "ours": (OURS, OUR_SEEDS),
}
if only := os.environ.get("OPERATORS_ONLY"):
    WAYS = {way: how for way, how in WAYS.items() if way in (only, "ours")}
PAPER = {  # recall in percent and seconds of the paper's hybrid
    "deterministic": (74.7, 78.8),
    "one_to_one": (100.0, 124.3),
    "non_blocking": (83.3, 31.9),
    "stateless": (86.4, 25.8),
    "commutative": (90.0, 23.5),
    "partition_isolated": (94.6, 18.3),
}


def looked(
    instance: Instance, names: Iterable[str], techniques: tuple[Technique, ...], seed: int, workers: Workers
) -> dict[str, tuple[bool, float]]:
    """For each property: was there evidence, and after how many seconds?"""
    options = instance.options
    inputs = known_inputs(instance.operator, None, options.get("sample")) or _tried(instance.operator, workers, 1.0)
    about = About(instance.operator, inputs)
    pool = pool_of(instance.operator.functions)
    found = {}
    for name in names:
        examiner = Examiner(about, workers, pool, options.get("equal", EXACT), techniques, seed, shrinks=False)
        clock = CpuClock(workers) if BY_CPU else time
        examine.time = clock  # type: ignore[assignment]
        start = clock.monotonic()
        finding = examiner.answer(name, Budget(10**9, start + SECONDS))
        found[name] = (finding.verdict is Verdict.FALSE, clock.monotonic() - start)
        examine.time = time
    return found


class CpuClock:
    """Seconds of processor time, of this process and of the workers."""

    def __init__(self, workers: Workers) -> None:
        self._pids = [worker._process.pid for worker in workers._used.values() if worker._process is not None]

    def monotonic(self) -> float:
        ticks = 0
        for pid in self._pids:
            with contextlib.suppress(OSError):  # it died, and was replaced
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))  # its own time and its children's
        return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _by_solver(instance: Instance, name: str, workers: Workers) -> bool:
    """Does symbolic search find evidence that the other techniques missed?"""
    options = instance.options
    inputs = known_inputs(instance.operator, None, options.get("sample")) or _tried(instance.operator, workers, 1.0)
    about = About(instance.operator, inputs)
    names = symbolic.wanted_of(about, {name: Finding(name, Verdict.INCONCLUSIVE)}) if symbolic.is_there() else ()
    examiner = Examiner(about, workers, pool_of(instance.operator.functions), options.get("equal", EXACT))
    budget = Budget(1, time.monotonic() + 60)
    found = workers.solved(about, names, symbolic.SECONDS) if names else []
    return any(examiner.replayed(each, material, budget).verdict is Verdict.FALSE for each, material in found)


def measure() -> Mapping[str, Bound]:
    hits: dict[tuple[str, str], list[bool]] = {}
    times: dict[tuple[str, str], list[float]] = {}
    flagged: list[str] = []
    missed: dict[str, int] = {}
    solved: list[str] = []
    for instance in instances():
        violated = [name for name in instance.no if name in SIX]
        kept = [name for name in instance.yes if name in SIX]
        if not violated and not kept:
            continue
        print(".", end="", file=sys.stderr, flush=True)
        try:
            with Workers(_loaded(instance)) as workers:
                workers.start_other()
                workers.ready()
                for way, (techniques, seeds) in WAYS.items():
                    for seed in range(seeds if violated else 0):
                        for name, (yes, seconds) in looked(instance, violated, techniques, seed, workers).items():
                            hits.setdefault((way, name), []).append(yes)
                            if yes:
                                times.setdefault((way, name), []).append(seconds)
                            elif way == "ours":
                                pair = f"{instance.name}, {name}"
                                missed[pair] = missed.get(pair, 0) + 1
                for name in violated:
                    if f"{instance.name}, {name}" in missed and _by_solver(instance, name, workers):
                        solved.append(f"{instance.name}, {name}")
                for name, (yes, _) in looked(instance, kept, OURS, 0, workers).items():
                    if yes:
                        flagged.append(f"{instance.name}, {name}")
        except CannotLoad:
            continue
    _show(hits, times, flagged, missed)
    if symbolic.is_there():
        print(f"  of these, symbolic search finds {len(solved)}: {'; '.join(solved)}")
    ours = {name: _share(hits["ours", name]) for name in SIX}
    all_hits = [hit for name in SIX for hit in hits["ours", name]]
    all_times = [seconds for name in SIX for seconds in times.get(("ours", name), [])]
    said = len([hit for hit in all_hits if hit])
    return {
        "precision": Bound(said / (said + len(flagged)), at_least=1.0),
        "recall": Bound(_share(all_hits), at_least=0.97),
        "recall of the worst property": Bound(min(ours.values()), at_least=0.9),
        "median seconds to evidence": Bound(median(all_times), at_most=1.0),
        "seconds of a whole analysis in a new process": Bound(_new_process(), at_most=3.0),
    }


def _loaded(instance: Instance) -> Loaded:
    known = known_inputs(instance.operator, None, instance.options.get("sample"))
    return Loaded(instance.operator, () if known is None else known.columns)


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def _show(
    hits: dict[tuple[str, str], list[bool]],
    times: dict[tuple[str, str], list[float]],
    flagged: list[str],
    missed: dict[str, int],
) -> None:
    unit = "s of the processor's time" if BY_CPU else "s"
    print(f"{SECONDS} {unit} for a pair, {OUR_SEEDS} seeds for ours and {THEIR_SEEDS} for the others")
    print("recall in percent (median seconds to evidence)")
    print(f"  {'':28}" + "".join(f"{name:>20}" for name in SIX))
    for way in WAYS:
        cells = [f"{100 * _share(hits[way, n]):.1f} ({_median(times.get((way, n), [])):.2f})" for n in SIX]
        print(f"  {way:28}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"  {'the paper, hybrid':28}" + "".join(f"{f'{PAPER[n][0]} ({PAPER[n][1]})':>20}" for n in SIX))
    for pair, times_missed in missed.items():
        print(f"  missed by ours {times_missed} times of {OUR_SEEDS}: {pair}")
    for pair in flagged:
        print(f"  FLAGGED: {pair}")


def _median(values: list[float]) -> float:
    return median(values) if values else float("nan")


def _new_process() -> float:
    """The best of three: others may use the machine."""
    program = "import firesteel as fs; fs.analyze(fs.operators.reducer(lambda a, b: a - b))"
    took = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
        took.append(time.perf_counter() - start)
    return min(took)

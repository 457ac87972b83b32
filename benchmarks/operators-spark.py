"""What the search on Spark finds: recall, precision and time to evidence on `benchmarks/operators`, beside the paper.

With the first seed, each instance goes through the six properties in the testing order. With the other seeds, and for
the paper's hybrid, the pairs are checked that violate a property and that the order reaches: recall is counted on
these. A check ends with evidence, after 300 cases, or after 45 s. "Precision" is the paper's word for specificity: of
the pairs that keep a property, how many are not flagged. `unordered` checks, with the first seed, what the order
settled, but for operators that are not deterministic. Evidence is not made smaller here.

The instances are dealt to two processes, each with a Spark of its own, as one Spark alone leaves cores idle while it
plans. So seconds to evidence are those of a busy machine. OPERATORS_PROCESSES=1 has them one after the other.

The machine may be shared, and a session short, so the run can be cut into parts. OPERATORS_RESULTS=file.jsonl keeps
every check, and a later run with the same file goes on with what is missing there; its table shows all that is in the
file. These choose a part: OPERATORS_INSTANCE (a part of a name), OPERATORS_KIND (as in answers.json, or its start),
OPERATORS_PROPERTY, OPERATORS_WAYS (ours,hybrid,unordered), OPERATORS_SEEDS (0,1,2, for ours), OPERATORS_PART (2/3:
every third instance from the second). OPERATORS_MINUTES ends the run after so long. `--quick` takes the first seed of
ours, every fourth instance and 60 cases a check.
OPERATORS_CLOCK=cpu counts the processor's time of this process, Spark's and its Python workers': on a quiet machine of
two cores they work side by side, so less time passes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from statistics import mean

from run import Bound

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.operators.checks import Check, CpuClock, Results
from benchmarks.operators.hybrid import HybridMaker
from benchmarks.operators.suite import SIX, Instance, instances

from firesteel import Verdict
from firesteel.evidence.operators import Finding
from firesteel.operators.onspark import examine, running
from firesteel.operators.onspark.analysis import Wanted, examining, possible, settled_by_others, why_not
from firesteel.operators.onspark.examine import Budget, Examiner
from firesteel.operators.onspark.feeds import SECOND
from firesteel.operators.onspark.operator import SparkOperator

# Spark's Python workers import the instances, as they would a user's module.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))
QUICK = bool(os.environ.get("OPERATORS_QUICK"))
CASES = 60 if QUICK else 300
SECONDS = 20.0 if QUICK else 45.0
SEEDS = [int(each) for each in os.environ.get("OPERATORS_SEEDS", "0" if QUICK else "0,1,2").split(",")]
WAYS = os.environ.get("OPERATORS_WAYS", "ours" if QUICK else "ours,hybrid,unordered").split(",")
PROCESSES = int(os.environ.get("OPERATORS_PROCESSES", "2"))
BY_CPU = os.environ.get("OPERATORS_CLOCK") == "cpu"
UNTIL = time.monotonic() + 60 * float(os.environ.get("OPERATORS_MINUTES", "1e6"))
PAPER = {  # recall in percent and seconds of the paper's hybrid
    "deterministic": (74.7, 78.8),
    "one_to_one": (100.0, 124.3),
    "non_blocking": (83.3, 31.9),
    "stateless": (86.4, 25.8),
    "commutative": (90.0, 23.5),
    "partition_isolated": (94.6, 18.3),
}
PAPERS_DELAYS = (timedelta(seconds=2), timedelta(seconds=5))


def chosen() -> list[Instance]:
    """The instances of this part."""
    name, kind = os.environ.get("OPERATORS_INSTANCE", ""), os.environ.get("OPERATORS_KIND", "")
    first, _, every = os.environ.get("OPERATORS_PART", "1/1").partition("/")
    some = instances()[:: 4 if QUICK else 1][int(first) - 1 :: int(every)]
    return [each for each in some if name in each.name and each.kind.startswith(kind)]


def applicable(instance: Instance) -> list[str]:
    """Those of the six that make sense for an instance, in the testing order."""
    operator = instance.operator
    return [each for each in SIX if each in possible(operator) and why_not(each, operator) is None]


@contextmanager
def examining_as(way: str, operator: SparkOperator, seed: int) -> Iterator[Examiner]:
    """Ours as `fs.analyze` has it; or the paper's hybrid, which knows neither our tests nor runs in Python."""
    from firesteel.spark.session.start import session

    with examining(Wanted(operator, seed=seed, shrinks=False), session) as examiner:
        if way == "hybrid":
            examiner.about = replace(examiner.about, delays=PAPERS_DELAYS)
            examiner.maker, examiner.pauses, examiner.runner.trying = HybridMaker(operator, seed=seed), (SECOND,), None
        yield examiner


def checked(instance: Instance, way: str, seed: int, names: Iterable[str], *, in_order: bool) -> Iterator[Check]:
    """The answers for an instance. In the testing order, one answer settles others."""
    with examining_as(way, instance.operator, seed) as examiner:
        yield from _checked(examiner, instance, way, seed, names, in_order=in_order)


def _checked(
    examiner: Examiner, instance: Instance, way: str, seed: int, names: Iterable[str], *, in_order: bool
) -> Iterator[Check]:
    done: dict[str, Finding] = {}
    clock = CpuClock() if BY_CPU else time
    for name in names:
        found = settled_by_others(name, instance.operator, done) if in_order else None
        start = clock.monotonic()
        if found is None:
            examine.time = running.time = clock  # type: ignore[assignment]
            found = examiner.answer(name, Budget(CASES, start + SECONDS))
            examine.time = running.time = time  # type: ignore[assignment]
        done[name] = found
        seconds = round(clock.monotonic() - start, 2)
        yield Check(
            way=way,
            seed=seed,
            instance=instance.name,
            property=name,
            violated=found.verdict is Verdict.FALSE,
            settled_by=found.settled_by or "",
            cases=found.tests,
            outputs=found.outputs,
            seconds=seconds,
            why=found.why,
        )


def wanted(instance: Instance, way: str, seed: int, results: Results) -> list[str]:
    """The properties of an instance that are checked."""
    names = applicable(instance)
    if way == "unordered":
        mine = [results.checks.get(("ours", 0, instance.name, name)) for name in names]
        settled = [each for each in mine if each is not None and each.settled_by]
        names = [each.property for each in settled if each.settled_by != "deterministic"]
    elif way == "hybrid" or seed:
        names = [each for each in names if each in instance.no and instance.reached(each)]
    only = os.environ.get("OPERATORS_PROPERTY")
    return [each for each in names if only is None or each == only]


def run_all(results: Results) -> None:
    """Every check that is not in the results yet."""
    for way in WAYS:
        for seed in SEEDS if way == "ours" else (0,):
            for instance in chosen():
                names = wanted(instance, way, seed, results)
                if all((way, seed, instance.name, name) in results.checks for name in names):
                    continue
                if time.monotonic() > UNTIL:
                    print("  the time is over: there is more to do")
                    return
                in_order = way == "ours" and not seed and not os.environ.get("OPERATORS_PROPERTY")
                for check in checked(instance, way, seed, names, in_order=in_order):
                    results.add(check)
                    _tell(instance, check)


def _tell(instance: Instance, check: Check) -> None:
    found = f"{'evidence' if check.violated else 'none'} ({check.settled_by or check.cases}) {_wrong(instance, check)}"
    said = f"  {check.seconds:6.1f} s {check.way} {check.seed} {check.instance}, {check.property}: {found}"
    print(said, file=sys.stderr, flush=True)


def _wrong(instance: Instance, check: Check) -> str:
    if check.violated and check.property in instance.yes:
        return "FLAGGED"
    missed = not check.violated and check.property in instance.no and instance.reached(check.property)
    return "MISSED" if missed else ""


@cache
def by_name() -> dict[str, Instance]:
    return {each.name: each for each in instances()}


def pairs(checks: Iterable[Check], *, violated: bool) -> list[Check]:
    """The checks of pairs that violate a property, or keep it, that the order reaches."""
    found = []
    for check in checks:
        instance = by_name()[check.instance]
        claimed = instance.no if violated else instance.yes
        if check.property in claimed and instance.reached(check.property):
            found.append(check)
    return found


def share(checks: list[Check]) -> float:
    return sum(each.violated for each in checks) / len(checks) if checks else float("nan")


def run_in_parts(file: str) -> None:
    """The same by several processes, which all write into one file."""
    command = [sys.executable, str(Path(__file__).with_name("run.py")), "operators-spark"]
    started = [
        subprocess.Popen(
            command,
            env={**os.environ, "OPERATORS_RESULTS": file, "OPERATORS_PART": f"{number + 1}/{PROCESSES}"},
            stdout=subprocess.DEVNULL,
        )
        for number in range(PROCESSES)
    ]
    for process in started:  # what they answer is about their part: the whole is judged by what is in the file
        process.wait()


def missing(results: Results) -> int:
    """How many checks were not made, as the time was over or a process failed."""
    return sum(
        (way, seed, instance.name, name) not in results.checks
        for way in WAYS
        for seed in (SEEDS if way == "ours" else (0,))
        for instance in chosen()
        for name in wanted(instance, way, seed, results)
    )


def measure() -> Mapping[str, Bound]:
    began = time.monotonic()
    if PROCESSES == 1 or "OPERATORS_PART" in os.environ:
        results = Results()
        run_all(results)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = os.environ.get("OPERATORS_RESULTS", str(Path(folder, "checks.jsonl")))
            run_in_parts(file)
            results = Results(file)
    print(f"this run took {(time.monotonic() - began) / 60:.0f} minutes")
    unit = "s of processor time" if BY_CPU else "s"
    print(f"{len(instances())} instances; {CASES} cases or {SECONDS:.0f} {unit} for a check without evidence")
    print("recall in percent (mean seconds to evidence, a miss with its limit; pairs that were checked)")
    print(f"  {'':20}" + "".join(f"{name:>22}" for name in SIX))
    for way in ("ours", "hybrid"):
        cells = []
        for name in SIX:
            some = [each for each in pairs(results.of(way), violated=True) if each.property == name]
            took = f"{mean(each.seconds for each in some):.1f}" if some else "-"
            cells.append(f"{100 * share(some):.1f} ({took}; {len(some)})")
        print(f"  {way:20}" + "".join(f"{cell:>22}" for cell in cells))
    print(f"  {'the paper, hybrid':20}" + "".join(f"{f'{PAPER[n][0]} ({PAPER[n][1]})':>22}" for n in SIX))
    return {"checks that were not made": Bound(missing(results), at_most=0), **bounds(results)}


def bounds(results: Results) -> dict[str, Bound]:
    ours = results.of("ours")
    violating, keeping = pairs(ours, violated=True), pairs(ours, violated=False)
    for check in sorted(violating, key=lambda each: each.key):
        if not check.violated:
            print(
                f"  missed (seed {check.seed}): {check.instance}, {check.property} after {check.cases} cases"
                f" in {check.seconds} s, {check.outputs} with output {check.why}"
            )
    flagged = [each for way in ("ours", "hybrid", "unordered") for each in _kept(results.of(way)) if each.violated]
    for check in flagged:
        print(f"  FLAGGED ({check.way}, seed {check.seed}): {check.instance}, {check.property}")
    short = [each for each in keeping if not each.violated and each.cases < CASES]
    print(
        f"  precision (specificity): {len(keeping)} pairs that keep a property, {len(flagged)} flagged;"
        f" {len(short)} of them ended by time before {CASES} cases"
    )
    all_checks = [each.reached(name) for each in instances() for name in applicable(each)]
    print(f"  checks that the testing order needs if every answer is right: {sum(all_checks)} of {len(all_checks)}")
    first = [each for each in ours if each.seed == 0]
    tested = [each for each in first if not each.settled_by]
    print(f"  checks that it did need: {len(tested)} instead of {len(first)} (the paper: 227 instead of 336)")
    more, against = results.of("unordered"), contradicting(results)
    again = [each for each in more if results.checks["ours", 0, each.instance, each.property].violated]
    print(
        f"  without the order: {len(more)} more checks, {len(against)} contradict what was settled; evidence for"
        f" {sum(each.violated for each in again)} of the {len(again)} that were settled by evidence"
    )
    for check in against:
        print(f"    {check.instance}, {check.property}: evidence after all")
    # What was not checked yet has no figure: a part of a run promises nothing about the rest.
    found = {}
    if keeping:
        wrong = [each for each in flagged if each.way == "ours"]
        found["precision"] = Bound(1 - len(wrong) / len(keeping), at_least=1.0)
    if violating:
        by_property = [share(some) for name in SIX if (some := [each for each in violating if each.property == name])]
        found["recall"] = Bound(share(violating), at_least=0.95)
        found["recall of the worst property"] = Bound(min(by_property), at_least=0.9)
        found["mean seconds to evidence"] = Bound(mean(each.seconds for each in violating), at_most=10.0)
    if more:
        found["answers that the order gets wrong"] = Bound(len(against), at_most=0)
    return found


def _kept(checks: list[Check]) -> list[Check]:
    """Checks of pairs that keep a property, whether the order reaches them or not."""
    return [each for each in checks if each.property in by_name()[each.instance].yes]


def contradicting(results: Results) -> list[Check]:
    """Evidence, without the order, against what the order took to hold."""
    more = [each for each in results.of("unordered") if each.violated]
    return [each for each in more if not results.checks["ours", 0, each.instance, each.property].violated]

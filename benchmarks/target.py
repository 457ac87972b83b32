"""Search for trouble: cases until a planted bug is found, with and without the score that firesteel makes by itself.

Each bug needs a rare combination, and the property says what has to come together: so a case in which more of it does
is closer. Both sides draw the same first cases, of ten seeds each; what was not found in all of them counts as twice as
many.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hypothesis import Phase, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from run import Bound

import firesteel as fs
from firesteel import strategies as ss

SEEDS, CASES = 10, 1_000

event = ss.records("kind STRING NOT NULL, n INT NOT NULL", kind=st.sampled_from("abcdefghijkl"), n=st.integers(0, 9))


class Bug(NamedTuple):
    """A job that is wrong, and what finds it."""

    streams: Any
    job: Callable[[DataFrame], DataFrame]
    formula: fs.Formula


def has(kind: str) -> fs.Formula:
    return fs.now(lambda now: kind in now.input.values("kind"), name=f"has_{kind}")


def complete(now: fs.Instant) -> fs.Check:
    return now.output.same_as(now.input)


def loses(frame: DataFrame, kinds: str, kind: str) -> DataFrame:
    """Loses a kind of event in a batch that has all of some kinds."""

    def without(part: Any) -> Any:
        return part[part.kind != kind] if set(kinds) <= set(part.kind) else part

    return frame.groupBy(F.lit("all")).applyInPandas(without, "kind STRING, n INT")


def together() -> Bug:
    """A batch with six kinds of events at once."""
    streams = ss.always(ss.batches(event, max_size=8), during=3)
    premise = has("a") & has("b") & has("c") & has("d") & has("e") & has("f")
    return Bug(streams, lambda frame: loses(frame, "abcdef", "c"), fs.always(fs.implies(premise, complete), during=3))


def one_after_the_other() -> Bug:
    """A job that loses a kind; the property asks for it only where three others came in the three batches before."""
    streams = ss.always(ss.batches(event, max_size=3), during=4)
    before = has("a") & fs.next_(has("b")) & fs.next_(has("c"), times=2) & fs.next_(has("d"), times=3)
    return Bug(streams, lambda frame: frame.where("kind <> 'd'"), fs.implies(before, fs.next_(complete, times=3)))


BUGS = {"six kinds in a batch": together, "four kinds in turn": one_after_the_other}


def cases_until_found(bug: Bug, seed: int, *, aimed: bool) -> int:
    phases = [Phase.generate, Phase.target] if aimed else [Phase.generate]
    try:
        fs.for_all(
            bug.streams, bug.job, bug.formula, cases=CASES, settings=settings(database=None, phases=phases),
            name=f"seed {seed}", on_vacuous="pass",
        )  # fmt: skip
    except fs.Falsified as failure:
        return failure.report.cases
    return 2 * CASES


def measure() -> Mapping[str, Bound]:
    fs.session()
    bounds = {}
    print(f"cases until found, medians of {SEEDS} seeds\n")
    print(f"{'':24}{'at random':>12}{'with the score':>16}{'ratio':>8}")
    for name, made in BUGS.items():
        found = {}
        for aimed in (False, True):
            found[aimed] = [cases_until_found(made(), seed, aimed=aimed) for seed in range(SEEDS)]
            print(f"{name}, {'with the score' if aimed else 'at random'}: {found[aimed]}", file=sys.stderr, flush=True)
        medians = {aimed: statistics.median(numbers) for aimed, numbers in found.items()}
        ratio = medians[True] / medians[False]
        print(f"{name:24}{medians[False]:12.0f}{medians[True]:16.0f}{ratio:8.2f}")
        bounds[name.replace(" ", "_")] = Bound(ratio, at_most=0.5)
    return bounds

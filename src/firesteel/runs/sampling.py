"""Which cases of a bulk run are run alone as well, and which are run together once more, in other company.

They are chosen at random, by a seed that follows from the cases: the same from run to run. A case is taken whole, or
with a random beginning, which is then a case of the bulk run too: else there would be nothing to compare it with. A
run alone takes as long as it has batches, so these are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from firesteel.runs.memory import Memory
from firesteel.values.cases import Case
from firesteel.values.streams import make_stream
from firesteel.values.traces import Trace

# How many cases of a bulk run are run alone as well: one for every `_ONE_IN` cases, from one to `_MOST`. Of a program
# that is not known to be carried well, so many times more.
_ONE_IN, _MOST, _DOUBT = 50, 3, 2
# At most so many batches of a case are run alone. Of a later generation, which is small, there is one case, with fewer.
_LENGTH, _LATER_LENGTH = 8, 3
# How many cases are run together once more.
_COMPANY = 6


@dataclass(frozen=True)
class Sample:
    """A case of a bulk run, and what is compared of it: the whole case, or its beginning as a case of its own."""

    whole: Case
    part: Case

    @property
    def is_whole(self) -> bool:
        return self.part is self.whole


def samples(cases: Sequence[Case], memory: Memory, *, later: bool = False) -> list[Sample]:
    """Cases in random order, as many as may be needed, each with the part of it that is run alone."""
    if not cases:
        return []
    rng = Random(memory.identity(cases[0]) + memory.identity(cases[-1]))
    longest = _LATER_LENGTH if later else _LENGTH
    chosen = rng.sample(cases, min(1 if later else wanted(len(cases), doubtful=True), len(cases)))
    # All beginnings are of one length: where there is a watermark, others could not share a query.
    length = rng.randint(1, max(1, min(longest, max(case.length for case in chosen) - 1)))
    return [_sample(case, length, whole=case.length <= longest and rng.random() < 0.5) for case in chosen]


def wanted(cases: int, *, doubtful: bool) -> int:
    """How many cases of so many are run alone as well."""
    return max(1, min(_MOST, cases // _ONE_IN)) * (_DOUBT if doubtful else 1)


def _sample(case: Case, length: int, *, whole: bool) -> Sample:
    if whole or case.length <= length:
        return Sample(case, case)
    return Sample(case, case.with_each(lambda s: make_stream(s.batches[:length], s.schema, s.span)))


def company(ran: Sequence[tuple[Case, Trace]], memory: Memory) -> list[tuple[Case, Trace]]:
    """A few short cases of a bulk run, with what it said of them, in another order; none where there are not two."""
    short = [pair for pair in ran if pair[0].length <= _LENGTH]
    if len(short) < 2:
        return []
    rng = Random(memory.identity(short[0][0]) + memory.identity(short[-1][0]))
    chosen = rng.sample(short, min(3 * _COMPANY, len(short)))
    return rng.sample(sorted(chosen, key=lambda pair: pair[0].length)[:_COMPANY], min(_COMPANY, len(chosen)))


def same_order(trace: Trace, other: Trace) -> bool:
    """Do the records come out in the same order, as far as the other one goes?"""
    return all(
        list(batch) == list(theirs.outputs[name])
        for now, theirs in zip(trace, other, strict=False)
        for name, batch in now.outputs.items()
        if not batch.stays_in_spark
    )

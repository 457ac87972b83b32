"""A differential fuzzer: random programs of a grammar, in bulk against alone. None may differ.

A seed has four pieces of a hundred programs. Each piece ends after nine minutes at the latest. Five seeds make 2,000.
"""

import os
import random
import re
import time
from collections import Counter

import pytest

from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.failures import CannotCarry, SubjectFailure
from tests.spark.bulk import grammar, grammar_parts

SUBJECTS = int(os.environ.get("FUZZ_SUBJECTS", "100"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "540"))


def judged(spark, seed):
    """What became of one random program ("carried", "refused", "different", "not a program"), and why."""
    rng = random.Random(seed)
    program = grammar.program(rng)
    cases = grammar_parts.cases(rng, program.inputs)
    how = program.how
    try:
        together = exercise_together(spark, cases, program.subject, how)
    except CannotCarry as why:
        if "makes it fail" not in str(why) and "could not be rebuilt" not in str(why):
            return "refused", str(why)
        failed = exercise_apart(spark, cases, program.subject, how)
        if all(isinstance(each, SubjectFailure) for each in failed):
            return "not a program", ""
        return "refused", str(why)
    except SubjectFailure:
        return "not a program", ""
    numbers = [number for number, trace in enumerate(together) if trace is not None]
    numbers = rng.sample(numbers, 1)  # the others are company: more programs tell more than more cases
    alone = exercise_apart(spark, [cases[number] for number in numbers], program.subject, how)
    for number, expected in zip(numbers, alone, strict=True):
        if isinstance(expected, SubjectFailure):
            return "different", f"seed {seed}: {program.text}\n alone it fails: {expected}"
        if together[number] != expected or _shapes(together[number]) != _shapes(expected):
            return "different", f"seed {seed}: {program.text}\n {cases[number]!r}\n {together[number]}\n {expected}"
    return "carried", ""


def _shapes(trace):
    return [{name: batch.schema.simpleString() for name, batch in now.outputs.items()} for now in trace]


def fuzz(spark, seeds, seconds):
    """Counts of what became of random programs, the reasons for refusal, and those that differ."""
    counts, reasons, different = Counter(), Counter(), []
    until = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > until:
            break
        kind, why = judged(spark, seed)
        counts[kind] += 1
        if kind == "refused":
            reasons[re.sub(r"\(.*", "", re.sub(r"\d+", "#", why))[:110]] += 1
        if kind == "different":
            different.append(why)
    return counts, reasons, different


@pytest.mark.sweep
@pytest.mark.parametrize("piece", range(4))
def test_random_programs_come_out_as_alone(spark, sweep_seed, piece):
    seeds = [f"{sweep_seed} {piece} {number}" for number in range(SUBJECTS)]
    counts, reasons, different = fuzz(spark, seeds, SECONDS)
    print(f"seed {sweep_seed}, piece {piece}: {dict(counts)}; most frequent reasons for refusal:")
    for reason, times in reasons.most_common(10):
        print(f"  {times} {reason}")
    assert not different, different[0]
    assert counts["carried"], "nothing was compared"

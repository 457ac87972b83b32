"""A differential fuzzer: random programs of a grammar, in bulk against alone. None may differ.

A seed has four pieces of a hundred programs. Each piece ends after nine minutes at the latest. Five seeds make 2,000.
`FUZZ_FILE` names a file that gets a line for every program at once, so that a run that is cut off counts too.
"""

import json
import os
import random
import re
import time
from collections import Counter

import pytest

from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.failures import CannotCarry, SubjectFailure
from tests.spark.bulk import grammar

SUBJECTS = int(os.environ.get("FUZZ_SUBJECTS", "100"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "540"))
# Every program is new, so Spark would write and compile code for each that is run a few times only. Of the four pieces
# of a seed one has compiled code, as users have.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def judged(spark, seed):
    """What became of one random program ("carried", "refused", "different", "not a program"), and why."""
    rng = random.Random(seed)
    program = grammar.program(rng)
    cases = grammar.cases(rng, program.inputs)
    how = program.how
    try:
        together = exercise_together(spark, cases, program.subject, how)
    except CannotCarry as why:
        return _refused(spark, cases[:1], program, str(why))
    except SubjectFailure as why:
        return "not a program", str(why)
    numbers = [number for number, trace in enumerate(together) if trace is not None]
    number = rng.choice(numbers)  # the others are company: more programs tell more than more cases
    (expected,) = exercise_apart(spark, [cases[number]], program.subject, how)
    if isinstance(expected, SubjectFailure):
        return "different", f"seed {seed}: {program.text}\n alone it fails: {expected}"
    if together[number] != expected or _shapes(together[number]) != _shapes(expected):
        return "different", f"seed {seed}: {program.text}\n {cases[number]!r}\n {together[number]}\n {expected}"
    return "carried", ""


def _refused(spark, cases, program, why):
    """Is it a program at all? Where it could not be carried for a reason of Spark's, a run alone tells."""
    if "makes it fail" in why or "could not be rebuilt" in why:
        (alone,) = exercise_apart(spark, cases, program.subject, program.how)
        if isinstance(alone, SubjectFailure):
            return "not a program", why
    return "refused", why


def _shapes(trace):
    return [{name: batch.schema.simpleString() for name, batch in now.outputs.items()} for now in trace]


def fuzz(spark, seeds, seconds):
    """Counts of what became of random programs, the reasons for refusal, and those that differ."""
    counts, reasons, different = Counter(), Counter(), []
    until = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > until:
            break
        start = time.monotonic()
        kind, why = judged(spark, seed)
        _write_down(seed, kind, why, time.monotonic() - start)
        counts[kind] += 1
        if kind == "refused":
            reasons[re.sub(r"\(.*", "", re.sub(r"\d+", "#", why))[:110]] += 1
        if kind == "different":
            different.append(why)
    return counts, reasons, different


def _write_down(seed, kind, why, seconds):
    if "FUZZ_FILE" in os.environ:
        with open(os.environ["FUZZ_FILE"], "a") as file:
            print(json.dumps({"seed": seed, "kind": kind, "why": why, "seconds": round(seconds, 2)}), file=file)


@pytest.mark.sweep
@pytest.mark.parametrize("piece", range(4))
def test_random_programs_come_out_as_alone(spark, sweep_seed, piece):
    seeds = [f"{sweep_seed} {piece} {number}" for number in range(SUBJECTS)]
    with changed(spark, INTERPRETED if piece else {}):
        counts, reasons, different = fuzz(spark, seeds, SECONDS)
    print(f"seed {sweep_seed}, piece {piece}: {dict(counts)}; most frequent reasons for refusal:")
    for reason, times in reasons.most_common(10):
        print(f"  {times} {reason}")
    assert not different, different[0]
    assert counts["carried"], "nothing was compared"

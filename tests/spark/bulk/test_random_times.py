"""Bulk against alone, on random cases in event time: with `close=False`, every row comes out by a watermark."""

import random
from collections import Counter

import pytest

from firesteel.spark.running import Running
from tests.spark.bulk.random_times import PROGRAMS, compare, family

# Seeds whose cases share a query only where the watermark after the last batch is left out of account.
QUICK = {"tumbling": 0, "duplicates within": 8, "left join": 8}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_few_random_cases_come_out_as_alone(spark, name):
    (program,) = (program for program in PROGRAMS if program.name == name)
    cases = family(random.Random(QUICK[name]), 6, length=1, inputs=program.inputs)
    counts, different = compare(spark, program, cases, Running(close=False))
    assert not different, different[0]
    assert counts["rows"] and counts["carried"] >= 2


@pytest.mark.sweep
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_random_cases_come_out_as_alone(spark, sweep_seed, program):
    rng = random.Random(f"{sweep_seed} {program.name}")
    total, different = Counter(), []
    for close in (False, False, False, True):
        cases = [case for _ in range(2) for case in family(rng, 5, length=rng.choice([1, 2, 3]), inputs=program.inputs)]
        counts, found = compare(spark, program, cases, Running(output_mode=program.mode, close=close))
        total += counts
        different += found
    print(program.name, dict(total), "different:", len(different))
    assert not different, different[0]
    refused = any(counted.startswith("refused") for counted in total)
    assert total["rows"] or refused, "nothing came out that could differ"

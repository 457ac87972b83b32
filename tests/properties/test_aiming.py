"""Aiming on Spark: later cases come closer to what the user's predicates aim for, in generations that run in bulk."""

import hypothesis
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from firesteel.report.facts import facts

numbers = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 999)), max_size=6), during=3)


def too_much(frame):
    """Wrong where the sum of a batch is too large: at random that hardly happens."""

    def checked(part):
        return part[["n"]].sum().to_frame().T.query("n > 4000").astype("int32")

    return frame.groupBy(F.lit("all")).applyInPandas(checked, "n INT")


def never(now):
    hypothesis.target(float(sum(now.input.values("n"))), label="sum")
    return now.output == []


@pytest.mark.slow
def test_what_is_aimed_for_is_found_on_spark(spark):
    one = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 999)), max_size=6), during=1)
    numbers = []
    for name in ("a", "b"):
        with pytest.raises(fs.Falsified) as failure:
            fs.for_all(
                one, too_much, fs.always(never), cases=600, spark=spark, name=name, settings=settings(database=None)
            )
        assert "run" not in facts(failure.value.report), "in bulk"
        numbers.append(int(facts(failure.value.report)["found in"].split()[1]))
        found = failure.value.report.counterexample.inputs["input"]
        assert sum(found[0].values("n")) > 4000
    assert max(numbers) > 32, "by a later generation"


def test_an_assumption_of_a_predicate_refuses_the_case(spark):
    def few(now):
        hypothesis.assume(len(now.input) < 4)
        return now.output.same_as(now.input)

    report = fs.for_all(numbers, lambda frame: frame, fs.always(few), cases=20, spark=spark)
    assert 0 < report.cases < 20

    def none(now):
        hypothesis.assume(False)
        return True

    with pytest.raises(fs.Vacuous, match="refused by an assumption"):
        fs.for_all(numbers, lambda frame: frame, fs.always(none), cases=3, spark=spark)

"""Aiming: later cases come closer to what the user's predicates aim for, in generations that can be run in bulk."""

import hypothesis
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from firesteel.search.aim import Aim
from firesteel.search.drawing import Drawing, settings_for

numbers = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 999)), max_size=6), during=3)


def total(inputs):
    return sum(record.n for batch in inputs["input"] for record in batch)


def climbed(seed, generations=4, size=25):
    """The best total of 50 drawn cases, and after some generations; cases that no generator makes are not drawn."""
    drawing = Drawing(numbers, f"climb {seed}", settings_for(settings(database=None), 50))
    aim = Aim(drawing.seed)
    best = 0
    for case in drawing.to_come():
        aim.see(case.choices, {"total": float(total(case.inputs))})
        best = max(best, total(case.inputs))
    later = best
    for _ in range(generations):
        for case in drawing.of_choices(aim.generation(size)):
            assert len(case.inputs["input"]) == 3 and all(len(batch) <= 6 for batch in case.inputs["input"])
            assert all(0 <= record.n <= 999 for batch in case.inputs["input"] for record in batch)
            aim.see(case.choices, {"total": float(total(case.inputs))})
            later = max(later, total(case.inputs))
    return best, later


@pytest.mark.slow
def test_generations_come_closer():
    results = [climbed(seed, generations=12) for seed in range(6)]
    first, later = sum(best for best, _ in results), sum(best for _, best in results)
    # As many cases drawn at random come closer as well, but not so far.
    settled = settings_for(settings(database=None), 50 + 12 * 25)
    random = sum(
        max(total(case.inputs) for case in Drawing(numbers, f"climb {seed}", settled).to_come()) for seed in range(6)
    )
    assert later > 1.3 * first and later > random, (first, later, random)


def test_the_same_seed_gives_the_same_generations():
    assert climbed(1) == climbed(1)


def test_each_label_has_its_own_best():
    aim = Aim(0)
    aim.see((1,), {"a": 1.0, "b": 9.0})
    aim.see((2,), {"a": 2.0})
    assert aim and not Aim(0)
    children = aim.generation(20)
    assert len(children) == len(set(children)) > 1
    assert aim.generation(0) == []


def test_a_list_may_get_longer():
    aim = Aim(0)
    aim.see((False,), {"a": 1.0})
    aim.see((False,), {"a": 2.0})
    assert (True,) in aim.generation(20)


def test_nothing_to_change_ends():
    aim = Aim(0)
    aim.see((), {"a": 1.0})
    aim.see((), {"a": 2.0})
    assert aim.generation(5) == [()]


def test_what_all_score_alike_is_not_aimed_for():
    aim = Aim(0)
    aim.see((1,), {"a": 1.0})
    aim.see((2,), {"a": 1.0})
    assert not aim and aim.generation(5) == []
    aim.see((3,), {"a": 0.5})
    assert aim and len(aim.generation(5)) == 5


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
        assert "run" not in failure.value.report.setting, "in bulk"
        numbers.append(int(failure.value.report.setting["found in"].split()[1]))
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

"""for_all: what passes, what fails and how, determinism, the example database, notes, targets, replay."""

import re
import textwrap

import hypothesis
import pytest
from hypothesis import settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import InvalidArgument, Verdict
from firesteel import strategies as ss
from firesteel.report.facts import facts

N = ss.records("n INT NOT NULL", n=st.integers(0, 100))
numbers = ss.always(ss.batches(N, min_size=1, max_size=4), during=4)
same = fs.always(lambda now: now.output.same_as(now.input))


def identity(frame):
    return frame


def loses_the_large(frame):
    return frame.where("n < 50")


def nothing(frame):
    return frame.where("n < 0")


def test_a_right_subject_passes(spark):
    report = fs.for_all(numbers, identity, same, cases=5, spark=spark)
    assert (report.verdict, report.cases, report.counterexample) == (Verdict.TRUE, 5, None)


@pytest.fixture(scope="module")
def falsified(spark):
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, loses_the_large, same, cases=30, spark=spark)
    return failure.value


def test_a_wrong_one_is_falsified_and_shrunk(falsified):
    found = falsified.report.counterexample
    assert falsified.report.verdict is Verdict.FALSE
    at = len(found.trace) - 1
    smallest = [[(50,)] if index == at else [(0,)] for index in range(4)]
    assert found.inputs["input"] == smallest, "the generator's shape, the smallest numbers"
    assert found.trace[at].output == []
    (leaf,) = found.explanation.leaves()
    assert (leaf.at, leaf.records) == (at, ((50,),))


def test_the_message_says_what_happened_and_how_to_see_it_again(falsified):
    text, at = str(falsified), len(falsified.report.counterexample.trace) - 1
    assert text.startswith(f"the property is false in batch {at}\n")
    assert f"had to hold in every batch. It does not in batch {at}: 1 missing: Record(n=50)." in text
    assert "n=50   (none)  NO" in text and text.count("<- false here") == 1
    assert "loses_the_large (tests/properties/test_for_all.py:" in text
    whole = falsified.report.counterexample.inputs["input"]
    assert f"case = fs.{whole!r}\n" in text and "fs.for_all(case, loses_the_large, " in text
    assert f"fs.for_all(..., replay={falsified.report.counterexample.replay!r})" in text


def test_judging_stops_as_soon_as_the_verdict_is_definite(spark):
    example = fs.Stream("n INT NOT NULL", [[(1,)], [(60,)], [(2,)], [(3,)]])
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, loses_the_large, same, examples=[example], spark=spark)
    assert len(failure.value.report.counterexample.trace) == 2
    assert "(2 more batches were not needed)" in str(failure.value)


def test_replay_runs_that_case_and_no_other(spark, falsified):
    replay = falsified.report.counterexample.replay
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, loses_the_large, same, replay=replay, spark=spark)
    assert failure.value.report.counterexample.inputs == falsified.report.counterexample.inputs
    assert failure.value.report.cases == 1
    report = fs.for_all(numbers, identity, same, replay=replay, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 1)
    with pytest.raises(InvalidArgument, match="is not a replay line: copy it whole"):
        fs.for_all(numbers, identity, same, replay="nonsense", spark=spark)


def test_one_stream_is_the_only_case(spark):
    report = fs.for_all(fs.Stream("n INT NOT NULL", [[]]), identity, same, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 1), "nor is it vacuous, as a replay is not"
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all({"input": fs.Stream("n INT NOT NULL", [[(1,)], [(77,)]])}, loses_the_large, same, spark=spark)
    assert failure.value.report.counterexample.inputs["input"][1] == [(77,)]


def test_a_function_alone_has_to_hold_in_every_batch(spark):
    stream = fs.Stream("n INT NOT NULL", [[(1,)], [(77,)]])

    def complete(now):
        return now.output.same_as(now.input)

    assert fs.for_all(stream, loses_the_large, fs.now(complete), spark=spark).verdict is Verdict.TRUE
    with pytest.raises(fs.Falsified, match="false in batch 1"):
        fs.for_all(stream, loses_the_large, complete, spark=spark)


def test_an_output_mode_for_no_output_is_refused(spark):
    with pytest.raises(InvalidArgument, match="names the output 'out', which the subject does not have: it has 'outp"):
        fs.for_all(numbers, identity, same, output_mode={"out": "update"}, cases=20, spark=spark)
    with pytest.raises(InvalidArgument, match="names the output 'out', which the subject does not have"):
        fs.run(fs.Stream("n INT", [[(1,)]]), identity, output_mode={"out": "update"}, spark=spark)


def test_examples_run_first(spark):
    example = fs.Stream("n INT NOT NULL", [[(77,)]])
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, loses_the_large, same, examples=[example], cases=5, spark=spark)
    assert failure.value.report.counterexample.inputs["input"] == example
    assert failure.value.report.cases == 1


def test_the_answer_is_the_same_from_run_to_run(spark):
    def drawn():
        seen = []
        watching = fs.always(lambda now: bool(seen.append(now.input.records) or True))
        fs.for_all(
            numbers, identity, watching, cases=3, spark=spark, settings=settings(derandomize=False, database=None)
        )
        return seen

    assert drawn() == drawn()


@pytest.mark.slow
def test_the_example_database_is_tried_first(spark, fresh_database):
    for expected in ("case", "case 1 of"):
        with pytest.raises(fs.Falsified) as failure:
            fs.for_all(numbers, loses_the_large, same, cases=30, settings=fresh_database, spark=spark)
        assert expected in facts(failure.value.report)["found in"], facts(failure.value.report)
    assert "shrunk" not in facts(failure.value.report)["found in"], "the smallest one was there at once"


@pytest.mark.slow
def test_shrinking_that_takes_too_long_is_cut_short_and_says_so(spark, fresh_database):
    options = {"cases": 30, "settings": fresh_database, "shrink_seconds": 0, "spark": spark}
    for expected in (r"case \d+ of 30; shrinking was cut short after 0 s", "case 1 of 30; "):
        with pytest.raises(fs.Falsified) as failure:
            fs.for_all(numbers, loses_the_large, same, **options)
        assert re.match(expected, facts(failure.value.report)["found in"]), "and it is in the database all the same"
        assert failure.value.report.counterexample.inputs["input"] != [[(0,)], [(0,)], [(0,)], [(50,)]]


@pytest.mark.slow
def test_two_properties_of_one_test_do_not_share_their_examples(spark, fresh_database):
    with pytest.raises(fs.Falsified):
        fs.for_all(numbers, loses_the_large, same, cases=10, settings=fresh_database, name="one", spark=spark)
    other = fs.always(lambda now: len(now.output) <= 4)
    report = fs.for_all(numbers, identity, other, cases=2, settings=fresh_database, name="two", spark=spark)
    assert report.cases == 2


@pytest.mark.slow
def test_notes_and_targets_work_as_in_hypothesis(spark):
    def noted(now):
        hypothesis.note(f"saw {len(now.input)} records")
        hypothesis.target(float(len(now.input)), label=f"size {now.index}")
        return now.output.same_as(now.input)

    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, loses_the_large, fs.always(noted), cases=30, spark=spark)
    instants = len(failure.value.report.counterexample.trace)
    assert failure.value.report.notes == ("saw 1 records",) * instants, "once for each instant"
    assert "noted  saw 1 records" in str(failure.value)


def test_cases_come_from_the_profile(spark):
    report = fs.for_all(numbers, identity, same, settings=settings(max_examples=2), spark=spark)
    assert report.cases == 2


@pytest.mark.slow
def test_several_inputs_drawn_together(spark):
    inputs = st.fixed_dictionaries({"left": numbers, "right": numbers})

    def both(left, right):
        return left.union(right)

    fs.for_all(
        inputs, both, fs.always(lambda now: now.output.same_as(now["left"] + now["right"])), cases=3, spark=spark
    )
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(
            inputs,
            lambda left, right: left,
            fs.always(lambda now: now.output.contains(now["right"])),
            cases=9,
            spark=spark,
        )
    assert "case = {\n" in str(failure.value) and "'left': fs.Stream(" in str(failure.value)


# --- never silently true ---------------------------------------------------------------------------------


def test_a_stream_that_can_never_be_long_enough_is_refused_before_spark_starts(spark):
    def never_called(frame):
        raise AssertionError("Spark was started")

    with pytest.raises(
        fs.Inconclusive, match="a stream of 4 batches is too short to decide the property: 9 are always enough"
    ):
        fs.for_all(numbers, never_called, fs.always(lambda now: True, during=9), cases=3, spark=spark)


def test_an_undecided_property_fails_by_default(spark):
    ahead = fs.always(fs.next_(lambda now: True))
    with pytest.raises(InvalidArgument, match="can never be true: it looks beyond the last instant of every stream"):
        fs.for_all(numbers, identity, ahead, cases=2, spark=spark)
    promise = fs.always(fs.implies(lambda now: True, fs.next_(lambda now: True)))
    with pytest.raises(fs.Inconclusive, match="an operator without a bound is never sure about its last batch"):
        fs.for_all(numbers, identity, promise, cases=2, spark=spark)
    report = fs.for_all(numbers, identity, ahead, cases=2, on_inconclusive="pass", spark=spark)
    assert report.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "streams, subject, formula, message",
    [
        (numbers, nothing, fs.always(lambda now: True), "put out nothing at all"),
        (ss.always(ss.batches(N, max_size=0), during=2), identity, fs.always(lambda now: True), "only empty batches"),
        (
            numbers,
            identity,
            fs.always(fs.implies(lambda now: now.index > 9, fs.FALSE)),
            "the premise now.index > 9 never",
        ),
        (
            numbers,
            identity,
            fs.always(fs.let(lambda now: fs.implies(now.index > 9, fs.FALSE))),
            "made by let or consume",
        ),
    ],
    ids=["no output", "no input", "no premise", "no premise on the way"],
)
def test_a_property_that_says_nothing_fails_by_default(spark, streams, subject, formula, message):
    with pytest.raises(fs.Vacuous, match=message):
        fs.for_all(streams, subject, formula, cases=3, spark=spark)
    report = fs.for_all(streams, subject, formula, cases=3, on_vacuous="pass", spark=spark)
    assert report.verdict is Verdict.TRUE


# --- what a reviewer found ---------------------------------------------------------------------------------


def grows(frame):
    return frame.selectExpr("explode(sequence(1, n)) AS m")


@pytest.mark.slow
def test_an_instant_is_judged_once_when_output_turns_large_on_the_way(spark):
    streams = st.just(fs.Stream("n INT NOT NULL", [[(1,)], [(2,)], [(50,)], [(1,)]]))
    seen = []

    def counted(now):
        seen.append(now.index)
        return now.index < 3

    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(streams, grows, fs.always(counted, during=4), cases=1, large=20, spark=spark)
    assert len(failure.value.report.counterexample.trace) == 4
    assert seen[:4] == [0, 1, 2, 3]
    fs.for_all(streams, grows, fs.next_(lambda now: now.index == 2, times=2), cases=1, large=20, spark=spark)


def test_the_evidence_of_a_subject_that_raises_holds_the_batch_that_it_raised_in(spark):
    from pyspark.sql import functions as F

    def inverts(frame):
        return frame.select(F.udf(lambda n: 1 // n, "int")("n").alias("q"))

    example = fs.Stream("n INT NOT NULL", [[(1,)], [(0,)], [(2,)]])
    with pytest.raises(fs.SubjectError) as failure:
        fs.for_all(numbers, inverts, fs.always(lambda now: True), examples=[example], spark=spark)
    text = str(failure.value)
    assert "1      n=0    (failed)" in text and "(1 more batch was not needed)" in text


def test_a_subject_that_raises_once_only_is_not_blamed(spark):
    from pyspark.sql import functions as F

    runs = []

    def moody(frame):
        runs.append(1)
        divisor = 0 if len(runs) == 1 else 1
        return frame.select(F.udf(lambda n: n // divisor, "int")("n").alias("q"))

    example = fs.Stream("n INT NOT NULL", [[(1,)]])
    with pytest.raises(fs.Inconclusive, match="run twice, and only the first run failed"):
        fs.for_all(numbers, moody, fs.always(lambda now: True), examples=[example], spark=spark)


def test_notes_work_in_examples_and_replays_too(spark, falsified):
    def noted(now):
        hypothesis.note("seen")
        return now.output.same_as(now.input)

    replay = falsified.report.counterexample.replay
    with pytest.raises(fs.Falsified):
        fs.for_all(numbers, loses_the_large, fs.always(noted), replay=replay, spark=spark)


def test_a_replayed_case_may_be_empty_once_the_bug_is_mended(spark, falsified):
    replay = falsified.report.counterexample.replay
    nothing_large = fs.always(lambda now: now.output.none(lambda r: r.n >= 0))
    assert fs.for_all(numbers, nothing, nothing_large, replay=replay, spark=spark).verdict is Verdict.TRUE


@pytest.mark.slow
def test_the_test_to_keep_names_the_mode_and_parses(spark):
    wrong = fs.always(lambda now: now.output.none(lambda r: r.n > 50))
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, lambda f: f.groupBy("n").count(), wrong, output_mode="update", cases=30, spark=spark)
    kept = str(failure.value).partition("Keep it as a test:")[2].partition("Run it again:")[0]
    assert "output_mode='update'" in kept
    compile(textwrap.dedent(kept), "kept", "exec")


def test_streams_of_two_schemas_are_two_cases(spark):
    streams = st.sampled_from([fs.Stream("n INT", [[(2**31 - 1,)]]), fs.Stream("n BIGINT", [[(2**31 - 1,)]])])
    kinds = set()

    def seen(now):
        kinds.add(now.output.schema.fields[0].dataType.typeName())
        return True

    fs.for_all(streams, identity, fs.always(seen), cases=10, spark=spark)
    assert kinds == {"integer", "long"}

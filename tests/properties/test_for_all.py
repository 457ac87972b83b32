"""for_all: what passes, what fails and how, determinism, the example database, notes, targets, replay."""

import re
import traceback

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import InvalidArgument, PredicateError, Verdict
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


def test_the_example_database_is_tried_first(spark, fresh_database):
    for expected in ("case", "case 1 of"):
        with pytest.raises(fs.Falsified) as failure:
            fs.for_all(numbers, loses_the_large, same, cases=30, settings=fresh_database, spark=spark)
        assert expected in facts(failure.value.report)["found in"], facts(failure.value.report)
    assert "shrunk" not in facts(failure.value.report)["found in"], "the smallest one was there at once"


def test_shrinking_that_takes_too_long_is_cut_short_and_says_so(spark, fresh_database):
    options = {"cases": 30, "settings": fresh_database, "shrink_seconds": 0, "spark": spark}
    for expected in (r"case \d+ of 30; shrinking was cut short after 0 s", "case 1 of 30; "):
        with pytest.raises(fs.Falsified) as failure:
            fs.for_all(numbers, loses_the_large, same, **options)
        assert re.match(expected, facts(failure.value.report)["found in"]), "and it is in the database all the same"
        assert failure.value.report.counterexample.inputs["input"] != [[(0,)], [(0,)], [(0,)], [(50,)]]


def test_two_properties_of_one_test_do_not_share_their_examples(spark, fresh_database):
    with pytest.raises(fs.Falsified):
        fs.for_all(numbers, loses_the_large, same, cases=10, settings=fresh_database, name="one", spark=spark)
    other = fs.always(lambda now: len(now.output) <= 4)
    report = fs.for_all(numbers, identity, other, cases=2, settings=fresh_database, name="two", spark=spark)
    assert report.cases == 2


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


# --- what goes wrong ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_exception_in_the_subject_is_shown_with_the_case_that_caused_it(spark):
    from pyspark.sql import functions as F

    def inverts(frame):
        return frame.select(F.udf(lambda n: 100 // (n - 7), "int")("n").alias("q"))

    zero = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 9)), min_size=1, max_size=3), during=2)
    with pytest.raises(fs.SubjectError, match="in batch 1: ZeroDivisionError") as failure:
        fs.for_all(zero, inverts, fs.always(lambda now: True), cases=50, spark=spark)
    assert failure.value.report.counterexample.inputs["input"] == [[(0,)], [(7,)]]
    assert failure.value.__cause__ is not None


def test_a_predicate_that_raises_names_itself_and_the_case(spark):
    with pytest.raises(PredicateError, match="no column 'm'; the record has 'n'") as failure:
        fs.for_all(numbers, identity, fs.always(lambda now: now.output[0].m > 0), cases=3, spark=spark)
    assert any("in this case" in note for note in failure.value.__notes__)


def test_the_first_error_comes_before_any_bulk_run(spark, monkeypatch):
    def never(*args, **options):
        raise AssertionError("cases are run together")

    def typo(now):
        return now.output.every(lambda record: record.m > 0)

    monkeypatch.setattr("firesteel.properties.claim.exercise_together", never)
    with pytest.raises(PredicateError, match="no column 'm'") as failure:
        fs.for_all(numbers, identity, fs.always(typo), cases=30, spark=spark)
    assert [note.count("in this case") for note in failure.value.__notes__] == [1], "and no note of Hypothesis's"
    shown = [frame.name for frame in traceback.extract_tb(failure.value.__cause__.__traceback__)]
    assert shown == ["typo", "<lambda>"], "the user's frames"
    with pytest.raises(fs.SubjectError, match="when it was built") as failure:
        fs.for_all(numbers, lambda frame: frame.select("m"), same, cases=30, spark=spark)
    assert facts(failure.value.report)["found in"] == "case 1 of 30", "a smaller case would be no better"
    with pytest.raises(InvalidArgument, match="output_mode='append' does not fit the query"):
        fs.for_all(numbers, lambda frame: frame.groupBy("n").count(), same, cases=30, spark=spark)


def test_a_subject_that_gives_two_answers_is_not_called_false(spark):
    runs = []

    def moody(frame):
        runs.append(1)
        return frame if len(runs) % 2 else frame.where("n < 0")

    with pytest.raises(fs.Inconclusive, match="judged twice, and only the first run broke the property"):
        # One case at a time: every second run is another.
        fs.for_all(numbers, moody, fs.always(lambda now: not now.output), cases=5, bulk=False, spark=spark)


def test_inside_given_the_error_says_what_to_write_instead(spark):
    @settings(max_examples=1, database=None)
    @given(numbers)
    def test(stream):
        fs.for_all(numbers, identity, same, spark=spark)

    with pytest.raises(InvalidArgument, match="cannot be called inside @given: remove @given"):
        test()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"cases": 0}, r"cases=0 \(int\) is not possible"),
        ({"on_vacuous": "maybe"}, r"on_vacuous='maybe' \(str\) is not possible: write 'fail' or 'pass'"),
        ({"large": -1}, r"large=-1 \(int\) is not possible"),
        ({"output_mode": "none"}, "output_mode='none'"),
    ],
)
def test_bad_options(spark, options, message):
    with pytest.raises(InvalidArgument, match=message):
        fs.for_all(numbers, identity, same, spark=spark, **options)


def test_sessions_that_cannot_be_used():
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(InvalidArgument, match="is a Spark Connect session, which has no JVM"):
        fs.for_all(numbers, identity, same, spark=connect)
    with pytest.raises(InvalidArgument, match=r"spark='local' \(str\) is not a Spark session"):
        fs.run(fs.Stream("n INT", []), identity, spark="local")


def test_bad_arguments(spark):
    with pytest.raises(InvalidArgument, match=r"is not a strategy: .* or one stream, which is then the only case"):
        fs.for_all([[(1,)]], identity, same, spark=spark)
    with pytest.raises(InvalidArgument, match="is a batch, where a stream is meant"):
        fs.for_all(ss.batches(N), identity, same, spark=spark)
    with pytest.raises(InvalidArgument, match=r"formula=5 \(int\) is not a formula"):
        fs.for_all(numbers, identity, 5, spark=spark)
    with pytest.raises(TypeError, match=r"fs\.for_all has no option 'case': did you mean 'cases'\? It has .*cases"):
        fs.for_all(numbers, identity, same, case=3, spark=spark)


# --- what a reviewer found ---------------------------------------------------------------------------------


def grows(frame):
    return frame.selectExpr("explode(sequence(1, n)) AS m")


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
    assert "fs.run(fs.Stream('n INT NOT NULL', [[(1,)], [(0,)]]), inverts)" in text
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


def test_the_line_to_keep_names_the_mode_and_parses(spark):
    wrong = fs.always(lambda now: now.output.none(lambda r: r.n > 50))
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, lambda f: f.groupBy("n").count(), wrong, output_mode="update", cases=30, spark=spark)
    line = next(line for line in str(failure.value).splitlines() if "fs.run(" in line)
    assert line.endswith(", subject, output_mode='update')")
    compile(line.strip(), "line", "eval")


def test_streams_of_two_schemas_are_two_cases(spark):
    streams = st.sampled_from([fs.Stream("n INT", [[(2**31 - 1,)]]), fs.Stream("n BIGINT", [[(2**31 - 1,)]])])
    kinds = set()

    def seen(now):
        kinds.add(now.output.schema.fields[0].dataType.typeName())
        return True

    fs.for_all(streams, identity, fs.always(seen), cases=10, spark=spark)
    assert kinds == {"integer", "long"}


def test_a_predicate_may_assert(spark):
    """A failed assertion is a no: the failure has the table, and the assertion's message as the reason."""

    def few(now):
        assert len(now.output) < 2, "more than one"
        return True

    two = fs.Stream("n INT NOT NULL", [[(1,), (2,)]])
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(st.just(two), identity, fs.always(few), cases=1, spark=spark)
    said = str(failure.value)
    assert "few had to hold in every batch. It does not in batch 0:\n    more than one\n    assert 2 < 2" in said
    assert "<- false here" in said and "Traceback" not in said


def test_a_subject_that_fails_inside_a_predicate_does_not_make_it_false(spark):
    def runs_another(now):
        fs.run(fs.Stream("n INT", [[(1,)]]), lambda frame: frame.select("missing"), spark=spark)
        return True

    with pytest.raises(PredicateError, match="runs_another raised SubjectError") as failure:
        fs.for_all(numbers, identity, fs.always(runs_another), cases=1, spark=spark)
    assert isinstance(failure.value.__cause__, fs.SubjectError)


def test_hypothesis_event_works_in_predicates(spark):
    """In an example, in a bulk run and in runs alone."""
    asked = []

    def noisy(now):
        hypothesis.event(f"{len(now.output)} records")
        hypothesis.note("looked at")
        asked.append(hypothesis.currently_in_test_context())
        return True

    given_first = [fs.Stream("n INT NOT NULL", [[(1,)]])]
    fs.for_all(numbers, identity, fs.always(noisy), examples=given_first, cases=20, spark=spark)
    assert len(asked) > 20 and all(asked)

"""The teeth of a bulk run: which cases are run alone too, or in other company, and what that shows; no Spark."""

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Stream, Trace
from firesteel.search.find import When
from firesteel.spark.bulk.together import Together
from tests.runs.test_screening import Runner, case, screen, screened


@pytest.mark.parametrize(("count", "samples"), [(8, 1), (49, 1), (100, 2), (150, 3), (1000, 3)])
def test_more_cases_have_more_samples(count, samples):
    runner = Runner()
    judge = screened(runner, [case(2, first) for first in range(count)])
    assert len(runner.ran_apart) == samples and set(runner.ran_apart) <= {1, 2}
    assert runner.ran_together[:count] == [2] * count
    assert len(runner.ran_together) <= count + 2 * samples, "beginnings are cases of their own"
    assert judge.disagreement is None and sum(judge.is_screened(case(2, first)) for first in range(count)) >= count - 3


@pytest.mark.parametrize(("count", "samples"), [(8, 2), (100, 4), (1000, 6)])
def test_a_doubtful_program_has_twice_as_many(count, samples):
    class Doubtful(Runner):
        def together(self, cases, *, also_single):
            traces = Together(super().together(cases, also_single=also_single))
            traces.doubtful = True
            return traces

    runner = Doubtful()
    screened(runner, [case(2, first) for first in range(count)])
    assert len(runner.ran_apart) == samples


def test_samples_are_whole_cases_and_random_beginnings_the_same_from_run_to_run():
    runs = []
    for _ in range(2):
        runner = Runner()
        for start in range(0, 4000, 100):
            screened(runner, [case(4, start + first) for first in range(8)])
        runs.append(runner.ran_apart)
    assert runs[0] == runs[1] and set(runs[0]) == {1, 2, 3, 4} and 10 < runs[0].count(4) < 30


def test_of_a_long_case_the_first_batches_are_run_alone():
    """They are a case of the bulk run too: else there would be nothing to compare them with."""
    runner = Runner()
    judge = screened(runner, [case(30, first) for first in range(10)])
    assert len(runner.ran_apart) == 1 and runner.ran_apart[0] <= 8
    assert runner.ran_together[:10] == [30] * 10 and runner.ran_apart[0] in runner.ran_together[10:12]
    assert judge.disagreement is None and judge.is_screened(case(30, 1))


def test_where_the_first_batches_cannot_run_with_the_others_the_whole_case_is_run_alone():
    runner = Runner(refused=range(1, 9))
    screened(runner, [case(30, first) for first in range(10)])
    assert runner.ran_apart == [30]


@pytest.mark.parametrize("length", [3, 30])
@pytest.mark.parametrize("refused", [(), range(1, 9)])
def test_a_bulk_run_that_is_wrong_is_not_believed(length, refused):
    refused = [each for each in refused if each != length]
    judge = screened(Runner(wrong_from=0, refused=refused), [case(length, first) for first in range(10)])
    together, alone = judge.disagreement
    assert together[0] != alone[0]
    assert not judge.is_known(case(length, 1))


def test_one_that_is_wrong_later_on_is_noticed_mostly():
    judges = [screened(Runner(wrong_from=2), [case(3, 10 * n + first) for first in range(150)]) for n in range(20)]
    assert sum(judge.disagreement is not None for judge in judges) >= 15


def test_a_case_must_not_notice_its_neighbours():
    """With many cases in one query all come out wrong. Those that are run alone do too: only other company tells."""

    class Crowded(Runner):
        def together(self, cases, *, also_single):
            self.ran_together += [run.length for run in cases]
            return [self.trace(run, 0 if len(cases) > 20 else 99) for run in cases]

        def apart(self, cases):
            return [self.trace(run, 0) for run in cases]

    cases = [case(1, first) for first in range(60)]
    judge, screening = screen(runner=(runner := Crowded()))
    screening(cases, when=When.FIRST)
    assert judge.disagreement is None and len(runner.ran_together) == 60
    assert not screening.stands() and judge.disagreement is not None
    assert runner.ran_together[60:] == [1] * 6, "a few, together once more"
    judge, screening = screen(runner=(runner := Crowded()))
    screening(cases, when=When.FIRST)
    screening([case(1, first) for first in range(100, 110)], when=When.SIMPLER)
    assert judge.disagreement is None and len(runner.ran_together) == 70
    screening([case(1, first) for first in range(110, 120)], when=When.LATER)
    assert judge.disagreement is not None and len(runner.ran_together) == 70 + 10 + 6, (
        "among those of a later generation"
    )


def test_the_company_is_in_another_order():
    class Watched(Runner):
        def together(self, cases, *, also_single):
            self.last = list(cases)
            return super().together(cases, also_single=also_single)

    cases = [case(1, first) for first in range(60)]
    _, screening = screen(runner=(runner := Watched()))
    screening(cases, when=When.FIRST)
    assert screening.stands()
    places = [cases.index(each) for each in runner.last]
    assert len(places) == 6 and places != sorted(places)


def test_in_other_company_once_is_enough():
    judge, screening = screen(runner=(runner := Runner()))
    screening([case(1, first) for first in range(60)], when=When.FIRST)
    screening([case(1, first) for first in range(100, 110)], when=When.LATER)
    screening([case(1, first) for first in range(110, 120)], when=When.LATER)
    assert screening.stands() and len(runner.ran_together) == 60 + 10 + 6 + 10 and judge.disagreement is None


def test_later_generations_have_samples_too_and_simpler_cases_have_none():
    _, screening = screen(runner=(runner := Runner()))
    screening([case(2, first) for first in range(20)], when=When.FIRST)
    alone, compared = len(runner.ran_apart), screening.compared
    screening([case(2, first) for first in range(100, 120)], when=When.SIMPLER)
    assert screening.stands() and len(runner.ran_apart) == alone
    for start in range(200, 300, 20):
        screening([case(9, first) for first in range(start, start + 20)], when=When.LATER)
    assert len(runner.ran_apart) == alone, "not before the end"
    assert screening.stands() and screening.compared == compared + 5, "one of every generation"
    assert len(runner.ran_apart) == alone + 5 and max(runner.ran_apart[alone:]) <= 3
    assert screening.stands() and len(runner.ran_apart) == alone + 5, "once"


def test_a_later_generation_that_is_wrong_is_noticed_in_the_end():
    judge, screening = screen(runner=(runner := Runner()))
    screening([case(2, first) for first in range(20)], when=When.FIRST)
    screening([case(2, first) for first in range(200, 220)], when=When.LATER)
    runner.wrong_from = 0
    screening([case(2, first) for first in range(300, 320)], when=When.LATER)
    assert judge.is_known(case(2, 301)) and not screening.stands()
    assert judge.disagreement is not None and not judge.is_known(case(2, 301))


@pytest.mark.parametrize(
    ("predicate", "stands"),
    [
        (lambda now: now.output.records == now.input.records or True, False),
        (lambda now: bool(now.output[0]), False),
        (lambda now: now.output.sorted_by("n") or True, False),
        (lambda now: now.so_far.output[0] is not None, False),
        (lambda now: now.output.same_as(now.input.records), True),
        (lambda now: sorted(now.output.values("n")) == sorted(r.n for r in now.input.records), True),
        (
            lambda now: now.output.every(lambda r: r.n < 9) and now.output.where(lambda r: r.n == 1).contains([(1,)]),
            True,
        ),
    ],
)
def test_the_order_of_records_is_compared_where_the_claim_reads_it(predicate, stands):
    class Backwards(Runner):
        def together(self, cases, *, also_single):
            return [
                Trace(Instant(now.index, now.inputs, {"output": Batch(list(now.output)[::-1])}) for now in trace)
                for trace in super().together(cases, also_single=also_single)
            ]

    cases = [fs.Case(Stream("n INT", [[(1,), (2,), (first % 9,)]])) for first in range(20)]
    judge, screening = screen(runner=Backwards(), formula=fs.always(predicate))
    glances = screening(cases, when=When.FIRST)
    for glance in glances:
        assert not glance().fails
    assert screening.stands() is stands and (judge.disagreement is None) is stands

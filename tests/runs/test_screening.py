"""How cases of bulk runs are judged: which are run alone too, what is believed, and how close they came; no Spark."""

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Stream, Trace
from firesteel.evidence.events import nobody
from firesteel.properties.claim import Property
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory, Remembered
from firesteel.runs.screening import Screen
from firesteel.search.find import When
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.traces import up_to


def case(length, first=0):
    return fs.Case(Stream("n INT", [[(first + at,)] for at in range(length)]))


class Runner:
    """Passes everything on; `together` may be wrong from some batch on, and may refuse cases of some length."""

    how = Running()
    prefixes = True

    def __init__(self, wrong_from=99, refused=(), error=None):
        self.wrong_from, self.refused, self.error = wrong_from, refused, error
        self.ran_alone = []
        self.ran_apart = []
        self.ran_together = []

    def trace(self, run, wrong_from=99):
        stream = run.inputs["input"]
        return Trace(
            Instant(at, {"input": batch}, {"output": Batch([] if at >= wrong_from else batch.records)})
            for at, batch in enumerate(stream)
        )

    def alone(self, run, watcher):
        self.ran_alone.append(run.length)
        if self.error is not None:
            for instant in self.error.trace:
                watcher(instant)
            raise self.error
        return up_to(self.trace(run), watcher)

    def apart(self, cases):
        self.ran_apart += [run.length for run in cases]
        return [self.trace(run) for run in cases]

    def together(self, cases, *, also_single):
        self.ran_together += [run.length for run in cases]
        return [None if run.length in self.refused else self.trace(run, self.wrong_from) for run in cases]


def screened(runner, cases, formula=None):
    """The judge of a claim that holds everywhere, after these cases were screened."""
    memory = Memory()
    claim = Property(fs.always(lambda now: True) if formula is None else formula)
    judge = Judge(claim, runner, memory)
    Screen(judge, runner, memory, bulk=True, at_once=1, tell=nobody)(cases, when=When.FIRST)
    return judge


def sized(length, records):
    return fs.Case(Stream("n INT", [[(n,) for n in range(records)], *([[]] * (length - 1))]))


def screen(cases=None, *, bulk=True, formula=None, runner=None):
    memory, runner = Memory(), Runner() if runner is None else runner
    judge = Judge(Property(fs.always(lambda now: True) if formula is None else formula), runner, memory)
    return judge, Screen(judge, runner, memory, bulk=bulk, at_once=3, tell=nobody)


def test_a_short_case_of_middling_size_is_judged_before_a_bulk_run():
    cases = [sized(5, 1), *(sized(2, records) for records in (0, 9, 3, 1, 2)), sized(7, 1), sized(1, 0)]
    assert screen()[1].small_one(cases) == 3, "of those with two batches and at least a record"
    assert screen(bulk=False)[1].small_one(cases) is None and screen()[1].small_one(cases[:7]) is None
    assert screen(formula=fs.next_(lambda now: True, times=4))[1].small_one(cases) == 0, "two batches are too short"
    assert screen()[1].small_one([sized(2, 0)] * 8) is None


def test_that_case_is_compared_with_the_bulk_run_and_so_is_another_one():
    """It was chosen for being short, so it is not a sample of the others."""
    judge, screening = screen(runner=(runner := Runner()))
    cases = [case(2, first) for first in range(20)]
    judge(cases[10])
    screening(cases, when=When.FIRST)
    assert runner.ran_alone == [2] and len(runner.ran_apart) == 1 and runner.ran_together[:20] == [2] * 20
    assert screening.compared == 2 and judge.disagreement is None


@pytest.mark.parametrize("first", [0, 1])
def test_either_of_them_shows_that_a_bulk_run_is_wrong(first):
    """Cases with one batch come out wrong: the one that is judged first, or all the others."""

    class WrongWithOneBatch(Runner):
        def together(self, cases, *, also_single):
            return [self.trace(run, 0 if run.length == 1 else 99) for run in cases]

    judge, screening = screen(runner=WrongWithOneBatch())
    short, long = case(1, 100), [case(2, first) for first in range(20)]
    cases = [short, *long] if first == 0 else [long[0], *(case(1, first) for first in range(100, 120))]
    judge(cases[0])
    screening(cases, when=When.FIRST)
    assert judge.disagreement is not None


def test_where_all_cases_are_the_same_one_is_enough():
    judge, screening = screen()
    judge(case(2))
    screening([case(2) for _ in range(20)], when=When.FIRST)
    assert screening.compared <= 2 and judge.disagreement is None


def test_a_case_that_was_decided_early_is_not_enough_to_compare():
    judge, screening = screen(runner=(runner := Runner()), formula=fs.now(lambda now: True))
    cases = [case(2, first) for first in range(20)]
    judge(cases[7])
    screening(cases, when=When.FIRST)
    assert runner.ran_alone == [2] and len(runner.ran_apart) == 1


def test_where_the_first_case_is_known_to_fail_few_are_run_together():
    """They show whether it can be made simpler in bulk; a subject that raises ends every bulk run."""
    cases = [case(2, first) for first in range(20)]
    judge, screening = screen(runner=(runner := Runner()), formula=fs.always(lambda now: False))
    assert judge(cases[0]).fails
    screening(cases, when=When.FIRST)
    assert runner.ran_together[:8] == [2] * 8 and len(runner.ran_together) <= 10, "nor in other company"
    raises = Runner(error=SubjectFailure("boom"))
    judge, screening = screen(runner=raises)
    failure = judge(cases[0])
    screening(cases, when=When.FIRST)
    assert failure.error is not None and raises.ran_together == []
    assert screening.at_once(failure) == 3, "candidates are run in threads"


def test_a_predicate_that_raises_at_times_is_reported():
    """It raised on what a bulk run put out. A run alone puts out the same, so it is not the bulk run's fault."""
    asked = []

    def at_times(now):
        asked.append(now)
        if len(asked) == 3:
            raise ValueError("at times")
        return True

    cases = [case(1, first) for first in range(20)]
    judge, screening = screen(formula=fs.always(at_times))
    glances = screening(cases, when=When.FIRST)
    assert [glances[place]().fails for place in (0, 1)] == [False, False]
    with pytest.raises(fs.PredicateError, match="at times") as first:
        glances[2]()
    with pytest.raises(fs.PredicateError, match="at times") as raised:
        judge(cases[2])
    assert raised.value is first.value and [note.count("Case(") for note in raised.value.__notes__] == [1], "once"


def test_what_follows_the_batch_that_failed_does_not_matter():
    runner = Runner(error=SubjectFailure("boom", Runner().trace(case(1))))
    judge, _ = screen(runner=runner)
    assert judge(case(5)).error is not None
    same_until_then = fs.Case(Stream("n INT", [[(0,)], [(1,)], [(9,)]]))
    assert judge.is_known(same_until_then) and not judge.is_known(fs.Case(Stream("n INT", [[(0,)], [(9,)], [(2,)]])))


def test_cases_that_differ_only_in_what_was_drawn_are_different():
    judge = screened(Runner(), [fs.Case(case(2), n=n) for n in range(10)])
    assert judge.is_screened(fs.Case(case(2), n=3))
    assert not judge.is_known(fs.Case(case(2), n=10)) and not judge.is_known(case(2))


def test_what_it_said_before_is_forgotten():
    cases = [case(2, first) for first in range(10)]
    judge, screening = screen()
    judge(cases[5])
    screening(cases, when=When.FIRST)
    screened = [each for each in cases if judge.is_screened(each)]
    assert len(screened) >= 8
    judge.disagree(Trace(()), Trace(()))
    assert not any(map(judge.is_known, screened)) and judge.is_known(cases[5]), "all but what was run alone"


def test_cases_of_many_lengths():
    runner = Runner()
    screened(runner, [case(1 + first % 20, first) for first in range(150)])
    assert len(runner.ran_apart) == 3 and max(runner.ran_apart) <= 8


def test_how_close_a_case_came_is_asked_of_all_that_was_seen():
    """The verdict is there with the first instant; what comes later tells which case is worth changing."""

    def has(n):
        return fs.now(lambda now: (n,) in now.input, name=f"has_{n}")

    in_turn = has(0) & fs.next_(has(1)) & fs.next_(has(2), times=2)
    formula = fs.implies(in_turn, fs.next_(lambda now: not now.output, times=2))
    near = fs.Case(Stream("n INT", [[(9,)], [(1,)], [(2,)]]))
    far = fs.Case(Stream("n INT", [[(9,)], [(8,)], [(7,)]]))
    judge = screened(Runner(), [near, far, *(case(3, first) for first in range(10, 20))], formula)
    seen = [judge.glance(each) for each in (near, far)]
    assert [(len(one.trace), one.settled) for one in seen] == [(1, True), (1, True)]
    assert seen[0].closeness > seen[1].closeness


def test_where_only_the_order_differs_no_run_is_wrong():
    """A bulk run may bring the same records in another order, which a predicate minds: the run alone counts."""

    class Backwards(Runner):
        def alone(self, run, watcher):
            return self.trace(run)

        def together(self, cases, *, also_single):
            return [
                Trace(
                    Instant(now.index, now.inputs, {"output": Batch(now.output.records[::-1])})
                    for now in self.trace(run)
                )
                for run in cases
            ]

    in_order = fs.always(lambda now: now.output.records == now.input.records)
    two = fs.Case(Stream("n INT", [[(1,), (2,)]]))
    judge = screened(Backwards(), [two, *(case(1, first) for first in range(10))], in_order)
    assert judge.glance(two).verdict is fs.Verdict.FALSE
    assert judge(two).verdict is not fs.Verdict.FALSE and judge.disagreement is None


def test_few_cases_are_not_run_together():
    runner = Runner()
    judge = screened(runner, [case(2, first) for first in range(7)])
    assert runner.ran_together == [] and not judge.is_known(case(2, 1))


def test_where_each_has_to_run_alone_several_run_ahead():
    runner, memory = Runner(), Memory()
    judge = Judge(Property(fs.always(lambda now: True)), runner, memory)
    screen = Screen(judge, runner, memory, bulk=False, at_once=3, tell=nobody)
    glances = screen([case(2, first) for first in range(5)], when=When.FIRST)
    assert runner.ran_apart == []
    assert glances[0]().verdict is fs.Verdict.TRUE and len(runner.ran_apart) == 3
    assert glances[2]().verdict is fs.Verdict.TRUE and len(runner.ran_apart) == 3
    assert glances[3]().verdict is fs.Verdict.TRUE and len(runner.ran_apart) == 5


class Moody(Runner):
    """A run alone breaks the claim the first time only; a bulk run shows what it is told to."""

    def __init__(self, together):
        super().__init__()
        self.shown, self.alone_runs = together, 0

    def seen(self, run, outputs):
        return Trace(
            Instant(at, {"input": batch}, {"output": Batch(outputs)}) for at, batch in enumerate(run.inputs["input"])
        )

    def alone(self, run, watcher):
        self.alone_runs += 1
        trace = self.seen(run, [] if self.alone_runs == 1 else [1])
        for instant in trace:
            if watcher(instant):
                break
        return trace

    def apart(self, cases):
        return [self.seen(run, self.shown) for run in cases]

    def together(self, cases, *, also_single):
        return [self.seen(run, self.shown) for run in cases]


@pytest.mark.parametrize("shown, runs", [([], 1), ([1], 2)], ids=["bulk is false too", "bulk is not"])
def test_only_what_a_bulk_run_found_false_as_well_has_been_seen_twice(shown, runs):
    puts_out = fs.always(lambda now: len(now.output) > 0)
    cases = [case(1, first) for first in range(10)]
    runner = Moody(shown)
    judge = screened(runner, cases, puts_out)
    judge.glance(cases[0])
    alone = judge(cases[0])
    assert alone.verdict is fs.Verdict.FALSE
    again = judge.again(cases[0], alone)
    assert runner.alone_runs == runs
    assert (again.verdict is fs.Verdict.FALSE) == (runs == 1)


def test_what_a_bulk_run_saw_does_not_count_once_bulk_runs_are_wrong():
    puts_out = fs.always(lambda now: len(now.output) > 0)
    cases = [case(1, first) for first in range(10)]
    runner = Moody([])
    judge = screened(runner, cases, puts_out)
    judge.glance(cases[0])
    alone = judge(cases[0])
    judge.disagree(Trace(()), Trace(()))
    assert judge.again(cases[0], alone).verdict is not fs.Verdict.FALSE and runner.alone_runs == 2


def test_a_sample_that_ended_with_its_verdict_is_compared_as_far_as_it_goes():
    runner, memory = Runner(), Memory()
    judge = Judge(Property(fs.now(lambda now: True)), runner, memory)
    cases = [case(3, first) for first in range(10)]
    for each in cases:
        memory.keep(each, Remembered(Trace(runner.trace(each)[:1])), decided_after=1)
    Screen(judge, runner, memory, bulk=True, at_once=1, tell=nobody)(cases, when=When.FIRST)
    assert judge.disagreement is None

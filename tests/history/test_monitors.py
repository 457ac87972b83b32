"""One automaton and a state for each key, compared with the formula evaluated on each key's own trace."""

import json
import random

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history.judging import End, Judge
from firesteel.history.monitors import Monitors
from firesteel.history.samples import completed, ended, job, job_end, log, lost, started, submitted
from firesteel.logic import pptl
from tests.history import real

FORMULAS = [
    "[] (task_started -> <> task_succeeded)",
    "task_started until (task_succeeded or task_failed)",
    "[] (task_failed -> wnext (task_started release not task_succeeded))",
    "(task_started and skip)* ; task_succeeded ; true",
    "[] (task_succeeded -> wnext [] not task_started)",
    rules.SPECULATION_COMMITS_ONCE.formula,
    rules.WORK_OF_LOST_EXECUTOR_REDONE.formula,
    "[] (executor_lost -> <> task_started)",
    "[] (task_failed -> (executor_lost release not task_started))",
    "fin(task_succeeded or stage_completed)",
]
ENDS = {"Success": {"task_succeeded"}, "ExceptionFailure": {"task_failed"}, "Resubmitted": {"task_resubmitted"}} | {
    "ExecutorLostFailure": {"task_failed", "task_lost"}
}


def random_log(seed):
    """Events of the tasks of two stages in any order, and the trace of each task by itself."""
    draw = random.Random(seed)
    events, traces, running = [submitted(0), submitted(1)], {}, {0, 1}
    for _ in range(draw.randint(3, 25)):
        stage, index = draw.randint(0, 1), draw.randint(0, 2)
        kind = draw.random()
        own = traces.setdefault((stage, index), []) if kind < 0.88 and stage in running else None
        if kind < 0.4:
            events.append(started(stage, index))
            if own is not None:
                own.append({"task_started"})
        elif kind < 0.88:
            reason = draw.choice(list(ENDS))
            events.append(ended(stage, index, reason))
            if own is not None:
                own.append(ENDS[reason])
        elif kind < 0.96:
            events.append(lost())
            for (of, _), trace in traces.items():
                if of in running and trace:
                    trace.append({"executor_lost"})
        elif stage in running:
            running.remove(stage)
            failure = draw.choice([None, "failed"])
            events.append(completed(stage, failure=failure))
            for (of, _), trace in traces.items():
                if of == stage and trace:
                    trace.append({"stage_failed" if failure else "stage_completed"})
    return log(*events), {key: trace for key, trace in traces.items() if trace}


def expected(formula, traces):
    """The tasks for which the formula is false, by evaluating it on the whole trace of each."""
    false = set()
    names = formula.names
    for (stage, index), trace in traces.items():
        # What happens to more than the task is seen by a rule that asks for it, and by no other.
        others = {"executor_lost", "stage_completed", "stage_failed"} - names
        seen = [state for state in trace if not state <= others]
        if formula.evaluate([state & names for state in seen]) is fs.Verdict.FALSE:
            false.add((stage, 0, index))
    return false


@pytest.mark.parametrize("text", FORMULAS)
def test_monitors_agree_with_the_formula_on_the_trace_of_each_key(text):
    formula = pptl.parse(text)
    rule = rules.Rule("RULE", text, each="task")
    differing = 0
    for seed in range(150):
        events, traces = random_log(seed)
        judge = Judge([rule])
        for event in events:
            judge.take(event, event["Event"])
        (result,) = judge.results(End.HARD)
        found = {broken.key for broken in result.broken}
        assert found == expected(formula, traces), (seed, text)
        differing += bool(found)
    assert differing, "no log broke the formula"


def test_a_key_that_is_as_good_as_new_is_forgotten():
    judge = Judge([rules.attempts_at_most(3), rules.NO_SPILL, rules.STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE])
    judge.take(submitted(0), "SparkListenerStageSubmitted")
    for index in range(1000):
        judge.take(started(0, index), "SparkListenerTaskStart")
        judge.take(ended(0, index), "SparkListenerTaskEnd")
    attempts, spill, rerun = judge.monitors
    assert isinstance(attempts, Monitors) and list(attempts.keys()) == list(spill.keys()) == []
    assert list(rerun.keys()) == [(None, 0)]
    judge.take(ended(0, 7, "FetchFailed"), "SparkListenerTaskEnd")
    assert list(rerun.keys()) == []  # from now on it may run again


def test_the_tasks_of_a_stage_are_forgotten_with_it():
    judge = Judge([rules.SPECULATION_COMMITS_ONCE])
    (monitors,) = judge.monitors
    for stage in range(3):
        judge.take(submitted(stage), "SparkListenerStageSubmitted")
        for index in range(100):
            judge.take(ended(stage, index), "SparkListenerTaskEnd")
        assert len(list(monitors.keys())) == 100
        judge.take(completed(stage), "SparkListenerStageCompleted")
        assert not list(monitors.keys())


def test_a_stage_is_forgotten_with_the_last_job_that_has_it_unless_something_is_still_to_happen():
    waits = rules.Rule("WAITS", "[] (stage_submitted -> <> stage_completed)", each="stage")
    judge = Judge([rules.STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE, waits])
    for event in (job(0, {0: (), 1: ()}), job(1, {1: ()}), submitted(0), submitted(1), completed(1), job_end(0)):
        judge.take(event, event["Event"])
    rerun, waiting = judge.monitors
    assert list(rerun.keys()) == [(None, 1)] and list(waiting.keys()) == [(None, 0)]
    judge.take(job_end(1), "SparkListenerJobEnd")
    assert list(rerun.keys()) == []
    assert [broken.key for broken in judge.results(End.HARD)[1].broken] == [0]


def test_lines_that_no_rule_needs_are_not_parsed(tmp_path):
    # What is not parsed cannot be found to be damaged, but for the first event of a kind.
    events = log(submitted(0), started(0, 0), started(0, 1), completed(0))
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    lines[4] = lines[4][:-2]
    path = tmp_path / "app-1"
    path.write_text("".join(line + "\n" for line in lines))
    assert fs.verify(fs.event_log(path), rules.STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE).evidence.traces[0].events == 7
    with pytest.raises(fs.Inconclusive):
        fs.verify(fs.event_log(path), rules.SPECULATION_COMMITS_ONCE)


@pytest.mark.parametrize("name", ["lost_block", "cluster", "streaming"])
def test_lists_of_events_and_logs_give_the_same(name):
    for rule in [*real.GENEROUS, rules.attempts_at_most(1), rules.late_rows_at_most(0)]:
        assert real.broken_by(real.log(name), rule) == real.broken_by(real.events(name), rule)


def test_a_formula_about_the_application_sees_every_event_as_a_state():
    events = log(submitted(0), completed(0))
    assert len(events) == 5
    assert fs.verify(events, "len(4)").verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified):
        fs.verify(events, "len(3)")
    assert fs.verify(events, "next next (stage_submitted and next stage_completed)").verdict is fs.Verdict.TRUE
    for name in ("lost_block", "adaptive"):  # also where most of them are not parsed
        assert fs.verify(real.log(name), f"len({len(real.events(name)) - 1})").verdict is fs.Verdict.TRUE

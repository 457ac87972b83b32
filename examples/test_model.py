"""Two workers that take tasks, as a model in MSVL: no task may be done twice.

The model says when a worker looks at a task and when it takes it. Workers run in lock-step, so both can look at the
same time. Each may also be late by a step, and `fs.verify` goes through all of these choices.
"""

from __future__ import annotations

import pytest

import firesteel as fs
from firesteel.evidence.models import BrokenRun
from firesteel.model import msvl

WORKERS = """
struct Task { int taken and int done };
struct Task tasks[2];
function Worker(int me) {
  frame(k) and
  (int k <== 0 and skip;
   while k < 2 {
     (empty or skip);                                  // it may be late
     if tasks[k].taken = 0                             // look
     then {TAKE; tasks[k].done := tasks[k].done + 1}   // take it, and do it
     else {skip};
     k := k + 1
   })
}
frame(tasks) and
(tasks[0].taken <== 0 and tasks[0].done <== 0 and tasks[1].taken <== 0 and tasks[1].done <== 0 and skip;
 (Worker(0) || (START; Worker(1))))
"""
# The second worker starts when the first has taken a task, and a task is taken in the step in which it is looked at.
RIGHT = WORKERS.replace("TAKE", "tasks[k].taken := 1").replace("START", "await(tasks[0].taken = 1)")
# Here a worker looks, and takes the task one step later. Another may look in between.
LOOK_THEN_TAKE = WORKERS.replace("TAKE", "skip; tasks[k].taken := 1").replace("START", "await(tasks[0].taken = 1)")

RULE = "[] once and fin(all)"
MEANING = {"once": "tasks[0].done <= 1 AND tasks[1].done <= 1", "all": "tasks[0].done = 1 AND tasks[1].done = 1"}


def test_no_task_is_done_twice() -> None:
    report = fs.verify(msvl.load(RIGHT), RULE, propositions=MEANING)
    assert report.explored is not None and report.explored.runs > 4


def test_a_worker_that_takes_a_task_later_than_it_looks() -> None:
    with pytest.raises(fs.Falsified) as raised:
        fs.verify(msvl.load(LOOK_THEN_TAKE), RULE, propositions=MEANING)
    found = raised.value.report.evidence
    assert isinstance(found, BrokenRun)
    assert "once" not in found.states[found.decided].holds

"""`picklable`: does the operator survive cloudpickle to a new process, and answer the same there?"""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from firesteel.evidence.operators import Different, Finding, Observed, Unloadable
from firesteel.logic.verdicts import Verdict
from firesteel.operators.comparing import Pair, Side, differ, has_output
from firesteel.operators.examine import Budget, Examiner, encoded
from firesteel.operators.execute import Loaded, perform
from firesteel.operators.outcomes import Job, Late, Seen
from firesteel.operators.process import prepare_child
from firesteel.operators.properties import feed
from firesteel.operators.techniques import Maker

_TESTS = 20


def unloadable(error: str) -> Finding:
    """The operator could not be sent, or not be loaded in a new process."""
    return Finding("picklable", Verdict.FALSE, 1, proof=Unloadable(error))


def picklable(examiner: Examiner, loaded: Loaded, budget: Budget) -> Finding:
    """It survives cloudpickle to a new process and answers the same.

    `lambda x: x + 1` has it. A function that holds an open file or a lock does not have it.
    """
    if examiner.hopeless:
        return Finding("picklable", Verdict.INCONCLUSIVE, why=examiner.hopeless)
    tests = Maker(examiner.about, "picklable", examiner.techniques, examiner.pool, Random(examiner.seed))
    materials = tests.some(_TESTS)
    runs = tuple(feed(examiner.about, each) for each in materials)
    job = Job(runs, budget.limit)
    finding = Finding("picklable", Verdict.INCONCLUSIVE, _TESTS)
    here, again = _of_original(loaded, job), _of_original(loaded, job)
    there = [examiner.workers.run(job), examiner.workers.run(job, elsewhere=True)]
    if not len(here) == len(again) == len(runs):
        return replace(finding, why="it could not be run in a copy of this process")
    outputs = sum(has_output(each.all_outputs) for each in there[0])
    differing = _differing(runs, [here, again], there, examiner)
    if differing is not None:
        # Two hash seeds may agree by chance where a third does not: that is no matter of pickling.
        differing = _differing(runs, [here, again], [*there, *examiner.workers.others(job)], examiner)
    if differing is None:
        why = "" if outputs else "it can be loaded in a new process, but no test had any output to compare"
        return replace(finding, outputs=outputs, why=why)
    number, mine, theirs = differing
    proof = Different(Observed(runs[number], mine), Observed(runs[number], theirs, elsewhere=True))
    line = encoded(materials[number])
    return replace(finding, verdict=Verdict.FALSE, proof=proof, outputs=outputs, replay=line)


def _differing(
    runs: Sequence[tuple[Any, ...]], here: Sequence[Sequence[Seen]], there: Sequence[Sequence[Seen]], examiner: Examiner
) -> tuple[int, tuple[Any, ...], tuple[Any, ...]] | None:
    """The first run in which the function says one thing here, always, and another in all new processes, always."""
    for number, run in enumerate(runs):
        side = Side(run)
        pair = Pair(side, side)
        mine = [side.look.at(seen[number]) for seen in here]
        theirs = [side.look.at(seen[number]) for seen in there]
        known = [each for each in (*mine, *theirs) if each is not None]
        if len(known) < len(mine) + len(theirs):
            continue
        first, other = known[0], known[len(mine)]
        agree = [not differ(each, first, pair, examiner.equal) for each in known[: len(mine)]]
        agree += [not differ(each, other, pair, examiner.equal) for each in known[len(mine) :]]
        if all(agree) and differ(first, other, pair, examiner.equal):
            return number, first, other
    return None


def _of_original(loaded: Loaded, job: Job) -> list[Seen]:
    """What the function itself says, which was never pickled: in a copy of this process, which is unharmed by it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fork beside threads: the copy runs nothing but the function
        child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            prepare_child()
            seen: list[Seen] = []
            for run in job.runs:
                seen.append(perform(loaded, run, job))
                if any(isinstance(outcome, Late) for outcome in seen[-1].outcomes):
                    break
            with os.fdopen(writing, "wb") as file:
                file.write(pickle.dumps(seen))
        finally:
            os._exit(0)
    os.close(writing)
    text = _read(reading, time.monotonic() + 10 + job.limit)
    os.close(reading)
    if text is None:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        found: list[Seen] = pickle.loads(text or b"")
    except Exception:
        return []
    return found


def _read(source: int, until: float) -> bytes | None:
    pieces: list[bytes] = []
    while True:
        if not select.select([source], [], [], max(0.0, until - time.monotonic()))[0]:
            return None
        piece = os.read(source, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)

"""`picklable`: does the operator survive cloudpickle to a new process, and answer the same there?"""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
from dataclasses import replace
from random import Random

from firesteel.evidence.operators import Different, Finding, Observed, Unloadable
from firesteel.logic.verdicts import Verdict
from firesteel.operators.comparing import Pair, Side, differ
from firesteel.operators.examine import Budget, Examiner, encoded
from firesteel.operators.execute import Loaded, perform
from firesteel.operators.outcomes import Job, Seen
from firesteel.operators.process import prepare_child
from firesteel.operators.properties import feed
from firesteel.operators.techniques import Tests

_TESTS = 20


def unloadable(error: str) -> Finding:
    """The operator could not be sent, or not be loaded in a new process."""
    return Finding("picklable", Verdict.FALSE, 1, proof=Unloadable(error))


def picklable(examiner: Examiner, loaded: Loaded, budget: Budget) -> Finding:
    """It survives cloudpickle to a new process and answers the same.

    `lambda x: x + 1` has it. A function that holds an open file or a lock has it not.
    """
    tests = Tests(examiner.about, "picklable", examiner.techniques, examiner.pool, Random(examiner.seed))
    materials = tests.some(_TESTS)
    runs = tuple(feed(examiner.about, each) for each in materials)
    job = Job(runs, budget.limit)
    finding = Finding("picklable", Verdict.INCONCLUSIVE, _TESTS)
    here, again = _of_original(loaded, job), _of_original(loaded, job)
    there, elsewhere = examiner.workers.run(job), examiner.workers.run(job, elsewhere=True)
    if not (len(here) == len(again) == len(there)):
        return replace(finding, why="it could not be run in a copy of this process")
    for number, run in enumerate(runs):
        side = Side(run)
        mine, mine_again = side.look.at(here[number]), side.look.at(again[number])
        theirs, others = side.look.at(there[number]), side.look.at(elsewhere[number])
        if mine is None or mine_again is None or theirs is None or others is None:
            continue
        pair = Pair(side, side)
        same = [differ(mine, mine_again, pair, examiner.equal), differ(theirs, others, pair, examiner.equal)]
        if not any(same) and differ(mine, theirs, pair, examiner.equal):
            proof = Different(Observed(run, mine), Observed(run, theirs, elsewhere=True))
            return replace(finding, verdict=Verdict.FALSE, proof=proof, replay=encoded(materials[number]))
    return finding


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
            seen = [perform(loaded, run, job) for run in job.runs]
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

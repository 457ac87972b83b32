"""Ctrl-C: a run ends, says where it was, and leaves no query and no JVM behind."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from firesteel.spark.session.interrupts import leave_call

SCRIPT = '''
import os, pathlib, signal, sys, threading, time
import firesteel as fs
from firesteel import strategies as ss
from pyspark import TaskContext
from pyspark.sql import functions as F

spark = fs.session()
print("jvm", spark.sparkContext._gateway.proc.pid)
marks = pathlib.Path(sys.argv[1])
number = 0


def stuck(frame, least):
    """Passes everything on, and hangs where a task has at least so many rows: one case has two, many have more."""
    mark = str(marks / str(number))

    def wait(n):
        # Counted in folders: a function that keeps a count itself does not run in bulk.
        rows = f"{mark}-{TaskContext.get().taskAttemptId()}"
        os.makedirs(f"{rows}/{time.monotonic_ns()}")
        if len(os.listdir(rows)) >= least:
            os.makedirs(mark, exist_ok=True)
            time.sleep(600)
        return n

    return frame.select(F.udf(wait, "int")("n").alias("n"))


def interrupt():
    """As a terminal does it: every process of the group gets the signal."""
    while not (marks / str(number)).exists():
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(0, signal.SIGINT)


def interrupted(action):
    global number
    number += 1
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        action()
    except KeyboardInterrupt as stop:
        print(f"{stop} / {len(spark.streams.active)} queries")


numbers = fs.Stream("n INT", [[(1,)]])
streams = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=1, max_size=2), during=2)
holds = fs.always(lambda now: len(now.output) == len(now.input))

interrupted(lambda: fs.for_all(streams, lambda f: stuck(f, 5), holds, cases=40))
failed = []
fails = fs.always(lambda now: failed.append(now) is not None)
smaller = lambda f: stuck(f, 1) if failed else f
interrupted(lambda: fs.for_all(streams, smaller, fails, cases=5, bulk=False))
failed.clear()
interrupted(lambda: fs.for_all(streams, smaller, fails, cases=5))
interrupted(lambda: fs.run(fs.Batch(numbers[0].records, schema="n INT"), lambda f: stuck(f, 1), engine="batch"))
print("after that", fs.run(numbers, lambda f: f).output.values("n"))
number += 1
threading.Thread(target=interrupt, daemon=True).start()
fs.run(numbers, lambda f: stuck(f, 1))
'''


@pytest.mark.slow
def test_an_interrupt_ends_a_run_wherever_it_is(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        start_new_session=True,  # so that the signal stays there
        cwd=tmp_path,
    )
    said = done.stdout.splitlines()
    assert len(said) == 6, done.stdout + done.stderr
    jvm, bulk, shrinking, threads, batch, after = said
    assert bulk == "firesteel was interrupted: 40 cases are being run together, in batch 0 / 0 queries"
    # Candidates run in threads where there are several: then no single batch is the one.
    looking = (
        r"firesteel was interrupted: case 1 of 5 fails: looking for a smaller one, \d+ tried(, in batch 0)? / 0 queries"
    )
    assert re.fullmatch(looking, shrinking) and re.fullmatch(looking, threads)
    assert batch == "firesteel was interrupted: before the first case / 0 queries"
    assert after == "after that [1]", "the session can be used"
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt: firesteel was interrupted: in batch 0"
    assert done.returncode != 0 and _is_gone(int(jvm.split()[1]))


def _is_gone(process):
    for _ in range(300):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


class _Enough(BaseException):
    pass


def test_a_call_that_is_left_does_not_answer_the_next_one(spark):
    def enough(number, frame):
        leave_call(spark, frame)
        raise _Enough

    before = signal.signal(signal.SIGALRM, enough)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(_Enough):
            spark._jvm.java.lang.Thread.sleep(1500)
    finally:
        signal.signal(signal.SIGALRM, before)
    maths = spark._jvm.java.lang.Math
    assert [maths.abs(-number) for number in range(5)] == [0, 1, 2, 3, 4]
    assert spark._jvm.org.apache.spark.sql.classic.SparkSession.getActiveSession().isDefined()

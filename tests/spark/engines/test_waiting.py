"""Threads that wait for Spark: they can be told to stop, and keep no process from ending. No Spark here."""

import subprocess
import sys
import threading

import pytest

from firesteel.spark.engines.waiting import Stopped, Worker, all_done, crew, is_done, outcome


def test_results_come_in_the_order_of_the_values():
    begun = []
    assert all_done(lambda n: n * n, range(20), 3, lambda: begun.append(threading.get_ident())) == [
        n * n for n in range(20)
    ]
    assert 1 <= len(begun) == len(set(begun)) <= 3, "once in every thread"
    assert all_done(lambda n: n, [], 3, lambda: None) == []


def test_the_first_error_stops_the_others():
    seen, hanging = [], threading.Event()

    def run(number):
        if number == 0:
            hanging.wait(30)
            raise ValueError("boom")
        try:
            hanging.set()
            outcome(Worker().submit(threading.Event().wait), 600)
        except Stopped:
            seen.append(number)
            raise

    with pytest.raises(ValueError, match="boom"):
        all_done(run, range(10), 2, lambda: None)
    assert 1 in seen and len(seen) < 5, "those that ran were told; most were never begun"


def test_a_mistake_at_the_beginning_shows():
    with pytest.raises(ZeroDivisionError):
        all_done(lambda n: n, range(3), 2, lambda: 1 / 0)


def test_a_function_that_takes_too_long():
    worker, end = Worker(), threading.Event()
    waiting = worker.submit(end.wait)
    with pytest.raises(TimeoutError):
        outcome(waiting, 0.05)
    assert worker.is_busy and not is_done(waiting, 0.05) and crew() is None
    end.set()
    assert outcome(waiting, 60) is True and not worker.is_busy
    worker.close()


def test_a_thread_that_hangs_does_not_keep_the_process():
    code = (
        "import threading\nfrom firesteel.spark.engines.waiting import Worker\n"
        "Worker().submit(threading.Event().wait)\nprint('over')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "over\n"

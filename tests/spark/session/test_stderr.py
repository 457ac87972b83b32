"""What reaches the user of what the JVM and its Python workers print: no Spark here."""

import pytest

from firesteel.spark.session.stderr import PassedOn, last_words

HOME = "/site-packages/pyspark"
COMPLAINT = b"""\
PySpark daemon failed to flush the output to the worker process:
Traceback (most recent call last):
  File "/site-packages/pyspark/daemon.py", line 95, in worker
    outfile.flush()
    ~~~~~~~~~~~~~^^
BrokenPipeError: [Errno 32] Broken pipe

"""
CRASH = b"""\
Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/site-packages/pyspark/daemon.py", line 229, in <module>
    manager()
ConnectionResetError: lost 17

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/site-packages/pyspark/daemon.py", line 230, in <module>
    manager()
BrokenPipeError: [Errno 32] Broken pipe
"""
OWN = b"""\
a print of the user's
Traceback (most recent call last):
  File "/home/me/pyspark/job.py", line 3, in shout
    raise ValueError("mine")
  File "/site-packages/pyspark/sql/functions.py", line 1, in upper
    upper(1)
ValueError: mine
and another one
"""


def passed(text, size=10_000):
    out = []
    errors = PassedOn(out.append, HOME)
    for at in range(0, len(text), size):
        errors.feed(text[at : at + size])
    before_the_end = b"".join(out)
    errors.end()
    return before_the_end, b"".join(out)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_workers_that_complain_are_not_heard_and_what_users_print_is(size):
    chatter = b"WARNING: Using incubator modules: jdk.incubator.vector\n"
    text = OWN + COMPLAINT + OWN + chatter + COMPLAINT + COMPLAINT + CRASH + OWN + CRASH
    assert passed(text, size)[1] == OWN * 3
    assert "BrokenPipeError: [Errno 32] Broken pipe" in last_words() and "ConnectionResetError: lost 17" in last_words()


def test_what_users_print_does_not_wait_for_the_end():
    assert passed(OWN)[0] == OWN
    assert passed(b"[Stage 1:===>   ")[0] == b"[Stage 1:===>   ", "a progress bar has no end of line"


def test_what_only_looks_like_a_traceback_is_passed_on():
    text = b"Traceback (most recent call last):\nno frames here\nTraceback (most recent call last):\n"
    assert passed(text)[1] == text


def test_a_daemon_of_ours_is_heard_as_little_as_that_of_pyspark():
    ours = b'  File "/firesteel/spark/perturb/daemon/firesteel_daemon.py", line 30, in <module>\n    manager()\n'
    first = b'  File "<frozen runpy>", line 198, in _run_module_as_main\n'
    assert passed(OWN + CRASH.replace(first, first + ours) + OWN)[1] == OWN * 2

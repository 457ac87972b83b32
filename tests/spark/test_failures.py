"""What really happened, from the texts that Spark sends."""

from firesteel.spark.failures import root_cause

WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "udf.py", line 1, in f
    raise ValueError("boom")
ValueError: boom
\tat org.apache.spark.Worker
"""
IN_A_SINK = f"""Query [id = 1] terminated with exception: An error occurred
Traceback (most recent call last):
  File "sinks.py", line 5, in call
    frame.collect()
pyspark.errors.exceptions.captured.PythonException: {WORKER}"""
OF_THE_SINK = """Query [id = 1] terminated with exception
Traceback (most recent call last):
  File "sinks.py", line 5, in call
    raise OSError("disk full")
OSError: disk full
\tat org.apache.spark
"""


def test_the_users_own_exception_is_named_wherever_it_was_raised():
    assert root_cause(RuntimeError(WORKER)) == "ValueError: boom"
    assert root_cause(RuntimeError(IN_A_SINK)) == "ValueError: boom"
    assert root_cause(RuntimeError(OF_THE_SINK)) == "OSError: disk full"
    assert root_cause(RuntimeError("no such table\nat line 5")) == "no such table"

"""A program whose time is up is ended wherever it is, and the session can be used afterwards."""

import signal
import time

import pytest

from firesteel.cli.scripts import run_script

HEAD = """
import time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(3).count()
"""
RATE = "query = spark.readStream.format('rate').load().writeStream.format('noop').start()\n"
PROGRAMS = {
    "a long job": "spark.sparkContext.parallelize([1], 1).map(lambda x: time.sleep(120)).count()\n",
    "a long query": "spark.range(10 ** 13).selectExpr('sum(id * 3 % 7)').collect()\n",
    "a stream that is waited for": RATE + "query.awaitTermination()\n",
    "DStreams": "from pyspark.streaming import StreamingContext\n"
    "context = StreamingContext(spark.sparkContext, 0.5)\n"
    "context.queueStream([spark.sparkContext.parallelize([1])]).pprint()\ncontext.start()\n"
    "context.awaitTermination()\n",
    "sleep": "time.sleep(120)\n",
    "a loop of Python's": "while True:\n    pass\n",
    "many short calls": "while True:\n    spark.range(3).schema\n",
    "it is held back once": "try:\n    spark.sparkContext.parallelize([1], 1).map(lambda x: time.sleep(120)).count()\n"
    "except BaseException:\n    time.sleep(120)\n",
    "its end fails": "try:\n    time.sleep(120)\nfinally:\n    spark.range(1).select('not_there')\n",
}


def soon(holds):
    """Does it hold within some seconds? Spark's own record of its jobs is a little late."""
    until = time.monotonic() + 20
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)
    return holds()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:DStream is deprecated")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_session_is_as_good_as_new(spark, tmp_path, capsys, name):
    (tmp_path / "job.py").write_text(HEAD + PROGRAMS[name])
    assert spark.range(3).count() == 3  # what comes before has no first start in it
    started = time.monotonic()
    ran = run_script(tmp_path / "job.py", [], seconds=4)
    assert ran.was_stopped and ran.failure is None
    assert time.monotonic() - started < 90, "it waited for what never ends"
    # Each answer belongs to its question.
    assert [spark.range(n).count() for n in range(4)] == [0, 1, 2, 3]
    assert spark.sparkContext.parallelize(range(4), 2).collect() == [0, 1, 2, 3]
    assert spark.streams.active == []
    assert soon(lambda: not spark.sparkContext.statusTracker().getActiveJobsIds()), "its job goes on"
    assert "count" in {action.name for action in ran.dag.actions}, "what it did before is captured"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:DStream is deprecated")
def test_a_program_cannot_stop_the_session_by_its_stream(spark, tmp_path):
    stream = PROGRAMS["DStreams"].replace("context.awaitTermination()", "time.sleep(1)\ncontext.stop(True, True)")
    assert "awaitTermination" not in stream
    (tmp_path / "job.py").write_text(HEAD + stream)
    ran = run_script(tmp_path / "job.py", [], seconds=60)
    assert ran.failure is None and not ran.was_stopped
    assert spark.range(3).count() == 3


@pytest.mark.slow
def test_a_program_that_ends_in_time_is_left_alone(spark, tmp_path):
    (tmp_path / "job.py").write_text(HEAD)
    before = signal.getsignal(signal.SIGALRM)
    ran = run_script(tmp_path / "job.py", [], seconds=60)
    assert not ran.was_stopped and ran.failure is None
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0) and signal.getsignal(signal.SIGALRM) is before

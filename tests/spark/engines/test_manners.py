"""Runs leave everything else alone: others' jobs, settings, queries; and they may be nested."""

import threading
import time

import pytest

import firesteel as fs
from firesteel import SubjectError
from firesteel import strategies as ss
from firesteel.spark.engines import query as queries

NUMBERS = fs.Stream("n INT", [[(1,)], [(2,)]])


def in_time(action, seconds=120):
    """What an action gives; it fails where it does not end."""
    done = []
    thread = threading.Thread(target=lambda: done.append(action()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert done, "it hangs, or raised"
    return done[0]


@pytest.mark.slow
def test_runs_inside_a_subject_a_predicate_and_foreach_batch(spark, tmp_path):
    """Also where several cases run at once, and Spark calls the function in a thread of its own."""
    (tmp_path / "one.txt").write_text("one line", encoding="utf-8")
    nested = []

    def run(where):
        nested.append((where, fs.run(NUMBERS, lambda frame: frame).output.values("n")))
        return True

    def subject(frame):
        run("subject")
        query = (
            spark.readStream.text(str(tmp_path))
            .writeStream.foreachBatch(lambda rows, number: run("foreachBatch") and None)
            .trigger(availableNow=True)
            .start()
        )  # fmt: skip
        assert query.awaitTermination(100)
        return frame

    streams = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=1, max_size=1), during=1)
    holds = fs.always(lambda now: run("predicate"))
    report = in_time(lambda: fs.for_all(streams, subject, holds, cases=3))
    assert report.cases == 3 and {where for where, _ in nested} == {"subject", "foreachBatch", "predicate"}
    assert all(seen == [1, 2] for _, seen in nested)


def test_a_setting_that_was_not_set_is_not_set_afterwards(spark):
    is_set, key = spark._jsparkSession.sessionState().conf().contains, "spark.sql.datetime.java8API.enabled"
    spark.conf.unset(key)
    fs.run(NUMBERS, lambda frame: frame)
    assert not is_set(key)
    spark.conf.set(key, "false")
    fs.run(NUMBERS, lambda frame: frame)
    assert spark.conf.get(key) == "false"


def test_a_query_that_does_not_stop_is_given_up(spark, monkeypatch):
    from pyspark.sql.streaming.query import StreamingQuery

    go_on, really = threading.Event(), StreamingQuery.stop

    def stop(query):
        go_on.wait(60)
        really(query)

    monkeypatch.setattr(queries, "STOP_SECONDS", 0.1)
    monkeypatch.setattr(StreamingQuery, "stop", stop)
    with pytest.raises(SubjectError, match=r"the query of 'output' did not stop within 0\.1 s, and its jobs were"):
        fs.run(NUMBERS, lambda frame: frame)
    go_on.set()
    monkeypatch.undo()
    for _ in range(200):
        if not spark.streams.active:
            break
        time.sleep(0.05)
    assert not spark.streams.active


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["batch", "dstream"])
def test_a_job_of_the_users_outlives_a_run_that_hangs(spark, engine):
    """Only jobs of the run itself are cancelled."""
    begun, results = threading.Event(), []

    def job():
        begun.set()
        results.append(spark.sparkContext.parallelize([1], 1).map(lambda n: time.sleep(6) or n).collect())

    others = threading.Thread(target=job, daemon=True)
    others.start()
    begun.wait()
    time.sleep(1)  # until Spark has begun with it
    hanging = fs.Stream(None, [fs.Batch([1], partitions=[1])])
    with pytest.raises(SubjectError, match="took longer than 1 s"):
        fs.run(hanging, lambda numbers: numbers.map(lambda n: time.sleep(600)), engine=engine, seconds=1)
    others.join(60)
    assert results == [[1]]
    for _ in range(200):
        jobs = spark.sparkContext.statusTracker().getActiveJobsIds()
        if not jobs:
            break
        time.sleep(0.05)
    assert not jobs, "and those are"


def test_errors_of_later_queries_stay_pyspark_s_own(spark, monkeypatch):
    """A plain logger under the name that PySpark's errors use would make each of them a TypeError."""
    import logging

    from pyspark.errors import AnalysisException

    monkeypatch.delitem(logging.Logger.manager.loggerDict, "DataFrameQueryContextLogger", raising=False)
    fs.run(NUMBERS, lambda frame: frame, spark=spark)
    with pytest.raises(AnalysisException, match="nothing"):
        spark.range(1).select("nothing")

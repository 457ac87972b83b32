"""Live applications: the events of a block, and a query that is followed while it runs."""

import threading
import time

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history.live import Events


def listeners(spark):
    """How many writers of event logs listen."""
    found = spark.sparkContext._jsc.sc().listenerBus().listeners()
    names = [found.get(number).getClass().getSimpleName() for number in range(found.size())]
    return names.count("EventLoggingListener")


def test_the_events_of_a_block(spark):
    before = listeners(spark)
    with fs.events(spark) as log:
        assert listeners(spark) == before + 1
        spark.range(100).repartition(3).count()
        assert log.running
    assert listeners(spark) == before
    spark.range(10).count()  # nobody listens to this
    names = [event["Event"] for event in log]
    assert names[0] == "SparkListenerLogStart" and 0 < names.count("SparkListenerJobStart") <= 3
    report = fs.verify(log, [rules.PARENTS_BEFORE_CHILDREN, rules.attempts_at_most(1), "[] not job_failed"])
    assert report.verdict is fs.Verdict.TRUE
    assert fs.verify(log, "<> (job_started and <> job_succeeded)").verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified, match="made by"):
        fs.verify(log, rules.Rule("NO_STAGE", "[] not stage_completed", each="stage"))
    # What was still to happen when the block ended may still happen.
    with pytest.raises(fs.Inconclusive, match="more may follow"):
        fs.verify(log, "<> job_failed")
    with pytest.raises(fs.InvalidArgument, match="these events were used before"), log:
        pass


def test_the_listener_is_detached_when_the_block_fails(spark):
    before = listeners(spark)
    with pytest.raises(ZeroDivisionError), fs.events(spark) as log:
        spark.range(10).count()
        raise ZeroDivisionError
    assert listeners(spark) == before
    assert fs.verify(log, "<> job_succeeded").verdict is fs.Verdict.TRUE


def test_a_log_that_is_not_listened_to_yet(spark):
    with pytest.raises(fs.InvalidArgument, match="nothing was listened to yet"):
        list(fs.events(spark))


def test_a_session_of_spark_connect_is_refused_with_what_to_do():
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(fs.InvalidArgument) as error:
        fs.events(connect)
    assert "belongs to Spark Connect" in str(error.value) and "spark.eventLog.enabled" in str(error.value)
    query = type("StreamingQuery", (), {"__module__": "pyspark.sql.connect.streaming.query", "id": "1"})()
    with pytest.raises(fs.InvalidArgument, match=r"query=.* belongs to Spark Connect"):
        fs.watch(query, rules.BATCH_IDS_CONTIGUOUS)


@pytest.mark.parametrize("given", [None, 3, "spark"])
def test_what_is_not_a_session_or_a_query_is_refused(given):
    with pytest.raises(fs.InvalidArgument, match="is not a Spark session"):
        fs.events(given)
    with pytest.raises(fs.InvalidArgument, match="is not a streaming query"):
        fs.watch(given, rules.BATCH_IDS_CONTIGUOUS)


# --- queries --------------------------------------------------------------------------------------------------------


@pytest.fixture
def numbers(spark, tmp_path):
    """A query over files of numbers; feeding it makes a batch."""

    def put(*values):
        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        hidden = tmp_path / "hidden"
        hidden.write_text("\n".join(f'{{"n": {value}}}' for value in values))
        hidden.rename(folder / f"{len(list(folder.iterdir()))}.json")

    put(1)
    rows = spark.readStream.schema("n INT").option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    writer = rows.groupBy("n").count().writeStream.outputMode("complete").format("memory").queryName("watched")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    yield query, put
    query.stop()


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_query_is_followed_while_it_runs_and_stopped_when_a_rule_is_broken(spark, numbers):
    query, put = numbers
    before = listeners(spark)
    good = fs.watch(query, [rules.BATCH_IDS_CONTIGUOUS, rules.BATCHES_COMMITTED_IN_ORDER])
    small = fs.watch(query, rules.state_rows_at_most(3), stop=True)
    query.processAllAvailable()
    put(1, 2)
    query.processAllAvailable()
    assert good.verdict is small.verdict is fs.Verdict.INCONCLUSIVE  # more may come
    assert query.isActive
    put(3, 4)  # now there are four rows of state
    until(lambda: small.verdict is fs.Verdict.FALSE)
    until(lambda: not query.isActive)
    good.close(), small.close()
    assert listeners(spark) == before
    assert good.verdict is fs.Verdict.TRUE and good.report.verdict is fs.Verdict.TRUE
    (violation,) = small.report.evidence.traces[0].rules[0].violations
    assert violation.key == (query.id,) and violation.description == "watched"
    assert [seen.event for seen in violation.events] == ["QueryProgressEvent"]
    assert not [thread for thread in threading.enumerate() if thread.name == "firesteel-watch"]


@pytest.mark.slow
def test_a_watch_ends_with_its_block_and_the_query_goes_on(numbers):
    query, _ = numbers
    with fs.watch(query, "[] odd", propositions={"odd": "batch.rows == 1"}) as watch:
        query.processAllAvailable()
    assert query.isActive and watch.verdict in (fs.Verdict.TRUE, fs.Verdict.FALSE, fs.Verdict.INCONCLUSIVE)
    with fs.watch(query, "[] p", propositions={"p": lambda event: event["nothing"]}) as watch:
        query.stop()
    with pytest.raises(fs.PredicateError, match="raised KeyError"):
        _ = watch.verdict


def test_the_events_of_a_block_are_removed_with_it(spark):
    import gc
    import os

    with fs.events(spark) as log:
        spark.range(1).count()
    folder = log._folder
    assert isinstance(log, Events) and os.path.isdir(folder)
    del log
    gc.collect()
    assert not os.path.exists(folder)

"""What a plan says about how its query has to be driven."""

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StructType

from firesteel.spark.engines import control
from firesteel.spark.engines.control import Traits
from firesteel.spark.engines.source import MemorySource
from firesteel.spark.failures import SubjectFailure


@pytest.fixture
def events(spark):
    return MemorySource(spark, StructType.fromDDL("ts TIMESTAMP, k INT")).df


def traits(frame):
    found = Traits(frame)
    return {name for name in ("event_time", "processors", "in_python", "restless", "driven") if getattr(found, name)}


def counted(key, frames, state):
    yield pd.DataFrame({"k": []})


class Silent(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield Row(k=key[0])

    def close(self):
        pass


def test_without_time(events):
    assert traits(events.groupBy("k").count()) == set()


def test_event_time(events):
    assert traits(events.withWatermark("ts", "1 minute").select("k")) == {"event_time"}


def test_event_time_in_a_common_table_expression(spark, events):
    events.withWatermark("ts", "1 minute").createOrReplaceTempView("marked")
    try:
        assert traits(spark.sql("WITH a AS (SELECT * FROM marked) SELECT a.k FROM a JOIN a b USING (k)")) == {
            "event_time"
        }
    finally:
        spark.catalog.dropTempView("marked")


@pytest.mark.parametrize(
    "timeout, expected",
    [
        ("NoTimeout", {"event_time"}),
        ("EventTimeTimeout", {"event_time"}),
        ("ProcessingTimeTimeout", {"event_time", "restless", "driven"}),
    ],
)
def test_timeouts(events, timeout, expected):
    grouped = events.withWatermark("ts", "1 minute").groupBy("k")
    assert traits(grouped.applyInPandasWithState(counted, "k INT", "c INT", "append", timeout)) == expected


@pytest.mark.parametrize(
    "mode, more", [("none", set()), ("eventTime", {"event_time"}), ("processingTime", {"restless", "driven"})]
)
def test_processors(events, mode, more):
    marked = events.withWatermark("ts", "1 minute") if mode == "eventTime" else events
    made = marked.groupBy("k").transformWithState(Silent(), "k INT", "append", mode)
    assert traits(made) == {"processors", "in_python"} | more


def test_names_of_the_users_own_say_nothing(events):
    """A column may be called like an operator."""
    assert traits(events.selectExpr("k AS `TransformWithState ProcessingTime`", "ts AS EventTimeWatermark")) == set()


def test_a_way_of_telling_time_that_is_not_known_is_refused(events, monkeypatch):
    monkeypatch.setattr(control, "_TIMED", {"FlatMapGroupsInPandasWithState": ("timeout", {"NoTimeout": False})})
    made = events.groupBy("k").applyInPandasWithState(counted, "k INT", "c INT", "append", "ProcessingTimeTimeout")
    with pytest.raises(SubjectFailure, match="timeout that firesteel does not know: ProcessingTimeTimeout"):
        Traits(made)

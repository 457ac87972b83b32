"""The Yahoo streaming benchmark, DiffStream's fourth case study: two versions of a job, compared while they run.

Events say that somebody saw, clicked or bought what an ad shows. Both versions tell which view of an ad counts for
which campaign, and in which window of ten seconds. One is a join with a table of campaigns; the other looks the
campaign up in Python and computes the window itself. Events that arrive more than 20 seconds late do not count.

No order matters, so that a monitor reports what has no match when the watermark passes it. The second version can have
one of four bugs. The jobs are in `firesteel.cli.advertising`; `firesteel monitor --demo` shows them.

The views of each campaign and window are then counted, by Spark's own aggregation or with `transformWithState`
(`advertising_counts.py`). Such jobs run as queries of their own, and a monitor reads what they wrote. In one of them
the campaigns are in a real Redis, if there is one.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import advertising_counts
import pytest
import redis_here
from advertising_counts import COUNTS, by_aggregation, by_state, from_redis
from pyspark import cloudpickle
from pyspark.sql import DataFrame, Row, SparkSession

import firesteel as fs
from firesteel.cli.advertising import (
    BUGS,
    EVENTS,
    LATE,
    START,
    WINDOW,
    Event,
    campaigns,
    events,
    joined,
    looked_up,
    write,
)

pytestmark = pytest.mark.slow
for module in (advertising_counts, redis_here):  # Spark's workers cannot import these files
    cloudpickle.register_pickle_by_value(module)

RIGHT, REDIS = "none", "Redis"
STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""What transformWithState needs."""
SENT = list(events(3_000, rate=50, late=0.1))


def feed(folder: Path) -> None:
    """Three files of events, and two views long after them: they move the watermark past all others."""
    later: list[Event] = [
        (-hours, "ad-0-0", "view", START + timedelta(hours=hours), START + timedelta(hours=hours)) for hours in (1, 2)
    ]
    folder.mkdir()
    for number, part in enumerate([SENT[:1000], SENT[1000:2000], SENT[2000:], later[:1], later[1:]]):
        path = folder / f"{number}.parquet"
        write(part, str(path))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def run(frames: Mapping[str, DataFrame], place: Path) -> None:
    """Run all of them at once, on all that is there; each writes into a folder of its name."""
    queries = []
    for name, frame in frames.items():
        writer = frame.writeStream.format("parquet").option("path", str(place / name))
        writer = writer.option("checkpointLocation", str(place / f"{name}-state"))
        queries.append(writer.trigger(availableNow=True).start())
    for query in queries:
        query.awaitTermination()


def written(frame: DataFrame, place: Path, name: str) -> list[Row]:
    return frame.sparkSession.read.schema(frame.schema).parquet(str(place / name)).collect()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int | None]:
    """Of a Redis that knows the campaigns; None where none is installed."""
    if shutil.which("redis-server") is None:
        yield None
        return
    with redis_here.redis_server(tmp_path_factory.mktemp("redis"), campaigns()) as port:
        yield port


@pytest.fixture(scope="module")
def stream(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    folder = tmp_path_factory.mktemp("events") / "in"
    feed(folder)
    return spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1).parquet(str(folder))


# --- views and their campaigns --------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(stream: DataFrame, port: int | None, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Row]]:
    """What the monitor says about each version, all of them at once."""
    place = tmp_path_factory.mktemp("advertising")
    others = {RIGHT: looked_up(), **{bug: looked_up(bug=bug) for bug in BUGS}}
    if port is not None:
        others[REDIS] = looked_up(from_redis(port))
    frames = {
        name: fs.monitor_equivalence(
            joined(stream), other(stream), dependence=fs.unordered(), watermark=("ts", "1 minute"), groups=2
        )
        for name, other in others.items()
    }
    run(frames, place)
    return {name: written(frame, place, name) for name, frame in frames.items()}


def test_two_versions_that_agree(found: Mapping[str, list[Row]]) -> None:
    assert found[RIGHT] == []


def test_a_version_that_asks_redis_agrees(found: Mapping[str, list[Row]]) -> None:
    redis_here.skip_without_server()
    assert found[REDIS] == []


def test_events_that_are_too_late_are_counted(found: Mapping[str, list[Row]]) -> None:
    late = {id_ for id_, _, kind, ts, arrived in SENT if kind == "view" and arrived - ts > timedelta(seconds=LATE)}
    assert late
    assert {(row.side, row.right.id) for row in found["late"]} == {("right", id_) for id_ in late}


def test_a_join_that_loses_a_campaign(found: Mapping[str, list[Row]]) -> None:
    assert {(row.side, row.left.campaign) for row in found["lost"]} == {("left", "campaign-7")}


def test_windows_that_begin_a_second_late(found: Mapping[str, list[Row]]) -> None:
    """Every view is in another window, and so is on both sides without a match."""
    sides = [row.side for row in found["shifted"]]
    assert sides.count("left") == sides.count("right") > 100


def test_views_that_count_twice(found: Mapping[str, list[Row]]) -> None:
    assert found["twice"]
    assert {(row.side, row.right.id % 50) for row in found["twice"]} == {("right", 0)}


# --- counts ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counted(
    spark: SparkSession, stream: DataFrame, port: int | None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Row], Mapping[str, list[Row]]]:
    """What one job counted, and what the monitor says about others, each a query of its own that writes files."""
    place = tmp_path_factory.mktemp("counts")
    jobs = {
        "old": by_aggregation(joined(stream)),
        "new": by_state(looked_up()(stream) if port is None else looked_up(from_redis(port))(stream)),
        "wrong": by_state(looked_up(bug="twice")(stream)),
    }
    before = str(spark.conf.get(STORE))
    spark.conf.set(STORE, ROCKSDB)
    try:
        run(jobs, place)
    finally:
        spark.conf.set(STORE, before)
    sides = {name: spark.readStream.schema(COUNTS).parquet(str(place / name)) for name in jobs}
    frames = {
        f"old and {name}": fs.monitor_equivalence(
            sides["old"], sides[name], dependence=fs.unordered(), watermark=("window", "1 minute"), groups=2
        )
        for name in ("new", "wrong")
    }
    run(frames, place)
    said = {name: written(frame, place, name) for name, frame in frames.items()}
    return spark.read.schema(COUNTS).parquet(str(place / "old")).collect(), said


def in_time() -> Iterator[tuple[int, tuple[str, timedelta]]]:
    """The id of each view that counts, with its campaign and the start of its window."""
    of, window = campaigns(), timedelta(seconds=WINDOW)
    for id_, ad, kind, ts, arrived in SENT:
        if kind == "view" and arrived - ts <= timedelta(seconds=LATE):
            yield id_, (of[ad], (ts - START) // window * window)


def key(row: Row) -> tuple[str, timedelta]:
    return row.campaign, row.window.astimezone(START.tzinfo) - START


def test_counts_that_agree(counted: tuple[list[Row], Mapping[str, list[Row]]]) -> None:
    """Spark's aggregation, and `transformWithState` behind a lookup in Redis."""
    counts, said = counted
    right = Counter(view for _, view in in_time())
    assert {key(row): row.views for row in counts if key(row) in right} == right
    assert len(counts) == len(right) + 1  # and the first of the two views that come long after
    assert said["old and new"] == []


def test_counts_of_views_that_count_twice(counted: tuple[list[Row], Mapping[str, list[Row]]]) -> None:
    right, twice = Counter(view for _, view in in_time()), {view for id_, view in in_time() if id_ % 50 == 0}
    rows = counted[1]["old and wrong"]
    assert {key(row.left) for row in rows if row.left} == {key(row.right) for row in rows if row.right} == twice
    assert all(row.right.views > right[key(row.right)] for row in rows if row.right)

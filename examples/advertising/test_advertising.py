"""The Yahoo streaming benchmark, DiffStream's fourth case study: two versions of a job, compared while they run.

Events say that somebody saw, clicked or bought what an ad shows. Both versions tell which view of an ad counts for
which campaign, and in which window of ten seconds. One is a join with a table of campaigns; the other looks the
campaign up in Python and computes the window itself. Events that arrive more than 20 seconds late do not count.

No order matters, so that a monitor reports what has no match when the watermark passes it. The second version can have
one of four bugs. The jobs are in `firesteel.cli.advertising`; `firesteel monitor --demo` shows them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

import firesteel as fs
from firesteel.cli.advertising import BUGS, EVENTS, LATE, START, Event, events, joined, looked_up, write

pytestmark = pytest.mark.slow
RIGHT = "none"


def feed(folder: Path) -> list[Event]:
    """Three files of events, and a last view long after them: it moves the watermark past all others."""
    rows = list(events(3_000, rate=50, late=0.1))
    later = START + timedelta(hours=1)
    parts = [rows[:1000], rows[1000:2000], rows[2000:], [(-1, "ad-0-0", "view", later, later)]]
    folder.mkdir()
    for number, part in enumerate(parts):
        path = folder / f"{number}.parquet"
        write(part, str(path))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return rows


@pytest.fixture(scope="module")
def found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Row]]:
    """What the monitor says about each version, all of them at once."""
    place = tmp_path_factory.mktemp("advertising")
    feed(place / "in")
    stream = spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1).parquet(str(place / "in"))
    frames, queries = {}, []
    for bug in (RIGHT, *BUGS):
        other = looked_up(bug=None if bug == RIGHT else bug)(stream)
        frames[bug] = fs.monitor_equivalence(
            joined(stream), other, dependence=fs.unordered(), watermark=("ts", "1 minute"), groups=2
        )
        writer = frames[bug].writeStream.format("parquet").option("path", str(place / bug))
        writer = writer.option("checkpointLocation", str(place / f"{bug}-state"))
        queries.append(writer.trigger(availableNow=True).start())
    for query in queries:
        query.awaitTermination()
    return {bug: spark.read.schema(frame.schema).parquet(str(place / bug)).collect() for bug, frame in frames.items()}


def test_two_versions_that_agree(found: Mapping[str, list[Row]]) -> None:
    assert found[RIGHT] == []


def test_events_that_are_too_late_are_counted(found: Mapping[str, list[Row]]) -> None:
    rows = list(events(3_000, rate=50, late=0.1))
    late = {id_ for id_, _, kind, ts, arrived in rows if kind == "view" and arrived - ts > timedelta(seconds=LATE)}
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

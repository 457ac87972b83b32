"""What becomes of the views of ads: how many each campaign has in each window, counted in two ways.

Both put a count out once, when no view can come any more. A view comes at most `LATE` seconds after it happened, so its
window begins less than `LATE + WINDOW` seconds before the latest one that was seen: that is the delay of the watermark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from redis_here import redis_client

from firesteel.cli.advertising import LATE, WINDOW, Lookup

COUNTS = "campaign STRING, window TIMESTAMP, views BIGINT"
DELAY = f"{LATE + WINDOW} seconds"


def from_redis(port: int) -> Lookup:
    """Looks up campaigns in a Redis of this machine: one question for all ads of a part."""

    def lookup(ads: Sequence[str]) -> Sequence[str | None]:
        if not ads:
            return []
        with redis_client(port) as redis:
            found: list[str | None] = redis("MGET", *ads)
            return found

    return lookup


def by_aggregation(views: DataFrame) -> DataFrame:
    """Spark counts."""
    groups = views.withWatermark("window", DELAY).groupBy("campaign", "window")
    return groups.agg(F.count("*").alias("views"))


def by_state(views: DataFrame) -> DataFrame:
    """A function with state counts."""
    groups = views.withWatermark("window", DELAY).groupBy("campaign", "window")
    return groups.transformWithState(_Counter(), COUNTS, "append", "EventTime")


class _Counter(StatefulProcessor):
    """Counts the views of a campaign in a window, and tells the number when the watermark passes the window's start."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.views = handle.getValueState("views", "views BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        before = self.views.get()
        if before is None:
            self.handle.registerTimer(int(key[1].timestamp() * 1000))
        self.views.update(((before[0] if before else 0) + sum(1 for _ in rows),))
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        counted = self.views.get()
        assert counted is not None
        self.views.clear()
        yield Row(campaign=key[0], window=key[1], views=counted[0])

    def close(self) -> None: ...

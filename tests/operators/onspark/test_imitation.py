"""Code with state in Python: worked out by hand, and compared with Spark's own tester where that can do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from firesteel import operators
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, Material, NotRun, one_by_one
from firesteel.operators.onspark.trying import Trying, imitation_of
from firesteel.perturb.changes import Restart, ShuffleOrder, Variant
from firesteel.values.records import Record

KEYED = "k STRING, n INT"
USUAL: dict[str, Any] = {"key": "k", "input": KEYED, "output": KEYED}
DAY = 86_400_000


class Everything(StatefulProcessor):
    """Keeps a sum, a list and a map for each key, and puts out what they hold."""

    def init(self, handle: Any) -> None:
        self.sum = handle.getValueState("sum", "n INT")
        self.last = handle.getListState("last", "n INT")
        self.often = handle.getMapState("often", "n INT", "c INT")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        for frame in rows:
            for n in frame["n"]:
                self.sum.update(((self.sum.get() or (0,))[0] + n,))
                self.last.appendValue((n,))
                seen = self.often.getValue((n,)) if self.often.containsKey((n,)) else (0,)
                self.often.updateValue((n,), (seen[0] + 1,))
        if self.sum.get()[0] > 12:
            self.last.put([(7,)])
            self.often.removeKey((3,))
        held = [self.sum.get()[0], sum(n for (n,) in self.last.get()), sum(c for (c,) in self.often.values())]
        yield pd.DataFrame({"k": [key[0]] * 3, "n": held})

    def close(self) -> None: ...


class Forgetting(StatefulProcessor):
    """Counts; the count lives for an hour."""

    def init(self, handle: Any) -> None:
        self.seen = handle.getValueState("seen", "n INT", ttlDurationMs=3_600_000)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        self.seen.update(((self.seen.get() or (0,))[0] + sum(map(len, rows)),))
        yield pd.DataFrame({"k": [key[0]], "n": [self.seen.get()[0]]})

    def close(self) -> None: ...


class Waiting(StatefulProcessor):
    """Puts out a key two minutes after it came, by the clock or by event time."""

    def init(self, handle: Any) -> None:
        self.handle = handle

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        now = timerValues.getCurrentProcessingTimeInMs()
        for frame in rows:
            at = now if "ts" not in frame else int(frame["ts"].max().timestamp() * 1000)
            self.handle.registerTimer(at + 120_000)
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"k": [key[0]], "n": [len(list(self.handle.listTimers()))]})

    def close(self) -> None: ...


class InRows(StatefulProcessor):
    """For `transformWithState`: counts the rows of a key, and says the latest hour of their times."""

    def init(self, handle: Any) -> None:
        self.seen = handle.getValueState("seen", "n INT")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        hours = [row.ts.hour for row in rows]
        seen = (self.seen.get() or (0,))[0] + len(hours)
        self.seen.update((seen,))
        yield Row(k=key[0], n=100 * max(hours) + seen)

    def close(self) -> None: ...


def idle(key: Any, frames: Any, state: Any) -> Iterator[pd.DataFrame]:
    """Counts; a key of which nothing is heard for an hour is put out with a minus."""
    if state.hasTimedOut:
        seen = -state.get[0]
        state.remove()
    else:
        seen = (state.get[0] if state.exists else 0) + sum(map(len, frames))
        state.update((seen,))
        state.setTimeoutDuration(3_600_000)
    yield pd.DataFrame({"k": [key[0]], "n": [seen]})


def ran(operator: Any, batches: Any, interval: int = 1000, close: bool = True) -> list[list[tuple[Any, ...]]]:
    made = imitation_of(operator)
    assert made is not None
    return [sorted(rows) for rows in made(batches, interval, close)]


def test_a_ttl_goes_by_the_clock() -> None:
    forgetting = operators.processor(Forgetting, **USUAL, time_mode="processingTime")
    batches = [[("a", 1)], [("a", 1)], [("b", 1)]]
    assert ran(forgetting, batches) == [[("a", 1)], [("a", 2)], [("b", 1)]]
    assert ran(forgetting, batches, DAY) == [[("a", 1)], [("a", 1)], [("b", 1)]]


def test_a_processor_of_rows() -> None:
    counted = operators.processor(InRows, key="k", input="k STRING, ts TIMESTAMP", output=KEYED, rows=True)
    noon = datetime(2000, 1, 1, 12, tzinfo=UTC)
    assert ran(counted, [[("a", noon), ("a", noon)], [("a", noon), ("b", noon)]]) == [
        [("a", 1202)],
        [("a", 1203), ("b", 1201)],
    ]


def test_a_timer_fires_at_its_time() -> None:
    waiting = operators.processor(Waiting, **USUAL, time_mode="processingTime")
    batches = [[("a", 1)], [("b", 1)], [("b", 1)]]
    assert ran(waiting, batches) == [[], [], []]
    assert ran(waiting, batches, 121_000) == [[], [("a", 1)], [("b", 2)]], "the timer itself and a new one"


def test_the_watermark_moves_timers_and_drops_what_is_late() -> None:
    by_event = operators.processor(
        Waiting, key="k", input="k STRING, ts TIMESTAMP", output=KEYED, time_mode="eventTime", watermark="1 minute"
    )
    at = datetime(2000, 1, 1, tzinfo=UTC)

    def fed(*minutes: tuple[str, int]) -> list[list[tuple[Any, ...]]]:
        return [[(k, at + timedelta(minutes=m))] for k, m in minutes]

    # Watermarks after each batch: -1, 4, 4. So a (due at 2) fires with b, and the second a is late.
    assert ran(by_event, fed(("a", 0), ("b", 5), ("a", 1)), close=False) == [[], [("a", 1)], []]
    assert ran(by_event, fed(("a", 0), ("b", 5), ("a", 1))) == [[], [("a", 1)], [("b", 1)]]


def test_a_time_out_of_a_function() -> None:
    counting = operators.state_function(idle, **USUAL, state="n INT", time_mode="processingTime")
    batches = [[("a", 1)], [("b", 1), ("b", 2)], [("a", 1)]]
    assert ran(counting, batches) == [[("a", 1)], [("b", 2)], [("a", 2)]]
    assert ran(counting, batches, DAY) == [[("a", 1)], [("a", -1), ("b", 2)], [("a", 1), ("b", -2)]]
    assert ran(counting, [[("a", 1)], [("a", 1)]], DAY) == [[("a", 1)], [("a", 2)]], (
        "a key that comes does not time out"
    )


def test_it_does_what_the_tester_of_spark_does() -> None:
    tester: Any = pytest.importorskip("pyspark.sql.streaming.tws_tester")
    everything = operators.processor(Everything, **USUAL)
    for seed in range(30):
        random = Random(seed)
        batches = [
            [(random.choice("abc"), random.randint(1, 5)) for _ in range(random.randint(0, 4))] for _ in range(4)
        ]
        spark = tester.TwsTester(Everything())
        for rows, mine in zip(batches, ran(everything, batches), strict=True):
            theirs: list[Any] = []
            for key in sorted({k for k, _ in rows}):
                frame = pd.DataFrame({"k": key, "n": [n for k, n in rows if k == key]})
                theirs += spark.testInPandas(key, frame).itertuples(index=False, name=None)
            assert mine == sorted(theirs), (seed, batches)


def test_it_runs_in_a_process_of_its_own() -> None:
    def dies(key: Any, frames: Any, state: Any) -> Iterator[pd.DataFrame]:
        import os

        if key[0] == "x":
            os._exit(3)
        if key[0] == "y":
            raise ValueError("no y")
        yield pd.DataFrame({"k": [key[0]], "n": [1]})

    operator = operators.state_function(dies, **USUAL, state="n INT")
    made = imitation_of(operator)
    assert made is not None
    trying = Trying(operator, made)
    try:
        assert trying.is_possible
        feeds = [Feed(one_by_one((("input", (k, 1)),))) for k in "axby"]
        first, dead, second, raised = trying.results(feeds)
        assert isinstance(first, Gave) and first.rows == (Record(k="a", n=1),)
        assert isinstance(second, Gave) and isinstance(dead, NotRun)
        assert isinstance(raised, Failed) and "no y" in raised.message
        assert trying.results([Feed(feeds[0].batches, Variant(Restart(0)))]) == [NotRun()], "only Spark can do this"
    finally:
        trying.end()


def test_a_shuffle_may_bring_partitions_in_another_order() -> None:
    operator = operators.state_function(idle, **USUAL, state="n INT")
    made = imitation_of(operator)
    assert made is not None
    trying = Trying(operator, made)
    try:
        rows: Material = tuple(("input", ("a", n)) for n in range(4))
        usual, turned = Feed((rows,), dealt=2), Feed((rows,), Variant(ShuffleOrder("reversed")), dealt=2)
        assert [n for _, n in trying._arguments(usual)[0][0]] == [0, 2, 1, 3]
        assert [n for _, n in trying._arguments(turned)[0][0]] == [1, 3, 0, 2]
    finally:
        trying.end()


@pytest.mark.parametrize("made", [operators.transformation, operators.sink])
def test_only_code_with_state_is_imitated(made: Callable[..., Any]) -> None:
    more: dict[str, Any] = {"read": list, "fresh": list} if made is operators.sink else {}
    assert imitation_of(made(print, input=KEYED, **more)) is None
    initial = operators.processor(Forgetting, **USUAL, initial_state=lambda spark: spark.range(3))
    assert imitation_of(initial) is None

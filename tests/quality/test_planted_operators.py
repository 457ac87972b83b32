"""Planted operators that break a property on Spark, each beside the same made harmless."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.window import Window

import firesteel as fs
from firesteel import operators

KEYED = "k STRING, n INT"
TIMED = "k STRING, ts TIMESTAMP"
JOINED = {"left": "k INT, a INT, ts TIMESTAMP", "right": "j INT, b INT, us TIMESTAMP"}
UPDATED: dict[str, Any] = {"key": "k", "output_mode": "update"}
IN_TIME = "k = j and us between ts and ts + interval 10 minutes"


def drawn_at_random(frame: Any) -> Any:
    return frame.withColumn("r", F.rand())


def drawn_from_content(frame: Any) -> Any:
    return frame.withColumn("r", F.xxhash64("k", "n"))


def numbered_by_place(frame: Any) -> Any:
    return frame.withColumn("id", F.monotonically_increasing_id())


def numbered_by_content(frame: Any) -> Any:
    return frame.withColumn("id", F.crc32(F.col("k")))


def stamped_by_clock(frame: Any) -> Any:
    return frame.withColumn("at", F.current_timestamp())


def stamped_by_record(frame: Any) -> Any:
    return frame.withColumn("at", F.timestamp_seconds("n"))


def listed_as_they_come(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.collect_list("n").alias("ns"))


def listed_in_order(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("ns"))


def first_of_ties(frame: Any) -> Any:
    place = F.row_number().over(Window.partitionBy("k").orderBy(F.lit(1)))
    return frame.withColumn("place", place).where("place = 1")


def first_of_all(frame: Any) -> Any:
    place = F.row_number().over(Window.partitionBy("k").orderBy("n"))
    return frame.withColumn("place", place).where("place = 1")


def seen_for_ever(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").dropDuplicates(["k"])


def seen_for_a_while(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["k"])


def holding_back(left: Any, right: Any) -> Any:
    return left.withWatermark("ts", "1 minute").join(
        right.withWatermark("us", "1 minute"), F.expr(IN_TIME), "left_semi"
    )


def joining(left: Any, right: Any) -> Any:
    return left.withWatermark("ts", "1 minute").join(right.withWatermark("us", "1 minute"), F.expr(IN_TIME))


def marked_and_kept(frame: Any) -> Any:
    """The watermark is there, and nothing goes by it."""
    return frame.withWatermark("ts", "10 minutes").select("k", "ts")


def marked_and_dropped(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["k", "ts"]).select("k", "ts")


def counted_in_memory(key: Any, frames: Any, state: Any) -> Any:
    """Counts in a module of the worker's process, which a restart does not bring back."""
    import sys
    import types

    import pandas as pd

    memory: Any = sys.modules.setdefault("memory_of_the_worker", types.ModuleType("memory_of_the_worker"))
    seen = vars(memory).setdefault("seen", {})
    seen[key] = seen.get(key, 0) + sum(map(len, frames))
    yield pd.DataFrame({"k": [key[0]], "n": [seen[key]]})


def counted_in_state(key: Any, frames: Any, state: Any) -> Any:
    import pandas as pd

    seen = (state.get[0] if state.exists else 0) + sum(map(len, frames))
    state.update((seen,))
    yield pd.DataFrame({"k": [key[0]], "n": [seen]})


class Leaking(StatefulProcessor):
    """Counts in an attribute of its class, which all keys of a worker share."""

    seen = 0

    def init(self, handle: Any) -> None: ...

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        Leaking.seen += sum(map(len, rows))
        yield pd.DataFrame({"k": [key[0]], "n": [Leaking.seen]})

    def close(self) -> None: ...


class Counting(StatefulProcessor):
    """Counts in a state of its own, which lives as long as `lives` says."""

    lives: int | None = None

    def init(self, handle: Any) -> None:
        self.seen = handle.getValueState("seen", "n INT", self.lives)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        seen = (self.seen.get() or (0,))[0] + sum(map(len, rows))
        self.seen.update((seen,))
        yield pd.DataFrame({"k": [key[0]], "n": [seen]})

    def close(self) -> None: ...


class Forgetting(Counting):
    lives = 3_600_000


def counted_in_each_batch(frame: Any) -> Any:
    def counted(frames: Any) -> Any:
        yield pd.DataFrame({"n": [sum(map(len, frames))]})

    return frame.repartition(1).mapInPandas(counted, "n INT")


def counted_in_windows(frame: Any) -> Any:
    """A key has several windows, each with a row of its own."""
    return frame.groupBy("k", F.window("ts", "10 minutes")).count()


def dropped_when_late(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").groupBy("k", F.window("ts", "10 minutes")).count()


def paired_by_place(left: Any, right: Any) -> Any:
    return left.withColumn("id", F.monotonically_increasing_id()).join(right, "k")


def paired_by_content(left: Any, right: Any) -> Any:
    return left.withColumn("id", F.xxhash64("k", "a")).join(right, "k")


def numbered_in_memory(frame: Any) -> Any:
    """Numbers rows in a module of the worker's process: a task that is retried goes on from its first attempt."""

    def numbered(frames: Any) -> Any:
        import sys
        import types

        memory: Any = sys.modules.setdefault("numbers_of_the_worker", types.ModuleType("numbers_of_the_worker"))
        for each in frames:
            start = vars(memory).setdefault("next", 0)
            memory.next = start + len(each)
            yield each.assign(n=range(start, start + len(each)))

    return frame.mapInPandas(numbered, KEYED)


def numbered_in_the_task(frame: Any) -> Any:
    def numbered(frames: Any) -> Any:
        start = 0
        for each in frames:
            yield each.assign(n=range(start, start + len(each)))
            start += len(each)

    return frame.mapInPandas(numbered, KEYED)


def keeping_state(function: Any) -> Any:
    return operators.state_function(function, key="k", input=KEYED, output=KEYED, state="n INT")


def processing(made: Any, **more: Any) -> Any:
    return operators.processor(made, key="k", input=KEYED, output=KEYED, output_mode="update", **more)


def streaming(function: Any, input: Any = KEYED, **more: Any) -> Any:
    return operators.transformation(function, input=input, **more)


def job(function: Any) -> Any:
    return operators.transformation(function, input=KEYED, key="k", engine="batch")


PLANTED = [
    ("deterministic", streaming(drawn_at_random), streaming(drawn_from_content)),
    ("partition_independent", job(numbered_by_place), job(numbered_by_content)),
    ("clock_free", streaming(stamped_by_clock), streaming(stamped_by_record)),
    ("deterministic", job(listed_as_they_come), job(listed_in_order)),
    ("order_independent", job(first_of_ties), job(first_of_all)),
    ("deterministic", job(numbered_in_memory), job(numbered_in_the_task)),
    ("state_bounded", streaming(seen_for_ever, TIMED, key="k"), streaming(seen_for_a_while, TIMED, key="k")),
    ("late_safe", streaming(marked_and_kept, TIMED, key="k"), streaming(marked_and_dropped, TIMED, key="k")),
    ("restart_safe", keeping_state(counted_in_memory), keeping_state(counted_in_state)),
    ("partition_isolated", processing(Leaking), processing(Counting)),
    ("state_bounded", processing(Counting), processing(Forgetting, time_mode="processingTime")),
    ("batch_independent", streaming(counted_in_each_batch, TIMED), streaming(counted_in_windows, TIMED, **UPDATED)),
]
NOON = datetime(2000, 1, 1, 12, tzinfo=UTC)
ROWS = {KEYED: [("a", 1), ("a", 2), ("b", 1)], TIMED: [("a", NOON), ("b", NOON + timedelta(hours=1))]}


@pytest.fixture(autouse=True)
def sent_by_value() -> Iterator[None]:
    """Spark's Python processes cannot import this file, so its functions are sent with their code."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def little_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are given, and small."""
    monkeypatch.setattr("firesteel.operators.onspark.examine._SHRINK_SECONDS", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name, wrong, right", PLANTED, ids=[f"{name}-{wrong.name}" for name, wrong, _ in PLANTED])
def test_the_wrong_one_is_found_and_the_right_one_is_not(spark: Any, name: str, wrong: Any, right: Any) -> None:
    rows = ROWS[TIMED if wrong.has_time else KEYED]
    with pytest.raises(fs.Falsified) as failure:
        fs.holds(wrong, name, tests=8, seconds=40, sample=rows, spark=spark)
    finding = failure.value.report.evidence.finding
    assert finding.evidence and finding.confirmed and finding.replay
    assert wrong.name in str(failure.value)
    # A micro-batch may take half of the seconds. Processors start workers that import pandas, so they get fewer tests.
    tests, seconds = (4, 40) if right.name in ("Counting", "Forgetting") else (12, 20)
    kept = fs.analyze(right, name, tests=tests, seconds=seconds, sample=rows, spark=spark)[name]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs


@pytest.mark.slow
def test_a_join_that_holds_one_side_back(spark: Any) -> None:
    at = datetime(2000, 1, 1, tzinfo=UTC)
    rows = {"left": [(1, 5, at)], "right": [(1, 7, at + timedelta(minutes=1))]}
    options: dict[str, Any] = {"sample": rows, "seconds": 20, "spark": spark}
    with pytest.raises(fs.Falsified) as failure:
        fs.holds(streaming(holding_back, JOINED), "non_blocking", tests=4, **options)
    assert failure.value.report.evidence.finding.port == "left"
    kept = fs.analyze(streaming(joining, JOINED), "non_blocking", tests=3, **options)["non_blocking"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs


@pytest.mark.slow
def test_windows_of_a_key_in_update_mode_have_no_order(spark: Any) -> None:
    """A row replaces that of its own window only, and not that of another window of its key."""
    rows = [("a", NOON), ("a", NOON + timedelta(minutes=20))]
    windows = streaming(counted_in_windows, TIMED, **UPDATED)
    kept = fs.analyze(windows, "commutative", "late_safe", tests=12, seconds=20, sample=rows, spark=spark)
    assert kept["commutative"].verdict is fs.Verdict.INCONCLUSIVE and kept["commutative"].outputs
    assert "no watermark" in kept["late_safe"].why and not kept["late_safe"].outputs
    with pytest.raises(fs.Vacuous, match="no watermark"):
        fs.holds(windows, "late_safe", tests=2, sample=rows, spark=spark)


@pytest.mark.slow
def test_late_records_that_are_claimed_to_count(spark: Any) -> None:
    options: dict[str, Any] = {"late": "counted", "sample": ROWS[TIMED], "seconds": 20, "spark": spark}
    with pytest.raises(fs.Falsified, match="dropped_when_late"):
        fs.holds(streaming(dropped_when_late, TIMED, key="k"), "late_safe", tests=8, **options)
    kept = fs.analyze(streaming(marked_and_kept, TIMED, key="k"), "late_safe", tests=12, **options)["late_safe"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs


@pytest.mark.slow
def test_two_ports_of_a_job(spark: Any) -> None:
    ports = {"left": "k INT, a INT", "right": "k INT, b INT"}
    rows = {"left": [(1, 5), (2, 5)], "right": [(1, 7), (2, 7)]}
    options: dict[str, Any] = {"sample": rows, "seconds": 20, "spark": spark}
    by_place, by_content = (streaming(each, ports, engine="batch") for each in (paired_by_place, paired_by_content))
    with pytest.raises(fs.Falsified, match="paired_by_place"):
        fs.holds(by_place, "partition_independent", tests=8, **options)
    kept = fs.analyze(by_content, "partition_independent", tests=12, **options)["partition_independent"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs


# --- sinks ---


def appended(frame: Any, batch_id: int, place: str) -> None:
    _, name = tempfile.mkstemp(dir=place)
    Path(name).write_text(json.dumps([row.asDict() for row in frame.collect()]))


def by_batch(frame: Any, batch_id: int, place: str) -> None:
    Path(place, f"{batch_id}").write_text(json.dumps([row.asDict() for row in frame.collect()]))


class Writer:
    """A `foreach` writer: a file for every row, of a new name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, row: Any) -> None:
        _, name = tempfile.mkstemp(dir=self.folder)
        Path(name).write_text(json.dumps([row.asDict()]))


class ByContent(Writer):
    """The same, with a name that the row says."""

    def process(self, row: Any) -> None:
        Path(self.folder, f"{row.k} {row.n}").write_text(json.dumps([row.asDict()]))


def rows_in(folder: str) -> list[Any]:
    return [row for file in Path(folder).iterdir() for row in json.loads(file.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("wrong, right", [(appended, by_batch), (Writer, ByContent)])
def test_a_sink_that_appends_blindly(spark: Any, tmp_path: Path, wrong: Any, right: Any) -> None:
    def sink(written: Any) -> Any:
        return operators.sink(written, input=KEYED, read=rows_in, fresh=lambda: tempfile.mkdtemp(dir=tmp_path))

    options: dict[str, Any] = {"sample": ROWS[KEYED], "seconds": 20, "spark": spark}
    with pytest.raises(fs.Falsified, match=wrong.__name__) as failure:
        fs.holds(sink(wrong), "replay_safe", tests=4, **options)
    assert "replayed" in failure.value.report.evidence.finding.evidence
    kept = fs.analyze(sink(right), "replay_safe", tests=12, **options)["replay_safe"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs

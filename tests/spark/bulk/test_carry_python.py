"""Python functions in bulk runs: what cases get together, record by record, is what they get alone."""

import subprocess
import sys
from collections import Counter

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

import firesteel as fs
from firesteel.spark.bulk import carry_workers as workers
from firesteel.spark.bulk.carry_python import _by_value
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.failures import CannotCarry
from firesteel.spark.running import Running
from firesteel.values.cases import Case

pytestmark = pytest.mark.slow

SCHEMA = "k INT, s STRING, n INT"

# Batch 1 of the first case and all but the last of the third are empty; keys, texts and numbers are null at times.
CASES = [
    [[(0, "a", 1), (1, "b", 2), (0, "a", None)], [], [(0, "c", 3), (None, "a", 4)]],
    [[(0, "a", 5), (None, None, 6)], [(None, "b", 7), (1, "b", 8), (0, "a", 9)], []],
    [[], [], [(2, "a", 10)]],
    [[(0, "a", 11)], [(0, "a", 12), (0, None, 13), (1, "c", 14)], [(1, "a", None), (1, "c", 15)]],
]

# Without nulls in integers, which make floats of all integers of a partition in transformWithStateInPandas.
WHOLE = [[[(k or 0, s, n or 0) for k, s, n in batch] for batch in case] for case in CASES]


def cases_of(batches=None, schema=SCHEMA):
    return [Case({"input": fs.Stream(schema, case)}) for case in batches or CASES]


def outputs(traces):
    return [[Counter(map(repr, instant.output)) for instant in trace] for trace in traces]


def same(spark, subject, mode="append", batches=None, schema=SCHEMA):
    """The outputs of all cases, which must be the same together and alone."""
    how = Running(output_mode=mode)
    cases = cases_of(batches, schema)
    alone = outputs(exercise_apart(spark, cases, subject, how))
    bulk = outputs(exercise_together(spark, cases, subject, how))
    assert bulk == alone
    assert any(batch for trace in alone for batch in trace), "nothing came out that could differ"
    return alone


def together(spark, subject, mode="append", batches=None):
    return exercise_together(spark, cases_of(batches), subject, Running(output_mode=mode))


def seen(frame):
    """The columns of a frame and their types, and its index, as a function sees them."""
    return f"{[*zip(frame.columns, frame.dtypes.astype(str), strict=True)]} {frame.index}"


# --- groups ----------------------------------------------------------------------------------------------------------


def test_a_function_of_a_group(spark):
    factor = 3

    def scaled(group):
        return group.assign(n=group["n"] * factor, s=seen(group))

    same(spark, lambda f: f.groupBy("k").applyInPandas(scaled, SCHEMA))


def test_a_function_of_a_key_and_a_group(spark):
    def counted(key, group):
        return pd.DataFrame({"size": [len(group)], "key": [repr(key)], "seen": [seen(group)]})

    keys = {
        "two": lambda f: f.groupBy("s", "k"),
        "computed": lambda f: f.groupBy((F.col("n") % 2).alias("odd"), F.upper("s")),
        "none": lambda f: f.groupBy(),
    }
    for name, grouped in keys.items():

        def subject(f, grouped=grouped):
            return grouped(f).applyInPandas(counted, "key STRING, size INT, seen STRING")

        assert same(spark, subject), name


def test_columns_by_place_and_frames_without_any(spark):
    def odd(group):
        if group["k"].isna().any():
            return pd.DataFrame()
        if (group["k"] == 1).all():
            return group[["k", "s"]].iloc[:0]
        return pd.DataFrame([[int(group["k"].iloc[0]), "x"]])

    same(spark, lambda f: f.groupBy("k").applyInPandas(odd, "k INT, s STRING"))


def test_a_column_of_the_same_name(spark):
    same(spark, lambda f: f.groupBy("k").applyInPandas(lambda g: g[["k"]].rename(columns={"k": "__case0"}),
                                                       "__case0 INT"))  # fmt: skip


def test_what_a_function_made_goes_on(spark):
    """Behind it the column is still there, for an aggregation. Another function might mind the order of records."""

    def doubled(group):
        return pd.concat([group, group])

    def subject(f):
        return f.groupBy("s").applyInPandas(doubled, SCHEMA).where("n > 2").groupBy("k").count()

    same(spark, subject, "complete")
    with pytest.raises(CannotCarry, match="behind a shuffle, its FlatMapGroupsInPandas"):
        again = lambda f: subject(f).groupBy("k").applyInPandas(lambda g: g, "k INT, count LONG")  # noqa: E731
        together(spark, again, "complete")


def test_functions_of_the_parts_of_a_group(spark):
    from collections.abc import Iterator

    def parts(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for number, frame in enumerate(frames):
            yield frame.assign(n=number, s=seen(frame))

    def keyed(key: tuple, frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame.assign(s=repr(key))

    same(spark, lambda f: f.groupBy("k").applyInPandas(parts, SCHEMA))
    same(spark, lambda f: f.groupBy("k").applyInPandas(keyed, SCHEMA))


def test_groups_in_arrow(spark):
    from collections.abc import Iterator

    def table(key, group):
        texts = pa.array([f"{key} {group.schema}"], pa.string())
        return pa.table({"s": texts, "n": pa.array([group.num_rows], pa.int32())})

    def parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.select(["s", "k"])

    same(spark, lambda f: f.groupBy("k").applyInArrow(table, "n INT, s STRING"))
    same(spark, lambda f: f.groupBy("k").applyInArrow(parts, "k INT, s STRING"))


def test_a_large_function_and_a_broadcast(spark):
    """A function of more than a megabyte is sent as a broadcast variable; it may also have one of its own."""
    table = {number: bytes(number) for number in range(1700)}
    names = spark.sparkContext.broadcast({"a": "A"})

    def looked_up(group):
        return group.assign(n=len(table[1699]), s=group["s"].map(lambda s: names.value.get(s, s)))

    same(spark, lambda f: f.groupBy("k").applyInPandas(looked_up, SCHEMA))


def test_workers_need_no_firesteel():
    """What is sent to them brings its code along."""
    wrapper = workers.mapped(
        workers.Pickled(b""), workers.widened_frame("c", 1), workers.frames_by_case(9, {0: "int8"})
    )
    program = "import sys, pickle; sys.modules['firesteel'] = None; print(list(pickle.load(sys.stdin.buffer)([])))"
    done = subprocess.run([sys.executable, "-c", program], input=_by_value(wrapper), capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


# --- state -----------------------------------------------------------------------------------------------------------


def test_state_with_a_timeout(spark):
    """A group is silent for a batch, and times out in the next one."""

    def counting(key, frames, state):
        if state.hasTimedOut:
            (total,) = state.get
            state.remove()
            columns = [seen(frame) for frame in frames]
            yield pd.DataFrame({"key": [repr(key)], "total": [-total], "seen": columns})
            return
        (total,) = state.get if state.exists else (0,)
        columns = ""
        for frame in frames:
            total += len(frame)
            columns += seen(frame)
        state.update((total,))
        state.setTimeoutDuration(1000)
        yield pd.DataFrame({"total": [total], "key": [repr(key)], "seen": [columns]})

    def subject(f):
        timeout = GroupStateTimeout.ProcessingTimeTimeout
        return f.groupBy("k").applyInPandasWithState(
            counting, "key STRING, total INT, seen STRING", "total INT", "update", timeout
        )

    found = same(spark, subject, "update")
    assert any("total=-" in row for trace in found for batch in trace for row in batch), "nothing timed out"


class Sessions(StatefulProcessor):
    """Counts the records of a key, in one state for ever and in one for a second and a half; a timer after a second."""

    def init(self, handle):
        self.handle = handle
        self.total = handle.getValueState("total", "n INT")
        self.lately = handle.getValueState("lately", "n INT", 1500)
        self.keys = handle.getMapState("texts", "s STRING", "n INT")

    def count(self, rows, timers):
        for name, state in (("total", self.total), ("lately", self.lately)):
            before = state.get()[0] if state.exists() else 0
            state.update((before + rows,))
            yield name, before + rows
        if not list(self.handle.listTimers()):
            self.handle.registerTimer(timers.getCurrentProcessingTimeInMs() + 1000)


class PandasSessions(Sessions):
    def handleInputRows(self, key, rows, timerValues):
        frames = list(rows)
        for name, count in self.count(sum(map(len, frames)), timerValues):
            yield pd.DataFrame({"n": [count], "what": [name], "key": [repr(key)], "seen": [seen(frames[0])]})

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield pd.DataFrame({"key": [repr(key)], "what": ["timer"], "n": [self.total.get()[0]], "seen": [""]})


class RowSessions(Sessions):
    def handleInputRows(self, key, rows, timerValues):
        rows = list(rows)
        for name, count in self.count(len(rows), timerValues):
            yield Row(key=repr(key), what=name, n=count, seen=repr(rows))

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(key=repr(key), what="timer", n=self.total.get()[0], seen="")


OUTPUT = "key STRING, what STRING, n INT, seen STRING"


@pytest.mark.parametrize("keys", [["k"], ["s", "k"]], ids="_".join)
def test_a_processor_of_frames(spark, keys):
    """The name of the last column is no identifier: Spark calls it by its place."""

    def subject(f):
        named = f.withColumn("a b", F.lit(1.5))
        return named.groupBy(*keys).transformWithStateInPandas(PandasSessions(), OUTPUT, "Update", "ProcessingTime")

    found = same(spark, subject, "update", WHOLE)
    assert any("what='timer'" in row for trace in found for batch in trace for row in batch), "no timer came"


def test_a_processor_of_rows(spark):
    found = same(
        spark,
        lambda f: f.groupBy("s").transformWithState(RowSessions(), OUTPUT, "Update", "ProcessingTime"),
        "update",
    )
    assert any("what='timer'" in row for trace in found for batch in trace for row in batch), "no timer came"


# --- maps ------------------------------------------------------------------------------------------------------------


def test_a_running_number(spark):
    def numbered(frames):
        number = 0
        for frame in frames:
            yield frame.assign(n=range(number, number + len(frame)), s=frame["s"].astype(str) + seen(frame))
            number += len(frame)

    same(spark, lambda f: f.mapInPandas(numbered, SCHEMA))


def test_a_map_of_structs_and_lists(spark):
    """What pandas makes of nested values is the same although other cases have nulls in theirs."""

    def shown(frames):
        for frame in frames:
            yield pd.DataFrame({"text": [repr(list(row)) for row in frame.itertuples(index=False)]})

    def subject(f):
        nested = f.select("n", F.struct("k", "s").alias("p"), F.array("k", "n").alias("a"), F.timestamp_seconds("n"))
        return nested.mapInPandas(shown, "text STRING")

    same(spark, subject)


def test_a_map_behind_an_aggregation(spark):
    def tagged(frames):
        for frame in frames:
            yield frame.assign(s="x")

    with pytest.raises(CannotCarry, match="behind a shuffle, its MapInPandas"):
        together(spark, lambda f: f.groupBy("k").count().mapInPandas(tagged, "k INT, count LONG, s STRING"), "complete")


def test_a_map_in_arrow(spark):
    """Only the order of its columns counts, not their names."""

    def numbered(batches):
        number = 0
        for batch in batches:
            numbers = pa.array(range(number, number + batch.num_rows), pa.int32())
            texts = pa.array([str(batch.schema)] * batch.num_rows)
            yield pa.RecordBatch.from_arrays([batch.column("k"), texts, numbers], ["x", "y", "z"])
            number += batch.num_rows

    same(spark, lambda f: f.mapInArrow(numbered, SCHEMA))


# --- refused ---------------------------------------------------------------------------------------------------------


def test_a_function_that_raises(spark):
    def picky(group):
        if (group["n"] == 12).any():
            raise ValueError("not twelve")
        return group

    with pytest.raises(CannotCarry, match=r"one of the cases makes it fail .*ValueError: not twelve"):
        together(spark, lambda f: f.groupBy("k").applyInPandas(picky, SCHEMA))


def test_a_map_that_makes_something_of_nothing(spark):
    def total(frames):
        yield pd.DataFrame({"n": [sum(map(len, frames))]})

    def first(frames):
        yield next(frames)

    with pytest.raises(CannotCarry, match="yields records for a partition without records"):
        together(spark, lambda f: f.mapInPandas(total, "n INT"))
    with pytest.raises(CannotCarry, match="fails for a partition without records"):
        together(spark, lambda f: f.mapInPandas(first, SCHEMA))


def test_a_map_with_a_barrier(spark):
    with pytest.raises(CannotCarry, match="barrier"):
        together(spark, lambda f: f.mapInPandas(lambda frames: frames, SCHEMA, barrier=True))


def test_an_initial_state(spark):
    def subject(f):
        initial = spark.createDataFrame([(0, 1)], "k INT, n INT").groupBy("k")
        return f.groupBy("k").transformWithState(RowSessions(), OUTPUT, "Update", "ProcessingTime", initial)

    with pytest.raises(CannotCarry, match="starts from a table"):
        together(spark, subject, "update")


def test_state_without_a_key(spark):
    """Spark cannot run it, which must show."""

    def counting(key, frames, state):
        return []

    def subject(f):
        return f.groupBy().applyInPandasWithState(counting, "n INT", "n INT", "append", GroupStateTimeout.NoTimeout)

    with pytest.raises(CannotCarry, match="state without a key"):
        together(spark, subject)


def test_a_null_in_an_integer_key_of_a_processor_of_frames(spark):
    """Spark makes the state's key of it, and of all others of its frame, null: that shows only alone."""
    with pytest.raises(CannotCarry, match="a null in an integer key"):
        together(
            spark,
            lambda f: f.groupBy("k").transformWithStateInPandas(PandasSessions(), OUTPUT, "Update", "ProcessingTime"),
            "update",
        )


def test_a_null_among_the_integers_of_a_processor_of_frames(spark):
    """It turns the numbers of all groups that share an Arrow batch into floats: alone these are others."""
    with pytest.raises(CannotCarry, match="a null among integers"):
        together(
            spark,
            lambda f: f.groupBy("s").transformWithStateInPandas(PandasSessions(), OUTPUT, "Update", "ProcessingTime"),
            "update",
            [[[(0, "a", 1)]], [[(0, "a", None)]]],
        )


def test_frames_of_too_many_columns(spark):
    """mapInPandas ignores what is too much: whether that is so is seen alone."""
    with pytest.raises(CannotCarry, match="4 columns instead of 3"):
        together(spark, lambda f: f.mapInPandas(lambda frames: (x.assign(more=1) for x in frames), SCHEMA))

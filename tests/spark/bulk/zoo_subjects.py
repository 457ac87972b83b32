"""The programs of the zoo that take more than a line."""

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout
from pyspark.sql.types import DoubleType, IntegerType


def names(f):
    """A static table."""
    return f.sparkSession.createDataFrame([(0, "zero"), (1, "one"), (1, "uno")], "k INT, name STRING")


def sql(text):
    """A subject in SQL, over a temporary view `events`."""

    def subject(f):
        f.createOrReplaceTempView("events")
        names(f).createOrReplaceTempView("names")
        return f.sparkSession.sql(text)

    return subject


def two_views(left, right):
    left.createOrReplaceTempView("l")
    right.createOrReplaceTempView("r")
    return left.sparkSession.sql("SELECT l.k, a, b FROM l JOIN r ON l.k = r.k WHERE a > 1")


def grouped_in_pandas(f):
    def doubled(group):
        return pd.DataFrame({"k": group["k"].iloc[:1], "n": [int(group["n"].sum()) * 2]})

    return f.groupBy("k").applyInPandas(doubled, "k INT, n INT")


def counted_with_state(f):
    def count(key, frames, state):
        (before,) = state.get if state.exists else (0,)
        now = before + sum(len(frame) for frame in frames)
        state.update((now,))
        yield pd.DataFrame({"k": [key[0]], "c": [now]})

    return f.groupBy("k").applyInPandasWithState(count, "k INT, c INT", "c INT", "append", GroupStateTimeout.NoTimeout)


class Summing(StatefulProcessor):
    def init(self, handle):
        self._sum = handle.getValueState("sum", "n BIGINT")

    def handleInputRows(self, key, rows, timer_values):
        before = self._sum.get()[0] if self._sum.exists() else 0
        now = int(before + sum(int(frame["n"].fillna(0).sum()) for frame in rows))
        self._sum.update((now,))
        yield pd.DataFrame({"k": [key[0]], "n": [now]})

    def close(self):
        pass


class Alarm(StatefulProcessor):
    """Puts out a key five minutes of event time after its first record."""

    def init(self, handle):
        self._handle = handle
        self._seen = handle.getValueState("seen", "n BIGINT")

    def handleInputRows(self, key, rows, timer_values):
        for row in rows:
            if not self._seen.exists():
                self._seen.update((row.n,))
                self._handle.registerTimer(int(row.ts.timestamp() * 1000) + 300_000)
            yield Row(k=row.k, n=row.n, at=timer_values.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(k=-1, n=self._seen.get()[0], at=expiredTimerInfo.getExpiryTimeInMs())

    def close(self):
        pass


def mapped_in_pandas(f):
    def rows(frames):
        for frame in frames:
            yield frame.assign(s=str(frame["n"].dtype))[["k", "s"]]

    return f.mapInPandas(rows, "k INT, s STRING")


def mapped_in_arrow(f):
    return f.mapInArrow(lambda batches: (batch.select(["k", "n"]) for batch in batches), "k INT, n INT")


def plain_udf(f):
    factor = {"by": 3}

    @F.udf("int")
    def times(n):
        return None if n is None else n * factor["by"]

    return f.select("k", times("n").alias("m"))


def pandas_udf(f):
    @F.pandas_udf("double")
    def half(n: pd.Series) -> pd.Series:
        return n / 2

    return f.withColumn("h", half(F.coalesce("n", F.lit(0)))).where("h > 0.5")


@F.pandas_udf(DoubleType())
def from_the_mean(n: pd.Series) -> pd.Series:
    return n - n.mean()  # a mix of cases has another mean


@F.pandas_udf(IntegerType())
def place(n: pd.Series, s: pd.Series) -> pd.Series:
    return pd.Series(range(len(n)))


def pandas_udf_in_parts(f):
    @F.pandas_udf("string")
    def beside(parts: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for k, s in parts:
            yield s.fillna("?") + k.max().astype(str)

    @F.pandas_udf("bigint")
    def running(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for n in parts:
            yield n.fillna(0).cumsum().astype("int64")

    return f.select("k", beside("k", "s").alias("t"), running("n").alias("c"))


def arrow_udf(f):
    @F.arrow_udf("bigint")
    def total(n: pa.Array) -> pa.Array:
        return pa.array([pc.sum(n).as_py()] * len(n), pa.int64())

    @F.arrow_udf("bigint")
    def running(parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for n in parts:
            yield pc.cumulative_sum(pc.fill_null(n, 0)).cast(pa.int64())

    return f.select("k", total("n").alias("t"), running(F.col("n") + 1).alias("c"))


def struct_udf(f):
    @F.pandas_udf("lo INT, hi INT")
    def ends(n: pd.Series, p: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"lo": n.min(), "hi": p["n"].max()}, index=n.index)

    # No field may be null: a null of another case would change the type of the others.
    k, n = (F.coalesce(name, F.lit(0)).alias(name) for name in ("k", "n"))
    return f.select("k", ends(n=n, p=F.struct(k, n)).alias("e"))


def windowed(window, *keys):
    return lambda f: f.withWatermark("ts", "5 minutes").groupBy(window(), *keys).agg(F.count("*").alias("c"))


def joined_in_time(kind):
    def subject(left, right):
        a = left.withWatermark("ts", "5 minutes").alias("a")
        b = right.withWatermark("us", "5 minutes").alias("b")
        near = F.expr("a.k = b.k AND us >= ts - INTERVAL 10 MINUTES AND us <= ts + INTERVAL 10 MINUTES")
        return a.join(b, near, kind)

    return subject


def joined(left, right, kind="inner"):
    return left.join(right, "k", kind)


def tumbling():
    return F.window("ts", "10 minutes")


def hourly():
    return F.window("ts", "1 hour")


def sliding():
    return F.window("ts", "20 minutes", "10 minutes")


def session():
    return F.session_window("ts", "5 minutes")


def dtype_seen(f):
    @F.pandas_udf("string")
    def text(n: pd.Series) -> pd.Series:
        return n.astype(str)

    return f.select(text("n").alias("t"))

"""Programs on DataFrames that are captured, modelled and compared with what Spark gives."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.model.spark_programs import Case, multiset, same

SCHEMA = "k string, v int, d double"
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "B c", None]),
        st.none() | st.integers(-9, 9),
        st.none() | st.sampled_from([0.5, -1.25, 2.0, 4.0]),
    ),
    max_size=9,
)


def _functions() -> Any:
    from pyspark.sql import functions

    return functions


def groups(spark: Any, data: Any, n: int) -> list[Any]:
    F = _functions()
    frame = spark.createDataFrame(data, SCHEMA).repartition(n)
    wanted = frame.filter((F.col("v") > -5) | F.col("d").isNull())
    by_key = wanted.groupBy("k").agg(
        *(F.count("*").alias("n"), F.count("v").alias("c"), F.sum("v").alias("s"), F.avg("v").alias("m")),
        *(F.min("d").alias("low"), F.max("v").alias("high"), (F.sum("d") * 2 + F.count("d")).alias("both")),
    )
    whole = wanted.agg(F.sum("v"), F.count("*"), F.avg("d"))
    return [by_key.orderBy("k").collect(), whole.collect(), by_key.count()]


def joined(spark: Any, data: Any, n: int) -> list[Any]:
    F = _functions()
    left = spark.createDataFrame(data[::2], SCHEMA)
    right = spark.createDataFrame(data[1::2], SCHEMA).select(F.col("k").alias("key"), F.col("v").alias("w"))
    found = left.join(right, left.k == right.key, "left").select(
        "k",
        F.coalesce("w", "v", F.lit(0)).alias("x"),
        F.when(F.col("v") > 0, "up").when(F.col("v") < 0, "down").alias("y"),
    )
    inner = left.join(right, (left.k == right.key) & (left.v < right.w))
    return [
        found.collect(),
        inner.collect(),
        left.join(right, left.k == right.key, "full").collect(),
        left.join(right, left.k == right.key, "left_anti").collect(),
        left.crossJoin(right).count(),
    ]


def windows(spark: Any, data: Any, n: int) -> list[Any]:
    from pyspark.sql import Window

    F = _functions()
    frame = spark.createDataFrame([(k, v, d, i) for i, (k, v, d) in enumerate(data)], f"{SCHEMA}, i int")
    by_key = Window.partitionBy("k").orderBy(F.col("v").desc(), "i")
    loose = Window.partitionBy("k").orderBy("v")
    return [
        frame.select(
            "i", F.row_number().over(by_key), F.lag("v").over(by_key), F.lag("v", 2, 0).over(by_key)
        ).collect(),
        frame.select("i", F.rank().over(loose), F.sum("v").over(loose)).collect(),
        frame.withColumn("all", F.count("*").over(Window.partitionBy("k"))).collect(),
    ]


def words(spark: Any, data: Any, n: int) -> list[Any]:
    F = _functions()
    frame = spark.createDataFrame(data, SCHEMA)
    split = frame.select("v", F.explode(F.split("k", " ")).alias("word"))
    texts = split.select(F.upper("word"), F.length("word"), F.concat("word", F.lit("-"), F.col("v").cast("string")))
    counted = split.groupBy("word").count().orderBy(F.desc("count"), "word")
    return [
        texts.collect(),
        counted.collect(),
        split.filter(F.col("word").isin("a", "c")).select("word").distinct().collect(),
        frame.select("v", F.explode_outer(F.split("k", " "))).collect(),
    ]


def unions(spark: Any, data: Any, n: int) -> list[Any]:
    F = _functions()
    one, two = spark.createDataFrame(data[::2], SCHEMA), spark.createDataFrame(data[1::2], SCHEMA)
    both = one.union(two).withColumn("w", F.col("v") % 3 + F.col("v") * 2).dropDuplicates()
    ordered = both.orderBy(F.col("d").asc_nulls_last(), F.col("v").desc(), "k").select("d", "v")
    return [
        both.collect(),
        ordered.collect(),
        ordered.limit(3).collect(),
        spark.range(7).filter("id % 2 = 1").collect(),
    ]


def logic(spark: Any, data: Any, n: int) -> list[Any]:
    frame = spark.createDataFrame(data, SCHEMA)
    tests = ["v > 0 and d > 0", "v > 0 or d > 0", "not (v > 0)", "v = d", "v <=> null", "v in (1, null)", "v / 2 >= d"]
    kept = frame.filter("not (v < 3) or k = 'a'").selectExpr("v", "d", *tests)
    lists = frame.groupBy("k").agg({"v": "collect_list"}).selectExpr("k", "size(`collect_list(v)`)")
    return [kept.collect(), lists.collect(), frame.selectExpr("substring(k, 1, 1)", "cast(d as int)", "-v").collect()]


def functions(spark: Any, data: Any, n: int) -> list[Any]:
    """The functions of texts and numbers that no other program has, and the other kinds of joins."""
    from pyspark.sql import Window

    F = _functions()
    frame = spark.createDataFrame(
        [(f" {k} " if k else k, v, d, i) for i, (k, v, d) in enumerate(data)], f"{SCHEMA}, i int"
    )
    texts = ["trim(k)", "ltrim(k)", "rtrim(k)", "lower(k)", "replace(k, 'B', 'xy')", "reverse(k)", "contains(k, 'c')"]
    tests = ["startswith(trim(k), 'B')", "endswith(trim(k), 'c')", "substring(k, 2, 3)", "size(split(k, ' '))"]
    numbers = ["abs(v)", "sqrt(abs(d))", "if(v > 0, 'up', 'down')", "v div 2", "isnull(v)", "isnotnull(d)", "v - i"]
    by_key = Window.partitionBy("k").orderBy("v", "i")
    loose = Window.partitionBy("k").orderBy("v")
    other = frame.where("i % 2 = 0").select(F.col("k").alias("key"), F.col("v").alias("w"))
    return [
        frame.selectExpr("i", *texts, *tests).collect(),
        frame.selectExpr("i", *numbers).collect(),
        frame.select("i", F.lead("v").over(by_key), F.dense_rank().over(loose)).collect(),
        frame.join(other, frame.k == other.key, "right").collect(),
        frame.join(other, frame.k == other.key, "left_semi").collect(),
    ]


FRAMES = [
    Case("groups", groups, ROWS, (same, same, same)),
    Case("joined", joined, ROWS, (multiset,) * 4 + (same,)),
    Case("windows", windows, ROWS, (multiset,) * 3),
    Case("words", words, ROWS, (multiset, same, multiset, multiset)),
    Case("unions", unions, ROWS, (multiset, same, same, multiset)),
    Case("logic", logic, ROWS, (multiset,) * 3),
    Case("functions", functions, ROWS, (multiset,) * 5),
]

"""A zoo of subjects: every kind of operator, each with cases, and whether these can run together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import functions as F

from firesteel.values.cases import Case
from tests.spark.bulk.zoo_cases import (
    ALIGNED,
    APART,
    GAPS,
    HOURS,
    KEYED,
    LATE,
    LEFT_OUT,
    MIXED,
    NESTED,
    NULLS_LAST,
    PAIRED,
    PAIRED_IN_TIME,
    SWAPPED,
    TAKEN,
    TIMES,
    at,
    one,
)
from tests.spark.bulk.zoo_subjects import (
    Alarm,
    Summing,
    arrow_udf,
    counted_with_state,
    dtype_seen,
    from_the_mean,
    grouped_in_pandas,
    hourly,
    joined,
    joined_in_time,
    mapped_in_arrow,
    mapped_in_pandas,
    names,
    pandas_udf,
    pandas_udf_in_parts,
    place,
    plain_udf,
    session,
    sliding,
    sql,
    struct_udf,
    tumbling,
    two_views,
    windowed,
)


@dataclass
class Kept:
    """One of the zoo."""

    name: str
    subject: Callable[..., Any]
    mode: str | dict[str, str] = "append"
    cases: Sequence[Case] = field(default_factory=lambda: KEYED)
    refused: str | None = None
    """A regular expression for the reason why its cases run one at a time."""
    alone: tuple[int, ...] = ()
    """The cases that cannot run together with others."""
    slow: bool = False


ZOO = [
    # Records one by one.
    Kept("select", lambda f: f.select((F.col("n") + 1).alias("m"), "k", F.lit("x").alias("x"))),
    Kept("withColumn", lambda f: f.withColumn("n", F.col("n") * 2).withColumn("m", F.col("n") % 3), slow=True),
    Kept("filter", lambda f: f.where("n > 2 OR k IS NULL")),
    Kept("drop and rename", lambda f: f.drop("xs").withColumnRenamed("k", "key").toDF("a", "b", "c"), slow=True),
    Kept("union", lambda f: f.where("n > 2").union(f.where("n < 5"))),
    Kept(
        "unionByName",
        lambda f: f.select("k", "n").unionByName(f.select("s", "k").where("k = 0"), allowMissingColumns=True),
    ),
    Kept("explode", lambda f: f.select("k", F.explode("xs").alias("x")), slow=True),
    Kept("posexplode_outer", lambda f: f.select("*", F.posexplode_outer("xs")).drop("xs"), slow=True),
    Kept("inline", lambda f: f.select("id", F.inline("ps")), cases=NESTED),
    Kept(
        "nested columns",
        lambda f: f.select(F.struct("id", "p").alias("q"), F.array("p.a").alias("as"), "m.u", F.map_keys("m"), "*"),
        cases=NESTED,
    ),
    Kept("nested keys", lambda f: f.groupBy("p", "ps").count(), "update", NESTED, slow=True),
    Kept("Python UDF with a closure", plain_udf),
    Kept("pandas UDF", pandas_udf),
    Kept("pandas UDF of a whole column, in another", lambda f: f.select("k", from_the_mean(place("n", "s") + 2)),
         cases=MIXED),
    Kept("pandas UDF as a group", lambda f: f.groupBy(place("n", "s").alias("p")).agg(F.sum("n")), "update", MIXED),
    Kept("pandas UDF in a filter", lambda f: f.where(from_the_mean(F.coalesce("n", "k", F.lit(1))) >= 0), cases=MIXED),
    Kept("pandas UDFs of parts", pandas_udf_in_parts, cases=MIXED),
    Kept("pandas UDF of structs, by name", struct_udf, cases=MIXED),
    Kept("Arrow UDFs", arrow_udf, cases=MIXED),
    Kept("pandas UDF in a generator", lambda f: f.select("k", F.explode(F.array(place("n", "s"), "n"))),
         refused="of whole columns", slow=True),
    Kept("mapInPandas", mapped_in_pandas),
    Kept("mapInArrow", mapped_in_arrow, slow=True),
    Kept("repartition and hint", lambda f: f.repartition(3, "k").hint("broadcast").coalesce(1), slow=True),
    # Groups and duplicates.
    Kept("groupBy", lambda f: f.groupBy("k").agg(F.sum("n"), F.max("s"), F.approx_count_distinct("n")), "complete"),
    Kept("groupBy, update mode", lambda f: f.groupBy("k").agg(F.sum("n").alias("n"), F.min("xs")), "update",
         slow=True),
    Kept("having", lambda f: f.groupBy("s").count().where("count > 1").select("s"), "update", slow=True),
    Kept("collect_list", lambda f: f.groupBy("k").agg(F.sort_array(F.collect_list("s")).alias("ss")), "complete",
         slow=True),
    Kept("groupBy an expression", lambda f: f.groupBy(F.col("n") % 2, F.upper("s")).count(), "update", slow=True),
    Kept("rollup", lambda f: f.rollup("k", "s").agg(F.sum("n"), F.grouping_id()), "complete"),
    Kept("cube", lambda f: f.cube("k", "s").count(), "update", slow=True),
    Kept("pivot", lambda f: f.groupBy("k").pivot("s", ["a", "b"]).agg(F.max("s")), "update"),
    Kept("orderBy", lambda f: f.groupBy("k").count().orderBy(F.desc("count")), "complete", slow=True),
    Kept("distinct", lambda f: f.select("k", "s").distinct()),
    Kept("dropDuplicates", lambda f: f.dropDuplicates(["k"]).select("k"), slow=True),
    Kept("dropDuplicates of everything", lambda f: f.dropDuplicates(), slow=True),
    Kept("applyInPandas", grouped_in_pandas),
    Kept("applyInPandasWithState", counted_with_state),
    Kept(
        "transformWithStateInPandas",
        lambda f: f.na.fill(0).groupBy("k").transformWithStateInPandas(Summing(), "k INT, n BIGINT", "update", "none"),
        "update",
        slow=True,
    ),
    # Time, without a watermark.
    Kept("tumbling windows", lambda f: f.groupBy(tumbling(), "k").sum("n"), "update", TIMES),
    Kept("sliding windows", lambda f: f.groupBy(sliding()).count(), "complete", TIMES, slow=True),
    Kept("session windows", lambda f: f.groupBy(session(), "k").count(), "complete", TIMES),
    # Time, with one.
    Kept("watermark that nothing uses", lambda f: f.withWatermark("ts", "5 minutes").select("k", "ts"), cases=ALIGNED),
    Kept("tumbling windows that close", windowed(tumbling, "k"), cases=ALIGNED),
    Kept("sliding windows that close", windowed(sliding, "k"), cases=GAPS, slow=True),
    Kept("hours that close", windowed(hourly, "k"), cases=HOURS),
    Kept("hours, update mode", windowed(hourly), "update", HOURS, slow=True),
    Kept("hours, complete mode", windowed(hourly), "complete", HOURS, slow=True),
    Kept("sessions that close", windowed(session, "k"), cases=ALIGNED),
    Kept(
        "windows of windows",
        lambda f: windowed(tumbling, "k")(f).groupBy(F.window("window", "20 minutes")).sum("c"),
        cases=ALIGNED,
        slow=True,
    ),
    Kept("dropDuplicates in time", lambda f: f.withWatermark("ts", "5 minutes").dropDuplicates(["k", "ts"]), "append",
         ALIGNED),
    Kept("dropDuplicatesWithinWatermark",
         lambda f: f.withWatermark("ts", "5 minutes").dropDuplicatesWithinWatermark(["k"]), "append", ALIGNED),
    Kept("late records", windowed(tumbling, "k"), cases=LATE, alone=(2, 3)),
    Kept("watermarks apart", lambda f: f.withWatermark("ts", "5 minutes").dropDuplicates(["k", "ts"]), "append", APART,
         refused="event times differ"),
    Kept(
        "transformWithState with timers",
        lambda f: f.withWatermark("ts", "5 minutes").na.fill(0).groupBy("k").transformWithState(
            Alarm(), "k INT, n BIGINT, at BIGINT", "append", "eventTime"),
        cases=ALIGNED,
        slow=True,
    ),
    # Joins.
    Kept("static inner join", lambda f: f.join(names(f), "k")),
    Kept("static left join", lambda f: f.join(F.broadcast(names(f)), "k", "left").select("k", "name", "n"),
         slow=True),
    Kept("static right join", lambda f: names(f).join(f, "k", "right"), slow=True),
    Kept("static semi join", lambda f: f.join(names(f), "k", "left_semi"), slow=True),
    Kept("static anti join", lambda f: f.join(names(f), "k", "left_anti"), slow=True),
    Kept("inner join", joined, cases=PAIRED),
    Kept("self-join", lambda f: f.alias("x").join(f.alias("y"), F.expr("x.n = y.n")).select("x.s", "y.k")),
    Kept("duplicate column names", lambda left, right: left.join(right, left.k == right.k), cases=PAIRED, slow=True),
    Kept("inner join in time", joined_in_time("inner"), cases=PAIRED_IN_TIME),
    Kept("left join in time", joined_in_time("left_outer"), cases=PAIRED_IN_TIME, slow=True),
    Kept("right join in time", joined_in_time("right_outer"), cases=PAIRED_IN_TIME, slow=True),
    Kept("full join in time", joined_in_time("full_outer"), cases=PAIRED_IN_TIME),
    Kept("semi join in time", joined_in_time("left_semi"), cases=PAIRED_IN_TIME, slow=True),
    Kept("two inputs united", lambda left, right: left.union(right), cases=PAIRED, slow=True),
    # SQL.
    Kept("SQL", sql("SELECT k, count(*) c, max(n) m FROM events WHERE n > 0 GROUP BY k HAVING c > 1"), "update"),
    Kept("SQL with a CTE",
         sql("WITH big AS (SELECT * FROM events WHERE n > 1) SELECT a.k FROM big a JOIN names USING (k)")),
    Kept("SQL, nested", sql("SELECT m FROM (SELECT k, max(n) m FROM (SELECT * FROM events WHERE s = 'a') GROUP BY k)"),
         "update", slow=True),
    Kept("SQL, lateral view", sql("SELECT k, x FROM events LATERAL VIEW explode(xs) t AS x"), slow=True),
    Kept("SQL over two views", two_views, cases=PAIRED, slow=True),
    Kept("SQL, a scalar subquery", sql("SELECT * FROM events WHERE k < (SELECT max(k) FROM names)"), slow=True),
    Kept("SQL, a subquery with IN", sql("SELECT * FROM events WHERE k IN (SELECT k FROM names)"), slow=True),
    Kept("SQL, a subquery with EXISTS", sql("SELECT k, n FROM events WHERE EXISTS (SELECT 1 FROM names WHERE "
                                            "names.k = events.k AND events.n > 1)"), slow=True),
    Kept("SQL, a lateral subquery", sql("SELECT k, m FROM events, LATERAL (SELECT n + 1 AS m)"), slow=True),
    Kept("SQL, a lateral subquery of a table", sql("SELECT e.k, t.name FROM events e, LATERAL "
                                                   "(SELECT name FROM names WHERE names.k = e.k) t"), slow=True),
    # Names.
    Kept("__case0 in the input", lambda f: f.groupBy("__case0").agg(F.max("__case").alias("__case")), "update", TAKEN),
    Kept("__case0 made by the subject", lambda f: f.select("k", F.col("n").alias("__case0"), F.lit(7).alias("__case"))),
    Kept("two outputs", lambda f: {"big": f.where("n > 2"), "sums": f.groupBy("k").agg(F.sum("n").alias("n"))},
         {"sums": "update"}),
    Kept("two inputs and two outputs", lambda left, right: {"both": joined(left, right), "left": left}, cases=PAIRED,
         slow=True),
    # Those that cannot.
    Kept("global aggregation", lambda f: f.groupBy().count(), "complete", refused="aggregates without groupBy"),
    Kept("limit", lambda f: f.limit(2), refused="limits the number of records"),
    Kept("rand", lambda f: f.withColumn("r", F.rand()), refused=r"not deterministic, such as rand\(\)"),
]  # fmt: skip


DIFFER = "event times differ from case to case"

# Found to be wrong once: the watermark, or what a function sees, depended on other cases.
TRAPS = [
    Kept("watermarks of two inputs, swapped", joined_in_time("left_outer"), cases=SWAPPED, refused=DIFFER),
    Kept("null keys come last", joined_in_time("inner"), cases=NULLS_LAST, refused=DIFFER),
    Kept("a filter behind the watermark",
         lambda f: f.withWatermark("ts", "0 minutes").where("n > 0").groupBy(tumbling()).count(), cases=LEFT_OUT,
         refused=DIFFER),
    Kept("a static join behind the watermark",
         lambda f: f.withWatermark("ts", "0 minutes").join(names(f), "k").groupBy(tumbling()).count(), cases=LEFT_OUT,
         refused=DIFFER),
    Kept("windows that start before the hour",
         lambda f: f.withWatermark("ts", "0 hours").groupBy(F.window("ts", "1 hour", "1 hour", "-15 minutes")).count(),
         cases=one("ts TIMESTAMP", [[(at(100),)], [(at(170),)]], [[(at(110),)], [(at(170),)]]),
         refused=DIFFER),
    Kept("a column by another name",
         lambda f: f.withWatermark("TS", "5 minutes").groupBy(tumbling()).count(), cases=ALIGNED),
    Kept("pandas UDF that sees its dtype", dtype_seen, cases=one("n INT", [[(1,), (2,)]], [[(None,), (3,)]])),
]  # fmt: skip

"""Programs whose result hangs on luck, each beside one with the same operations that is made harmless.

All of them are captured in one block: a finding is told by the function that its line is in.
"""

import datetime
import json
import random
import time
import uuid
from operator import add

from pyspark.sql import Row, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

COUNTS = {}
EVERYTHING = Window.unboundedPreceding, Window.unboundedFollowing

PLANTED = []
"""The rule, the program that it finds, and its look-alike."""


def planted(rule):
    """The next two functions are a wrong program and its right look-alike."""

    def keep(function):
        if PLANTED and PLANTED[-1][2] is None:
            PLANTED[-1][2] = function
        else:
            PLANTED.append([rule, function, None])
        return function

    return keep


def pairs(spark, parts=3):
    return spark.sparkContext.parallelize([("a", 1), ("b", 2), ("a", 3), ("c", 2), ("b", 4), ("c", 5)], parts)


def rows(spark):
    return spark.createDataFrame(
        [(1, "a", 1.5), (1, "b", 2.5), (2, "c", 0.1), (2, "d", 0.2)], "k INT, s STRING, x DOUBLE"
    )


def events(spark):
    return spark.readStream.format("rate").load()


# --- order ---


@planted("take-without-order")
def wrong_take(spark):
    pairs(spark).reduceByKey(add).take(1)


@planted("take-without-order")
def right_take(spark):
    pairs(spark).reduceByKey(add).sortByKey().take(1)


@planted("take-without-order")
def wrong_limit(spark):
    rows(spark).groupBy("k").count().limit(1).collect()


@planted("take-without-order")
def right_limit(spark):
    rows(spark).groupBy("k").count().orderBy("k").limit(1).collect()


@planted("take-without-order")
def wrong_first_of_frame(spark):
    rows(spark).repartition("k").first()


@planted("take-without-order")
def right_first_of_frame(spark):
    rows(spark).repartition("k").agg(F.max("x")).first()


@planted("ties-after-sort")
def wrong_top_n(spark):
    pairs(spark).reduceByKey(add).sortBy(lambda p: p[1], ascending=False).take(2)


@planted("ties-after-sort")
def right_top_n(spark):
    pairs(spark).reduceByKey(add).sortBy(lambda p: (-p[1], p[0])).take(2)


@planted("ties-after-sort")
def wrong_swapped(spark):
    pairs(spark).reduceByKey(add).map(lambda p: (p[1], p[0])).sortByKey(False).first()


@planted("ties-after-sort")
def right_swapped(spark):
    pairs(spark).reduceByKey(add).map(lambda p: (p[0], p[1])).sortByKey(False).first()


@planted("ties-after-sort")
def wrong_limit_of_ties(spark):
    rows(spark).orderBy("k").limit(1)


@planted("ties-after-sort")
def right_limit_of_ties(spark):
    rows(spark).orderBy("k", "s", "x").limit(1)


@planted("ties-after-sort")
def wrong_take_ordered(spark):
    pairs(spark).takeOrdered(1, lambda p: p[1])


@planted("ties-after-sort")
def right_take_ordered(spark):
    pairs(spark).takeOrdered(1)


@planted("index-after-shuffle")
def wrong_index(spark):
    pairs(spark).groupByKey().keys().zipWithIndex().collect()


@planted("index-after-shuffle")
def right_index(spark):
    pairs(spark).groupByKey().keys().sortBy(lambda k: k).zipWithIndex().collect()


@planted("index-after-shuffle")
def wrong_index_from_one(spark):
    pairs(spark).reduceByKey(add).zipWithIndex().map(lambda p: (p[0], p[1] + 1)).collect()


@planted("index-after-shuffle")
def right_index_dropped(spark):
    pairs(spark).reduceByKey(add).zipWithIndex().map(lambda p: (p[0], 1)).collect()


@planted("index-after-shuffle")
def wrong_kept_by_index(spark):
    pairs(spark).reduceByKey(add).zipWithIndex().filter(lambda p: p[1] < 2).keys().collect()


@planted("index-after-shuffle")
def right_kept_by_key(spark):
    pairs(spark).reduceByKey(add).zipWithIndex().filter(lambda p: p[0] != "a").keys().collect()


@planted("index-after-shuffle")
def wrong_sorted_by_luck(spark):
    drawn = pairs(spark).map(lambda p: (random.random(), p))
    drawn.sortBy(lambda p: p).values().zipWithIndex().collect()


@planted("index-after-shuffle")
def right_sorted_by_content(spark):
    drawn = pairs(spark).map(lambda p: (p[1] * 7 % 5, p))
    drawn.sortBy(lambda p: p).values().zipWithIndex().collect()


@planted("index-after-shuffle")
def wrong_monotonic(spark):
    rows(spark).repartition(3, "k").withColumn("id", F.monotonically_increasing_id())


@planted("index-after-shuffle")
def right_monotonic(spark):
    rows(spark).repartition(3, "k").withColumn("id", F.crc32("s"))


@planted("group-in-order")
def wrong_group(spark):
    pairs(spark).groupByKey().mapValues(list).collect()


@planted("group-in-order")
def right_group(spark):
    pairs(spark).groupByKey().mapValues(sorted).collect()


@planted("group-in-order")
def wrong_group_first(spark):
    pairs(spark).groupByKey().map(lambda kv: (kv[0], next(iter(kv[1])))).collect()


@planted("group-in-order")
def right_group_first(spark):
    pairs(spark).groupByKey().map(lambda kv: (kv[0], min(kv[1]))).collect()


@planted("group-in-order")
def wrong_list_of_list(spark):
    pairs(spark).groupByKey().mapValues(list).mapValues(tuple).collect()


@planted("group-in-order")
def right_sorted_later(spark):
    listed = pairs(spark).groupByKey().mapValues(list)
    listed.mapValues(sorted).collect()
    listed.mapValues(sum).collect()
    listed.mapValues(len).collect()
    listed.map(lambda kv: (kv[0], max(kv[1]))).collect()


@planted("group-in-order")
def wrong_values_alone(spark):
    pairs(spark).groupByKey().values().map(list).collect()


@planted("group-in-order")
def right_values_alone(spark):
    pairs(spark).groupByKey().values().map(sorted).collect()


@planted("group-in-order")
def wrong_spread(spark):
    pairs(spark).groupByKey().flatMapValues(enumerate).collect()


@planted("group-in-order")
def right_spread(spark):
    pairs(spark).groupByKey().flatMapValues(list).collect()
    pairs(spark).groupByKey().mapValues(list).flatMap(lambda kv: [(kv[0], v) for v in kv[1]]).collect()


@planted("group-in-order")
def wrong_texts(spark):
    pairs(spark).groupByKey().map(lambda kv: (kv[0], ",".join(str(v) for v in kv[1]))).collect()


@planted("group-in-order")
def right_texts(spark):
    pairs(spark).groupByKey().map(lambda kv: (kv[0], sum(v for v in kv[1]))).collect()


@planted("order-sensitive-aggregate")
def wrong_list(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l"))


@planted("order-sensitive-aggregate")
def right_list(spark):
    rows(spark).groupBy("k").agg(F.sort_array(F.collect_list("s")).alias("l"), F.size(F.collect_list("x")))


@planted("order-sensitive-aggregate")
def wrong_first(spark):
    rows(spark).orderBy("s").groupBy("k").agg(F.first("s"))


@planted("order-sensitive-aggregate")
def right_first(spark):
    rows(spark).groupBy("k").agg(F.first("k"), F.min("s"), F.last("k"))


@planted("order-sensitive-aggregate")
def wrong_list_dropped_late(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select(F.concat_ws(",", "l"))


@planted("order-sensitive-aggregate")
def right_list_dropped(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select("k")


@planted("order-sensitive-aggregate")
def wrong_places(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select("k", F.posexplode("l"))


@planted("order-sensitive-aggregate")
def right_exploded(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select("k", F.explode("l"))


@planted("order-sensitive-aggregate")
def wrong_joined_by_udf(spark):
    joined = F.udf(lambda names: ",".join(names))
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select("k", joined("l"))


@planted("order-sensitive-aggregate")
def right_sorted_by_udf(spark):
    joined = F.udf(lambda names: ",".join(sorted(names)))
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).select("k", joined("l"))


@planted("order-sensitive-aggregate")
def wrong_counted(spark):
    firsts = rows(spark).groupBy("k").agg(F.first("s").alias("f"))
    firsts.agg(F.count_distinct("f"), F.count(F.when(F.col("f") == "a", 1)))


@planted("order-sensitive-aggregate")
def right_counted(spark):
    firsts = rows(spark).groupBy("k").agg(F.first("s").alias("f"))
    firsts.agg(F.count("f"), F.count_distinct("k"))


@planted("ties-in-max-by")
def wrong_max_by(spark):
    rows(spark).groupBy("k").agg(F.max_by("s", "x"))


@planted("ties-in-max-by")
def right_max_by(spark):
    unique = rows(spark).groupBy("k", "s").agg(F.max("x").alias("x"))
    unique.groupBy("k").agg(F.max_by("x", "s"))


@planted("ties-in-window")
def wrong_row_number(spark):
    rows(spark).withColumn("n", F.row_number().over(Window.partitionBy("k").orderBy("x"))).where("n = 1")


@planted("ties-in-window")
def right_row_number(spark):
    latest = Window.partitionBy("k").orderBy("x", "s")
    rows(spark).withColumn("n", F.row_number().over(latest)).where("n = 1")


@planted("ties-in-window")
def wrong_lag(spark):
    rows(spark).select("k", F.lag("s").over(Window.orderBy("k")))


@planted("ties-in-window")
def right_rank(spark):
    rows(spark).select("k", F.rank().over(Window.orderBy("k")))


@planted("ties-in-window")
def wrong_running_sum(spark):
    until_here = Window.partitionBy("k").orderBy("s").rowsBetween(Window.unboundedPreceding, 0)
    rows(spark).select("k", F.sum("x").over(until_here))


@planted("ties-in-window")
def right_running_sum(spark):
    until_here = Window.partitionBy("k").orderBy("s").rangeBetween(Window.unboundedPreceding, 0)
    rows(spark).select("k", F.sum("x").over(until_here), F.dense_rank().over(Window.orderBy("s")))
    rows(spark).select("k", F.sum("x").over(Window.partitionBy("k").rowsBetween(*EVERYTHING)))


@planted("distinct-on-too-little")
def wrong_distinct(spark):
    rows(spark).dropDuplicates(["k"])


@planted("distinct-on-too-little")
def right_distinct(spark):
    rows(spark).dropDuplicates(["k"]).select("k")


@planted("reducer-not-commutative")
def wrong_reducer(spark):
    pairs(spark).reduceByKey(lambda a, b: a - b).collect()


@planted("reducer-not-commutative")
def right_reducer(spark):
    pairs(spark).reduceByKey(lambda a, b: max(a, b)).collect()


@planted("reducer-not-commutative")
def wrong_sum_of_texts(spark):
    pairs(spark).mapValues(str).reduceByKey(lambda a, b: a + b).collect()


@planted("reducer-not-commutative")
def right_sum_of_numbers(spark):
    pairs(spark).mapValues(int).reduceByKey(lambda a, b: a + b).collect()


def latest(a, b):
    if a[1] > b[1]:
        return a
    return b


@planted("reducer-not-commutative")
def wrong_tested_reducer(spark):
    pairs(spark).map(lambda p: (0, (p[0], p[1] % 2))).reduceByKey(latest).collect()


@planted("reducer-not-commutative")
def right_tested_reducer(spark):
    pairs(spark).map(lambda p: (0, (p[1], p[1]))).distinct().reduceByKey(latest).collect()


@planted("reducer-not-commutative")
def wrong_reducer_of_ones(spark):
    pairs(spark).map(lambda p: (p[0], 1)).reduceByKey(lambda a, b: 2 * a + b).collect()


@planted("reducer-not-commutative")
def right_reducer_of_ones(spark):
    pairs(spark).map(lambda p: (p[0], 1)).reduceByKey(lambda a, b: a + b).collect()
    pairs(spark).map(lambda p: (p[0], None)).reduceByKey(lambda a, b: a).collect()


@planted("reducer-not-commutative")
def wrong_dictionaries(spark):
    pairs(spark).map(lambda p: (0, {p[0]: p[1]})).reduceByKey(lambda a, b: a | b).collect()


@planted("reducer-not-commutative")
def right_sets(spark):
    pairs(spark).mapValues(lambda v: {v}).reduceByKey(lambda a, b: a | b).collect()


@planted("reducer-not-commutative")
def wrong_reduce(spark):
    spark.sparkContext.parallelize([1, 2, 3, 4], 2).reduce(lambda a, b: a - b)


@planted("reducer-not-commutative")
def right_reduce(spark):
    spark.sparkContext.parallelize([1, 2, 3, 4], 2).reduce(lambda a, b: a * b)


@planted("zero-not-neutral")
def wrong_zero(spark):
    spark.sparkContext.parallelize([1, 2, 3], 2).fold(1, add)


@planted("zero-not-neutral")
def right_zero(spark):
    spark.sparkContext.parallelize([1, 2, 3], 2).fold(0, add) + 1


@planted("zero-not-neutral")
def wrong_zero_by_key(spark):
    pairs(spark).foldByKey(2, lambda a, b: a * b).collect()


@planted("zero-not-neutral")
def right_zero_by_key(spark):
    pairs(spark).foldByKey(1, lambda a, b: a * b).collect()
    pairs(spark).foldByKey(2, max).collect()


@planted("float-sum")
def wrong_float_sum(spark):
    rows(spark).groupBy("k").agg(F.sum("x").alias("t")).where("t = 0.3")


@planted("float-sum")
def right_float_sum(spark):
    rows(spark).groupBy("k").agg(F.round(F.sum("x"), 6).alias("t")).where("t = 0.3")


@planted("sort-destroyed")
def wrong_sort(spark):
    rows(spark).orderBy("s").groupBy("k").count()


@planted("sort-destroyed")
def right_sort(spark):
    rows(spark).groupBy("k").count().orderBy("k")


@planted("sort-destroyed")
def wrong_sort_of_rdd(spark):
    pairs(spark).sortByKey().mapValues(abs).reduceByKey(max).collect()


@planted("sort-destroyed")
def right_sort_of_rdd(spark):
    pairs(spark).reduceByKey(max).sortByKey().mapValues(abs).collect()


# --- luck ---


@planted("luck-in-function")
def wrong_clock(spark):
    pairs(spark).mapValues(lambda v: (v, time.time())).collect()


@planted("luck-in-function")
def right_clock(spark):
    now = datetime.datetime(2024, 1, 1).timestamp()
    pairs(spark).mapValues(lambda v: (v, now)).collect()


@planted("luck-in-function")
def wrong_moved(spark):
    pairs(spark).mapValues(lambda v: v + random.random()).map(lambda p: (p[0], p[1] * 2)).collect()


@planted("luck-in-function")
def right_moved(spark):
    pairs(spark).mapValues(lambda v: v + random.random()).map(lambda p: (p[0], 2)).collect()


@planted("luck-in-function")
def wrong_date(spark):
    pairs(spark).mapValues(lambda v: (v, time.strftime("%F"))).collect()


@planted("luck-in-function")
def right_date(spark):
    pairs(spark).mapValues(lambda v: (v, time.strftime("%F", time.gmtime(v)))).collect()


@planted("luck-in-function")
def wrong_udf(spark):
    name = F.udf(lambda s: f"{s}-{uuid.uuid4()}")
    rows(spark).select(name("s"))


@planted("luck-in-function")
def right_udf(spark):
    name = F.udf(lambda s: f"{s}-{uuid.uuid5(uuid.NAMESPACE_URL, s)}")
    rows(spark).select(name("s"))


@planted("luck-in-key")
def wrong_salt(spark):
    pairs(spark).map(lambda p: ((random.randint(0, 3), p[0]), p[1])).reduceByKey(add).collect()


@planted("luck-in-key")
def right_salt(spark):
    pairs(spark).map(lambda p: ((p[1] % 4, p[0]), p[1])).reduceByKey(add).collect()


@planted("luck-in-key")
def wrong_clock_in_key(spark):
    pairs(spark).map(lambda p: (time.time(), p)).reduceByKey(max).collect()


@planted("luck-in-key")
def right_clock_dropped(spark):
    pairs(spark).map(lambda p: (time.time(), p)).values().reduceByKey(max).collect()


@planted("luck-in-key")
def wrong_spark_38160(spark):
    rows(spark).repartition("k").withColumn("r", F.rand(7)).repartition(4, "r").drop("r")


@planted("luck-in-key")
def right_spark_38160(spark):
    rows(spark).repartition("k").withColumn("r", F.xxhash64("k", "s")).repartition(4, "r").drop("r")


@planted("random-after-shuffle")
def wrong_rand(spark):
    rows(spark).repartition("k").withColumn("r", F.rand(7))


@planted("random-after-shuffle")
def right_rand(spark):
    rows(spark).withColumn("r", F.rand(7)).repartition("k")


@planted("sample-after-shuffle")
def wrong_sample(spark):
    pairs(spark).groupByKey().keys().sample(False, 0.5, 7).collect()


@planted("sample-after-shuffle")
def right_sample(spark):
    pairs(spark).sample(False, 0.5, 7).groupByKey().keys().collect()


@planted("sample-after-shuffle")
def wrong_sample_of_frame(spark):
    rows(spark).groupBy("k").count().sample(0.5, 7)


@planted("sample-after-shuffle")
def right_split_of_frame(spark):
    rows(spark).groupBy("k").count().randomSplit([0.5, 0.5], 7)[0]


@planted("sample-without-seed")
def wrong_unseeded(spark):
    rows(spark).sample(0.5).collect()


@planted("sample-without-seed")
def right_seeded(spark):
    rows(spark).sample(0.5, 7).collect()
    rows(spark).sample(fraction=0.5, seed=7).collect()


@planted("sample-without-seed")
def wrong_unseeded_of_rdd(spark):
    pairs(spark).takeSample(False, 2)


@planted("sample-without-seed")
def right_seeded_of_rdd(spark):
    pairs(spark).takeSample(False, 2, 7)


@planted("round-robin-of-indeterminate")
def wrong_spark_23207(spark):
    rows(spark).groupBy("k").agg(F.collect_list("s").alias("l")).repartition(3)


@planted("round-robin-of-indeterminate")
def right_spark_23207(spark):
    rows(spark).groupBy("k").agg(F.sort_array(F.collect_list("s")).alias("l")).repartition(3)


@planted("round-robin-after-shuffle")
def wrong_spark_23243(spark):
    pairs(spark).reduceByKey(add).repartition(3).collect()


@planted("round-robin-after-shuffle")
def right_spark_23243(spark):
    pairs(spark).reduceByKey(add).sortByKey().repartition(3).collect()


@planted("retry-recomputes")
def wrong_retry(spark):
    pairs(spark).mapValues(lambda v: v + random.random()).reduceByKey(max).collect()


@planted("retry-recomputes")
def right_retry(spark):
    pairs(spark).mapValues(lambda v: v + random.Random(v).random()).reduceByKey(max).collect()


@planted("retry-recomputes")
def wrong_cached(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random()).cache()
    noisy.reduceByKey(max).collect()
    noisy.unpersist()


@planted("retry-recomputes")
def right_checkpointed(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random())
    noisy.checkpoint()
    noisy.reduceByKey(max).collect()


@planted("nondeterministic-udf-twice")
def wrong_twice(spark):
    draw = F.udf(lambda s: random.random(), "double")
    rows(spark).withColumn("r", draw("s")).where("r < 0.5")


@planted("nondeterministic-udf-twice")
def right_twice(spark):
    draw = F.udf(lambda s: random.random(), "double").asNondeterministic()
    rows(spark).withColumn("r", draw("s")).where("r < 0.5")


@planted("nondeterministic-udf-twice")
def wrong_twice_inside(spark):
    draw = F.udf(lambda s: random.random(), "double")
    rows(spark).withColumn("r", draw("s") * 10).where("r < 5")


@planted("nondeterministic-udf-twice")
def right_used_in_columns(spark):
    draw = F.udf(lambda s: random.random(), "double")
    drawn = rows(spark).withColumn("r", draw("s")).withColumn("t", F.col("r") + 1)
    drawn.groupBy("k").agg(F.max("r"), F.sum("t").alias("t")).where("t < 0.5")


@planted("nondeterministic-udf-twice")
def wrong_twice_later(spark):
    draw = F.udf(lambda s: random.random(), "double")
    rows(spark).withColumn("r", draw("s")).withColumn("t", F.col("r") + 1).where("t < 1.5")


@planted("nondeterministic-udf-twice")
def right_after_a_limit(spark):
    draw = F.udf(lambda s: random.random(), "double")
    rows(spark).withColumn("r", draw("s")).limit(3).where("r < 0.5")


@planted("uncached-reuse")
def wrong_reuse(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random())
    noisy.count()
    noisy.collect()


@planted("uncached-reuse")
def right_reuse(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random()).cache()
    noisy.count()
    noisy.collect()
    noisy.unpersist()


@planted("uncached-reuse")
def wrong_reuse_below_a_cache(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random())
    kept = noisy.filter(lambda p: p[0] != "c").cache()
    kept.count()
    noisy.collect()
    kept.unpersist()


@planted("uncached-reuse")
def right_use_of_a_cache(spark):
    noisy = pairs(spark).mapValues(lambda v: v + random.random())
    kept = noisy.filter(lambda p: p[0] != "c").cache()
    kept.count()
    kept.collect()
    kept.unpersist()


@planted("accumulator-in-transformation")
def wrong_accumulator(spark):
    seen = spark.sparkContext.accumulator(0)
    pairs(spark).map(lambda p: (seen.add(1), p)).collect()


@planted("accumulator-in-transformation")
def right_accumulator(spark):
    seen = spark.sparkContext.accumulator(0)
    pairs(spark).foreach(lambda p: seen.add(1))


@planted("state-in-function")
def wrong_state(spark):
    seen = {}

    def new(pair):
        seen[pair[0]] = seen.get(pair[0], 0) + 1
        return pair[0], seen[pair[0]]

    pairs(spark).map(new).collect()


@planted("state-in-function")
def right_state(spark):
    names = {"a": 1}

    def new(pair):
        counts = {}
        counts[pair[0]] = names.get(pair[0], 0) + 1
        return pair[0], counts[pair[0]]

    pairs(spark).map(new).collect()


@planted("state-in-function")
def wrong_state_of_the_module(spark):
    def new(pair):
        COUNTS[pair[0]] = 1
        return pair

    pairs(spark).map(new).collect()


@planted("state-in-function")
def right_name_of_its_own(spark):
    def new(pair):
        COUNTS = {}
        COUNTS[pair[0]] = 1
        return pair, COUNTS

    pairs(spark).map(new).collect()


@planted("partition-id")
def wrong_partition_id(spark):
    rows(spark).withColumn("id", F.monotonically_increasing_id())


@planted("partition-id")
def right_partition_id(spark):
    rows(spark).withColumn("id", F.monotonically_increasing_id()).drop("id")


@planted("clock-in-query")
def wrong_stamp(spark):
    rows(spark).where(F.current_date() > F.lit("2024-01-01").cast("date"))


@planted("clock-in-query")
def right_stamp(spark):
    rows(spark).where(F.lit("2024-02-01").cast("date") > F.lit("2024-01-01").cast("date"))


# --- keys ---


@planted("join-key-types")
def wrong_types(spark):
    names = spark.createDataFrame([("1", "x")], "id STRING, name STRING")
    rows(spark).join(names, F.col("k") == F.col("id"))


@planted("join-key-types")
def right_types(spark):
    names = spark.createDataFrame([("1", "x")], "id STRING, name STRING")
    rows(spark).join(names, F.col("k") == F.col("id").cast("int"))


@planted("float-join-key")
def wrong_float_key(spark):
    rows(spark).join(rows(spark).select(F.col("x").alias("y")), F.col("x") == F.col("y"))


@planted("float-join-key")
def right_float_key(spark):
    other = rows(spark).select(F.col("x").cast("decimal(10, 2)").alias("y"))
    rows(spark).withColumn("d", F.col("x").cast("decimal(10, 2)")).join(other, F.col("d") == F.col("y"))


@planted("null-in-not-in")
def wrong_not_in(spark):
    rows(spark).createOrReplaceTempView("lint_rows")
    spark.sql("SELECT * FROM lint_rows WHERE k NOT IN (SELECT k FROM lint_rows WHERE s = 'a')")


@planted("null-in-not-in")
def right_not_in(spark):
    rows(spark).createOrReplaceTempView("lint_rows")
    spark.sql("SELECT * FROM lint_rows WHERE k NOT IN (SELECT k FROM lint_rows WHERE k IS NOT NULL)")


@planted("null-in-not-in")
def wrong_isin(spark):
    rows(spark).where(~F.col("k").isin(1, None))


@planted("null-in-not-in")
def right_isin(spark):
    rows(spark).where(~F.col("k").isin(1, 2))


# --- streams ---


@planted("aggregation-without-watermark")
def wrong_aggregation(spark):
    events(spark).groupBy("value").count()


@planted("aggregation-without-watermark")
def right_aggregation(spark):
    events(spark).withWatermark("timestamp", "1 minute").groupBy(F.window("timestamp", "1 minute")).count()


@planted("watermark-after-aggregation")
def wrong_watermark(spark):
    events(spark).groupBy("timestamp").count().withWatermark("timestamp", "1 minute")


@planted("watermark-after-aggregation")
def right_watermark(spark):
    events(spark).withWatermark("timestamp", "1 minute").groupBy("timestamp").count()


def two_streams(spark, first, second):
    left = events(spark).withWatermark("timestamp", first)
    right = events(spark).select(F.col("value").alias("v"), F.col("timestamp").alias("t")).withWatermark("t", second)
    return left, right


@planted("two-watermarks")
def wrong_watermarks(spark):
    left, right = two_streams(spark, "1 minute", "1 hour")
    left.join(right, F.expr("value = v AND t BETWEEN timestamp AND timestamp + INTERVAL 5 MINUTES"))


@planted("two-watermarks")
def right_watermarks(spark):
    left, right = two_streams(spark, "1 minute", "1 minute")
    left.join(right, F.expr("value = v AND t BETWEEN timestamp AND timestamp + INTERVAL 5 MINUTES"))


@planted("unbounded-state")
def wrong_join(spark):
    left, right = two_streams(spark, "1 minute", "1 minute")
    left.join(right, F.expr("value = v"))


@planted("unbounded-state")
def right_join(spark):
    left, right = two_streams(spark, "1 minute", "1 minute")
    left.join(right, F.expr("value = v AND t >= timestamp AND t <= timestamp + INTERVAL 5 MINUTES"))


@planted("unbounded-state")
def wrong_half_bound(spark):
    left, right = two_streams(spark, "1 minute", "1 minute")
    left.join(right, F.expr("value = v AND t >= timestamp"))


@planted("unbounded-state")
def right_bound_by_equality(spark):
    left, right = two_streams(spark, "1 minute", "1 minute")
    left.join(right, F.expr("value = v AND t = timestamp"))


@planted("unbounded-state")
def wrong_grouping(spark):
    events(spark).withWatermark("timestamp", "1 minute").groupBy("value").count()


@planted("unbounded-state")
def right_grouping(spark):
    events(spark).withWatermark("timestamp", "1 minute").groupBy("value", F.window("timestamp", "1 minute")).count()


class Counts(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "n LONG")

    def handleInputRows(self, key, rows, timers):
        self.count.update((1,))
        yield Row(k=key[0], n=1)

    def close(self):
        pass


class CountsForAnHour(StatefulProcessor):
    def init(self, handle):
        self.count = handle.getValueState("count", "n LONG", 3_600_000)

    def handleInputRows(self, key, rows, timers):
        self.count.update((1,))
        yield Row(k=key[0], n=1)

    def close(self):
        pass


@planted("unbounded-state")
def wrong_processor(spark):
    events(spark).groupBy("value").transformWithState(Counts(), "k LONG, n LONG", "Update", "None")


@planted("unbounded-state")
def right_processor(spark):
    events(spark).groupBy("value").transformWithState(CountsForAnHour(), "k LONG, n LONG", "Update", "ProcessingTime")


@planted("deduplication-without-watermark")
def wrong_duplicates(spark):
    events(spark).withWatermark("timestamp", "1 minute").dropDuplicates(["value"]).select("value")


@planted("deduplication-without-watermark")
def right_duplicates(spark):
    events(spark).withWatermark("timestamp", "1 minute").dropDuplicatesWithinWatermark(["value"]).select("value")


@planted("distinct-on-too-little")
def wrong_distinct_of_rows(spark):
    rows(spark).dropDuplicates(["k", "s"])


@planted("distinct-on-too-little")
def right_distinct_of_events(spark):
    events(spark).withWatermark("timestamp", "1 minute").dropDuplicatesWithinWatermark(["value"])


@planted("processing-time-window")
def wrong_window(spark):
    events(spark).groupBy(F.window(F.current_timestamp(), "1 minute")).count()


@planted("processing-time-window")
def right_window(spark):
    events(spark).withWatermark("timestamp", "1 minute").groupBy(F.window("timestamp", "1 minute")).count()


def adds(frame, number):
    frame.write.format("noop").mode("append").save()


def shows(frame, number):
    names = json.dumps(frame.columns)
    frame.select(F.lit(names).alias("text")).take(0)


def adds_once(frame, number):
    frame.where(F.lit(number) >= 0).write.format("noop").mode("append").save()


def replaces(frame, number):
    frame.write.format("noop").mode("overwrite").save()


@planted("foreach-batch-appends")
def wrong_batches(spark):
    events(spark).writeStream.foreachBatch(adds).start().stop()


@planted("foreach-batch-appends")
def right_batches(spark):
    events(spark).writeStream.foreachBatch(adds_once).start().stop()


@planted("foreach-batch-appends")
def wrong_batches_in_words(spark):
    events(spark).writeStream.foreachBatch(
        lambda frame, number: frame.write.format("noop").mode("append").save()
    ).start().stop()


@planted("foreach-batch-appends")
def right_batches_shown(spark):
    events(spark).writeStream.foreachBatch(shows).start().stop()


@planted("output-repeats-rows")
def wrong_update(spark):
    counts = events(spark).groupBy("value").count()
    counts.writeStream.foreachBatch(adds_once).outputMode("update").start().stop()


@planted("output-repeats-rows")
def right_update(spark):
    counts = events(spark).groupBy("value").count()
    counts.writeStream.foreachBatch(replaces).outputMode("update").start().stop()

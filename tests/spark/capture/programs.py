"""Programs to capture. Each takes a session and a folder; what it returns is compared with and without a capture."""

import time
from datetime import timedelta
from operator import add

from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.streaming import StreamingContext

from firesteel.spark.engines.contexts import checkpoint_folder, nothing_kept, still_context


def top_n(spark, folder):
    path = folder / "clicks.txt"
    path.write_text("".join(f"0 1 2 3 4 5 6 7 8 9 url{number % 7}\n" for number in range(50)) + "short line\n")
    lines = spark.sparkContext.textFile(str(path), 5)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: (x.split(" ")[10], 1))
    return urls.reduceByKey(lambda a, b: a + b).sortBy(lambda p: (-p[1], p[0])).take(5)


def word_count(spark, folder):
    lines = spark.sparkContext.parallelize(["a b a", "c", "b a"], 2)
    return sorted(lines.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(add).collect())


def diamond(spark, folder):
    numbers = spark.sparkContext.parallelize(range(10), 2)
    even = numbers.filter(lambda x: x % 2 == 0)
    odd = numbers.filter(lambda x: x % 2 == 1)
    return even.union(odd).map(lambda x: x + 1).sum()


def union_of_three(spark, folder):
    sc = spark.sparkContext
    branches = [sc.parallelize(range(n), 2).map(lambda x, n=n: (x % 2, n)) for n in (3, 4, 5)]
    return sorted(sc.union(branches).groupByKey(2).mapValues(sorted).collect())


def join_of_two_shuffles(spark, folder):
    sc = spark.sparkContext
    left = sc.parallelize([(1, 2), (2, 3), (1, 4)], 2).reduceByKey(add, 2)
    right = sc.parallelize([(1, "a"), (2, "b")], 2).groupByKey(2)
    return sorted((key, total, sorted(names)) for key, (total, names) in left.join(right, 2).collect())


def two_actions(spark, folder):
    pairs = spark.sparkContext.parallelize([(1, 2), (2, 3), (1, 4)], 2).reduceByKey(add)
    return pairs.count(), sorted(pairs.collect())


def page_rank(spark, folder):
    links = spark.sparkContext.parallelize([("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")], 2).groupByKey(2).cache()
    ranks = links.mapValues(lambda _: 1.0)
    for _ in range(2):
        given = links.join(ranks, 2).flatMap(lambda p: [(to, p[1][1] / len(p[1][0])) for to in p[1][0]])
        ranks = given.reduceByKey(add, 2).mapValues(lambda rank: 0.15 + 0.85 * rank)
    found = sorted((page, round(rank, 6)) for page, rank in ranks.collect())
    links.unpersist()
    return found


def secondary_sort(spark, folder):
    pairs = spark.sparkContext.parallelize([((1, 3), "c"), ((1, 1), "a"), ((2, 2), "b")], 2)
    kept = pairs.repartitionAndSortWithinPartitions(2, lambda key: key[0])
    return kept.glom().collect()


def cogroup(spark, folder):
    sc = spark.sparkContext
    left, right = sc.parallelize([(1, "a"), (2, "b")], 2), sc.parallelize([(1, "x")], 2)
    return sorted((key, [sorted(side) for side in sides]) for key, sides in left.cogroup(right, 2).collect())


def copartitioned(spark, folder):
    sc = spark.sparkContext
    left = sc.parallelize([(1, "a"), (2, "b")], 2).partitionBy(2)
    right = sc.parallelize([(1, "x"), (2, "y")], 2).partitionBy(2)
    return sorted(left.join(right).collect())


def zipped_with_index(spark, folder):
    return spark.sparkContext.parallelize("abcd", 2).zipWithIndex().collect()


def filtered_frame(spark, folder):
    return [row.twice for row in spark.range(10).filter("id > 6").select((F.col("id") * 2).alias("twice")).collect()]


def grouped_frame(spark, folder):
    frame = spark.range(20).withColumn("key", F.col("id") % 3)
    return sorted(map(tuple, frame.groupBy("key").agg(F.sum("id").alias("total")).collect()))


def broadcast_join(spark, folder):
    left = spark.range(20).withColumn("key", F.col("id") % 3)
    right = spark.range(3).withColumnRenamed("id", "key")
    return left.join(F.broadcast(right), "key").count()


def shuffled_join(spark, folder):
    left = spark.range(20).withColumn("key", F.col("id") % 3)
    right = spark.range(3).withColumnRenamed("id", "key")
    return sorted(map(tuple, left.join(right.hint("merge"), "key").collect()))


def window_function(spark, folder):
    frame = spark.range(6).withColumn("key", F.col("id") % 2)
    ranked = frame.withColumn("rank", F.row_number().over(Window.partitionBy("key").orderBy("id")))
    return sorted(map(tuple, ranked.orderBy("key", "id").collect()))


def distinct_and_sql(spark, folder):
    spark.range(10).selectExpr("id % 3 AS key").distinct().createOrReplaceTempView("keys_of_capture")
    try:
        return spark.sql("SELECT sum(key) AS total FROM keys_of_capture").first().total
    finally:
        spark.catalog.dropTempView("keys_of_capture")


def subquery(spark, folder):
    spark.range(5).createOrReplaceTempView("numbers_of_capture")
    try:
        asked = "SELECT id FROM numbers_of_capture WHERE id > (SELECT avg(id) FROM numbers_of_capture)"
        return sorted(row.id for row in spark.sql(asked).collect())
    finally:
        spark.catalog.dropTempView("numbers_of_capture")


def adaptive_skew_join(spark, folder):
    settings = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "100",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.0",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "100",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        left = spark.range(0, 3000, 1, 4).withColumn("key", F.when(F.col("id") % 10 == 0, F.col("id")).otherwise(0))
        right = spark.range(0, 50, 1, 2).withColumnRenamed("id", "key")
        return left.join(right, "key").count()
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def cached_frame(spark, folder):
    frame = spark.range(8).withColumn("key", F.col("id") % 2).cache()
    try:
        return frame.count(), sorted(map(tuple, frame.groupBy("key").count().collect()))
    finally:
        frame.unpersist()


def mixture(spark, folder):
    pairs = spark.range(6).repartition(3).rdd.map(lambda row: (row.id % 2, row.id)).groupByKey(2)
    sums = spark.createDataFrame(pairs.mapValues(sum), "key long, total long")
    return sorted(map(tuple, sums.filter("total > 6").collect()))


def written_and_read(spark, folder):
    spark.range(5).coalesce(1).write.mode("overwrite").parquet(str(folder / "numbers"))
    return spark.read.parquet(str(folder / "numbers")).count()


def _numbers(spark):
    """A stream of numbers: in every batch five, with a time that goes on by a minute."""
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).option("numPartitions", 1)
    stream = stream.option("startTimestamp", 0).option("advanceMillisPerBatch", 60_000)
    return stream.load().withColumn("key", F.col("value") % 2)


def _run(writer, folder, batches):
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        while query.lastProgress is None or query.lastProgress["batchId"] < batches - 1:
            if not query.isActive:
                raise AssertionError(query.exception())
            query.awaitTermination(0.02)
    finally:
        query.stop()


def streaming_aggregate(spark, folder):
    counts = _numbers(spark).withWatermark("timestamp", "1 minute").groupBy("key").count()
    _run(counts.writeStream.format("noop").outputMode("complete"), folder, 2)


def stream_stream_join(spark, folder):
    left = _numbers(spark).withWatermark("timestamp", "1 minute")
    right = _numbers(spark).select(F.col("value").alias("other"), F.col("timestamp").alias("at"))
    joined = left.join(
        right.withWatermark("at", "1 minute"), (F.col("value") == F.col("other")) & (F.col("timestamp") == F.col("at"))
    )
    _run(joined.writeStream.format("noop"), folder, 2)


def for_each_batch(spark, folder):
    seen = []

    def keep(batch, number):
        if number < 2:
            seen.append((number, batch.groupBy("key").count().count()))

    _run(_numbers(spark).writeStream.foreachBatch(keep), folder, 2)
    return sorted(seen)


def dstream_with_state(spark, folder):
    seen = []
    with nothing_kept(spark.sparkContext), checkpoint_folder(spark):
        context = still_context(spark.sparkContext, timedelta(seconds=1))
        words = context.queueStream([spark.sparkContext.parallelize(["a b", "a"], 2) for _ in range(2)])
        pairs = words.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(add, 2)
        pairs.foreachRDD(lambda rdd: seen.append(sorted(rdd.collect())))
        totals = pairs.updateStateByKey(lambda new, old: sum(new) + (old or 0), 2)
        totals.foreachRDD(lambda rdd: seen.append(sorted(rdd.collect())))
        java = context._jssc
        StreamingContext.start(context)
        try:
            for _ in range(2):
                wanted = len(seen) + 2
                java.ssc().scheduler().clock().advance(1000)
                for _ in range(3000):
                    if len(seen) >= wanted:
                        break
                    time.sleep(0.01)
        finally:
            StreamingContext.stop(context, False, False)
    return seen

"""Which programs are known to be carried well: of all others, more cases are run alone too."""

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from firesteel.spark.bulk.carry import carrying
from firesteel.spark.engines.source import PackedSource


def identity(n):
    return n


@pytest.mark.parametrize(
    "subject, doubtful",
    [
        (lambda f: f.where("n + 1 > 2 AND s IS NOT NULL").select("k", F.upper("s")), False),
        (lambda f: f.withWatermark("ts", "1 minute").groupBy(F.window("ts", "1 hour"), "k").agg(F.max("n")), False),
        (lambda f: f.withWatermark("ts", "1 minute").groupBy(F.window("ts", "1 hour")).agg(F.sum("n"))
         .select(F.window_time("window")), False),
        (lambda f: f.dropDuplicates(["k"]).union(f), False),
        (lambda f: f.select(F.explode(F.array("n", "k"))), False),
        (lambda f: f.select(F.udf(identity, "int")("n")), True),
        (lambda f: f.select(F.sha2("s", 256)), True),
        (lambda f: f.where(F.expr("s RLIKE 'a'")), True),
        (lambda f: f.repartition(2), True),
        (lambda f: f.join(f.select(F.col("k").alias("kk")), F.expr("k = kk")), True),
    ],
)  # fmt: skip
def test_what_is_not_on_the_short_lists_is_doubtful(spark, subject, doubtful):
    source = PackedSource(spark, StructType.fromDDL("ts TIMESTAMP, k INT, n INT, s STRING"), "__case0")
    assert carrying(subject(source.shown), {"input": source}, "append").doubtful is doubtful

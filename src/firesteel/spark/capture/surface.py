"""PySpark's public interface, as far as a capture listens to it: which classes, which of their names, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from firesteel.values.programs import Api


class Role(Enum):
    """What an object of a class is in a program."""

    ROOT = "root"
    """A session or context: it makes data sets from nothing."""
    DATA = "data"
    """A data set."""
    BUILDER = "builder"
    """What stands between a data set and the next, as a `GroupedData` or a writer does."""


@dataclass(frozen=True)
class Listened:
    """A class whose public methods are listened to."""

    kind: Any
    """The class, or a module."""
    role: Role
    api: Api
    only: frozenset[str] | None = None
    """The names that matter; None for all public ones but those that ask."""
    properties: frozenset[str] = frozenset()


def listened() -> tuple[Listened, ...]:
    """The classes of this version of PySpark."""
    from pyspark import RDD, SparkContext
    from pyspark.core.rdd import RDDBarrier
    from pyspark.sql import GroupedData, SparkSession, functions
    from pyspark.sql.classic.dataframe import DataFrame, DataFrameNaFunctions, DataFrameStatFunctions
    from pyspark.sql.merge import MergeIntoWriter
    from pyspark.sql.pandas.group_ops import PandasCogroupedOps, PandasGroupedOpsMixin
    from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter
    from pyspark.streaming import DStream, StreamingContext

    rdd, frame, dstream = Api.RDD, Api.FRAME, Api.DSTREAM
    builders: list[type[Any]] = [GroupedData, PandasGroupedOpsMixin, PandasCogroupedOps]
    builders += [DataFrameReader, DataFrameWriter, DataFrameWriterV2, DataStreamReader, DataStreamWriter]
    builders += [DataFrameNaFunctions, DataFrameStatFunctions, MergeIntoWriter]
    return (
        Listened(SparkContext, Role.ROOT, rdd, _CONTEXT),
        Listened(RDD, Role.DATA, rdd),
        Listened(RDDBarrier, Role.BUILDER, rdd),
        Listened(SparkSession, Role.ROOT, frame, _SESSION, frozenset({"read", "readStream"})),
        Listened(DataFrame, Role.DATA, frame, None, frozenset({"rdd", "na", "stat", "write", "writeStream"})),
        Listened(functions, Role.DATA, frame, frozenset({"broadcast"})),
        *(Listened(kind, Role.BUILDER, frame) for kind in builders),
        Listened(StreamingContext, Role.ROOT, dstream, _STREAMING),
        Listened(DStream, Role.DATA, dstream),
    )


@cache
def builders() -> tuple[type[Any], ...]:
    """The classes of what stands between a data set and the next."""
    return tuple(one.kind for one in listened() if one.role is Role.BUILDER)


def is_listened_to(one: Listened, name: str) -> bool:
    """Is a name of a class one that matters?"""
    if one.only is not None:
        return name in one.only
    calling = _CALLING.get(one.kind.__name__, frozenset())
    return not name.startswith("_") and name not in _ASKING and name not in calling


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTEXT = _words(
    """
    emptyRDD range parallelize pickleFile textFile wholeTextFiles binaryFiles binaryRecords sequenceFile
    newAPIHadoopFile newAPIHadoopRDD hadoopFile hadoopRDD union runJob
    """
)
_SESSION = _words("range createDataFrame emptyDataFrame sql table")
_STREAMING = _words("socketTextStream textFileStream binaryRecordsStream queueStream transform union")

# They ask about a data set, or name it, and run nothing.
_ASKING = _words(
    """
    id name setName getNumPartitions toDebugString getStorageLevel isCheckpointed isLocallyCheckpointed
    getCheckpointFile context getResourceProfile withResources cleanShuffleDependencies
    sql_ctx sparkSession schema printSchema explain isLocal isStreaming storageLevel dtypes columns metadataColumn
    colRegex sameSemantics semanticHash inputFiles executionInfo registerTempTable createTempView
    createOrReplaceTempView createGlobalTempView createOrReplaceGlobalTempView asTable scalar exists plot slice
    """
)
# They call functions of the user's, which call others.
_CALLING = {"DataFrame": _words("transform pandas_api")}

KEEPING = _words("cache persist checkpoint localCheckpoint")
"""They mark a data set to be kept."""

LAZY = _words(
    """
    map flatMap mapPartitions mapPartitionsWithIndex mapPartitionsWithSplit filter distinct sample union intersection
    glom cartesian groupBy pipe keys values reduceByKey join leftOuterJoin rightOuterJoin fullOuterJoin partitionBy
    combineByKey aggregateByKey foldByKey groupByKey flatMapValues mapValues groupWith cogroup sampleByKey
    subtractByKey subtract keyBy repartition coalesce cache persist unpersist barrier randomSplit
    repartitionAndSortWithinPartitions parallelize textFile emptyRDD range zip zipWithUniqueId
    na stat write writeStream read readStream
    exceptAll withWatermark hint limit offset repartitionByRange sampleBy alias crossJoin sortWithinPartitions sort
    orderBy select selectExpr groupby rollup cube groupingSets unpivot melt unionAll unionByName
    intersect intersectAll dropDuplicates dropDuplicatesWithinWatermark dropna fillna replace withColumns withColumn
    withColumnRenamed withColumnsRenamed withMetadata drop where drop_duplicates writeTo mapInPandas mapInArrow
    agg applyInPandas applyInArrow applyInPandasWithState transformWithState transformWithStateInPandas
    mode format option options bucketBy clusterBy schema outputMode queryName trigger foreachBatch
    partitionedBy using tableProperty
    """
)
"""They start no job. A job that one of them starts all the same is reported, as it belongs to no call."""

"""The query that a micro-batch belongs to: inside `foreachBatch` nobody hands it over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


def query_id(frame: DataFrame) -> str | None:
    """The id of the query whose micro-batch this is; the same after a restart from its checkpoint."""
    return frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")


def query_of(frame: DataFrame) -> StreamingQuery | None:
    """The query whose micro-batch this is. A micro-batch is in a session of its own, which knows no queries."""
    from pyspark.sql.streaming.query import StreamingQuery

    running, session = query_id(frame), frame.sparkSession
    jvm: Any = session.sparkContext._jvm
    if running is None:
        return None
    found = session._jsparkSession.sharedState().activeStreamingQueries().get(jvm.java.util.UUID.fromString(running))
    return None if found is None else StreamingQuery(found)

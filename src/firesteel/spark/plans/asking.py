"""What a tree does not hold, asked of the object in the JVM: who wrote a cast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.spark.jvm import java_class
from firesteel.spark.plans.tree import Expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CAST = "org.apache.spark.sql.catalyst.expressions.Cast"


def is_written_cast(spark: SparkSession, expression: Expression) -> bool:
    """Did the user write this cast? Spark marks those; the others it added by itself."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    try:
        tag = java_class(spark.sparkContext._gateway, _CAST).USER_SPECIFIED_CAST()
        return bool(expression.handle.getTagValue(tag).isDefined())
    except Py4JError:  # a version of Spark that does not mark them: then nothing is reported about them
        return True

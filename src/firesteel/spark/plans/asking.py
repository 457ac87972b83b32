"""What a tree does not hold, asked of the object in the JVM: the function behind a UDF, who wrote a cast."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firesteel.spark.jvm import java_class
from firesteel.spark.plans.tree import Expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CAST = "org.apache.spark.sql.catalyst.expressions.Cast"


def function_of(spark: SparkSession, expression: Expression) -> Callable[..., Any] | None:
    """The function of Python's behind a `PythonUDF` and the like; None where it cannot be loaded."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import cloudpickle

    gateway: Any = spark.sparkContext._gateway
    try:
        bytes_of = expression.handle.func().command().toArray(gateway.jvm.scala.reflect.ClassTag.Byte())
        command = cloudpickle.loads(bytes(bytes_of))
    except (Py4JError, TypeError, pickle.UnpicklingError, ImportError, AttributeError, EOFError):
        return None  # such as a function that is too large and was sent as a broadcast
    found = command[0] if isinstance(command, tuple) and command else command
    return found if callable(found) else None


def is_written_cast(spark: SparkSession, expression: Expression) -> bool:
    """Did the user write this cast? Spark marks those; the others it added by itself."""
    from py4j.protocol import Py4JError

    try:
        tag = java_class(spark.sparkContext._gateway, _CAST).USER_SPECIFIED_CAST()
        return bool(expression.handle.getTagValue(tag).isDefined())
    except (Py4JError, LookupError):
        return False

"""What a value of the user's is: a data set, something between two data sets, or a function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from types import FrameType
from typing import Any

from firesteel.spark.capture.surface import builders
from firesteel.values.programs import Api

LOOKED_AT = 100
"""How many elements of an argument are looked at, for data sets and functions among them."""
Reader = Callable[[], list[list[Any]]]


def id_of(rdd: Any) -> int | None:
    """The id of its RDD in the JVM, if there is one."""
    found = rdd.__dict__.get("_id")
    if found is None and rdd.__dict__.get("_jrdd_val") is not None:
        found = rdd._jrdd_val.id()
    return found if isinstance(found, int) else None


def is_data(value: Any) -> bool:
    """Is it a data set?"""
    from pyspark import RDD
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.streaming import DStream

    return isinstance(value, RDD | DataFrame | DStream)


def api_of(data: Any) -> Api:
    """Which of the interfaces a data set belongs to."""
    from pyspark import RDD
    from pyspark.sql.classic.dataframe import DataFrame

    return Api.RDD if isinstance(data, RDD) else Api.FRAME if isinstance(data, DataFrame) else Api.DSTREAM


def is_builder(value: Any) -> bool:
    """Does it stand between a data set and the next?"""
    return isinstance(value, builders())


def functions_in(value: Any) -> list[Callable[..., Any]]:
    """The functions of the user's in an argument."""
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    values = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    looked_at = islice(values, LOOKED_AT)  # data may be large
    return [one for one in looked_at if callable(one) and not isinstance(one, Column | DataType)]


def reading(data: Any) -> Reader | None:
    """Reads a source again, partition by partition."""
    if api_of(data) is Api.DSTREAM or getattr(data, "isStreaming", False) is True:
        return None

    def read() -> list[list[Any]]:
        rdd = data.rdd if api_of(data) is Api.FRAME else data
        found: list[list[Any]] = rdd.glom().collect()
        return found

    return read


def batch_function(data: Any) -> Any:
    """The function that `foreachBatch` calls on this thread, if it was handed a DataFrame that is not known."""
    from pyspark.sql.utils import ForeachBatchFunction

    frame: FrameType | None = sys._getframe()
    while frame is not None and api_of(data) is Api.FRAME:
        if frame.f_code is ForeachBatchFunction.call.__code__:
            return frame.f_locals["self"].func
        frame = frame.f_back
    return None

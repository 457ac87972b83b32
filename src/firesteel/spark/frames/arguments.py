"""What `fs.assert_same` was handed: DataFrames that one Spark job can read, or why they are not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def require_frames(left: Any, right: Any) -> None:
    """Refuse what cannot be compared in one Spark job."""
    for name, frame in (("left", left), ("right", right)):
        _require_frame(name, frame)
    if not left._jdf.sparkSession().equals(right._jdf.sparkSession()):
        raise InvalidArgument(
            "left and right belong to different Spark sessions, and no job can read both: make them in one session, "
            "or write one of them to a file and read it in the other's"
        )


def _require_frame(name: str, frame: Any) -> None:
    from pyspark.sql import DataFrame

    module = type(frame).__module__
    if module.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            f"{name}=... is a DataFrame of Spark Connect, which gives no handle on the JVM: make it in a classic "
            "session, SparkSession.builder.master(...) without .remote(...)"
        )
    if not isinstance(frame, DataFrame):
        instead = f"{name}.to_spark()" if module.startswith("pyspark.pandas") else "spark.createDataFrame(...)"
        raise InvalidArgument(f"{described(name, frame)} is not a Spark DataFrame: write {instead}")
    if frame.isStreaming:
        raise InvalidArgument(
            f"{name}=... is a streaming DataFrame, which has no end: run it with fs.run(stream, subject) and compare "
            "its batches (batch.same_as(...), or batch.df here)"
        )


@contextmanager
def blaming(left: DataFrame, right: DataFrame) -> Iterator[None]:
    """Let Spark's own error through, with a note that says which frame it came from."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        broken = [name for name, frame in (("left", left), ("right", right)) if _raises(frame)]
        if broken:
            error.add_note(f"fs.assert_same: Spark could not compute {' and '.join(broken)}")
        else:
            error.add_note("fs.assert_same: left and right can each be computed alone; comparing them failed")
        raise


def _raises(frame: DataFrame) -> bool:
    try:
        frame.write.format("noop").mode("overwrite").save()
    except Exception:
        return True
    return False

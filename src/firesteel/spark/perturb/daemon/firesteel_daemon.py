"""PySpark's daemon, which has imported what every worker imports: a new worker is then a fork that is ready at once.

Spark starts it as a program, in a process that need not have firesteel: it knows nothing but PySpark. PySpark's own
daemon imports nothing before it forks, as some modules start threads. Those of pandas and Arrow wait for work, and hold
no lock.
"""

import contextlib
import os
import warnings


def preload() -> None:
    """Import what workers need."""
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # without threads of its own, which a fork does not have
    for name in ("pyspark.worker", "pandas", "pyarrow", "pyspark.sql.pandas.serializers", "google.protobuf"):
        with contextlib.suppress(Exception):  # the worker says what is missing, if it needs it
            __import__(name)
    if before is None:
        del os.environ["OPENBLAS_NUM_THREADS"]
    else:
        os.environ["OPENBLAS_NUM_THREADS"] = before


if __name__ == "__main__":
    from pyspark.daemon import manager

    preload()
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    manager()

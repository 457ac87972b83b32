"""PySpark's daemon, which has imported what every worker imports: a new worker is then a fork that is ready at once.

Spark starts it as a program, in a process that need not have firesteel: it knows nothing but PySpark. PySpark's own
daemon imports nothing before it forks, as some modules start threads. Those of pandas and Arrow wait for work, and hold
no lock.
"""

import contextlib
import gc
import os
import sys
import warnings


def prefer_installed() -> None:
    """Import PySpark from where it is installed, not from the archive inside it that Spark puts on the path.

    Both are the same, but what is installed is compiled. Each process would compile all that it takes from the archive.

    >>> prefer_installed()
    >>> any(place.endswith("pyspark.zip") for place in sys.path)
    False
    """
    places = {os.path.realpath(place) for place in sys.path}
    for archive in [place for place in sys.path if os.path.basename(place) == "pyspark.zip"]:
        package = os.path.realpath(os.path.join(archive, "..", "..", ".."))  # .../pyspark/python/lib/pyspark.zip
        is_installed = os.path.basename(package) == "pyspark" and os.path.isfile(os.path.join(package, "__init__.py"))
        if is_installed and os.path.dirname(package) in places:
            sys.path.remove(archive)
            sys.path_importer_cache.pop(archive, None)


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
    prefer_installed()
    from pyspark.daemon import manager

    preload()
    gc.freeze()  # a worker collects garbage after every task: it need not go through all modules each time
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    manager()

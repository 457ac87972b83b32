"""What the executors of a cluster need to run Python functions: this package, and the code of the user's functions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.spark.session.folders import private_directory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_shipped: set[str] = set()


def ship(spark: SparkSession) -> None:
    """Give the executors of a cluster this package, which need not be installed there."""
    context = spark.sparkContext
    application = str(context.applicationId)
    if context._jsc.sc().isLocal() or application in _shipped:
        return
    _shipped.add(application)
    package = Path(__file__).parents[2]
    context.addPyFile(
        shutil.make_archive(str(private_directory() / "firesteel-package"), "zip", package.parent, package.name)
    )


@contextmanager
def by_value(function: Callable[..., Any]) -> Iterator[None]:
    """Send a function together with its code, as executors cannot import the test module that defines it."""
    from pyspark import cloudpickle as untyped

    cloudpickle: Any = untyped
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if (
        module is None
        or not getattr(module, "__file__", None)
        or "site-packages" in str(module.__file__)
        or module.__name__ in cloudpickle.list_registry_pickle_by_value()  # the user registered it, and it stays so
    ):
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)

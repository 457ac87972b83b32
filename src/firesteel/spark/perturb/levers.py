"""What perturbations change in Spark itself: settings, the order of shuffles, and Python workers that know nothing."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from firesteel.perturb.changes import Variant
from firesteel.spark.engines.control import changed
from firesteel.spark.perturb.shuffles import arriving

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_NEW_WORKERS = "FIRESTEEL_RESTART"
_numbers = itertools.count(1)


@contextmanager
def pulled(spark: SparkSession, variant: Variant) -> Iterator[None]:
    """Jobs that this thread runs meanwhile, and streaming queries that it starts, are changed as the variant says."""
    with changed(spark, variant.settings), arriving(spark.sparkContext, variant.shuffle_order):
        yield


@contextmanager
def new_workers(context: SparkContext) -> Iterator[str]:
    """Python functions that are handed to Spark meanwhile run in new processes, which know nothing of what others keep
    in memory. `dismissed` takes the name that is given."""
    name = f"{next(_numbers)}"
    variables: dict[str, str] = context.environment  # Spark keeps one pool of workers for each set of them
    before = dict(variables)
    variables[_NEW_WORKERS] = name
    try:
        yield name
    finally:
        del variables[_NEW_WORKERS]
        variables.update(before)


def dismissed(context: SparkContext, names: Collection[str]) -> None:
    """End the processes of `new_workers`, by these names. Where Spark does not allow it, they end with its session."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    if not names:
        return
    jvm: Any = context._jvm
    java: Any = context._jsc
    with suppress(Py4JError):
        place = jvm.java.lang.Class.forName("org.apache.spark.SparkEnv").getDeclaredField("pythonWorkers")
        place.setAccessible(True)
        pools = place.get(java.sc().env())
        keys = pools.keys().toSeq()
        for key in [keys.apply(number) for number in range(keys.size())]:
            found = key.envVars().get(_NEW_WORKERS)
            if found.isDefined() and found.get() in names:
                pools.remove(key).get().stop()

"""What perturbations change in Spark itself: settings, the order of shuffles, and Python workers that know nothing.

What they change in the input is in `firesteel.spark.perturb.perturbed`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from firesteel.perturb import Variant
from firesteel.spark.engines.control import changed
from firesteel.spark.perturb.shuffles import arriving

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_NEW_WORKERS = "FIRESTEEL_RESTART"
_numbers = itertools.count(1)


@contextmanager
def pulled(spark: SparkSession, variant: Variant | None) -> Iterator[None]:
    """Jobs that this thread runs meanwhile, and streaming queries that it starts, are changed as the variant says."""
    if variant is None:
        yield
        return
    with changed(spark, settings_of(variant)), arriving(spark.sparkContext, variant.shuffle_order):
        yield


def settings_of(variant: Variant) -> dict[str, str]:
    """Spark's settings under a variant.

    >>> settings_of(Variant(shuffle_partitions=5))
    {'spark.sql.shuffle.partitions': '5'}
    """
    settings = {}
    if variant.shuffle_partitions is not None:
        settings["spark.sql.shuffle.partitions"] = str(variant.shuffle_partitions)
    if variant.adaptive_execution is not None:
        settings["spark.sql.adaptive.enabled"] = str(variant.adaptive_execution).lower()
    if variant.adaptive_execution:
        # As on a cluster with data to spare: small partitions are joined, whatever the number of cores.
        settings["spark.sql.adaptive.coalescePartitions.enabled"] = "true"
        settings["spark.sql.adaptive.coalescePartitions.parallelismFirst"] = "false"
    return settings


@contextmanager
def new_workers(context: SparkContext) -> Iterator[str]:
    """Python functions that are handed to Spark meanwhile run in processes of their own: what others keep in memory
    is not there. The name is for `dismissed`."""
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
    """End the processes that `new_workers` led to, if Spark lets us; else they end with its session."""
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

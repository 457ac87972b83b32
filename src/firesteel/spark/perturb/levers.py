"""What perturbations change in Spark itself: settings, the order of shuffles, and Python workers that know nothing."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from firesteel.perturb.changes import Variant
from firesteel.spark.engines.control import changed
from firesteel.spark.jvm import changed_conf, field_of
from firesteel.spark.perturb.shuffles import arriving
from firesteel.spark.session.start import DAEMON

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_NEW_WORKERS = "FIRESTEEL_RESTART"
_numbers = itertools.count(1)
_free: list[str] = []
"""Names of pools that have a daemon, and no worker."""
_DAEMON_MODULE = "spark.python.daemon.module"


@contextmanager
def pulled(spark: SparkSession, variant: Variant) -> Iterator[None]:
    """Jobs that this thread runs meanwhile, and streaming queries that it starts, are changed as the variant says."""
    with changed(spark, variant.settings), arriving(spark.sparkContext, variant.shuffle_order):
        yield


@contextmanager
def new_workers(context: SparkContext) -> Iterator[str]:
    """Python functions that are handed to Spark meanwhile run in new processes, which know nothing of what others keep
    in memory. `dismissed` takes the name that is given."""
    name = _free.pop() if _free else f"{next(_numbers)}"
    variables: dict[str, str] = context.environment  # Spark keeps one pool of workers for each set of them
    before = dict(variables)
    try:
        with changed_conf(context, _own_daemon(context)), _handed_over_again():
            variables[_NEW_WORKERS] = name
            yield name
    finally:
        variables.pop(_NEW_WORKERS, None)
        variables.update(before)


@contextmanager
def _handed_over_again() -> Iterator[None]:
    """UDFs are handed to Spark anew meanwhile: one that was used before would keep the workers of that use."""
    from pyspark.sql.udf import UserDefinedFunction
    from pyspark.sql.udtf import UserDefinedTableFunction

    before = UserDefinedFunction._judf, UserDefinedTableFunction._judtf
    classes: Any = UserDefinedFunction, UserDefinedTableFunction
    classes[0]._judf = property(lambda self: self._create_judf(self.func))
    classes[1]._judtf = property(lambda self: self._create_judtf(self.func))
    try:
        yield
    finally:
        classes[0]._judf, classes[1]._judtf = before


def _own_daemon(context: SparkContext) -> dict[str, str]:
    """The setting for our daemon, where every worker finds its file, and unless the user has set one.

    The setting is for the whole of Spark. A function that was handed over earlier, with other variables, runs under it
    too, so the file has to be found by the variables that Spark itself was started with. Workers on other machines do
    not have it.
    """
    java: Any = context._jsc
    jvm: Any = context._jvm
    if not (context.master or "").startswith("local") or java.sc().conf().contains(_DAEMON_MODULE):
        return {}
    paths = (jvm.java.lang.System.getenv("PYTHONPATH") or "").split(os.pathsep)
    return {_DAEMON_MODULE: DAEMON.stem} if str(DAEMON.parent) in paths else {}


def dismissed(context: SparkContext, names: Collection[str], *, failed: bool = False) -> None:
    """End the processes of `new_workers`, by these names. Where Spark does not allow it, they end with its session.

    The daemon that made them is kept, for the next ones: it has run nothing itself. It ends too where a run has failed,
    or where a worker is still busy.
    """
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
            mine = found.isDefined() and found.get() in names
            if mine and (failed or not _emptied(pools.apply(key))):
                pools.remove(key).get().stop()
        if not failed:
            _free.extend(name for name in names if name not in _free)


def _emptied(pool: Any) -> bool:
    """End the workers of a pool; False where that is not possible, or where one of them is not idle."""
    from py4j.protocol import Py4JError

    try:
        idle = field_of(pool, "idleWorkers").get(pool)
        every = field_of(pool, "daemonWorkers").get(pool).toSeq()
        alive = [pair._1() for pair in map(every.apply, range(every.size())) if pair._2().isAlive()]
        if not all(map(idle.contains, alive)):
            return False
        while idle.nonEmpty():
            pool.stopWorker(idle.dequeue())
    except (Py4JError, LookupError):
        return False
    return True

"""New Python workers: they know nothing of what others kept in memory, and a daemon makes many of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, IntegerType, StructField, StructType

from firesteel.spark.perturb import levers
from firesteel.spark.perturb.levers import dismissed, new_workers


def kept(spark: Any) -> list[tuple[int, int, int, bool]]:
    """What workers find that earlier tasks left in them; who they are, and who made them."""

    def count(rows: Any) -> Any:
        import sys

        sys.left = getattr(sys, "left", 0) + len(list(rows))  # type: ignore[attr-defined]
        yield sys.left, os.getpid(), os.getppid(), "pandas" in sys.modules  # type: ignore[attr-defined]

    return spark.sparkContext.parallelize([1], 1).mapPartitions(count).collect()  # type: ignore[no-any-return]


def are_gone(pids: set[int]) -> bool:
    """Workers end a moment after they are told to."""
    until = time.monotonic() + 10
    while any(map(_is_there, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(_is_there, pids))


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_workers_are_new_and_their_daemon_is_not(spark: Any) -> None:
    context = spark.sparkContext
    before = dict(context.environment)
    seen = []
    for _ in range(3):
        with new_workers(context) as name:
            (first,) = kept(spark)
            (second,) = kept(spark)
        assert context.environment == before
        assert not context._jsc.sc().conf().contains("spark.python.daemon.module")
        assert (first[0], second[0]) == (1, 2) and first[1] == second[1], "within one run, a worker is used again"
        assert first[3], "what it needs is there when it starts"
        dismissed(context, [name])
        seen.append(first)
    workers, daemons = {pid for _, pid, _, _ in seen}, {pid for _, _, pid, _ in seen}
    assert len(workers) == 3 and len(daemons) == 1 and are_gone(workers)
    with new_workers(context) as name:
        (last,) = kept(spark)
    dismissed(context, [name], failed=True)
    assert are_gone({last[1], last[2]}) and name not in levers._free


@F.udf(StructType([StructField("left", IntegerType()), StructField("made", BooleanType())]))
def counted(_):
    """At the top of a module, as most functions are. PySpark remembers what it handed to Spark at the first use."""
    import sys

    sys.counted = getattr(sys, "counted", 0) + 1  # type: ignore[attr-defined]
    return sys.counted, "firesteel_daemon" in sys.orig_argv  # type: ignore[attr-defined]


def test_a_function_that_was_used_before_gets_new_workers_too(spark: Any) -> None:
    one = spark.range(1, numPartitions=1)
    before = one.select(counted("id"))
    first = before.first()[0].left
    with new_workers(spark.sparkContext) as name:
        assert one.select(counted("id")).first()[0] == (1, True)
        assert before.first()[0].left, "what was handed over earlier runs as well"
    dismissed(spark.sparkContext, [name])
    assert before.first()[0].left == first + 1, "and has its own workers again"
    with new_workers(spark.sparkContext) as name:
        assert one.select(counted("id")).first()[0].left == 1
    dismissed(spark.sparkContext, [name])


def test_new_workers_inside_new_workers(spark: Any) -> None:
    context = spark.sparkContext
    one = spark.range(1, numPartitions=1)
    with new_workers(context) as outer:
        assert one.select(counted("id")).first()[0].left == 1
        with new_workers(context) as inner:
            assert inner != outer and one.select(counted("id")).first()[0].left == 1
        assert one.select(counted("id")).first()[0].left == 2
    dismissed(context, [inner, outer])


def test_a_spark_that_does_not_find_the_daemon_does_without(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levers, "DAEMON", Path("/elsewhere/firesteel_daemon.py"))
    assert levers._own_daemon(spark.sparkContext) == {}
    with new_workers(spark.sparkContext) as name:
        assert spark.range(1, numPartitions=1).select(counted("id")).first()[0] == (1, False)
    dismissed(spark.sparkContext, [name], failed=True)


@pytest.mark.slow
def test_a_worker_that_is_busy_ends_with_its_daemon(spark: Any) -> None:
    import threading

    context = spark.sparkContext
    started = threading.Event()
    found: list[int] = []

    def sleep(rows: Any) -> Any:
        time.sleep(30)
        yield from rows

    def run() -> None:
        started.set()
        try:
            context.parallelize([1], 1).mapPartitions(sleep).collect()
        except Exception:
            found.append(1)

    with new_workers(context) as name:
        (idle,) = kept(spark)
        thread = threading.Thread(target=run)
        thread.start()
        started.wait(5)
        time.sleep(1.5)
        dismissed(context, [name])
    assert are_gone({idle[2]}), "its daemon too"
    thread.join(20)
    assert found, "the job fails, as its worker is gone"


def test_workers_on_other_machines_have_the_daemon_of_pyspark(spark: Any) -> None:
    class Cluster:
        master = "spark://head:7077"
        _jsc, _jvm = spark.sparkContext._jsc, spark.sparkContext._jvm

    assert levers._own_daemon(spark.sparkContext)
    assert levers._own_daemon(Cluster()) == {}  # type: ignore[arg-type]

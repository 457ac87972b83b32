"""Puts a running session back as it was before a test: temporary views, cache, SQL settings, streaming queries.

Not here: making the session (`firesteel.spark.session.start`), and when to reset (`firesteel.pytest_plugin`).
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Snapshot:
    """The parts of a session that a test must leave as it found them: see `snapshot` and `restore`."""

    views: frozenset[str]
    cached: bool
    queries: frozenset[str]
    settings: Any
    """A java.util.Map that stays in the JVM: copying 60 settings to Python would take 60 round trips."""


def existing() -> SparkSession | None:
    """The classic session of this process if there is one; imports nothing and starts nothing.

    >>> spark = existing()
    """
    module = sys.modules.get("pyspark.sql.session")
    session: Any = None if module is None else module.SparkSession._instantiatedSession
    if session is None or session._sc._jsc is None:
        return None
    return session  # type: ignore[no-any-return]


def snapshot(spark: SparkSession) -> Snapshot:
    """The session as it is now. About 1 ms, and so is `restore` when there is nothing to do.

    >>> import firesteel as fs
    >>> before = snapshot(spark := fs.session())
    >>> spark.range(1).createTempView("left_over")
    >>> restore(spark, before)
    >>> spark.catalog.tableExists("left_over")
    False
    """
    return Snapshot(
        views=_views(spark),
        cached=not _cache(spark).isEmpty(),
        queries=frozenset(query.runId for query in spark.streams.active),
        settings=_hash_map(spark.sparkContext._jvm)(_settings(spark)),
    )


_at_start: dict[str, tuple[SparkSession, Snapshot]] = {}


def remember(spark: SparkSession) -> None:
    """Keeps the session as it is now for a `restore` with no snapshot: called when a session has just started."""
    _at_start["last"] = (spark, snapshot(spark))


def restore(spark: SparkSession, before: Snapshot | None) -> None:
    """Undoes what came since the snapshot; without one, what came since the session started.

    What was there before stays, so that a module's own fixture may keep views, settings, a cached frame or a query
    over several tests.
    """
    if before is None and "last" in _at_start and _at_start["last"][0] is spark:
        before = _at_start["last"][1]
    for query in spark.streams.active:
        if before is None or query.runId not in before.queries:
            with contextlib.suppress(Exception):  # it may fail, or end by itself, at this very moment
                query.stop()
    for name in _views(spark) - (before.views if before is not None else frozenset()):
        spark.catalog.dropTempView(name)
    if not (before is not None and before.cached) and not _cache(spark).isEmpty():
        spark.catalog.clearCache()
    if before is not None and not before.settings.equals(_settings(spark)):
        _put_back(_settings(spark), before.settings)


def _put_back(settings: Any, before: Any) -> None:
    # In this order no setting is missing for a moment: something of the test may still be running.
    settings.putAll(before)
    settings.keySet().retainAll(before.keySet())


def _views(spark: SparkSession) -> frozenset[str]:
    """Through the catalog of the JVM: `spark.catalog.listTables` runs a query, and takes 20 times as long."""
    state: Any = spark._jsparkSession.sessionState()
    names = state.catalog().getTempViewNames()
    return frozenset(names.mkString("\n").split("\n")) if names.nonEmpty() else frozenset()


def _cache(spark: SparkSession) -> Any:
    return spark._jsparkSession.sharedState().cacheManager()


@lru_cache(maxsize=1)
def _hash_map(jvm: Any) -> Any:
    # Kept, because py4j would ask the JVM about `java`, `java.util` and `java.util.HashMap` each time. That takes as
    # long as the rest of a snapshot.
    return jvm.java.util.HashMap


def _settings(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().conf().settings()

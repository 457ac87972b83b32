"""What an engine is: one way to run a case on Spark, and what it cannot do, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from firesteel.perturb.changes import Need
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Watcher: TypeAlias = Callable[[Instant], bool]
"""Sees each instant as it comes; True stops the case: nothing later matters."""


@dataclass(frozen=True)
class Engine:
    """One way to run a case. Its module makes one, and `firesteel.spark.engines.exercise` lists it."""

    name: str
    """What the user writes: `engine="batch"`."""
    exercise: Callable[[SparkSession, Case, Subject, Running, Watcher], Trace]
    """Runs a case and records its trace, until the watcher stops it."""
    refuses_options: tuple[str, ...] = ()
    """Fields of `Running` that mean nothing to it: they have to be left as they are."""
    lacks: Mapping[Need, str] = field(default_factory=dict)
    """What it does not have that perturbations may need, and why."""
    one_batch: bool = False
    """Is a case one batch? Then a batch may be given in place of a stream."""
    bulk: bool = False
    """Can many cases share a query (`firesteel.spark.bulk`)?"""
    parallel: bool = False
    """Can several cases run at once, in threads?"""

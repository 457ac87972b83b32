"""A run on Spark as a value: what is fed and how, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from firesteel.evidence.onspark import Fed, Step
from firesteel.operators.onspark.operator import SparkOperator
from firesteel.perturb.changes import UNCHANGED, Variant
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case
from firesteel.values.streams import Stream, make_stream

Material: TypeAlias = tuple[Step, ...]
"""What a test is made of: records in the order in which they come, each with its port."""
T = TypeVar("T")
SECOND = timedelta(seconds=1)
LONG = 12
"""A material with more records is long: it is about a buffer that has to be filled, and has few different ones."""


@dataclass(frozen=True)
class Feed:
    """One run: its micro-batches, and how Spark runs them."""

    batches: tuple[tuple[Step, ...], ...]
    under: Variant = UNCHANGED
    interval: timedelta = SECOND
    dealt: int = 1
    """Over how many partitions the records of a batch are dealt, one by one: each keeps the order of its own."""
    close: bool = True
    """Does event time end with the run, so that the last windows come out?"""
    state: bool = False
    again: int = 0
    """Tells a repetition from the first run."""
    retried: bool = False
    """Does every task of the last stage fail once, and is run again?"""

    def case(self, operator: SparkOperator) -> Case:
        """The streams that are fed, as the perturbation changes them."""
        streams = {}
        for port in operator.ports:
            rows = [[row for name, row in batch if name == port.name] for batch in self.batches]
            plain = Stream(None, _values(rows)) if operator.plain else Stream(port.schema, rows)
            streams[port.name] = (
                plain if self.dealt == 1 else make_stream((_dealt(batch, self.dealt) for batch in plain), plain.schema)
            )
        return self.under.applied(Case(streams))

    def fed(self, operator: SparkOperator, outputs: tuple[Any, ...], until: int | None = None) -> Fed:
        """The run as evidence, up to a batch."""
        batches = self.batches if until is None else self.batches[: until + 1]
        interval = None if self.interval == SECOND else self.interval
        columns = tuple((port.name, port.columns) for port in operator.ports)
        return Fed(batches, outputs, self.under, interval, self.dealt, columns, self.retried)


def _values(rows: list[list[tuple[Any, ...]]]) -> list[list[Any]]:
    """Rows as elements of RDDs: a row of one column is that value."""
    return [[row[0] if len(row) == 1 else row for row in batch] for batch in rows]


def _dealt(batch: Batch, parts: int) -> Batch:
    dealt = [batch.records[part::parts] for part in range(parts)]
    return make_batch([record for part in dealt for record in part], batch.schema, tuple(map(len, dealt)))


@dataclass(frozen=True)
class Gave:
    """What came out of a run, batch by batch."""

    instants: tuple[tuple[Any, ...], ...]
    state: tuple[int, ...] = ()
    """How many rows of state there were after each batch, where that was asked."""
    watermark: bool = False
    """Was there a watermark?"""

    @property
    def rows(self) -> tuple[Any, ...]:
        """All rows that came out."""
        return tuple(row for rows in self.instants for row in rows)


@dataclass(frozen=True)
class Failed:
    """A run that did not come to its end. That is never evidence that two runs differ."""

    message: str
    always: bool = False
    """Does every run fail so, whatever is fed?"""
    hangs: bool = False
    """Did it not come to an end in time?"""


@dataclass(frozen=True)
class NotRun:
    """A run that was left out, as it would have taken too long."""


Result: TypeAlias = Gave | Failed | NotRun


def distinct(items: Iterable[T]) -> list[T]:
    """The different ones among some values. Records may hold lists, which have no hash.

    >>> distinct([[1], [2], [1]])
    [[1], [2]]
    """
    return list({repr(item): item for item in items}.values())


def one_by_one(material: Material) -> tuple[tuple[Step, ...], ...]:
    """Every record alone in its micro-batch: a firing. Of a long material, equal records in a row share a batch."""
    if len(material) <= LONG:
        return tuple((step,) for step in material)
    return tuple(tuple(equal) for _, equal in groupby(material))


def at_once(material: Material) -> tuple[tuple[Step, ...], ...]:
    """All records in one batch."""
    return (tuple(material),)


def in_halves(material: Material) -> tuple[tuple[Step, ...], ...]:
    """All records in two batches."""
    half = (len(material) + 1) // 2
    return tuple(part for part in (tuple(material[:half]), tuple(material[half:])) if part)

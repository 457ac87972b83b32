"""Which cases may share a query that has a watermark.

A query has one watermark, moved by the latest event time of any case in it. So cases run together only where each
sees, in every batch, a watermark that cannot be told from the one that it would see alone. What a subject does depends
on the watermark only through comparisons. Where these are with the ends of windows on a grid, as in a windowed
aggregation, two watermarks in the same cell of the grid are the same; elsewhere they have to be equal.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from firesteel.values.cases import Case
from firesteel.values.schemas.conform import in_utc

if TYPE_CHECKING:
    from firesteel.spark.plans.tree import Expression, Node

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, eq=False)
class Below:
    """The plans below a watermark, each with the attribute of the event time. There may be several, as in a join of a
    frame with itself, or none, if Spark has found out that no record gets there."""

    plans: tuple[tuple[Node, Expression], ...]


@dataclass(frozen=True)
class Watermark:
    """One `withWatermark` of a subject, on a column of an input."""

    input: str
    column: str | None
    """None for an event time that is computed."""
    delay: int
    """In milliseconds."""
    present: tuple[str, ...] = ()
    """Columns whose nulls Spark filters out before the watermark sees the record."""
    below: Below | None = None
    """Where Spark has to say what the watermark sees: the records are not those of the input."""


@dataclass(frozen=True)
class TimeFacts:
    """What the plan of one output says about event time."""

    watermarks: tuple[Watermark, ...] = ()
    cells: tuple[int | None, ...] = ()
    """For every operator that compares with the watermark: the grid of its windows in microseconds, None for none."""
    reacts: bool = False
    """Does a later result depend on the micro-batch in which an earlier one came out?

    True where an operator keeps or drops a record because of earlier ones, or reads the clock.
    """
    by_batch: bool = False
    """Do the records that come out in the end depend on the micro-batch in which an input record came?"""
    to_the_end: bool = False
    """Does the watermark after the last batch show in the output even if event time then ends?

    Spark runs a micro-batch without data at that watermark, and only then one at the end of event time. A single
    operator puts out the same records in one or in both. A function may be told the watermark, or see what comes at
    once; and a second operator may keep or drop a record by what it got before.
    """

    @property
    def cell(self) -> int | None:
        """The grid, in milliseconds, of all comparisons with the watermark; None where they may lie anywhere."""
        known = [cell for cell in self.cells if cell is not None]
        if len(known) < len(self.cells):
            return None
        cell = math.gcd(*known)
        return cell // 1000 if not cell % 1000 else None


EdgesOfOne: TypeAlias = Sequence[tuple[int, int | None] | None]
"""For every batch, in milliseconds: the first event time, and the last that moves the watermark."""
Edges: TypeAlias = Mapping[Watermark, EdgesOfOne]


def watermarks_in(facts: Sequence[TimeFacts]) -> list[Watermark]:
    """The watermarks of all outputs, each once."""
    return list(dict.fromkeys(operator for fact in facts for operator in fact.watermarks))


def edges_of(case: Case, facts: Sequence[TimeFacts]) -> dict[Watermark, EdgesOfOne]:
    """The event times of a case that its watermarks are computed from, as far as the input alone tells them."""
    return {
        operator: [_edges(case, operator, operator.column, index) for index in range(case.length)]
        for operator in watermarks_in(facts)
        if operator.column is not None
    }


def _edges(case: Case, operator: Watermark, column: str, index: int) -> tuple[int, int | None] | None:
    stream = case.inputs[operator.input]
    # By the dict of a record, as a case may have a million of them.
    records = [r.__dict__ for r in stream[index].records] if index < len(stream) else []
    times = [r[column] for r in records if r[column] is not None]
    if not times:
        return None
    seen = times
    if operator.present:
        seen = [
            r[column]
            for r in records
            if r[column] is not None and all(r[name] is not None for name in operator.present)
        ]
    return _milliseconds(min(times)), _milliseconds(max(seen)) if seen else None


def _milliseconds(moment: datetime) -> int:
    return (in_utc(moment) - _EPOCH) // _MILLISECOND


def watermarks_alone(edges: Edges, operators: Sequence[Watermark], length: int, lowest: bool) -> list[int]:
    """The watermark in force in each batch of a case that runs alone, and the one after its last batch.

    In milliseconds; 0 where there is none.
    """
    found, current = [0], 0
    latest: dict[Watermark, int] = {}
    for index in range(length):
        for operator in operators:
            edge = edges[operator][index]
            if edge is not None and edge[1] is not None:
                latest[operator] = max(latest.get(operator, 0), edge[1] - operator.delay)
        values = [latest.get(operator, 0) for operator in operators]
        if values:
            current = max(current, min(values) if lowest else max(values))
        found.append(current)
    return found


def has_late_records(edges: Edges, facts: Sequence[TimeFacts], alone: Sequence[Sequence[int]]) -> bool:
    """Does a record come that Spark might drop as late? It only says for all cases together how many it drops."""
    return any(
        edge is not None and edge[0] <= watermarks[index]
        for fact, watermarks in zip(facts, alone, strict=True)
        if fact.cells  # nothing is compared with the watermark otherwise
        for operator in fact.watermarks
        for index, edge in enumerate(edges[operator])
    )


def cell_of(edges: Edges, facts: Sequence[TimeFacts], length: int, *, close: bool) -> Hashable:
    """What cases have to have in common to run together.

    Every watermark counts by itself. Cases whose lowest watermarks are equal may move different ones, and the lowest of
    all cases together is then another. The watermark after the last batch counts too: Spark runs a micro-batch without
    data at it. Where event time then ends (`close`), that brings out all the same, unless the facts say otherwise.
    """
    return tuple(
        tuple(
            watermark if fact.cell is None else watermark // fact.cell
            for watermark in watermarks_alone(edges, [operator], length, True)[
                : length if close and not fact.to_the_end else length + 1
            ]
        )
        for fact in facts
        if fact.cells
        for operator in fact.watermarks
    )


def moment(milliseconds: int) -> datetime | None:
    """A watermark as an instant shows it."""
    return _EPOCH + milliseconds * _MILLISECOND if milliseconds > 0 else None

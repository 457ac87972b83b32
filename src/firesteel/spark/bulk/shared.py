"""Queries that many cases share: which cases can share one, and how they are run and told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk.align import cell_of, has_late_records, moment, watermarks_alone
from firesteel.spark.bulk.carry import carrying
from firesteel.spark.bulk.seen import seen_by_watermarks
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.loop import outputs_of_batches
from firesteel.spark.engines.query import Query
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.engines.source import PackedSource
from firesteel.spark.engines.subject import Subject, outputs_of
from firesteel.spark.engines.threads import at_once
from firesteel.spark.failures import CannotCarry, OneCaseFails, SubjectFailure
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.running import Running
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case
from firesteel.values.records import make_record
from firesteel.values.streams import Stream, make_stream
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# With so many groups Spark sorts them, and then combines the records of a group in another order. All cases together
# may have so many where each has fewer alone.
_SORTED_FROM = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
_ARROW = "spark.sql.execution.arrow.maxRecordsPerBatch"
# Groups of cases that are run even if only one case is in each.
_FEW = 3


class SharedQueries:
    """A subject whose queries carry many cases at once. `CannotCarry` says why it is not possible.

    Spark counts the records that it drops as late for all cases together. So a case in which records come late runs
    alone; with `late`, it may share a query, and how many are dropped is not known then.
    """

    def __init__(
        self, spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running, *, late: bool = False
    ) -> None:
        self._spark, self._cases, self._subject, self._how = spark, cases, subject, how
        self._shares_late = late
        self._columns = _hidden(cases)
        self._schemas = {name: _schema(name, cases) for name in self._columns}
        frames, sources = self._frames()
        if how.over is not None:
            how.over.check_names(cases[0].inputs, frames)
            for name, frame in frames.items():
                how.over.check_output(name, frame.schema)
        carried = {name: carrying(frame, sources, self._how.mode_of(name)) for name, frame in frames.items()}
        self._time = {name: each.time for name, each in carried.items()}
        self.doubtful = any(each.doubtful for each in carried.values())
        """Does a plan hold anything but what is known to be carried well?"""
        self._makes_lists = any(each.makes_lists for each in carried.values())
        self._cut_by_arrow = any(each.cut_by_arrow for each in carried.values())
        policy = spark.conf.get("spark.sql.streaming.multipleWatermarkPolicy")
        facts = list(self._time.values())
        self._edges = seen_by_watermarks(spark, cases, facts, self._columns)
        self._watermarks = {
            id(case): [watermarks_alone(edges, fact.watermarks, case.length, policy != "max") for fact in facts]
            for case, edges in zip(cases, self._edges, strict=True)
        }
        self._late = 0

    @property
    def fits_arrow(self) -> int | None:
        """How many records of a case may come at once so that no Arrow batch is full, where that shows."""
        most = int(str(self._spark.conf.get(_ARROW)))
        return most - 1 if self._cut_by_arrow and most > 1 else None

    @property
    def why_apart(self) -> str:
        """Why no two cases can share a query, once that was tried."""
        differ = "event times differ from case to case, and a query has one watermark for all"
        match self._late:
            case 0 if not any(fact.watermarks for fact in self._time.values()):
                return "every case is so large that Spark sorts its groups, and with them the order of lists"
            case 0:
                return f"its {differ}"
            case late if late == len(self._cases):
                return "records come late in every case, and Spark counts them for all cases together"
            case late:
                return f"records come late in {late} of {len(self._cases)} cases; of the others, {differ}"

    def groups(self, also_single: bool) -> list[list[int]]:
        """Numbers of cases that may run together; not those that have to run alone."""
        facts = list(self._time.values())
        numbers = [number for number, case in enumerate(self._cases) if not self._is_sorted(case)]
        if not any(fact.watermarks for fact in facts):
            return [numbers] if numbers else []
        # In complete mode event time does not end.
        closes = self._how.close and all(self._how.mode_of(name) != "complete" for name in self._time)
        together: dict[Hashable, list[int]] = {}
        for number in numbers:
            case = self._cases[number]
            if not self._shares_late and has_late_records(self._edges[number], facts, self._watermarks[id(case)]):
                self._late += 1
                continue
            # Event time ends for all of them at once, so they have to be of one length.
            cell = cell_of(self._edges[number], facts, case.length, close=closes)
            together.setdefault(() if self.as_one_batch else (case.length, cell), []).append(number)
        least = 1 if also_single and len(together) <= _FEW else 2
        return [group for group in together.values() if len(group) >= least]

    def _is_sorted(self, case: Case) -> bool:
        """May the groups of a case be so many that Spark sorts them, and with them the order of lists?"""
        if not self._makes_lists:
            return False
        most = int(str(self._spark.conf.get(_SORTED_FROM)))
        return any(len(batch) > most for stream in case.inputs.values() for batch in stream)

    def run(self, cases: Sequence[Case]) -> list[Trace]:
        """Run cases in one query for each output."""
        if self.as_one_batch:
            places = at_once(self._spark)
            cases = [_in_one_batch(case, number % places, places) for number, case in enumerate(cases)]
        recorded: list[list[Instant]] = [[] for _ in cases]
        with ExitStack() as stack:
            stack.enter_context(changed(self._spark, self.settings))
            with pulled(self._spark, self._how.under):
                queries = self._queries(cases, stack)
            try:
                for index, outputs in enumerate(outputs_of_batches(queries, max(case.length for case in cases))):
                    dropped = any(query.dropped for query in queries)
                    if dropped and not self._shares_late:
                        raise CannotCarry("records come late, and Spark counts them for all cases together")
                    parts = {name: split(batch, len(cases)) for name, batch in outputs.items()}
                    self._record(cases, index, parts, queries[0].time(index), recorded, None if dropped else 0)
            except SubjectFailure as failure:
                raise OneCaseFails(f"one of the cases makes it fail ({failure})") from failure
        return [Trace(instants) for instants in recorded]

    def _record(
        self,
        cases: Sequence[Case],
        index: int,
        outputs: Mapping[str, Sequence[Batch]],
        time: datetime,
        recorded: Sequence[list[Instant]],
        dropped: int | None,
    ) -> None:
        """Add an instant to what was recorded of every case that is not over yet."""
        for number, (case, instants) in enumerate(zip(cases, recorded, strict=True)):
            if index < case.length:
                known = [moment(watermarks[index]) for watermarks in self._watermarks.get(id(case), ())]
                instants.append(
                    Instant(
                        index,
                        case.batches_at(index),
                        {name: batches[number] for name, batches in outputs.items()},
                        time=time,
                        recorded_watermark=min((at for at in known if at is not None), default=None),
                        recorded_dropped=dropped,
                        drawn=case.drawn,
                    )
                )

    # --- building ---

    @property
    def settings(self) -> dict[str, str]:
        """The session's settings that the queries need."""
        settings = {**JAVA_TIME, _SORTED_FROM: str(2**31 - 1)}
        patient = not any(fact.reacts or self._how.mode_of(name) == "complete" for name, fact in self._time.items())
        if self._how.over is not None and self._how.close and patient:
            # After each batch that moves the watermark, Spark runs one without data. All that it does is to bring out
            # earlier what the next batch, or the end of event time, brings: windows are the same without it.
            settings["spark.sql.streaming.noDataMicroBatches.enabled"] = "false"
        return settings

    @property
    def as_one_batch(self) -> bool:
        """May all batches be fed as one? Windows stay the same if every row comes out once, when event time ends."""
        return (
            self._how.over is not None
            and self._how.close
            and not self._how.under.changes
            and all(self._how.mode_of(name) == "append" and not fact.by_batch for name, fact in self._time.items())
        )

    def _frames(self) -> tuple[Mapping[str, DataFrame], dict[str, PackedSource]]:
        sources = {
            name: PackedSource(self._spark, schema, self._columns[name]) for name, schema in self._schemas.items()
        }
        inputs = {name: source.shown for name, source in sources.items()}
        return outputs_of(self._spark, self._subject, inputs, self._cases[0].drawn), sources

    def _queries(self, cases: Sequence[Case], stack: ExitStack) -> list[Query]:
        # Each case is small; together they may not be, and are collected all the same. Windows are cut case by case.
        together = replace(self._how, large=2**62, seconds=self._how.seconds * 3, over=None)
        queries: list[Query] = []
        for name in self._time:
            frames, sources = self._frames()
            for input_name, source in sources.items():
                source.load_all([case.inputs[input_name] for case in cases])
            mode = self._how.mode_of(name)
            frame = carrying(frames[name], sources, mode).frame
            queries.append(Query(self._spark, name, frame, list(sources.values()), mode, together, kept=False))
            # Only now: what is carried through the plan cuts the records of a case as Arrow cuts them alone.
            with changed(self._spark, self._arrow_for(cases)):
                stack.enter_context(queries[-1].running(stack))
        return queries

    def _arrow_for(self, cases: Sequence[Case]) -> dict[str, str]:
        """Where a full Arrow batch shows, and each of several cases fits into one, all of them have to."""
        if len(cases) < 2 or self.fits_arrow is None:
            return {}
        return {_ARROW: str(max(self.fits_arrow, *batch_sizes(cases).values()) + 1)}


def batch_sizes(cases: Iterable[Case]) -> Counter[int]:
    """How many records of some cases come in each batch."""
    sizes = Counter[int]()
    for case in cases:
        for stream in case.inputs.values():
            for index, batch in enumerate(stream):
                sizes[index] += len(batch)
    return sizes


def _in_one_batch(case: Case, part: int, parts: int) -> Case:
    """The case with all its records in one batch, in order: all are in partition `part` of `parts`."""

    def joined(stream: Stream) -> Stream:
        records = [record for batch in stream for record in batch.records]
        sizes = tuple(len(records) if place == part else 0 for place in range(parts))
        return make_stream([make_batch(records, stream.schema, sizes)], stream.schema)

    return case.with_each(joined)


def _hidden(cases: Sequence[Case]) -> dict[str, str]:
    """A hidden column for every input, with a name that no input has."""
    taken = {
        name.lower() for case in cases for s in case.inputs.values() if s.schema is not None for name in s.schema.names
    }
    stem = "__case"
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    return {name: f"{stem}{number}" for number, name in enumerate(cases[0].inputs)}


def _schema(name: str, cases: Sequence[Case]) -> StructType:
    """The schema of an input, which all cases share."""
    schemas = [case.inputs[name].schema for case in cases]
    schema = schemas[0]
    if schema is None or any(other != schema for other in schemas):
        raise CannotCarry(f"the cases have different schemas for {name!r}")
    return schema


def split(batch: Batch, cases: int) -> list[Batch]:
    """What came out, by case, without the hidden column, which is the last."""
    from pyspark.sql.types import StructType

    assert batch.schema is not None
    hidden = batch.schema.names[-1]
    schema = StructType(batch.schema.fields[:-1])
    parts: list[list[Any]] = [[] for _ in range(cases)]
    for record in batch.records:
        values = dict(record.__dict__)
        parts[values.pop(hidden)].append(make_record(values))
    return [make_batch(part, schema) for part in parts]

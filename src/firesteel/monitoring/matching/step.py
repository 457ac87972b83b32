"""One micro-batch of two streams, or of that part of them that is one group: what matches, waits, or differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from firesteel.errors import InvalidArgument
from firesteel.evidence.monitoring import Compared, Now, Place
from firesteel.monitoring.matching import columns, quarantine, records
from firesteel.monitoring.matching.classes import combined, first_of_each, is_one_of, numbered
from firesteel.monitoring.matching.outcome import Matched
from firesteel.monitoring.matching.state import BATCH, CAME, MARK, PARTITION, PLACE, POSITION, SIDE, Bytes, State
from firesteel.names import counted
from firesteel.spark.monitor.values import records_of
from firesteel.values.dependence import Barrier, Dependence
from firesteel.values.equality import Equality
from firesteel.values.record_texts import record_text
from firesteel.values.records import Record, brief

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_NEVER = 2**63 - 1


@dataclass(frozen=True)
class Pairing:
    """How two streams are compared."""

    schema: StructType
    dependence: Dependence
    equality: Equality
    key: tuple[str, ...]
    """The columns in which all rows agree that depend on each other; none where there are no such columns."""
    compared: tuple[str, ...]
    """The columns in which equal rows agree exactly."""
    unordered: bool
    """Is nothing ordered? Then there are no keys, and every row that stays unmatched is a difference."""
    by_columns: bool
    """Can whole columns be compared?"""
    barriers: tuple[Barrier, ...]
    """Rows of each key that are in order with all of its rows, where whole columns are compared."""
    queue: tuple[str, ...]
    """Between two barriers, rows that agree in these columns are matched in order."""
    event_time: str | None
    at_most: int | None
    overflow: Literal["shed", "stop"]
    progress: bool
    digest: str

    def is_mark(self, record: Record) -> bool:
        """Is a row a barrier?"""
        return any(barrier.holds(record) for barrier in self.barriers)

    def step(
        self, kept: Sequence[Any] | None, new: Any, now: Now, resets: Any = None
    ) -> tuple[Bytes, list[Compared], int | None]:
        """One more micro-batch: new rows, those of the left first, or None. Also when to call again at the latest.

        `resets` has keys that are to leave their quarantine before.
        """
        state = State.restore(kept, self.digest)
        if resets is not None and state.quarantine is not None:
            state = replace(state, quarantine=quarantine.reset(state.quarantine, resets, self.key, self.event_time))
        call = _Call(self, state, new, now)
        said = list(call.run())
        return call.state.keep(self.digest), said, call.wake


class _Call:
    """The rows of one call: those that waited, then the new ones of the left, then those of the right."""

    def __init__(self, how: Pairing, state: State, new: Any, now: Now) -> None:
        self.how, self.state, self.now = how, state, now
        parts = [part for part in (state.waiting, new) if part is not None and part.num_rows]
        self.table: Any = _together(parts)
        self.fresh = 0 if new is None else new.num_rows
        self.wake: int | None = None

    def run(self) -> Iterator[Compared]:
        if self.table is not None:
            self._leave_out_quarantine()
            matched = self._matched()
            self.state = replace(self.state, counts=self.state.counts.more(matched=matched.pairs))
            yield from self._differences(matched)
            yield from self._beyond(matched.waiting)
        if self.how.progress:
            yield self._said("progress", f"progress/{self.now.batch}/{self.now.group}", None, None)

    # --- arrays ---

    @cached_property
    def sides(self) -> Any:
        return self.table.column(SIDE).to_numpy()

    @cached_property
    def groups(self) -> Any:
        """The key of each row as a number; where nothing is ordered, its class."""
        if self.how.unordered and self.how.by_columns:
            return self.classes
        return self._numbers(self.how.compared if self.how.unordered else self.how.key)

    @cached_property
    def classes(self) -> Any:
        if self.how.equality.by is not None:
            return numbered(map(self.how.equality.key, records_of(self.table, self.how.schema)))
        return self._numbers(self.how.compared)

    def _numbers(self, names: Sequence[str]) -> Any:
        return combined([self.table.column(name) for name in names], self.table.num_rows)

    def _take(self, rows: Any) -> None:
        """Go on with some of the rows."""
        self.table = self.table.take(rows)
        for name in ("sides", "groups", "classes"):
            self.__dict__.pop(name, None)

    # --- quarantine ---

    def _leave_out_quarantine(self) -> None:
        import numpy as np

        keys = self.state.quarantine
        if keys is None:
            return
        out = quarantine.left_out(keys, self.table, self.how.key, self.how.event_time)
        self._count_quarantined(int(out.sum()))
        self.fresh = int((~out[self._rows - self.fresh :]).sum())
        self._take(np.flatnonzero(~out))

    @property
    def _rows(self) -> int:
        return int(self.table.num_rows)

    def _count_quarantined(self, rows: int) -> None:
        self.state = replace(self.state, counts=self.state.counts.more(quarantined=rows))

    def _quarantine(self, rows: Any) -> None:
        """No more is said of the keys of these rows."""
        if len(rows):
            keys = self.table.take(rows).select(list(self.how.key))
            self.state = replace(self.state, quarantine=quarantine.added(self.state.quarantine, keys))

    # --- matching ---

    def _matched(self) -> Matched:
        how = self.how
        if how.by_columns and not how.barriers:
            return columns.match(self.sides, self.groups, self.classes)
        if how.by_columns:
            marks = self.table.column(MARK).to_numpy()
            by_class = how.queue == how.compared
            queues = self.classes if by_class else self._numbers(how.queue)
            return columns.match(self.sides, self.groups, self.classes, marks, queues)
        import numpy as np

        # Only keys with new rows can change.
        touched = is_one_of(self.groups, self.groups[self._rows - self.fresh :]) if self.fresh else self.sides < 0
        rows = np.flatnonzero(touched)
        part = self.table.take(rows)
        found = records.match(
            self.sides[rows].tolist(),
            self.groups[rows].tolist(),
            list(records_of(part, how.schema)),
            how.dependence,
            how.equality,
        )
        waiting = np.sort(np.concatenate([np.flatnonzero(~touched), rows[found.waiting]]))
        differing = tuple(
            replace(each, row=int(rows[each.row]), other=int(rows[each.other])) for each in found.differing
        )
        return Matched(found.pairs, waiting, differing)

    def _differences(self, matched: Matched) -> Iterator[Compared]:
        import numpy as np

        odd = np.array([each.row for each in matched.differing], dtype=np.int64)
        if len(odd):
            gone = int(is_one_of(self.groups, self.groups[odd]).sum())
            self._quarantine(odd)
            self._count_quarantined(gone - 2 * len(odd) - self._matched_rows(matched, odd))
        for each in matched.differing:
            yield self._difference(each.row, each.other)

    def _matched_rows(self, matched: Matched, odd: Any) -> int:
        """How many rows of the keys that differ were matched before they did."""
        others = int((~is_one_of(self.groups, self.groups[odd])).sum()) - len(matched.waiting)
        return 2 * matched.pairs - others

    def _beyond(self, waiting: Any) -> Iterator[Compared]:
        """What waits, but for what the watermark has passed and what is too much."""
        import numpy as np

        how, times = self.how, None
        if how.event_time is not None:
            times = self._times(waiting)
            late = waiting[times <= self.now.watermark * 1000]
            if len(late):
                firsts = late if how.unordered else first_of_each(self.groups[late], late)
                gone = late if how.unordered else waiting[is_one_of(self.groups[waiting], self.groups[firsts])]
                waiting = waiting[~np.isin(waiting, gone)]
                if how.unordered:
                    firsts = self._seen(firsts)
                else:
                    self._quarantine(firsts)
                self._count_quarantined(len(gone) - len(firsts))
                yield from map(self._unmatched, firsts.tolist())
        if how.at_most is not None and len(waiting) > how.at_most:
            waiting, shed = self._shed(waiting, how.at_most)
            yield shed
        self.state = replace(self.state, waiting=self.table.take(waiting) if len(waiting) else None)
        if times is not None and len(waiting):
            first = int(self._times(waiting).min())
            self.wake = None if first == _NEVER else -(-first // 1000) - 1  # Spark calls after this time, not at it

    def _times(self, rows: Any) -> Any:
        """Event times in microseconds; a row without one waits for ever."""
        import pyarrow as pa  # type: ignore[import-untyped]

        column = self.table.column(self.how.event_time).take(rows).cast(pa.int64())
        return column.fill_null(_NEVER).to_numpy()

    def _seen(self, rows: Any) -> Any:
        """Without those whose match may have been shed: a match has the same event time (`plan` sees to that)."""
        blind = self.state.counts.blind
        return rows if blind is None else rows[self._times(rows) > blind]

    def _go_blind(self, times: Any) -> None:
        """Say nothing more of rows up to the latest of these event times. Rows without one are never reported."""
        known = times[times != _NEVER]
        if len(known):
            before, latest = self.state.counts.blind, int(known.max())
            blind = latest if before is None else max(before, latest)
            self.state = replace(self.state, counts=replace(self.state.counts, blind=blind))

    def _shed(self, waiting: Any, at_most: int) -> tuple[Any, Compared]:
        """Keep fewer rows: whole keys go, those with the most rows first; where nothing is ordered, all rows go."""
        import numpy as np

        how = self.how
        if how.overflow == "stop":
            raise InvalidArgument(
                f"{counted(len(waiting), 'row')} wait for their match, and unmatched_at_most allows {at_most} here: "
                "one side is ahead of the other, or stopped. The monitor stops, as overflow='stop' asks"
            )
        if how.unordered:
            kept = waiting[:0]
            self._go_blind(self._times(waiting))
        else:
            keys, sizes = np.unique(self.groups[waiting], return_counts=True)
            order = np.argsort(-sizes, kind="stable")
            left_over = len(waiting) - np.cumsum(sizes[order])
            out = keys[order[: int(np.argmax(left_over <= at_most)) + 1]]
            gone = waiting[is_one_of(self.groups[waiting], out)]
            self._quarantine(first_of_each(self.groups[gone], gone))
            kept = waiting[~np.isin(waiting, gone)]
        shed = len(waiting) - len(kept)
        self._count_quarantined(shed)
        reason = (
            f"{counted(len(waiting), 'row')} waited for their match, and unmatched_at_most allows {at_most} here: "
            f"{shed} were dropped, and nothing more is said of "
            + ("rows up to their event time" if how.unordered else "their keys")
        )
        return kept, self._said("shed", f"shed/{self.now.batch}/{self.now.group}", None, reason, unmatched=len(kept))

    # --- words ---

    def _record(self, row: int) -> Record:
        return next(iter(records_of(self.table.slice(row, 1), self.how.schema)))

    def _place(self, row: int) -> Place:
        batch, partition, position = (self.table.column(name)[row].as_py() for name in (BATCH, PARTITION, POSITION))
        return Place(batch, partition, position)

    def _difference(self, row: int, other: int) -> Compared:
        mine, theirs = ("right", "left") if self.sides[row] else ("left", "right")
        reason = (
            f"{mine}: {brief(self._record(row))} came where {theirs} has {brief(self._record(other))}, on which it "
            f"depends: {self.how.dependence!r}"
        )
        return self._about("difference", row, other, reason)

    def _unmatched(self, row: int) -> Compared:
        mine, theirs = ("right", "left") if self.sides[row] else ("left", "right")
        reason = f"{mine}: {brief(self._record(row))} has no match in {theirs}, and the watermark has passed its time"
        return self._about("unmatched", row, None, reason)

    def _about(self, kind: Literal["difference", "unmatched"], row: int, other: int | None, reason: str) -> Compared:
        side: Literal["left", "right"] = "right" if self.sides[row] else "left"
        rows = {int(self.sides[each]): each for each in (row, other) if each is not None}
        left, right = (
            (self._place(rows[each]), record_text(self._record(rows[each]))) if each in rows else None
            for each in (0, 1)
        )
        record, place = self._record(row), self._place(row)
        key = ", ".join(f"{name}={brief(record[name])}" for name in self.how.key) or None
        id_ = f"{key or ''}/{side}/{place.batch}/{place.partition}/{place.position}"
        return replace(self._said(kind, id_, key, reason), side=side, left=left, right=right)

    def _said(
        self,
        kind: Literal["difference", "unmatched", "shed", "progress"],
        id_: str,
        key: str | None,
        reason: str | None,
        unmatched: int | None = None,
    ) -> Compared:
        waiting, counts = self.state.waiting, self.state.counts
        now_waiting = 0 if waiting is None else waiting.num_rows
        came = [] if waiting is None else waiting.column(CAME).to_numpy()
        lag = max(0, self.now.clock - int(min(came))) if len(came) else 0
        unmatched = now_waiting if unmatched is None else unmatched
        said = reason or f"{counted(unmatched, 'row')} of group {self.now.group} wait for their match"
        return Compared(kind, id_, key, None, None, None, said, unmatched, counts.matched, counts.quarantined, lag)


def _together(tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(tables).combine_chunks() if tables else None


def with_places(table: Any, side: int, partition: int, now: Now) -> Any:
    """A table of new rows, which has their positions, with the side and the place that they came from."""
    import numpy as np
    import pyarrow as pa

    rows = table.num_rows
    constants: Iterable[tuple[str, int, Any]] = (
        (SIDE, side, np.int8),
        (BATCH, now.batch, np.int64),
        (PARTITION, partition, np.int32),
        (CAME, now.clock, np.int64),
    )
    for name, value, kind in constants:
        table = table.append_column(name, pa.array(np.full(rows, value, kind)))
    names = [name for name in table.column_names if name not in PLACE]
    return table.select([*names, *PLACE])
